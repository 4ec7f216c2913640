"""What a command left, as readers take it."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from reviewbot.checks.report import Diagnostic
from reviewbot.git.change import Location
from reviewbot.sandbox.job import Completed, last_line
from reviewbot.severity import Severity

T = TypeVar("T")
# Words of tools and formats for how bad something is.
LEVELS: dict[str, Severity] = {
    "fatal": "critical",
    "error": "medium",
    **dict.fromkeys(("warning", "warn", "info", "information", "note", "none", "style"), "low"),
}


def text_of(completed: Completed) -> str:
    """The report if the command wrote one, else what it printed."""
    written = completed.report or completed.stdout or completed.stderr
    return written.decode("utf-8", "replace")


def json_of(completed: Completed, type_: Any = Any) -> Any:
    """Decode the report or the output. Raises ValueError."""
    try:
        return msgspec.json.decode(completed.report or completed.stdout, type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        said = reason_of(completed) if completed.stderr else ""
        raise ValueError(said or f"the report cannot be read: {error}") from error


def json_lines_of(completed: Completed) -> list[Any]:
    """Decode a document a line. Raises ValueError."""
    try:
        return msgspec.json.Decoder().decode_lines(completed.report or completed.stdout)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(reason_of(completed) or str(error)) from error


def required(document: Any, path: str, kind: type[T]) -> T:
    """What stands at dotted keys of a JSON document, such as "locations.0.uri".

    Raises ValueError if it is not there, or of another type.
    """
    value = _at(document, path)
    if not isinstance(value, kind):
        raise ValueError(f"the report cannot be read: {path} is missing, or is no {kind.__name__}")
    return value


def optional(document: Any, path: str, default: T) -> T:
    """The same, or a default of the same type if it is not there."""
    return default if _at(document, path) is None else required(document, path, type(default))


def _at(document: Any, path: str) -> Any:
    for key in path.split("."):
        if isinstance(document, list):
            document = document[int(key)] if int(key) < len(document) else None
        elif document is not None:
            document = document.get(key) if isinstance(document, dict) else ()
    return document


def diagnostic(
    rule: str, message: str, level: str, path: str, line: int, end_line: int = 0
) -> Diagnostic:
    """What a tool says of some lines, or of no place if `path` or `line` is missing.

    Of the message, only the first line counts. A level is a word of LEVELS.
    """
    path = path_of(path)
    place = Location(path, line, max(line, end_line)) if path and line else None
    return Diagnostic(
        rule=rule or "message",
        message=message.strip().partition("\n")[0],
        severity=LEVELS.get(level.lower(), "low"),
        location=place,
    )


def reason_of(completed: Completed) -> str:
    """The end of what a command printed that left no report, as one line."""
    return " ".join(last_line(completed.stderr or completed.stdout).split())[-300:]


def path_of(name: str) -> str:
    """A path as tools write it, relative to the project."""
    return name.removeprefix("file://").removeprefix("/project/").removeprefix("./")
