"""Read rdjson and rdjsonl, the Reviewdog Diagnostic Format.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from reviewbot.checks.readers.output import LEVELS, location_of, reason_of, text_of
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.sandbox.job import Completed


class Position(Struct, frozen=True):
    line: int = 0


class Range(Struct, frozen=True):
    start: Position = Position()
    end: Position | None = None


class Place(Struct, frozen=True):
    path: str
    range: Range | None = None


class Code(Struct, frozen=True):
    value: str = ""


class Entry(Struct, frozen=True):
    message: str
    location: Place
    severity: str = ""
    code: Code = Code()


class Document(Struct, frozen=True):
    diagnostics: list[Entry]
    severity: str = ""


def read(completed: Completed) -> Report:
    """Raises ValueError if the output is neither a document nor a diagnostic a line."""
    text = text_of(completed).strip()
    try:
        document = msgspec.json.decode(text, type=Document)
    except msgspec.DecodeError:
        try:
            lines = text.splitlines()
            document = Document([msgspec.json.decode(line, type=Entry) for line in lines if line])
        except msgspec.DecodeError as error:
            raise ValueError(reason_of(completed) or f"not rdjson: {error}") from error
    return Report(
        diagnostics=tuple(_diagnostic(e, document.severity) for e in document.diagnostics)
    )


def _diagnostic(entry: Entry, default: str) -> Diagnostic:
    span = entry.location.range
    start, end = (span.start, span.end) if span else (Position(), None)
    return Diagnostic(
        rule=entry.code.value or "message",
        message=entry.message.strip().partition("\n")[0],
        severity=LEVELS.get((entry.severity or default).lower(), "low"),
        location=location_of(entry.location.path, start.line, end.line if end else 0),
    )
