"""The review as reviewdog's diagnostic format: what is told, nothing else.

The format has no place for what a run cost, and its reader refuses fields that it does not know.
"""

from __future__ import annotations

from typing import Any

from reviewbot.domain.evidence import Severity
from reviewbot.domain.review import Finding, Review
from reviewbot.publish import document, phrases, plain, suggested

_SEVERITIES = {Severity.CRITICAL: "ERROR", Severity.HIGH: "ERROR", Severity.MEDIUM: "WARNING", Severity.LOW: "INFO"}


def render(review: Review) -> str:
    """One JSON object with all diagnostics."""
    return document.dumps({"source": {"name": "reviewbot"}, "diagnostics": [_diagnostic(finding) for finding in review.posted()]})


def _diagnostic(finding: Finding) -> dict[str, Any]:
    offered = phrases.suggestion(finding)
    draft = f"\n\nThe suggestion is {suggested.LABEL}." if offered else ""
    location: dict[str, Any] = {"path": plain.storable(finding.path)}
    if finding.line:
        location["range"] = _range(finding.start_line, finding.line)
    found: dict[str, Any] = {
        "message": plain.text(f"{finding.title}\n\n{finding.failure_scenario}\n{finding.body}{draft}").strip(),
        "location": location,
        "severity": _SEVERITIES[finding.severity],
        "code": {"value": plain.line(finding.rule or f"reviewbot/{finding.category.value}")},
    }
    if offered:
        replacement = offered.replacement.removesuffix("\n")
        found["suggestions"] = [{"range": _range(offered.start_line, offered.line), "text": replacement}]
    return found


def _range(start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": start or end}, "end": {"line": end}}
