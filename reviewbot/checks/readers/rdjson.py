"""Read rdjson and rdjsonl, the Reviewdog Diagnostic Format.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from typing import Any

from reviewbot.checks.readers.output import (
    diagnostic,
    json_lines_of,
    json_of,
    optional,
    reason_of,
    required,
)
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.sandbox.job import Completed


def read(completed: Completed) -> Report:
    """Raises ValueError if the output is neither a document nor a diagnostic a line."""
    if completed.stderr.strip() and not (completed.report or completed.stdout.strip()):
        raise ValueError(reason_of(completed))
    try:
        document = json_of(completed)
        entries = required(document, "diagnostics", list)
    except ValueError:
        document, entries = {}, json_lines_of(completed)
    level = optional(document, "severity", "")
    return Report(diagnostics=tuple(_diagnostic(entry, level) for entry in entries))


def _diagnostic(entry: Any, default: str) -> Diagnostic:
    return diagnostic(
        rule=optional(entry, "code.value", ""),
        message=required(entry, "message", str),
        level=optional(entry, "severity", "") or default,
        path=required(entry, "location.path", str),
        line=optional(entry, "location.range.start.line", 0),
        end_line=optional(entry, "location.range.end.line", 0),
    )
