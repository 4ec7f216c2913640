"""A review's findings, positions and code versions as rows, and a finding read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, insert

from reviewbot.adapters.store.tables import code_versions, findings, positions
from reviewbot.adapters.store.texts import storable
from reviewbot.domain.debate import Position
from reviewbot.domain.review import Finding, Review


def bodies(review: Review) -> tuple[str, ...]:
    """The long texts of all rows."""
    return tuple(_bodies(review))


def write(connection: Connection, session: str, review: Review, *, hashes: Mapping[str, str]) -> None:
    """Insert them all. ``hashes`` names every text of ``bodies``."""
    for place, finding in enumerate(review.findings):
        connection.execute(insert(findings).values(session_id=session, place=place, **_finding(finding, hashes)))
        for number, said in enumerate(finding.positions):
            key = {"session_id": session, "finding": storable(finding.id), "place": number}
            connection.execute(insert(positions).values(key | _position(said, hashes)))
    for place, version in enumerate(_versions(review, hashes)):
        connection.execute(insert(code_versions).values(session_id=session, place=place, **version))


def details(finding: Finding) -> str:
    """What no query asks for, as JSON."""
    known = {
        "body": finding.body,
        "failure_scenario": finding.failure_scenario,
        "quote": finding.quote,
        "confidence": finding.confidence.value,
        "stop_reason": finding.stop_reason,
        "dissent": finding.dissent,
        "rule": finding.rule,
        "lifecycle": finding.lifecycle.value,
        "pre_existing": finding.pre_existing,
        "side": finding.side,
        "evidence": finding.evidence,
        "versions": [[step.round, step.by, step.change, step.text] for step in finding.versions],
        "check": _check(finding),
    }
    return json.dumps(known, separators=(",", ":"))


def arguments(said: Position) -> str:
    """A position's reasons, as JSON."""
    reasons = [[reason.claim, reason.evidence, reason.reasoning, reason.counter_arguments] for reason in said.arguments]
    return json.dumps(reasons, separators=(",", ":"))


def _bodies(review: Review) -> Iterator[str]:
    for finding in review.findings:
        yield details(finding)
        yield from map(arguments, finding.positions)
        if finding.suggestion is not None:
            yield finding.suggestion.replacement


def _check(finding: Finding) -> dict[str, Any] | None:
    check = finding.check
    if check is None:
        return None
    return {
        "command": check.command,
        "source": check.source,
        "subject": check.subject,
        "outcome": check.outcome,
        "evidence": check.evidence,
        "kind": check.kind.value,
        "author": check.author,
    }


def _finding(finding: Finding, hashes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": storable(finding.id),
        "fingerprint": storable(finding.fingerprint),
        "path": storable(finding.path),
        "start_line": finding.start_line,
        "line": finding.line,
        "severity": finding.severity.label,
        "category": finding.category.value,
        "title": storable(finding.title),
        "status": finding.status.value,
        "proof": finding.proof.value,
        "probability": finding.probability,
        "settled_by": finding.settled_by.value,
        "raised_by": json.dumps(finding.raised_by),
        "details": hashes[details(finding)],
    }


def _position(said: Position, hashes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "panelist": storable(said.panelist),
        "round": said.round,
        "stance": said.stance.value,
        "probability": said.probability,
        "counted": said.counted,
        "arguments": hashes[arguments(said)],
    }


def _versions(review: Review, hashes: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for kind, revision in (("base", review.revisions.base), ("head", review.revisions.head)):
        yield {"kind": kind, "revision": storable(str(revision or ""))}
    for finding in review.findings:
        if finding.suggestion is not None:
            yield {
                "kind": "suggestion",
                "revision": storable(str(review.revisions.head or "")),
                "finding": storable(finding.id),
                "path": storable(finding.path),
                "start_line": finding.suggestion.start_line,
                "line": finding.suggestion.line,
                "body": hashes[finding.suggestion.replacement],
            }
