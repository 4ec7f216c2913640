"""A claim that stands on a test which the change broke: it is proven by running that test again, whoever raised it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.domain.debate import Check, CheckKind, CheckOutcome, Claim, Proof, SettledBy, Triage
from reviewbot.domain.evidence import Evidence, EvidenceKind, EvidenceStatus, Ledger, Precision
from reviewbot.ports import Ask, Experiment, FirstPass, Rebuttal, Verification
from reviewbot.testing import a_claim, claims_reply, evidence_item, position_reply, rebuttal_reply
from tests.debate.table import HIGH, NOTHING, Answer, Script, hold, only, scripted

TEST = "tests/test_a.py::test_total"
AGAIN = Check(("pytest", TEST), subject=TEST)
CITED = replace(HIGH, evidence=("E1",))


def broken(number: int = 1, path: str = "a.py", line: int = 1, **changes: object) -> Evidence:
    """A test that the change broke, as the runner of the project's tests tells it."""
    told: dict[str, object] = {"tool": "pytest", "rule": None, "subject": TEST, "command": ("python", "-m", "pytest", TEST)}
    precision = changes.pop("precision", Precision.CERTAIN)
    return evidence_item(number, path, line, kind=EvidenceKind.TEST, precision=precision, **(told | changes))  # type: ignore[arg-type]


def raised(claim: Claim, by: tuple[str, ...] = ("critic",), seen: list[Ask | Experiment] | None = None) -> Script:
    """These seats raise the claim, the others nothing, and nobody is moved by an argument; every check fails at head alone."""

    def script(asked: Ask | Experiment) -> Answer:
        if seen is not None:
            seen.append(asked)
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=CheckOutcome.FAILS_AT_HEAD))
        if isinstance(asked.question, FirstPass):
            return claims_reply(replace(claim, raised_by=asked.seat.name)) if asked.seat.name in by else NOTHING
        return rebuttal_reply("defend", "a.py:2") if isinstance(asked.question, Rebuttal) else position_reply("neutral", 0.5)

    return script


@pytest.mark.parametrize("by", [("critic",), ("critic", "reviewer"), ("critic", "reviewer", "optimizer")])
def test_a_claim_that_cites_a_broken_test_is_proven_by_running_it_again(by: tuple[str, ...]) -> None:
    seen: list[Ask | Experiment] = []
    case = only(hold(raised(CITED, by, seen), ledger=Ledger(items=(broken(),))))
    assert [asked for asked in seen if isinstance(asked, Experiment)] == [
        Experiment("F1", replace(AGAIN, evidence=("E1",)), "a.py", 1, 1)
    ]
    assert (case.proof, case.triage, case.settled_by) == (Proof.PROVEN, Triage.ACCEPTED, SettledBy.EVIDENCE)
    assert case.probability >= 0.95


def test_it_is_as_proven_as_the_same_claim_with_the_test_as_its_own_check() -> None:
    ledger = Ledger(items=(broken(),))
    bare, named = (only(hold(raised(claim), ledger=ledger)) for claim in (CITED, replace(CITED, check=AGAIN)))
    assert replace(bare, claims=named.claims) == named


def test_a_test_of_another_suite_is_run_again_by_its_own_command() -> None:
    command = ("go", "test", "./...", "-run", "^TestTotal$")
    case = only(hold(raised(CITED), ledger=Ledger(items=(broken(tool="go test", subject="TestTotal", command=command),))))
    assert case.check is not None
    assert (case.check.kind, case.check.command, case.check.subject) == (CheckKind.COMMAND, command, "TestTotal")
    assert case.proof is Proof.PROVEN


def test_the_broken_test_goes_before_a_check_that_the_raiser_wrote() -> None:
    written = Check(("pytest",), source="def test_it(): ...")
    case = only(hold(raised(replace(CITED, check=written)), ledger=Ledger(items=(broken(),))))
    assert case.check is not None
    assert (case.check.source, case.check.subject) == ("", TEST)


