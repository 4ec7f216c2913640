"""Findings as annotations: of a check run, and as commands to the build runner where nothing may be posted."""

from __future__ import annotations

from collections.abc import Iterable

from reviewbot.domain.action import (
    Annotation,
    Level,
)
from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Finding, FindingStatus, Review
from reviewbot.publish import phrases, plain

MOST = 100
"""Of a check run: two calls' worth. The summary has all."""

MOST_OF_A_STEP = 10
"""Warnings, and errors, that a build runner shows of one step (``faults.md`` G11)."""

_TITLE, _MESSAGE = 200, 4_000
_COMMANDS = {Level.FAILURE: "error", Level.WARNING: "warning", Level.NOTICE: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def of_findings(review: Review, fail_on: Severity | None) -> tuple[Annotation, ...]:
    """What is told, worst first, as far as it has lines at head."""
    placed = (finding for finding in review.posted() if finding.line > 0 and finding.side != "LEFT")
    return tuple(_annotation(finding, fail_on) for finding, _ in zip(placed, range(MOST), strict=False))


def commands(review: Review, fail_on: Severity | None) -> tuple[str, ...]:
    """Lines for the build runner's log, at most ten warnings and ten errors. Each is one command and holds no other: they are
    printed as they are."""
    found = of_findings(review, fail_on)
    errors = [_command(note) for note in found if note.level is Level.FAILURE]
    warnings = [_command(note) for note in found if note.level is not Level.FAILURE]
    return (*errors[:MOST_OF_A_STEP], *warnings[:MOST_OF_A_STEP])


def notice(words: str) -> str:
    """A line for the build runner's log that says something of the run itself."""
    return f"::notice title=reviewbot::{_escaped([plain.text(words)])}"


def _annotation(finding: Finding, fail_on: Severity | None) -> Annotation:
    failing = fail_on is not None and finding.status is FindingStatus.ACCEPTED and finding.severity >= fail_on
    words = [f"When: {finding.failure_scenario}", f"Then: {finding.body}", f"Proof: {phrases.proof(finding)}"]
    message = plain.shortened(plain.terminal("\n".join(words)), _MESSAGE)
    return Annotation(
        path=plain.storable(finding.path),
        start_line=finding.start_line or finding.line,
        end_line=finding.line,
        level=Level.FAILURE if failing else Level.WARNING,
        title=plain.shortened(plain.line(f"{finding.id} {finding.severity.label}: {finding.title}"), _TITLE),
        message=message,
    )


def _command(note: Annotation) -> str:
    place = {"file": note.path, "line": str(note.start_line), "endLine": str(note.end_line), "title": note.title}
    said = ",".join(f"{key}={plain.terminal(value).translate(_PROPERTY)}" for key, value in place.items())
    return f"::{_COMMANDS[note.level]} {said}::{_escaped([note.message])}"


def _escaped(words: Iterable[str]) -> str:
    return plain.defuse("\n".join(words)).translate(_DATA)
