"""A suggested replacement as lines to take away and lines to put there. It is a draft: nothing has verified it."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.review import Finding
from reviewbot.publish import phrases

LABEL = "not verified"
"""What stands beside every suggestion: no check has run on it."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """A line of a suggestion: ``mark`` is ``-`` or ``+``, ``number`` that of a line at head that goes (0: it comes)."""

    mark: str
    number: int
    text: str


def lines(finding: Finding) -> tuple[Replaced, ...]:
    """What goes, as far as it is shown around the finding, then what comes. Nothing where nothing may be offered."""
    offered = phrases.suggestion(finding)
    if offered is None:
        return ()
    gone = [Replaced("-", line.number, line.text) for line in finding.code if offered.start_line <= line.number <= offered.line]
    written = offered.replacement.removesuffix("\n")
    return (*gone, *(Replaced("+", 0, text) for text in written.split("\n") if written))


def place(finding: Finding) -> str:
    """Which lines of the head it replaces."""
    offered = finding.suggestion
    if offered is None:
        return ""
    if offered.start_line == offered.line:
        return f"line {offered.line}"
    return f"lines {offered.start_line}–{offered.line}"
