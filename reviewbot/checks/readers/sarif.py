"""Read SARIF 2.1.0, the OASIS Static Analysis Results Interchange Format."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from reviewbot.checks.readers.output import diagnostic, json_of, optional, required
from reviewbot.checks.report import Diagnostic, Report
from reviewbot.sandbox.job import Completed

PLACE = "locations.0.physicalLocation"
REGION = f"{PLACE}.region"
NOTHING: list[Any] = []


def read(completed: Completed) -> Report:
    """Raises ValueError if it is no SARIF log, or if the tool says that it failed."""
    found: list[Diagnostic] = []
    for run in required(json_of(completed), "runs", list):
        for invocation in optional(run, "invocations", NOTHING):
            if not optional(invocation, "executionSuccessful", True):
                said = "toolExecutionNotifications.0.message.text"
                reason = optional(invocation, said, "it does not say why")
                raise ValueError(f"the tool failed: {reason}")
        found += map(_diagnostic, filter(_is_reported, optional(run, "results", NOTHING)))
    return Report(diagnostics=tuple(found))


def _is_reported(result: Any) -> bool:
    suppressions = optional(result, "suppressions", NOTHING)
    is_suppressed = any(optional(s, "status", "accepted") == "accepted" for s in suppressions)
    return optional(result, "kind", "fail") == "fail" and not is_suppressed


def _diagnostic(result: Any) -> Diagnostic:
    return diagnostic(
        rule=optional(result, "ruleId", "") or optional(result, "rule.id", ""),
        message=optional(result, "message.text", ""),
        level=optional(result, "level", "warning"),
        path=unquote(optional(result, f"{PLACE}.artifactLocation.uri", "")),
        line=optional(result, f"{REGION}.startLine", 0),
        end_line=optional(result, f"{REGION}.endLine", 0),
    )
