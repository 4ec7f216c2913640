"""The moderator: blind, asked twice, believed only where both answers agree and cite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.consensus import policy
from reviewbot.consensus.policy import PolicyOptions, Shown
from reviewbot.debate.examine import Hearing
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.moderate import Bench
from reviewbot.debate.papers import Papers
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.domain.debate import (
    Argument,
    Case,
    Check,
    Position,
    Proof,
    SettledBy,
    Stance,
    Table,
    Transcript,
    Triage,
)
from reviewbot.domain.evidence import Ledger, Severity
from reviewbot.domain.review import Conclusion, FindingStatus, Verdict
from reviewbot.ports import Ask, CrossExamination, Experiment, Judgement, Rebuttal, Reply, ReplyStatus, Verification
from reviewbot.testing import (
    a_claim,
    a_dossier,
    a_passage,
    a_seat,
    claims_reply,
    evidence_item,
    position_reply,
    rebuttal_reply,
)
from tests.debate.conversation import Answer, Talk, judgement_reply, talked
from tests.rings import examples

CODE = "def total(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)"
PASSAGES = (a_passage("a.py", CODE),)
PAPERS = Papers((a_dossier(*PASSAGES),))
SEATS = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
JUDGE = a_seat("judge")
CLAIM = a_claim("a.py", 1, "def total(rows, seen=[]):", severity=Severity.HIGH)


def said(who: str, stance: Stance, claim: str, *cites: str) -> Position:
    return Position(who, 1, stance, 0.9 if stance is Stance.SUPPORT else 0.1, (Argument(claim, cites, f"{claim}, because"),))


def a_case(probability: float = 0.5, case_id: str = "F1", **changes: object) -> Case:
    """Too close to call."""
    positions = (
        said("critic", Stance.SUPPORT, "it breaks"),
        said("reviewer", Stance.SUPPORT, "it does", "a.py:1"),
        said("optimizer", Stance.OPPOSE, "it does not", "a.py:2"),
    )
    case = Case(
        case_id,
        (CLAIM,),
        Severity.HIGH,
        Triage.DEBATED,
        "raised by 1 of 3",
        positions=positions,
        probability=probability,
        stop_reason="the rounds are used up",
        deadlocked=0.35 < probability < 0.65,
        readers=3,
    )
    return replace(case, **changes)  # type: ignore[arg-type]


def judged(*cases: Case, first: Answer, second: Answer) -> tuple[Talk[dict[str, Case]], Minutes]:
    minutes = Minutes(SEATS)
    hearing = Hearing(PASSAGES, PAPERS, Ledger(), {seat.name: seat for seat in SEATS}, 2)
    work = Bench(JUDGE, 40.0).judge({case.id: case for case in cases}, hearing, minutes)

    def answer(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return first if asked.round == 1 else second

    return talked(work, answer), minutes


UPHELD, REJECTED, UNDECIDED = (judgement_reply(word, "a.py:1") for word in ("upheld", "rejected", "undecided"))


def test_only_what_is_stuck_goes_before_the_moderator_and_all_of_it_at_once() -> None:
    stuck, other = a_case(), a_case(0.45, "F3")
    talk, _ = judged(stuck, a_case(0.9, "F2"), other, first=UPHELD, second=UPHELD)
    assert talk.told() == [[("judge", "F1"), ("judge", "F1"), ("judge", "F3"), ("judge", "F3")]]
    assert [asked.round for asked in talk.asks] == [1, 2, 1, 2]
    assert {asked.timeout_seconds for asked in talk.asks} == {40.0}
    assert set(talk.end) == {"F1", "F3"}


def test_where_nothing_is_stuck_nobody_is_asked() -> None:
    talk, minutes = judged(a_case(0.9), first=UPHELD, second=UPHELD)
    assert (talk.rounds, talk.end) == ([], {})
    assert not minutes.transcript((), ()).rulings


def test_the_moderator_sees_both_cases_in_swapped_order_and_no_names() -> None:
    talk, _ = judged(a_case(check=Check(("pytest",), outcome="unstable", output="1 failed")), first=UPHELD, second=UPHELD)
    first, second = (asked.question for asked in talk.asks)
    assert isinstance(first, Judgement)
    assert isinstance(second, Judgement)
    assert [word.claim for word in first.first] == ["it breaks", "it does"]
    assert [word.claim for word in first.second] == ["it does not"]
    assert (second.first, second.second) == (first.second, first.first)
    assert first.late == ("pytest: unstable\n1 failed",)
    assert replace(second, first=first.first, second=first.second) == first
    for seat in SEATS:
        assert seat.name not in repr(first)
    assert "0.9" not in repr(first.first)


def test_neutral_words_stand_with_those_against() -> None:
    case = a_case(positions=(said("critic", Stance.SUPPORT, "yes"), said("reviewer", Stance.NEUTRAL, "hard to tell")))
    talk, _ = judged(case, first=UPHELD, second=UPHELD)
    question = talk.asks[0].question
    assert isinstance(question, Judgement)
    assert [word.claim for word in question.second] == ["hard to tell"]


@pytest.mark.parametrize(("answer", "above"), [(UPHELD, True), (REJECTED, False)])
def test_a_decision_that_both_answers_give_settles_the_case(answer: str, above: bool) -> None:
    talk, minutes = judged(a_case(), first=answer, second=answer)
    case = talk.end["F1"]
    assert case.settled_by is SettledBy.MODERATOR
    assert not case.deadlocked
    assert (case.probability > 0.65) is above
    assert (case.probability < 0.35) is not above
    assert case.severity is Severity.HIGH
    word = "upheld" if above else "rejected"
    decision = f"{word} by the moderator in both orders: the judge's reason"
    assert case.stop_reason == f"the rounds are used up; {decision}"
    (ruling,) = minutes.transcript((), ()).rulings
    assert (ruling.decision, ruling.open) == (f"F1: {decision}", ())


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        (UPHELD, REJECTED, "the moderator said upheld, and rejected with the cases swapped; it stays open"),
        (UPHELD, UNDECIDED, "the moderator said upheld, and undecided with the cases swapped; it stays open"),
        (UNDECIDED, UNDECIDED, "the moderator said undecided, and undecided with the cases swapped; it stays open"),
        (
            judgement_reply("upheld"),
            judgement_reply("upheld"),
            "the moderator said undecided, and undecided with the cases swapped; it stays open",
        ),
        (UPHELD, judgement_reply("upheld"), "the moderator said upheld, and undecided with the cases swapped; it stays open"),
        (UPHELD, Reply(ReplyStatus.TIMEOUT), "the moderator gave no valid answer; it stays open"),
        ("no JSON", UPHELD, "the moderator gave no valid answer; it stays open"),
    ],
    ids=["disagrees", "undecided once", "undecided", "cites nothing", "cites once", "one answer", "invalid"],
)
def test_anything_less_leaves_the_case_as_it_was(first: Answer, second: Answer, why: str) -> None:
    talk, minutes = judged(a_case(), first=first, second=second)
    assert talk.end["F1"] == a_case()
    assert minutes.transcript((), ()).rulings[0].decision == f"F1: {why}"


def test_a_ruling_is_about_its_own_case_and_says_whether_it_stays_open() -> None:
    _, minutes = judged(a_case(), a_case(0.5, "F2"), first=UPHELD, second=UPHELD)
    assert [(dict(one.scores).keys(), one.open) for one in minutes.transcript((), ()).rulings] == [({"F1"}, ()), ({"F2"}, ())]
    _, minutes = judged(a_case(), first=UPHELD, second=REJECTED)
    assert minutes.transcript((), ()).rulings[0].open == ("F1",)


def test_an_invalid_judgement_is_asked_for_once_more() -> None:
    talk, minutes = judged(a_case(), first="no JSON", second=UPHELD)
    assert [(asked.round, asked.attempt) for asked in talk.asks] == [(1, 1), (2, 1), (1, 2)]
    (note,) = minutes.transcript((), ()).notes
    assert note.startswith("judge gave no valid answer to 2 of 3 questions: not valid JSON")


@settings(max_examples=examples(60), derandomize=True)
@given(st.floats(0.3501, 0.6499), st.sampled_from([UPHELD, REJECTED]), st.sampled_from(list(Severity)))
def test_no_judgement_raises_a_severity_or_reaches_a_floor(probability: float, answer: str, severity: Severity) -> None:
    talk, _ = judged(a_case(probability, severity=severity), first=answer, second=answer)
    case = talk.end["F1"]
    assert case.severity is severity
    assert case.proof is Proof.UNTESTED
    assert 0.05 < case.probability < 0.95
    assert (case.probability > probability) is (answer == UPHELD)


# The whole debate


def script(stances: dict[str, str], judgement: str = UPHELD, outcome: str = "not_run") -> Callable[[Ask | Experiment], Answer]:
    """The critic raises one claim; the others argue as told; the judge says ``judgement``."""

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=outcome), "1 failed")
        if isinstance(asked.question, CrossExamination):
            return stances[asked.seat.name]
        if isinstance(asked.question, Rebuttal):
            return rebuttal_reply("defend", "a.py:3")
        if isinstance(asked.question, Judgement):
            return judgement
        return claims_reply(CLAIM) if asked.seat.name == "critic" else claims_reply()

    return answer


SPLIT = {"reviewer": position_reply("support", 0.9, "a.py:2"), "optimizer": position_reply("oppose", 0.3, "a.py:4")}


def held(
    answer: Callable[[Ask | Experiment], Answer], *, seated: bool = True, ledger: Ledger | None = None, moderate: bool = True
) -> Talk[Transcript]:
    evidence = ledger or Ledger()
    brief = Brief(PASSAGES, Papers((a_dossier(*PASSAGES, ledger=evidence),)), frozenset({"a.py"}), evidence)
    options = DebateOptions(rounds=2, moderate=moderate)
    return talked(debate(brief, Table(SEATS, JUDGE if seated else None), options), answer)


def told(transcript: Transcript) -> tuple[FindingStatus, Verdict | None]:
    """What becomes of the only finding, and the verdict of an otherwise whole review."""
    (finding,) = policy.findings(transcript, Shown(PASSAGES, {}, {}), PolicyOptions())
    return finding.status, policy.verdict(Conclusion.COMPLETE, (finding,), Ledger(), coverage=())


@pytest.mark.parametrize(
    ("judgement", "status"),
    [(UPHELD, FindingStatus.ACCEPTED), (REJECTED, FindingStatus.BELOW_THRESHOLD), (UNDECIDED, FindingStatus.CONTESTED)],
    ids=["upheld", "rejected", "undecided"],
)
def test_a_judgement_may_post_or_drop_a_grave_finding_and_never_blocks(judgement: str, status: FindingStatus) -> None:
    assert told(held(script(SPLIT, judgement)).end) == (status, Verdict.COMMENT)


def test_without_a_moderator_a_grave_deadlock_is_a_question_as_before() -> None:
    assert told(held(script(SPLIT), seated=False).end) == (FindingStatus.CONTESTED, Verdict.COMMENT)


def test_a_deadlock_is_judged_and_the_moderator_is_no_panelist() -> None:
    talk = held(script(SPLIT))
    (case,) = talk.end.cases
    assert case.settled_by is SettledBy.MODERATOR
    assert [asked.seat.name for asked in talk.asks if isinstance(asked.question, Judgement)] == ["judge", "judge"]
    assert [entry.seat.name for entry in talk.end.attendance] == ["critic", "reviewer", "optimizer"]
    assert {position.panelist for position in case.positions} == {"critic", "reviewer", "optimizer"}
    assert "judge" in talk.end.bill.by_panelist


@pytest.mark.parametrize("way", [{"seated": False}, {"moderate": False}], ids=["nobody sits there", "not wanted"])
def test_without_a_moderator_a_deadlock_stays_open(way: dict[str, bool]) -> None:
    talk = held(script(SPLIT), **way)
    (case,) = talk.end.cases
    assert not [asked for asked in talk.asks if isinstance(asked.question, Judgement)]
    assert case.deadlocked
    assert case.settled_by is SettledBy.VOTE


def test_what_execution_holds_up_is_never_judged() -> None:
    ledger = Ledger(items=(evidence_item(1, "a.py", 1),))

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Ask) and asked.phase == "S1" and asked.seat.name == "critic":
            return claims_reply(replace(CLAIM, evidence=("E1",)))
        return script({name: position_reply("oppose", 0.05, "a.py:3") for name in SPLIT}, REJECTED)(asked)

    talk = held(answer, ledger=ledger)
    (case,) = talk.end.cases
    assert case.probability >= 0.80
    assert not [asked for asked in talk.asks if isinstance(asked.question, Judgement)]
