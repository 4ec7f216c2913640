"""Takes the time that a command takes, from outside: nothing that it does to its own clock counts.

Usage: ``python -I reviewbot_stopwatch.py REPORT [profile] -- COMMAND...`` in the tree. The command is run once to warm up, and
once more for the time, unless the first run was long. REPORT gets one JSON object, as ``reviewbot_timing`` writes it::

    {"calls": 1, "seconds": [s], "profile": [[path, line, function, calls, own, cumulative]…], "error": ""}

With ``profile`` a Python program is also run under cProfile, for the 30 rows with the most cumulative seconds: paths are relative
to the tree, ``(python)/…`` for libraries. ``error`` is what the command said last where it failed. Exit code 0 with a time,
else 1. Python 3.8 and later; imports nothing of reviewbot.
"""

from __future__ import annotations

import json
import os
import pstats
import subprocess
import sys
import tempfile
import time
from typing import Any

LONG_SECONDS = 2.0
"""After a first run of that length, what was loaded from disk and compiled for it weighs nothing."""
SHORTEST = 1e-9
MOST_ROWS, TEXT_LIMIT = 30, 3000
LIBRARIES = "(python)/"
TREE = os.path.realpath(os.getcwd())


class Failed(Exception):
    """The command did not do its work, with its last words."""


def main(argv: list[str]) -> int:
    mark = argv.index("--")
    report, options, command = argv[0], argv[1:mark], argv[mark + 1 :]
    answer: dict[str, Any] = {"calls": 0, "seconds": [], "profile": [], "error": ""}
    try:
        if "profile" in options:
            answer["profile"] = profiled(command)
        seconds = timed(command)
        if seconds < LONG_SECONDS and "profile" not in options:
            seconds = timed(command)
        answer.update(calls=1, seconds=[max(SHORTEST, seconds)])
    except Failed as exc:
        answer.update(profile=[], error=str(exc) or "it failed without a word")
    with open(report, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    return 1 if answer["error"] else 0


def timed(command: list[str]) -> float:
    """Seconds of one run. Raises Failed."""
    environment = dict(os.environ, PYTHONHASHSEED="0", PYTHONPATH=os.pathsep.join(folders()))
    with tempfile.TemporaryFile() as said:
        began = time.perf_counter()
        try:
            code = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, env=environment)
        except OSError as exc:
            raise Failed(f"it cannot be started: {exc}") from exc
        seconds = time.perf_counter() - began
        if code:
            said.seek(max(0, said.tell() - TEXT_LIMIT))
            words = said.read().decode("utf-8", "replace").strip()
            raise Failed(f"it ended with {code}: {words}".replace(TREE + os.sep, ""))
    return seconds


def folders() -> list[str]:
    return [folder for folder in (os.path.join(TREE, "src"), TREE) if os.path.isdir(folder)]


def profiled(command: list[str]) -> list[list[Any]]:
    """The rows of a run under cProfile. Raises Failed where that is no Python program."""
    program, words = command[0], command[1:]
    is_python = os.path.basename(program).startswith("python")
    if not is_python or not words or (words[0].startswith("-") and words[0] != "-m"):
        raise Failed("only a Python program can be profiled")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "profile")
        timed([program, "-m", "cProfile", "-o", file, *words])
        spent = vars(pstats.Stats(file))["stats"]
    rows: list[list[Any]] = [
        [place(path), 0 if path == "~" else line, name, count, round(own, 9), round(whole, 9)]
        for (path, line, name), (_, count, own, whole, _) in spent.items()
        if "_lsprof.Profiler" not in name and not path.startswith("<frozen")
    ]
    return sorted(rows, key=lambda row: (-row[5], row[:3]))[:MOST_ROWS]


def place(path: str) -> str:
    """A row's path, the same on every machine."""
    if path == "~":
        return ""
    if path.startswith("<"):
        return path
    inside = os.path.realpath(path)
    return os.path.relpath(inside, TREE) if inside.startswith(TREE + os.sep) else LIBRARIES + os.path.basename(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
