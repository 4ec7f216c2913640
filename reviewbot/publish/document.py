"""The review and the ledger as JSON documents (``interface.md`` §3; ``schema/*.json`` say the same to machines)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Attendance, Position, Ruling
from reviewbot.domain.evidence import CheckRun, Evidence, Ledger
from reviewbot.domain.money import Usage
from reviewbot.domain.review import Finding, Review
from reviewbot.ports import Verification
from reviewbot.publish import plain
from reviewbot.publish.document_check import check_fields as check_fields
from reviewbot.publish.document_repair import repairs_fields
from reviewbot.publish.node import SCHEMA_VERSION


def document(review: Review) -> dict[str, Any]:
    """The review document. A path that is not UTF-8 shows its bytes as ``\\xNN``."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "run_id": review.run_id,
            "tool_version": review.tool_version,
            "conclusion": review.conclusion.value,
            "verdict": review.verdict.value if review.verdict else None,
            "target": {
                "kind": review.revisions.kind,
                "base": review.revisions.base,
                "head": review.revisions.head,
                "repository": review.repository,
                "pull_request": review.pull_request,
            },
            "coverage": [{"path": item.path, "status": item.status.value, "reason": item.reason} for item in review.coverage],
            "findings": [_finding(finding) for finding in review.findings],
            "debate": {
                "criteria": dict(review.criteria),
                "rounds": review.rounds,
                "moderator": [_ruling(ruling) for ruling in review.rulings],
            },
            "evidence": [_evidence(item) for item in review.evidence],
            "panel": [_attendance(entry) for entry in review.attendance],
            "usage": {
                **usage_fields(review.bill.total),
                "by_panelist": {name: usage_fields(usage) for name, usage in review.bill.by_panelist.items()},
            },
            "timing": {
                "seconds": review.timing.seconds,
                "critical_path_seconds": review.timing.critical_path_seconds,
            },
            "sandbox": review.sandbox,
            "notes": list(review.notes),
            "range": {
                "mode": review.range_mode.value,
                "course": review.footprint.course,
                "whole": review.footprint.whole,
                "seen": list(review.footprint.seen),
            },
            "repairs": repairs_fields(review.repairs),
        }
    )
    return written


