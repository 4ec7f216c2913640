"""What is told and what the verdict is: executed evidence outranks votes, and nothing that failed looks like a pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.consensus import identity
from reviewbot.consensus.policy import PolicyOptions, Shown, conclusion, findings, verdict
from reviewbot.domain.change import Coverage, CoverageStatus
from reviewbot.domain.debate import (
    Argument,
    Attendance,
    Case,
    Position,
    Proof,
    Seat,
    SeatStatus,
    SettledBy,
    Stance,
    Transcript,
    Triage,
)
from reviewbot.domain.evidence import Category, CheckRun, EvidenceKind, EvidenceStatus, Ledger, Precision, Severity
from reviewbot.domain.review import Conclusion, Confidence, FindingStatus, Verdict
from reviewbot.testing import a_claim, a_passage, evidence_item

TEXT = "def f(a=[]):\n    return eval(a)\nx = 1"
SHOWN = Shown((a_passage("a.py", TEXT),), {"a.py": tuple(TEXT.split("\n"))}, {"a.py": "a.py"})
RAN = Ledger(checks=(CheckRun("ruff", ran=True),), sandbox="bubblewrap")
SEEN = (Coverage("a.py", CoverageStatus.REVIEWED),)


def case(**changes: object) -> Case:
    claim = a_claim("a.py", 2, "    return eval(a)")
    made = Case("F1", (claim,), Severity.MEDIUM, Triage.DEBATED, "", probability=0.7, settled_by=SettledBy.VOTE)
    return replace(made, **changes)  # type: ignore[arg-type]


def status(made: Case, **options: object) -> FindingStatus:
    return findings(Transcript(cases=(made,)), SHOWN, PolicyOptions(**options))[0].status  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (case(), FindingStatus.ACCEPTED),
        (case(probability=0.64), FindingStatus.BELOW_THRESHOLD),
        (case(probability=0.2, triage=Triage.ACCEPTED), FindingStatus.ACCEPTED),
        (case(withdrawn=True), FindingStatus.BELOW_THRESHOLD),
        (case(probability=0.5, severity=Severity.HIGH, deadlocked=True), FindingStatus.CONTESTED),
        (case(probability=0.5, deadlocked=True), FindingStatus.BELOW_THRESHOLD),
        (case(probability=0.1, severity=Severity.HIGH, proof=Proof.CONTRADICTED), FindingStatus.CONTESTED),
        (case(probability=0.1, proof=Proof.CONTRADICTED), FindingStatus.BELOW_THRESHOLD),
        (
            case(probability=0.1, proof=Proof.CONTRADICTED, claims=(a_claim("a.py", 2, "x", category=Category.SECURITY),)),
            FindingStatus.CONTESTED,
        ),
    ],
)
def test_what_becomes_of_a_case(made: Case, expected: FindingStatus) -> None:
    assert status(made) is expected


def test_the_posting_level_and_the_severity_floor_are_configurable() -> None:
    assert status(case(), posting="precise") is FindingStatus.BELOW_THRESHOLD
    assert status(case(probability=0.5), posting="exhaustive") is FindingStatus.ACCEPTED
    assert status(case(), min_severity=Severity.HIGH) is FindingStatus.BELOW_THRESHOLD


def test_prose_alone_never_blocks_however_sure_it_is() -> None:
    told = findings(Transcript(cases=(case(probability=0.99, severity=Severity.CRITICAL),)), SHOWN, PolicyOptions())
    assert verdict(Conclusion.COMPLETE, told, RAN, coverage=SEEN) is Verdict.COMMENT


@pytest.mark.parametrize(
    "changes",
    [{"probability": 0.84}, {"severity": Severity.MEDIUM}, {"withdrawn": True}],
    ids=["not likely enough", "not grave enough", "withdrawn"],
)
def test_a_proof_blocks_only_what_is_grave_and_likely_and_accepted(changes: dict[str, object]) -> None:
    proven = case(probability=0.85, severity=Severity.HIGH, proof=Proof.PROVEN, settled_by=SettledBy.EVIDENCE)
    told = findings(Transcript(cases=(proven,)), SHOWN, PolicyOptions())
    assert verdict(Conclusion.COMPLETE, told, RAN, coverage=SEEN) is Verdict.REQUEST_CHANGES
    milder = findings(Transcript(cases=(replace(proven, **changes),)), SHOWN, PolicyOptions())  # type: ignore[arg-type]
    assert verdict(Conclusion.COMPLETE, milder, RAN, coverage=SEEN) is not Verdict.REQUEST_CHANGES


def test_a_static_seat_that_was_lost_makes_the_review_partial_and_a_models_seat_does_not() -> None:
    seat = Seat("critic", "critic", "static", "static")
    lost = Attendance(seat, SeatStatus.LOST, "its answer cannot be read")
    whole, reasons = conclusion((), RAN, Transcript(attendance=(lost,)))
    assert (whole, reasons) == (Conclusion.PARTIAL, ("critic of the static panel was lost: its answer cannot be read",))
    other = replace(lost, seat=replace(seat, model="openai:m", family="openai"))
    assert conclusion((), RAN, Transcript(attendance=(other,)))[0] is Conclusion.COMPLETE


def test_a_case_that_ran_out_of_time_makes_the_review_partial() -> None:
    unheard = case(settled_by=SettledBy.BUDGET)
    assert conclusion((), RAN, Transcript(cases=(unheard,))) == (Conclusion.PARTIAL, ("F1: nobody answered in time",))
    assert conclusion((), RAN, Transcript(cases=(replace(unheard, triage=Triage.RECORDED),)))[0] is Conclusion.COMPLETE


def test_an_executed_proof_of_something_grave_blocks_also_in_a_partial_review() -> None:
    proven = case(probability=0.95, severity=Severity.HIGH, proof=Proof.PROVEN, settled_by=SettledBy.EVIDENCE)
    told = findings(Transcript(cases=(proven,)), SHOWN, PolicyOptions())
    assert verdict(Conclusion.COMPLETE, told, RAN, coverage=SEEN) is Verdict.REQUEST_CHANGES
    assert verdict(Conclusion.PARTIAL, told, RAN, coverage=SEEN) is Verdict.REQUEST_CHANGES


@pytest.mark.parametrize("settled_by", [SettledBy.EVIDENCE, SettledBy.VOTE, SettledBy.AGREEMENT])
@pytest.mark.parametrize(
    ("precision", "proof", "expected"),
    [
        (Precision.LIKELY, Proof.UNTESTED, Verdict.REQUEST_CHANGES),
        (Precision.HEURISTIC, Proof.UNTESTED, Verdict.COMMENT),
        (Precision.LIKELY, Proof.CONTRADICTED, Verdict.COMMENT),
    ],
)
def test_a_tool_s_result_blocks_however_it_was_settled_unless_it_was_contradicted(
    settled_by: SettledBy, precision: Precision, proof: Proof, expected: Verdict
) -> None:
    ledger = replace(RAN, items=(evidence_item(1, "a.py", 2, precision=precision, severity=Severity.HIGH),))
    claim = a_claim("a.py", 2, "    return eval(a)", evidence=("E1",))
    made = case(claims=(claim,), probability=0.9, severity=Severity.HIGH, proof=proof, settled_by=settled_by)
    told = findings(Transcript(cases=(made,)), SHOWN, PolicyOptions())
    assert verdict(Conclusion.COMPLETE, told, ledger, coverage=SEEN) is expected
    tests = replace(ledger.items[0], result=replace(ledger.items[0].result, kind=EvidenceKind.TEST))
    assert verdict(Conclusion.COMPLETE, told, replace(ledger, items=(tests,)), coverage=SEEN) is Verdict.COMMENT


def test_approval_wants_a_whole_review_with_executed_checks_and_nothing_to_tell() -> None:
    assert verdict(Conclusion.COMPLETE, (), RAN, coverage=SEEN) is Verdict.APPROVE
    assert verdict(Conclusion.PARTIAL, (), RAN, coverage=SEEN) is Verdict.COMMENT
    assert verdict(Conclusion.COMPLETE, (), Ledger(), coverage=SEEN) is Verdict.COMMENT
    assert verdict(Conclusion.COMPLETE, (), replace(RAN, sandbox="none"), coverage=SEEN) is Verdict.COMMENT
    assert (
        verdict(Conclusion.COMPLETE, (), replace(RAN, checks=(CheckRun("analysers", ran=True),)), coverage=SEEN)
        is Verdict.COMMENT
    )
    assert verdict(Conclusion.NOT_REVIEWED, (), RAN, coverage=SEEN) is None


@pytest.mark.parametrize("precision", [Precision.CERTAIN, Precision.HEURISTIC])
def test_a_test_that_turned_red_forbids_approval_even_where_nobody_tells_it(precision: Precision) -> None:
    red = evidence_item(1, "a.py", 1, kind=EvidenceKind.TEST, precision=precision)
    assert verdict(Conclusion.COMPLETE, (), replace(RAN, items=(red,)), coverage=SEEN) is Verdict.COMMENT
    before = replace(red, status=EvidenceStatus.EXISTING)
    assert verdict(Conclusion.COMPLETE, (), replace(RAN, items=(before,)), coverage=SEEN) is Verdict.APPROVE


def test_nothing_is_approved_that_was_left_out_by_its_name_or_kind() -> None:
    hidden = (*SEEN, Coverage("vendor/evil.py", CoverageStatus.SKIPPED, "vendored", ignored=True))
    assert verdict(Conclusion.COMPLETE, (), RAN, coverage=hidden) is Verdict.COMMENT


def test_nothing_is_approved_where_no_test_or_linter_looked_or_one_was_cut_short() -> None:
    only_read = replace(RAN, checks=(CheckRun("analysers", ran=True), CheckRun("api", ran=True)))
    killed = replace(RAN, checks=(*RAN.checks, CheckRun("pytest", ran=True, reason="ended before its time", cut_short=True)))
    for ledger in (only_read, killed):
        assert verdict(Conclusion.COMPLETE, (), ledger, coverage=SEEN) is Verdict.COMMENT


def test_what_is_out_of_scope_by_rule_leaves_a_review_complete_and_what_was_not_seen_does_not() -> None:
    ignored = Coverage("uv.lock", CoverageStatus.SKIPPED, "lock file", ignored=True)
    unseen = Coverage("big.py", CoverageStatus.PARTIAL, "beyond the token budget")
    assert conclusion((ignored,), RAN, Transcript())[0] is Conclusion.COMPLETE
    whole, reasons = conclusion((ignored, unseen), RAN, Transcript())
    assert whole is Conclusion.PARTIAL
    assert reasons == ("big.py: partial: beyond the token budget",)


def test_a_required_check_that_did_not_run_makes_a_review_partial_and_a_default_one_does_not() -> None:
    missing = CheckRun("pytest", ran=False, reason="no sandbox")
    assert conclusion((), Ledger(checks=(missing,)), Transcript())[0] is Conclusion.COMPLETE
    assert conclusion((), Ledger(checks=(replace(missing, required=True),)), Transcript())[0] is Conclusion.PARTIAL


def test_without_a_quorum_nothing_was_reviewed_and_the_next_step_is_said() -> None:
    whole, (reason,) = conclusion((), RAN, Transcript(quorum=False))
    assert whole is Conclusion.NOT_REVIEWED
    assert "reviewbot models list" in reason


def test_dissent_names_who_opposes_last_and_why() -> None:
    said = (
        Position("critic", 1, Stance.SUPPORT, 0.9),
        Position("optimizer", 1, Stance.SUPPORT, 0.9, (Argument("first"),)),
        Position("optimizer", 2, Stance.OPPOSE, 0.2, (Argument("the loop is short", ("a.py:2",)),)),
    )
    told = findings(Transcript(cases=(case(positions=said),)), SHOWN, PolicyOptions())[0]
    assert told.dissent == "Optimizer: the loop is short"
    assert told.confidence is Confidence.SINGLE


def test_two_who_support_to_the_end_agree() -> None:
    said = (Position("critic", 1, Stance.SUPPORT, 0.9), Position("optimizer", 2, Stance.SUPPORT, 0.9))
    told = findings(Transcript(cases=(case(positions=said),)), SHOWN, PolicyOptions())[0]
    assert told.confidence is Confidence.AGREED


def test_a_finding_shows_the_code_around_it_and_marks_what_changed() -> None:
    shown = replace(SHOWN, passages=(a_passage("a.py", TEXT, changed={2}),))
    told = findings(Transcript(cases=(case(),)), shown, PolicyOptions())[0]
    assert [(line.number, line.changed) for line in told.code] == [(1, False), (2, True), (3, False)]


def test_an_identity_survives_moved_lines_other_words_and_a_rename() -> None:
    before = identity.anchor("a.py", 2, ["x", "return eval(a)"])
    after = identity.anchor("a.py", 4, ["x", "y", "z", identity.normalised("  return  eval(a) ")])
    assert before == after
    moved = Shown((), {"b.py": ("return eval(a)",)}, {"b.py": "a.py"})
    renamed = findings(Transcript(cases=(case(claims=(a_claim("b.py", 1, "return eval(a)"),)),)), moved, PolicyOptions())[0]
    plain = findings(Transcript(cases=(case(),)), SHOWN, PolicyOptions())[0]
    assert renamed.fingerprint == plain.fingerprint


def test_equal_lines_and_several_findings_on_one_line_are_told_apart() -> None:
    first, second = identity.anchor("a.py", 1, ["f()", "f()"]), identity.anchor("a.py", 2, ["f()", "f()"])
    assert first != second
    prints = identity.fingerprints({"F1": first, "F2": first, "F3": second})
    assert len(set(prints.values())) == 3


@pytest.mark.parametrize(("path", "line"), [("other.py", 2), ("a.py", 77)])
def test_a_result_about_another_place_carries_no_block_however_many_cite_it(path: str, line: int) -> None:
    item = evidence_item(1, path, line, severity=Severity.HIGH)
    ledger = replace(RAN, items=(item,))
    claim = a_claim("a.py", 2, "    return eval(a)", severity=Severity.HIGH, evidence=("E1",))
    made = case(claims=(claim,), severity=Severity.HIGH, probability=0.99)
    told = findings(Transcript(cases=(made,)), SHOWN, PolicyOptions())
    assert told[0].status is FindingStatus.ACCEPTED
    assert verdict(Conclusion.COMPLETE, told, ledger, coverage=SEEN) is Verdict.COMMENT
    near = replace(ledger, items=(evidence_item(1, "a.py", 2, severity=Severity.HIGH),))
    assert verdict(Conclusion.COMPLETE, told, near, coverage=SEEN) is Verdict.REQUEST_CHANGES


@pytest.mark.parametrize("severity", [Severity.LOW, Severity.MEDIUM])
def test_a_mild_result_on_the_line_carries_no_block_that_only_words_make_grave(severity: Severity) -> None:
    item = evidence_item(1, "a.py", 2, rule="F401", severity=severity, precision=Precision.CERTAIN)
    claim = a_claim("a.py", 2, "    return eval(a)", severity=Severity.CRITICAL, evidence=("E1",))
    made = case(claims=(claim,), severity=Severity.CRITICAL, probability=0.99, triage=Triage.ACCEPTED)
    told = findings(Transcript(cases=(made,)), SHOWN, PolicyOptions())
    assert verdict(Conclusion.COMPLETE, told, replace(RAN, items=(item,)), coverage=SEEN) is Verdict.COMMENT
