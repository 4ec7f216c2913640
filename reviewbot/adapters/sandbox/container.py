"""A container of docker or podman: a job sees the image, its own copy of the tree, and nothing else of this machine.

What only parses the change runs beside us, as it does without any sandbox. The image brings python3 and all tools of the
project; it is never pulled. The tree is copied into memory inside, and the container is ended and forgotten whatever happens: by
us, or by its own first process where we are no more.
"""

from __future__ import annotations

import json
import os
import resource
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from reviewbot.adapters.sandbox import borrow, engine, mounts, offline, self_test, tools, words
from reviewbot.adapters.sandbox.borrow import Borrowed
from reviewbot.adapters.sandbox.engine import Engine, EngineError
from reviewbot.adapters.sandbox.host import Ground
from reviewbot.adapters.sandbox.laying import Unlayable
from reviewbot.adapters.sandbox.limits import MIB, Limits
from reviewbot.adapters.sandbox.mounts import HOME, Kind, Mount
from reviewbot.adapters.sandbox.plain import Plain
from reviewbot.adapters.sandbox.process import Command, Supervisor
from reviewbot.adapters.sandbox.scratch import collected, read_plain, scratch
from reviewbot.adapters.sandbox.tools import Kit
from reviewbot.errors import SandboxError
from reviewbot.ports import Ended, Job, Outcome

PYTHON = "python3"
_ORDER = f"{mounts.INSIDE}/order.json"
_ENDED = f"{mounts.INSIDE}/ended"
_MOST_LETTERS = 20
_KILLED = 137
_BEGUN = b"begun"
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_WALLS = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
    *("--user", "1000:1000", "--hostname", "sandbox", "--log-driver", "none", "--workdir", "/"),
)
_LATER_SECONDS = 30.0
"""So long after a job should have been ended, its container ends itself."""
_OPEN_FILES = 4096
_USERS_PROCESSES = 32768
_TEST = """
import json, os, sys
def fail(text): sys.exit(text)
if os.getuid() != 1000: fail("it does not take the powers of its user away")
if "CapEff:\\t0000000000000000" not in open("/proc/self/status").read(): fail("it leaves powers")
for place in ("/", "/usr", "/etc"):
    try: open(place + "/.reviewbot-self-test", "w")
    except OSError: continue
    fail(place + " can be written")
if len(open("/proc/net/route").readlines()) > 1: fail("it has a network")
found = {name for folder in sys.argv[1].split(":") if os.path.isdir(folder) for name in os.listdir(folder)
         if os.access(os.path.join(folder, name), os.X_OK)}
print(json.dumps(sorted(found)))
"""
_TEST_SECONDS = 60.0
_IN_WORDS: Mapping[Kind, Callable[[Mount], tuple[str, ...]]] = {
    Kind.READ: lambda mount: ("--mount", _bind(mount, "readonly")),
    Kind.WRITE: lambda mount: ("--mount", _bind(mount)),
    Kind.MEMORY: lambda mount: ("--tmpfs", f"{mount.target}:rw,exec,nosuid,nodev,mode=1777,size={mount.size}"),
}


class _Removal:
    """The end of one container, from whatever thread. A client that is killed while it starts one leaves parts of it running that
    its engine does not know of: the container goes first, and then whoever waits for it."""

    def __init__(self, engine: Engine, name: str) -> None:
        self.name = name
        self._engine = engine
        self._lock = threading.Lock()
        self._made = False

    def make(self) -> None:
        """End it, once. Raises EngineError."""
        with self._lock:
            if not self._made:
                self._engine.remove(self.name)
                self._made = True

    def attempt(self) -> None:
        """End it if that is possible now; it is tried again at last."""
        with suppress(EngineError):
            self.make()