def evidence_document(ledger: Ledger, revisions: Revisions) -> dict[str, Any]:
    """The ledger document: what zone R hands to zone M."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "target": target_fields(revisions),
            "items": [_item(item) for item in ledger.items],
            "checks": [_check_run(run) for run in ledger.checks],
            "tests": {
                "passed": ledger.tests.passed,
                "failed": ledger.tests.failed,
                "measured": ledger.tests.measured,
                "executed": [{"path": path, "line": line} for path, line in sorted(ledger.tests.executed)],
            },
            "sandbox": ledger.sandbox,
            "notes": list(ledger.notes),
        }
    )
    return written


def target_fields(revisions: Revisions) -> dict[str, Any]:
    """Which change a document is about: both ends and their trees, without what is to be said of them."""
    return {
        "kind": revisions.kind,
        "base": revisions.base,
        "head": revisions.head,
        "base_tree": revisions.base_tree,
        "head_tree": revisions.head_tree,
    }


def verification_document(shown: Verification) -> dict[str, Any]:
    """What an experiment showed, as the ledger of debates keeps it."""
    written: dict[str, Any] = storable(
        {
            "schema_version": SCHEMA_VERSION,
            "check": check_fields(shown.check),
            "excerpt": shown.excerpt,
            "fixed": shown.fixed,
        }
    )
    return written


def packed(written: Mapping[str, Any]) -> str:
    """The document on one line, for what nobody reads but this program: many times faster to write."""
    return json.dumps(written, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n"


def dumps(written: Mapping[str, Any]) -> str:
    """JSON in plain ASCII, so that no terminal, pipe or encoding changes it; a number that is not finite is a ValueError.

    ``##[`` is a command to a build runner that reads it on standard output, so its first character is written as an escape.
    """
    return json.dumps(written, indent=2, ensure_ascii=True, allow_nan=False).replace("##[", "\\u0023#[") + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "fingerprint": finding.fingerprint,
        "path": finding.path,
        "start_line": finding.start_line,
        "line": finding.line,
        "side": finding.side,
        "severity": finding.severity.label,
        "category": finding.category.value,
        "title": finding.title,
        "body": finding.body,
        "failure_scenario": finding.failure_scenario,
        "quote": finding.quote,
        "status": finding.status.value,
        "lifecycle": finding.lifecycle.value,
        "proof": finding.proof.value,
        "rule": finding.rule,
        "confidence": finding.confidence.value,
        "probability": finding.probability,
        "raised_by": list(finding.raised_by),
        "pre_existing": finding.pre_existing,
        "positions": [_position(position) for position in finding.positions],
        "dissent": finding.dissent,
        "evidence": list(finding.evidence),
        "check": check_fields(finding.check) if finding.check else None,
        "versions": [
            {"round": version.round, "by": version.by, "change": version.change, "text": version.text}
            for version in finding.versions
        ],
        "settled_by": finding.settled_by.value,
        "stop_reason": finding.stop_reason,
        "suggestion": {
            "start_line": finding.suggestion.start_line,
            "line": finding.suggestion.line,
            "replacement": finding.suggestion.replacement,
        }
        if finding.suggestion
        else None,
        "grounds": list(finding.grounds),
        "near": finding.near,
        "blocks": finding.blocks,
    }


def _position(position: Position) -> dict[str, Any]:
    return {
        "panelist": position.panelist,
        "round": position.round,
        "stance": position.stance.value,
        "probability": position.probability,
        "arguments": [
            {
                "claim": argument.claim,
                "evidence": list(argument.evidence),
                "reasoning": argument.reasoning,
                "counter_arguments": list(argument.counter_arguments),
            }
            for argument in position.arguments
        ],
        "counted": position.counted,
        "check": check_fields(position.check) if position.check else None,
    }


def _ruling(ruling: Ruling) -> dict[str, Any]:
    return {"round": ruling.round, "scores": dict(ruling.scores), "open": list(ruling.open), "decision": ruling.decision}


def _attendance(entry: Attendance) -> dict[str, Any]:
    seat = entry.seat
    return {
        "name": seat.name,
        "role": seat.role,
        "model": seat.model,
        "status": entry.status.value,
        "reason": entry.reason,
    }


def usage_fields(usage: Usage) -> dict[str, Any]:
    """The same in every document. The shares follow from the counts; they spare a reader the division."""
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "local_tokens": usage.local_tokens,
        "seconds": usage.seconds,
        "replayed_calls": usage.replayed_calls,
        "paid_usd": usage.paid_usd,
        "estimated_usd": usage.estimated_usd,
        "cached_share": round(min(usage.cached_share, 1.0), 4),
        "local_share": round(min(usage.local_share, 1.0), 4),
    }


def _evidence(item: Evidence) -> dict[str, Any]:
    result = item.result
    return {
        "id": item.id,
        "kind": result.kind.value,
        "tool": result.tool,
        "command": list(result.command),
        "revision": item.revision.value,
        "exit_code": result.exit_code,
        "path": result.path,
        "line": result.line,
        "rule": result.rule,
        "excerpt": result.excerpt or result.message,
        "status": item.status.value,
    }


def _item(item: Evidence) -> dict[str, Any]:
    result = item.result
    return {
        **_evidence(item),
        "excerpt": result.excerpt,
        "end_line": result.end_line,
        "message": result.message,
        "category": result.category.value,
        "severity": result.severity.label,
        "precision": result.precision.value,
        "anchor": result.anchor,
        "trigger": result.trigger,
        "consequence": result.consequence,
        "subject": result.subject,
        "suppressed": item.suppressed,
    }


def _check_run(run: CheckRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "ran": run.ran,
        "reason": run.reason,
        "seconds": run.seconds,
        "required": run.required,
        "failed": run.failed,
        "cut_short": run.cut_short,
    }


def storable(value: Any) -> Any:
    """The value with every text, keys too, made storable."""
    if isinstance(value, str):
        return plain.storable(value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
