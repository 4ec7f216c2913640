"""Times a Python snippet against one tree, so that the same snippet can be timed against another.

Usage: ``python -I reviewbot_timing.py SPEC.json [tree=DIR] [source=FILE] [report=FILE] [calls=N]``. SPEC::

    {"tree": folder, "source": file, "report": file, "rounds": 5, "min_seconds": 0.02, "calls": 0, "profile": false}

The source defines ``run(*args)``, and ``setup()`` if it needs something first: what that returns, a tuple or one value, are the
arguments. ``setup`` is called before each round and not timed. A round calls ``run`` ``calls`` times, without garbage collection;
0 stands for as many as take ``min_seconds``. Give the number that comes of it to the other tree: both then do the same work.
Words NAME=VALUE take the place of what SPEC says. The working directory and the first place of imports are the tree.

The report is one JSON object::

    {"calls": n, "seconds": [per call, a round each], "profile": [[path, line, function, calls, own, cumulative]…], "error": ""}

``profile`` comes of one more round, under cProfile: the 30 rows with the most cumulative seconds. Paths are relative to the tree,
``(check)`` for the source, ``(python)/…`` for libraries, and empty for what is built in.

Exit code 0: it was timed; 1: the snippet raised, ``error`` is the traceback; 3: it could not be loaded, with the reason in
``error`` and as the last line of standard error. Python 3.8 and later; imports nothing of reviewbot.
"""

from __future__ import annotations

import cProfile
import gc
import itertools
import json
import linecache
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

TIMED, RAISED, NOT_LOADED = 0, 1, 3
ROUNDS, MIN_SECONDS = 5, 0.02
MOST_CALLS, MOST_ROWS, TEXT_LIMIT = 100_000_000, 30, 6000
CLOCK = time.perf_counter
"""Taken before a tree is imported that may put another in its place."""
SHORTEST = 1e-9
"""A clock that does not move would make a time without a ratio."""
CHECK, LIBRARIES = "(check)", "(python)/"
INSTALLED = ("/site-packages/", "/dist-packages/", f"/python{sys.version_info[0]}.{sys.version_info[1]}/")


class NotLoaded(Exception):
    """The snippet cannot be called, with the reason in words."""


class Snippet:
    """What the source defines. Raises NotLoaded."""

    def __init__(self, source: str) -> None:
        names: dict[str, Any] = {"__name__": "reviewbot_check"}
        try:
            exec(compile(remembered(source), CHECK, "exec"), names)
        except (ImportError, SyntaxError) as exc:
            raise NotLoaded(f"{type(exc).__name__}: {exc}") from exc
        if not callable(names.get("run")):
            raise NotLoaded("the snippet does not define run(*args)")
        self.run: Callable[..., Any] = names["run"]
        self.setup: Callable[[], Any] = names.get("setup", tuple)

    def arguments(self) -> tuple[Any, ...]:
        given = self.setup()
        return given if isinstance(given, tuple) else (given,)

    def round(self, calls: int) -> float:
        """Seconds of so many calls."""
        run, args, turns = self.run, self.arguments(), itertools.repeat(None, calls)
        gc.collect()
        gc.disable()
        try:
            began = CLOCK()
            for _ in turns:
                run(*args)
            return CLOCK() - began
        finally:
            gc.enable()

    def calibrate(self, min_seconds: float) -> int:
        """How many calls take that long: 1, 2, 5, 10, 20, 50 and so on."""
        calls = 1
        while self.round(calls) < min_seconds and calls < MOST_CALLS:
            calls = calls * 5 // 2 if str(calls).startswith("2") else calls * 2
        return calls

    def profile(self, calls: int, tree: str) -> list[list[Any]]:
        profiler, args = cProfile.Profile(), self.arguments()
        profiler.enable()
        for _ in range(calls):
            self.run(*args)
        profiler.disable()
        profiler.create_stats()
        rows: list[list[Any]] = [
            [place(file, tree), 0 if file == "~" else line, name, count, round(own, 9), round(whole, 9)]
            for (file, line, name), (_, count, own, whole, _) in profiler.stats.items()
            if "_lsprof.Profiler" not in name
        ]
        return sorted(rows, key=lambda row: (-row[5], row[:3]))[:MOST_ROWS]