class Container:
    """The sandbox. Raises SandboxError where no engine can run the image."""

    level = "container"

    def __init__(self, ground: Ground, plain: Plain) -> None:
        self._ground = ground
        self._plain = plain
        self._supervisor = Supervisor(ground.limits)
        self._engine, self._image = engine.with_image(ground.host)
        self.programs = self._test()
        options = ground.host.container
        self.notes: tuple[str, ...] = (f"the change was executed by {self._engine.name} in the image {options.image}",)

    def run(self, job: Job) -> Outcome:
        """One job in a container of its own, or beside us where it executes nothing of the change."""
        if not job.executes:
            return self._plain.run(job)
        lent = borrow.packages(job, self._ground)
        kit = self._kit(job, lent)
        return tools.missing(kit) if kit.missing else self._contained(job, kit, lent)

    def close(self) -> None:
        """End what runs."""
        self._supervisor.close()
        self._plain.close()

    def _kit(self, job: Job, lent: tuple[Borrowed, ...]) -> Kit:
        """The tools of the packages that are lent, else those of the image."""
        found = tools.gather(words.tools(job), borrow.shelves(lent, mounts.tree_path(self._ground.toplevel)), self._ground.hides)
        of_image = {name: name for name in found.missing if name in self.programs}
        return Kit({**found.programs, **of_image}, missing=tuple(name for name in found.missing if name not in of_image))

    def _contained(self, job: Job, kit: Kit, lent: tuple[Borrowed, ...]) -> Outcome:
        removal = _Removal(self._engine, f"reviewbot-{secrets.token_hex(8)}")
        try:
            with scratch(job) as folder:
                words = self._words(job, folder, kit=kit, lent=lent)
                try:
                    self._engine.create(removal.name, words)
                    return self._attended(job, folder, removal)
                finally:
                    removal.make()
        except Unlayable as exc:
            return Outcome(Ended.REFUSED, reason=str(exc))
        except EngineError as exc:
            return Outcome(Ended.REFUSED, reason=f"its container cannot be made or ended: {exc}")

    def _attended(self, job: Job, folder: Path, removal: _Removal) -> Outcome:
        def end_its_start() -> None:
            if not ended():
                removal.attempt()

        def ended() -> bytes:
            return read_plain(folder / "ended", _MOST_LETTERS)

        argv = self._engine.starting(removal.name, reads=bool(job.stdin))
        variables = dict(self._engine.variables)
        command = Command(argv, variables, folder, job.stdin, job.timeout_seconds, before_kill=end_its_start)
        outcome = _explained(self._supervisor.run(command), ended(), self._ground.limits)
        return replace(outcome, collected=collected(folder, job.collect, self._ground.limits.output_bytes))

    def _words(self, job: Job, folder: Path, *, kit: Kit, lent: tuple[Borrowed, ...]) -> tuple[str, ...]:
        """How the container is made."""
        ground = self._ground
        view = mounts.view(job, ground, folder, lent=lent)
        order = mounts.made(folder / "order.json", json.dumps(self._order(job, view, kit)), _ORDER)
        (folder / "ended").touch()
        ended = Mount(Kind.WRITE, _ENDED, str(folder / "ended"))
        covers = (Mount(Kind.MEMORY, place, size=MIB) for place in self._image.volumes)
        found = (*view.mounts, *mounts.modules(kit.programs, ground), order, ended, *covers, *_ways(view, ground.limits))
        seen = mounts.in_order(found)
        _open_up(folder, ("ended", *(f"files/{name}" for name in job.collect)))
        return (
            *(*_WALLS, *_bounds(ground.limits)),
            *(word for mount in seen for word in _IN_WORDS[mount.kind](mount)),
            *(("--interactive",) if job.stdin else ()),
            *("--entrypoint", "env", ground.host.container.image),
            *("-i", f"PATH={self._path}", PYTHON, "-I", f"{mounts.OUR_PROBES}/reviewbot_enter.py", _ORDER),
        )

    def _order(self, job: Job, view: mounts.View, kit: Kit) -> dict[str, Any]:
        """What the first process inside is told."""
        known = view.words(has_beside=job.beside is not None) | kit.words
        known |= {"python": PYTHON, "own_python": PYTHON, "ruff": "ruff"}
        variables = offline.variables(kit.programs, home=HOME)
        folders = (*(folder for folder in kit.folders if folder.startswith(view.tree)), *self._path.split(":"))
        order = {
            "argv": words.argv(job, known),
            "environment": words.environment(job, known, folders=folders, home=HOME, variables=variables),
            "folder": view.tree if job.tree else mounts.SCRATCH,
            "seconds": job.timeout_seconds + _LATER_SECONDS,
            "ended": _ENDED,
        }
        tree = {"tree": view.tree, "exported": mounts.EXPORTED, "overlay": mounts.OVERLAY, "in_the_way": view.in_the_way}
        return order | (tree if job.tree else {})

    @property
    def _path(self) -> str:
        return self._image.path or _PATH

    def _test(self) -> frozenset[str]:
        """Start a container once, as it will be. Returns the names of the programs in it."""
        job = Job("self-test", (PYTHON, "-I", "-c", _TEST, self._path), _TEST_SECONDS, executes=True)
        try:
            self._engine.tidy()
        except EngineError as exc:
            raise SandboxError(f"{self._engine.name} cannot tidy up ({exc})", hint="see that it works for you") from exc
        outcome = self._contained(job, Kit({}), ())
        if problem := self_test.problem(outcome):
            hint = f"see that {PYTHON} is in the image, and that {self._engine.name} runs it without a network"
            raise SandboxError(f"a container of {self._ground.host.container.image} cannot start here ({problem})", hint=hint)
        return frozenset(json.loads(outcome.stdout))