@pytest.mark.parametrize("outcome", [CheckOutcome.UNSTABLE, CheckOutcome.PASSES_AT_HEAD, CheckOutcome.FAILS_AT_BOTH])
def test_a_broken_test_that_does_not_fail_again_like_that_proves_nothing(outcome: CheckOutcome) -> None:
    def script(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=outcome))
        return raised(CITED)(asked)

    case = only(hold(script, ledger=Ledger(items=(broken(),))))
    assert case.proof is not Proof.PROVEN
    assert case.triage is Triage.RECORDED


@pytest.mark.parametrize(
    "item",
    [
        broken(precision=Precision.HEURISTIC),
        broken(status=EvidenceStatus.EXISTING),
        broken(path="b.py"),
        broken(line=9),
        broken(line=0),
    ],
    ids=["the author's word, or never compared", "it failed before", "another file", "other lines", "no line"],
)
def test_what_is_no_proof_of_this_claim_is_not_run_for_it_and_settles_nothing(item: Evidence) -> None:
    seen: list[Ask | Experiment] = []
    case = only(hold(raised(CITED, seen=seen), ledger=Ledger(items=(item,))))
    assert not [asked for asked in seen if isinstance(asked, Experiment)]
    assert (case.proof, case.triage, case.check) == (Proof.UNTESTED, Triage.DEBATED, None)


def test_a_test_fails_at_a_line_only_roughly() -> None:
    case = only(hold(raised(CITED), ledger=Ledger(items=(broken(line=4),))))
    assert case.proof is Proof.PROVEN


def test_a_claim_without_a_line_stands_on_a_test_that_has_none() -> None:
    whole = a_claim("a.py", 0, "", severity=HIGH.severity, evidence=("E1",))
    case = only(hold(raised(whole), ledger=Ledger(items=(broken(line=0),))))
    assert case.proof is Proof.PROVEN


def test_of_what_everyone_says_a_written_check_of_something_else_takes_nothing_back() -> None:
    """Only the broken test itself can take back what rests on it."""
    written = replace(CITED, check=Check(("pytest",), source="def test_it(): ..."))

    def script(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=CheckOutcome.UNRELATED))
        return raised(written, ("critic", "reviewer", "optimizer"))(asked)

    case = only(hold(script, ledger=Ledger(items=(broken(path="b.py"),))))
    assert case.triage is Triage.ACCEPTED


def test_of_two_broken_tests_the_one_at_the_claim_is_run() -> None:
    near = broken(2, subject="tests/test_a.py::test_near")
    claim = replace(HIGH, evidence=("E1", "E2"))
    case = only(hold(raised(claim), ledger=Ledger(items=(broken(path="b.py"), near))))
    assert case.check is not None
    assert (case.check.subject, case.check.evidence) == ("tests/test_a.py::test_near", ("E2",))


def test_it_is_the_place_of_the_claim_that_speaks_for_the_others_that_counts() -> None:
    spoken = replace(HIGH, evidence=("E1", "E2"))
    beside = replace(HIGH, start_line=4, line=4, quote="    return len(seen)", evidence=("E1",), raised_by="reviewer")
    first = {"critic": claims_reply(spoken), "reviewer": claims_reply(beside)}
    neutral = dict.fromkeys(("critic", "reviewer", "optimizer"), position_reply("neutral", 0.5))
    case = only(hold(scripted(first, neutral), ledger=Ledger(items=(broken(line=7), evidence_item(2, "a.py", 1)))))
    assert case.lead.line == 1
    assert (case.proof, case.check) == (Proof.UNTESTED, None)


def test_the_minutes_count_in_good_grammar() -> None:
    one = hold(scripted({"critic": claims_reply(CITED)}), ledger=Ledger(items=(broken(),)))
    said = [turn.summary for turn in one.turns]
    assert {"1 claim", "0 claims", "1 claim is about 1 thing"} <= set(said)
    assert said[0].endswith("1 result, 1 new")
