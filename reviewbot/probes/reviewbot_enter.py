"""Stands first in a container, or before a job without walls: lays out the tree's copy, runs the job, and leaves nobody behind.

Usage: ``python -I reviewbot_enter.py ORDER``. ORDER is JSON: ``argv``, ``environment``, ``folder`` (the working directory),
``seconds``, and ``ended``, a file that gets ``begun``, then ``exited`` or the limit that was met: ``memory``, ``processes`` or
``timeout``. To lay out a tree also ``tree`` (where it shall stand), ``exported``, ``overlay`` and ``in_the_way`` (paths below the
tree that are removed before the overlay is laid over it). Python 3.8 and later.

Ends with the job's exit code, 128 and the signal's number for one that was killed, 124 where a limit was met, 125 where the tree
cannot be laid out, 127 where the program is not there. As the container's first process it takes everybody else with it;
elsewhere orphans become its own, and it ends them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from typing import Any

LIMIT_MET, NOT_LAID_OUT, NOT_THERE, BY_SIGNAL = 124, 125, 127, 128
SET_CHILD_SUBREAPER = 36
EVERY_SECONDS = 0.25
IGNORED_HERE = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores these, and what it starts would too."""
CGROUP = "/sys/fs/cgroup"
COUNTERS = (
    ("memory", "oom_kill", ("memory.events", "memory/memory.oom_control")),
    ("processes", "max", ("pids.events", "pids/pids.events")),
)
"""Where cgroups, version 2 or 1, count what was refused."""


def main(order_path: str) -> int:
    with open(order_path, encoding="ascii") as file:
        order = json.load(file)
    tell(order["ended"], "begun")
    try:
        if order.get("tree"):
            lay_out(order)
        os.chdir(order["folder"])
    except (OSError, shutil.Error) as exc:
        print(f"the tree cannot be laid out: {exc}", file=sys.stderr)
        return NOT_LAID_OUT
    adopt_orphans()
    until = time.monotonic() + order["seconds"]
    signal.signal(signal.SIGALRM, lambda *_: look(order["ended"], until))
    signal.setitimer(signal.ITIMER_REAL, EVERY_SECONDS, EVERY_SECONDS)
    child = os.fork()
    if child == 0:
        start(order)
    code = wait(child)
    signal.setitimer(signal.ITIMER_REAL, 0)
    end_everybody()
    tell(order["ended"], met_limit() or "exited")
    return code


def lay_out(order: dict[str, Any]) -> None:
    tree = order["tree"]
    copy(order["exported"], tree)
    for name in order["in_the_way"]:
        place = os.path.join(tree, name)
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place)
        elif os.path.lexists(place):
            os.unlink(place)
    copy(order["overlay"], tree)


def copy(source: str, target: str) -> None:
    """A folder's content over another one's; a file replaces a file or a link, and links stay links. Raises OSError."""
    for folder, names, files in os.walk(source, onerror=fail):
        here = os.path.normpath(os.path.join(target, os.path.relpath(folder, source)))
        os.makedirs(here, exist_ok=True)
        for name in files + [name for name in names if os.path.islink(os.path.join(folder, name))]:
            place = os.path.join(here, name)
            if os.path.lexists(place):
                os.unlink(place)
            shutil.copy2(os.path.join(folder, name), place, follow_symlinks=False)


def fail(error: OSError) -> None:
    raise error


def start(order: dict[str, Any]) -> None:
    """Become the job, in a process group of its own, which can be ended at one blow."""
    os.setpgid(0, 0)
    for number in IGNORED_HERE:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(order["argv"][0], order["argv"], order["environment"])
    except (OSError, ValueError) as exc:
        os.write(2, f"{order['argv'][0]} cannot be started: {exc}\n".encode("utf-8", "replace"))
    os._exit(NOT_THERE)


def wait(child: int) -> int:
    """Bury everybody until the job itself has ended."""
    while True:
        ended, status = os.wait()
        if ended == child:
            return BY_SIGNAL + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def adopt_orphans() -> None:
    """Whose parent ends becomes a child of this process, wherever it went; of a container's first process it does so anyway."""
    if os.getpid() != 1:
        import ctypes

        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_everybody() -> None:
    """Kill all children, and whom they leave behind, until there are none."""
    while True:
        for child in children():
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            os.wait()
        except ChildProcessError:
            return


def children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def met_limit() -> str:
    """The limit that the container met, as the kernel counts it."""
    for limit, word, places in COUNTERS:
        for place in places:
            try:
                with open(os.path.join(CGROUP, place), encoding="ascii") as file:
                    counts = dict(line.split()[:2] for line in file if len(line.split()) > 1)
            except (OSError, ValueError):
                continue
            if counts.get(word, "0") != "0":
                return limit
    return ""


def look(ended: str, until: float) -> None:
    """End all of it where a limit was met: the kernel only refuses, and a job may wait for what was refused."""
    limit = met_limit() or ("timeout" if time.monotonic() > until else "")
    if limit:
        tell(ended, limit)
        for child in children():
            os.kill(child, signal.SIGKILL)
        os._exit(LIMIT_MET)


def tell(ended: str, word: str) -> None:
    with open(ended, "w", encoding="ascii") as file:
        file.write(word)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