def _bounds(limits: Limits) -> tuple[str, ...]:
    """The words for the limits. The engine counts files in memory as memory, and threads as processes.

    The count of a user's processes is named only because podman would ask for more than it may have.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    users = min(_USERS_PROCESSES, allowed) if allowed >= 0 else _USERS_PROCESSES
    hard = {"core": 0, "fsize": limits.file_bytes, "cpu": limits.cpu_seconds, "nofile": _OPEN_FILES, "nproc": users}
    return (
        *("--memory", str(limits.memory_bytes), "--memory-swap", str(limits.memory_bytes)),
        *("--pids-limit", str(limits.threads), "--shm-size", str(mounts.SHARED_MEMORY_BYTES)),
        *(word for name, value in hard.items() for word in ("--ulimit", f"{name}={value}:{value}")),
    )


def _bind(mount: Mount, *flags: str) -> str:
    """Comma-separated values, quoted where they have to be."""
    fields = ("type=bind", f"source={mount.source}", f"target={mount.target}", *flags)
    return ",".join(f'"{text}"'.replace('"', '""')[1:-1] if set(text) & set(',"') else text for text in fields)


def _ways(view: mounts.View, limits: Limits) -> Iterator[Mount]:
    """The folders of the tree on the way to what is lent: an engine would make them, and nobody else could write there."""
    for one in view.lent:
        for folder in list(PurePosixPath(one.name).parents)[:-1]:
            yield Mount(Kind.MEMORY, f"{view.tree}/{folder}", size=limits.folder_bytes)


def _explained(outcome: Outcome, ended: bytes, limits: Limits) -> Outcome:
    """How it ended, in the word of its container's first process. One that was killed could not say a word."""
    if outcome.ended is not Ended.EXITED:
        return outcome
    reasons = {
        b"memory": (Ended.MEMORY, f"it used more than {limits.memory_bytes} bytes of memory"),
        b"timeout": (Ended.TIMEOUT, "it did not end in time"),
        b"processes": (Ended.PROCESSES, f"it started more than {limits.threads} processes and threads"),
    }
    found = reasons.get(b"memory" if ended in (b"", _BEGUN) and outcome.exit_code == _KILLED else ended)
    return replace(outcome, ended=found[0], exit_code=None, reason=found[1]) if found else outcome


def _open_up(folder: Path, written: tuple[str, ...]) -> None:
    """Another user is at work inside: let them read what is theirs, and write what is read back."""
    for place, _, names in os.walk(folder):
        if Path(place) != folder:
            Path(place).chmod(0o755)
        for name in names:
            Path(place, name).chmod(0o644)
    for name in written:
        (folder / name).chmod(0o666)