def main(argv: list[str]) -> int:
    try:
        with open(argv[0], encoding="utf-8") as file:
            spec = dict(json.load(file), **dict(word.split("=", 1) for word in argv[1:]))
        source, report, tree = (os.path.abspath(spec[name]) for name in ("source", "report", "tree"))
    except (OSError, ValueError, LookupError, TypeError) as exc:
        print(f"the specification cannot be read: {type(exc).__name__}: {exc}", file=sys.stderr)
        return NOT_LOADED
    return time_it(spec, source, report=report, tree=tree)


def time_it(spec: dict[str, Any], source: str, *, report: str, tree: str) -> int:
    """Write the report, whatever comes of the snippet."""
    answer: dict[str, Any] = {"calls": 0, "seconds": [], "profile": [], "error": ""}
    own = silence()
    enter(tree)
    code = TIMED
    try:
        answer.update(measured(Snippet(source), spec, tree))
    except NotLoaded as exc:
        answer["error"], code = str(exc)[:TEXT_LIMIT], NOT_LOADED
        os.write(own, " ".join(answer["error"].split()).encode("utf-8", "replace") + b"\n")
    except BaseException as exc:  # the snippet's own; where it leaves the program, that is no result either
        answer["error"], code = told(exc, tree), RAISED
    with open(report, "w", encoding="utf-8") as file:
        json.dump(answer, file)
    return code


def measured(snippet: Snippet, spec: dict[str, Any], tree: str) -> dict[str, Any]:
    """A round of full length goes before those that count, whoever says what its length is."""
    calls = int(spec.get("calls", 0))
    if calls:
        snippet.round(calls)
    else:
        calls = snippet.calibrate(float(spec.get("min_seconds", MIN_SECONDS)))
    seconds = [max(SHORTEST, snippet.round(calls) / calls) for _ in range(int(spec.get("rounds", ROUNDS)))]
    return {"calls": calls, "seconds": seconds, "profile": snippet.profile(calls, tree) if spec.get("profile") else []}


def remembered(source: str) -> str:
    """The snippet's text, known to tracebacks."""
    try:
        with open(source, encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError) as exc:
        raise NotLoaded(f"the snippet cannot be read: {exc}") from exc
    linecache.cache[CHECK] = (len(text), None, text.splitlines(keepends=True), CHECK)
    return text


def silence() -> int:
    """Where standard error was. What the snippet prints would be timed by who reads it."""
    own, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    return own


def enter(tree: str) -> None:
    del sys.argv[1:]
    os.chdir(tree)
    sys.path[:0] = [folder for folder in (tree, os.path.join(tree, "src")) if os.path.isdir(folder)]


def place(file: str, tree: str) -> str:
    """The path of a profile's row, the same on every machine."""
    if file == "~":
        return ""
    if file.startswith((CHECK, "<")):
        return file
    path = os.path.abspath(file)
    if path.startswith(tree + os.sep):
        return os.path.relpath(path, tree)
    inside = next((path.rpartition(mark)[2] for mark in INSTALLED if mark in path), os.path.basename(path))
    return LIBRARIES + inside


def told(exc: BaseException, tree: str) -> str:
    """The traceback, from the snippet on."""
    trace = exc.__traceback__
    while trace and trace.tb_next and trace.tb_frame.f_code.co_filename == main.__code__.co_filename:
        trace = trace.tb_next
    said = "".join(traceback.format_exception(type(exc), exc, trace))
    return said.replace(tree + os.sep, "").encode("utf-8", "replace").decode()[-TEXT_LIMIT:]


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # what the project left behind to be done at exit is of no use
