"""The review as SARIF 2.1.0 (OASIS, errata 01).

What is told is a result; a question is one of kind ``review``. A dismissed finding is a suppressed result, what stayed below
the threshold is none. The baseline is the base of the change: what was there before is ``unchanged``.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from reviewbot.domain.debate import Attendance
from reviewbot.domain.evidence import Category, Evidence, Severity
from reviewbot.domain.review import Conclusion, Finding, FindingStatus, Lifecycle, Review
from reviewbot.publish import document, phrases, plain, spending, suggested

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_LEVELS = {Severity.CRITICAL: "error", Severity.HIGH: "error", Severity.MEDIUM: "warning", Severity.LOW: "note"}
_SECURITY_SCORES = {Severity.CRITICAL: "9.5", Severity.HIGH: "8.0", Severity.MEDIUM: "5.5", Severity.LOW: "2.0"}
"""Middle of the CVSS band of the same name: what code scanning sorts security results by."""


def render(review: Review) -> str:
    """One SARIF log with one run."""
    return document.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(review)]})


def _run(review: Review) -> dict[str, Any]:
    told = [finding for finding in review.findings if finding.status is not FindingStatus.BELOW_THRESHOLD]
    rules = list(dict.fromkeys(_rule_id(finding) for finding in told))
    return {
        "tool": {
            "driver": {
                "name": "reviewbot",
                "version": plain.line(review.tool_version),
                "rules": [_rule(rule, [finding for finding in told if _rule_id(finding) == rule]) for rule in rules],
            }
        },
        "automationDetails": {"id": "reviewbot/"},
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(review)],
        "results": [_result(finding, review, rules) for finding in told],
        "properties": {
            "conclusion": review.conclusion.value,
            "verdict": review.verdict.value if review.verdict else None,
            "panel": plain.line(phrases.panel(review)),
            "sandbox": plain.line(review.sandbox),
            "seats": [_seat(entry) for entry in review.attendance],
            "moderator": [plain.line(decision) for decision in phrases.decisions(review)],
            "usage": _usage(review),
        },
    }


def _seat(entry: Attendance) -> dict[str, Any]:
    seat = entry.seat
    return {
        "name": plain.line(seat.name),
        "role": plain.line(seat.role),
        "model": plain.line(seat.model),
        "status": plain.line(phrases.fate(entry)),
    }


def _usage(review: Review) -> dict[str, Any]:
    """What the run consumed, as the review document has it; a panel without models has nothing to add up."""
    by_panelist = {plain.line(share.name): document.usage_fields(share.usage) for share in spending.shares(review)}
    return {**document.usage_fields(review.bill.total), "by_panelist": by_panelist, "text": spending.total(review)}


def _rule_id(finding: Finding) -> str:
    return plain.line(finding.rule or "") or f"reviewbot/{finding.category.value}"


def _rule(rule: str, findings: list[Finding]) -> dict[str, Any]:
    worst = max(finding.severity for finding in findings)
    categories = list(dict.fromkeys(finding.category for finding in findings))
    properties: dict[str, Any] = {"tags": [category.value for category in categories]}
    if Category.SECURITY in categories:
        properties["security-severity"] = _SECURITY_SCORES[worst]
    return {
        "id": rule,
        "shortDescription": {"text": f"{categories[0].value.capitalize()}: {rule}"},
        "defaultConfiguration": {"level": _LEVELS[worst]},
        "properties": properties,
    }


def _invocation(review: Review) -> dict[str, Any]:
    notices = [f"{item.path}: {item.status.value}: {item.reason or 'no reason given'}" for item in phrases.unseen(review)]
    return {
        "executionSuccessful": review.conclusion is Conclusion.COMPLETE,
        "toolExecutionNotifications": [
            {"level": level, "message": _message(words)}
            for level, group in (("warning", notices), ("note", review.notes))
            for words in group
        ],
    }


def _result(finding: Finding, review: Review, rules: list[str]) -> dict[str, Any]:
    question = finding.status is FindingStatus.CONTESTED
    result: dict[str, Any] = {
        "ruleId": _rule_id(finding),
        "ruleIndex": rules.index(_rule_id(finding)),
        "kind": "review" if question else "fail",
        "level": "none" if question else _LEVELS[finding.severity],
        "message": _message(f"{finding.title}\n\n{finding.failure_scenario}\n{finding.body}"),
        "locations": [_location(finding.path, finding.start_line, finding.line, quoted=finding.quote)],
        "partialFingerprints": {"reviewbot/v1": plain.line(finding.fingerprint)},
        "baselineState": _baseline(finding),
        "properties": _properties(finding, review),
    }
    cited = [item for item in review.evidence if item.id in finding.evidence and item.result.path]
    if cited:
        result["relatedLocations"] = [_related(item, number) for number, item in enumerate(cited, start=1)]
    if finding.status is FindingStatus.DISMISSED:
        reason = plain.text(finding.stop_reason) or "dismissed"
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    if offered := phrases.suggestion(finding):
        replacement = {
            "deletedRegion": {"startLine": max(1, offered.start_line), "endLine": max(1, offered.line)},
            "insertedContent": {"text": offered.replacement.removesuffix("\n")},
        }
        change = {"artifactLocation": _artifact(finding.path), "replacements": [replacement]}
        result["fixes"] = [{"description": _message(f"A draft, {suggested.LABEL}"), "artifactChanges": [change]}]
    return result


def _properties(finding: Finding, review: Review) -> dict[str, Any]:
    return {
        "id": plain.line(finding.id),
        "severity": finding.severity.label,
        "category": finding.category.value,
        "probability": finding.probability,
        "proof": finding.proof.value,
        "confidence": finding.confidence.value,
        "settled_by": finding.settled_by.value,
        "dissent": plain.text(finding.dissent) if finding.dissent else None,
        "votes": {plain.line(vote.panelist): vote.mark.name.lower() for vote in phrases.votes(finding, review)},
    }


def _baseline(finding: Finding) -> str:
    if finding.lifecycle is Lifecycle.FIXED:
        return "absent"
    return "unchanged" if finding.pre_existing else "new"


def _related(item: Evidence, number: int) -> dict[str, Any]:
    words = f"{item.id}: {item.result.tool}: {item.result.message or item.result.excerpt}"
    return {"id": number, "message": _message(words), **_location(item.result.path, item.result.line, item.result.line)}


def _location(path: str, start: int, end: int, *, quoted: str = "") -> dict[str, Any]:
    first, last = max(1, start or end), max(1, end)
    region: dict[str, Any] = {"startLine": first, "endLine": max(first, last)}
    if quoted:
        region["snippet"] = {"text": plain.text(quoted)}
    return {"physicalLocation": {"artifactLocation": _artifact(path), "region": region}}


def _artifact(path: str) -> dict[str, Any]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape"), safe="/"), "uriBaseId": _ROOT}


def _message(words: str) -> dict[str, Any]:
    """A plain message; ``[words](target)`` would be an embedded link (SARIF 2.1.0 §3.11.6)."""
    return {"text": plain.text(words).strip().replace("](", "] (") or "no words"}
