"""What a command left, as readers take it."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed, last_line
from reviewbot.severity import Severity

T = TypeVar("T")
# Words of tools and formats for how bad something is.
LEVELS: dict[str, Severity] = {
    "fatal": "critical",
    "error": "medium",
    "warning": "low",
    "warn": "low",
    "info": "low",
    "information": "low",
    "note": "low",
    "none": "low",
    "style": "low",
}


def text_of(completed: Completed) -> str:
    """The report if the command wrote one, else what it printed."""
    written = completed.report or completed.stdout or completed.stderr
    return written.decode("utf-8", "replace")


def json_of(completed: Completed, type_: type[T]) -> T:
    """Decode the report or the output. Raises ValueError: msgspec's errors are such."""
    try:
        return msgspec.json.decode(completed.report or completed.stdout, type=type_)
    except msgspec.DecodeError as error:
        said = reason_of(completed) if completed.stderr else ""
        raise ValueError(said or f"the report cannot be read: {error}") from error


def reason_of(completed: Completed) -> str:
    """The end of what a command printed that left no report, as one line."""
    return " ".join(last_line(completed.stderr or completed.stdout).split())[-300:]


def location_of(name: str, line: int, end_line: int) -> Location | None:
    """The lines that a tool names, if it does; an end before the start is none."""
    path = path_of(name)
    return Location(path, line, max(line, end_line)) if path and line else None


def path_of(name: str) -> str:
    """A path as tools write it, relative to the project."""
    return name.removeprefix("file://").removeprefix("/project/").removeprefix("./")
