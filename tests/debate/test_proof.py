"""Experiments in a debate: what a check that was run again makes of its claim."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.domain.debate import Check, Proof, SettledBy, Triage
from reviewbot.domain.evidence import EvidenceKind, Ledger, Precision
from reviewbot.ports import Ask, Experiment, FirstPass, Rebuttal, Verification
from reviewbot.testing import (
    a_claim,
    claims_reply,
    evidence_item,
    position_reply,
    rebuttal_reply,
)
from tests.debate.table import HIGH, NOTHING, Answer, hold, only, scripted


def test_a_broken_test_is_accepted_and_proven_by_running_it_again() -> None:
    seen: list[Ask | Experiment] = []
    item = evidence_item(1, "a.py", 1, kind=EvidenceKind.TEST, precision=Precision.CERTAIN, subject="t.py::test_total")
    claim = replace(HIGH, evidence=("E1",), check=Check(("pytest", "t.py::test_total"), subject="t.py::test_total"))
    case = only(hold(scripted({"critic": claims_reply(claim)}, seen=seen), ledger=Ledger(items=(item,))))
    assert [asked.subject for asked in seen if isinstance(asked, Experiment)] == ["F1"]
    assert case.check == replace(claim.check, outcome="fails_at_head", evidence=("E1",))
    assert case.proof is Proof.PROVEN
    assert case.probability >= 0.95
    assert case.settled_by is SettledBy.EVIDENCE


def test_a_broken_test_that_passes_when_run_again_proves_nothing() -> None:
    item = evidence_item(1, "a.py", 1, kind=EvidenceKind.TEST, precision=Precision.CERTAIN, subject="t.py::test_total")
    claim = replace(HIGH, evidence=("E1",), check=Check(("pytest", "t.py::test_total"), subject="t.py::test_total"))

    def script(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome="unstable"))
        return claims_reply(claim) if asked.seat.name == "critic" else NOTHING

    case = only(hold(script, ledger=Ledger(items=(item,))))
    assert case.proof is Proof.UNTESTED
    assert case.triage is Triage.RECORDED
    assert "unstable" in case.stop_reason


def test_one_check_for_two_claims_has_an_outcome_for_each() -> None:
    same = Check(("pytest",), source="assert total([1])")
    first = replace(HIGH, check=same)
    second = a_claim("a.py", 4, "    return len(seen)", title="x", trigger="y", check=same)

    def script(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome="fails_at_head" if asked.line == 1 else "unrelated"))
        if isinstance(asked.question, FirstPass):
            return claims_reply(first, second) if asked.seat.name == "critic" else NOTHING
        return rebuttal_reply("defend", "a.py:2") if isinstance(asked.question, Rebuttal) else position_reply("neutral", 0.5)

    assert [case.proof for case in hold(script).cases] == [Proof.PROVEN, Proof.UNTESTED]


def test_two_written_checks_are_told_apart_by_their_text() -> None:
    first = replace(HIGH, check=Check(("pytest",), source="assert total([1])"))
    second = a_claim("a.py", 4, "    return len(seen)", title="x", trigger="y", check=Check(("pytest",), source="assert 0"))

    def script(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome="fails_at_head" if asked.subject == "F1" else "passes_at_head"))
        if isinstance(asked.question, FirstPass):
            return claims_reply(first, second) if asked.seat.name == "critic" else NOTHING
        return rebuttal_reply("defend", "a.py:2") if isinstance(asked.question, Rebuttal) else position_reply("neutral", 0.5)

    assert [case.proof for case in hold(script).cases] == [Proof.PROVEN, Proof.CONTRADICTED]
