"""Plans, calls and reviews to keep."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import (
    Argument,
    Attendance,
    Check,
    Position,
    Proof,
    Seat,
    SeatStatus,
    SettledBy,
    Stance,
    Version,
)
from reviewbot.domain.evidence import Category, Severity
from reviewbot.domain.money import Usage
from reviewbot.domain.review import (
    Conclusion,
    Confidence,
    Finding,
    FindingStatus,
    Review,
    Suggestion,
    Verdict,
)
from reviewbot.ports import CallState, Recorded, SessionPlan, Wanted

SEATS = (("critic", "critic", "one:a"), ("reviewer", "reviewer", "two:b"))
PLAN = SessionPlan(
    key=hashlib.sha256(b"plan").hexdigest(),
    run_id="01RUN",
    project="owner/name",
    base="b" * 40,
    head="a" * 40,
    title="Divide",
    seats=SEATS,
)


def plan(run: str, **changes: Any) -> SessionPlan:
    return replace(PLAN, run_id=run, **changes)


def wanted(number: int = 1, **changes: Any) -> Wanted:
    """The call of that number: equal numbers are equal calls."""
    call = Wanted(
        key=hashlib.sha256(str(number).encode()).hexdigest(),
        model="one:a",
        seat="critic",
        phase="S1",
        subject="P1",
        round=1,
        attempt=1,
        step=0,
        system="You are on a panel.",
        prefix="the change " * 50,
        suffix=f"question {number}",
        exchanges="[]",
        parameters='{"effort": "medium"}',
    )
    return replace(call, **changes)


def answered(text: str = "yes", *, stop: str = "end", cost: float = 0.25, **more: Any) -> Recorded:
    usage = Usage(calls=1, input_tokens=100, cached_input_tokens=60, output_tokens=10, cost_usd=cost, paid_usd=cost, seconds=1.5)
    return Recorded(CallState.ANSWERED, json.dumps({"stop": stop, "text": text, **more}), usage, 1.5, "ok")


def failed(why: str = "overloaded") -> Recorded:
    return Recorded(CallState.FAILED, json.dumps({"fault": why}), Usage(calls=1, seconds=0.5), 0.5, why)


FINDING = Finding(
    id="F1",
    fingerprint="f" * 64,
    path="a.py",
    start_line=2,
    line=3,
    severity=Severity.HIGH,
    category=Category.CORRECTNESS,
    title="Divides by nought",
    body="The divisor may be 0.",
    failure_scenario="f(0)",
    quote="return 1 / x",
    status=FindingStatus.ACCEPTED,
    proof=Proof.PROVEN,
    confidence=Confidence.PROVEN,
    probability=0.97,
    raised_by=("critic",),
    settled_by=SettledBy.EVIDENCE,
    stop_reason="proven",
    positions=(
        Position("reviewer", 1, Stance.OPPOSE, 0.2, (Argument("no", ("E1", "a.py:3"), "because", ("but",)),), counted=False),
        Position("reviewer", 2, Stance.SUPPORT, 0.9),
    ),
    versions=(Version(1, "critic", "raised", "it divides"),),
    evidence=("E1",),
    dissent="Reviewer: hardly",
    check=Check(("pytest", "-q"), "def test(): ...", "test_f", "fails_at_head", ("E2",)),
    suggestion=Suggestion(2, 3, "return 1 / x if x else 0\n"),
)


def review(*findings: Finding, lost: str = "") -> Review:
    seats = tuple(Seat(name, role, model, model.split(":")[0]) for name, role, model in SEATS)
    return Review(
        run_id="01RUN",
        tool_version="0",
        conclusion=Conclusion.COMPLETE,
        verdict=Verdict.COMMENT,
        revisions=Revisions("range", "b" * 40, "a" * 40, None, None),
        findings=findings,
        attendance=tuple(
            Attendance(seat, SeatStatus.LOST, "hung") if seat.name == lost else Attendance(seat, SeatStatus.OK) for seat in seats
        ),
    )
