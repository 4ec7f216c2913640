"""What ``reviewbot fix`` is to make beside fixes of findings: read from what was typed."""

from __future__ import annotations

import sys
from pathlib import Path

from reviewbot.cli.options import FixArguments
from reviewbot.domain.repair import Goal
from reviewbot.errors import UsageError
from reviewbot.pipeline.goals import Wanted

MOST_REPORT = 2_000_000
"""Bytes of a report that are read: a log may be of any length."""


def wanted(arguments: FixArguments) -> Wanted | None:
    """The goal that is pursued, ``None`` for a review. Raises UsageError for words that do not belong together."""
    goal = Goal(arguments.goal) if arguments.goal else None
    _expect_together(arguments, goal)
    if arguments.report is not None:
        return Wanted(Goal.REPORT, _report(arguments.report))
    if goal is None:
        return None
    paths = (arguments.target,) if goal is Goal.REFACTOR and arguments.target else ()
    return Wanted(goal, arguments.instruction, paths, arguments.benchmark)


def _expect_together(arguments: FixArguments, goal: Goal | None) -> None:
    if arguments.report is not None and goal is not None:
        raise UsageError("--report and --goal exclude each other", hint="pursue one after the other")
    if arguments.finding and (goal is not None or arguments.report is not None):
        raise UsageError("--finding names what a review found", hint="leave it out with --goal and --report")
    if (goal is Goal.PERFORMANCE) != bool(arguments.benchmark):
        raise UsageError("--goal performance and --benchmark belong together", hint="say what is to be faster: --benchmark CMD")
    if goal is Goal.REFACTOR and not arguments.target:
        raise UsageError("--goal refactor needs a path", hint="name a file or a folder: --goal refactor src/x.py")
    if arguments.instruction and goal is not Goal.REFACTOR:
        raise UsageError("--instruction belongs to --goal refactor", hint="leave it out")


def _report(name: str) -> str:
    """The text of a report, its beginning where it is long."""
    try:
        if name == "-":
            if sys.stdin is None:
                raise UsageError("standard input is closed", hint="pipe a report in, or name a file")
            data = sys.stdin.buffer.read(MOST_REPORT)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MOST_REPORT)
    except OSError as exc:
        raise UsageError(f"cannot read {name}: {exc.strerror}", hint="name a file, or - for standard input") from exc
    if not data.strip():
        raise UsageError("the report is empty", hint="give an issue's text, a traceback or a log")
    return data.decode("utf-8", "replace")
