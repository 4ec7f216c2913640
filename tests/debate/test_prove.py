"""The Tester and the Formal seat: who is asked for a check, when, and what the runner's word does to the claim."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.debate.papers import Papers
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.domain.debate import Check, CheckKind, Proof, Seat, SettledBy, Table, Transcript
from reviewbot.domain.evidence import Ledger, Severity
from reviewbot.ports import Ask, CheckDesign, CrossExamination, Experiment, FirstPass, Judgement, Reply, ReplyStatus, Verification
from reviewbot.testing import a_claim, a_dossier, a_passage, a_seat, claims_reply, design_reply, position_reply, rebuttal_reply
from tests.debate.conversation import Answer, Talk, talked

CODE = "def total(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)"
CLAIM = a_claim("a.py", 1, "def total(rows, seen=[]):", severity=Severity.HIGH)
TRIO = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
TESTER, FORMAL, MODERATOR = a_seat("tester"), a_seat("formal"), a_seat("moderator")
WRITTEN = Check(("pytest",), source="def test_it(): ...")
RUNNER = Ledger(sandbox="bubblewrap")


def held(
    seats: tuple[Seat, ...],
    *,
    design: Callable[[Ask], Answer] = lambda _: design_reply(WRITTEN),
    outcome: str = "fails_at_head",
    stances: tuple[float, ...] = (0.5,) * 4,
    ledger: Ledger = RUNNER,
    moderator: Seat | None = None,
    rounds: int = 2,
) -> Talk[Transcript]:
    """One claim of the critic's, argued by the rest with these probabilities, and checks written by ``design``."""
    voices = dict(zip((seat.name for seat in seats[1:]), stances, strict=False))

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=outcome), "1 failed")
        if isinstance(asked.question, FirstPass):
            return claims_reply(CLAIM) if asked.seat.name == "critic" else claims_reply()
        if isinstance(asked.question, CheckDesign):
            return design(asked)
        if isinstance(asked.question, Judgement):
            return json.dumps({"arguments": [], "decision": "undecided"})
        believed = voices.get(asked.seat.name, 0.5)
        stance = "support" if believed > 0.5 else "oppose" if believed < 0.5 else "neutral"
        return position_reply(stance, believed, f"a.py:{asked.round}")

    passages = (a_passage("a.py", CODE),)
    brief = Brief(passages, Papers((a_dossier(*passages, ledger=ledger),)), frozenset({"a.py"}), ledger)
    return talked(debate(brief, Table(seats, moderator), DebateOptions(rounds=rounds)), answer)


def designs(talk: Talk[Transcript]) -> list[tuple[str, str, int]]:
    return [(ask.seat.name, ask.subject, ask.round) for ask in talk.asks if isinstance(ask.question, CheckDesign)]


def test_the_tester_is_asked_for_a_check_beside_the_first_round_of_arguments() -> None:
    talk = held((*TRIO, TESTER))
    assert designs(talk) == [("tester", "F1", 1)]
    beside = [ask for ask in talk.rounds[1] if isinstance(ask, Ask)]
    assert {type(ask.question) for ask in beside} == {CrossExamination, CheckDesign}


def test_what_the_tester_wrote_is_run_and_settles_the_claim_before_anybody_is_asked_again() -> None:
    talk = held((*TRIO, TESTER))
    (experiment,) = (asked for put in talk.rounds for asked in put if isinstance(asked, Experiment))
    assert experiment == Experiment("F1", replace(WRITTEN, author="tester"), "a.py", 1, 1)
    (case,) = talk.end.cases
    assert case.proof is Proof.PROVEN
    assert case.probability >= 0.95
    assert case.settled_by is SettledBy.EVIDENCE
    assert len(talk.rounds) == 3


def test_a_check_that_passes_at_head_lowers_the_claim_and_the_talk_goes_on_with_what_it_showed() -> None:
    talk = held((*TRIO, TESTER), outcome="passes_at_head", stances=(0.9, 0.2, 0.7))
    (case,) = talk.end.cases
    assert case.proof is Proof.CONTRADICTED
    late = [ask.question.late for ask in talk.asks if isinstance(ask.question, CrossExamination) and ask.round == 2]
    assert late
    assert all("passes at head" in words for (words,) in late)


def test_without_a_runner_nobody_writes_checks() -> None:
    assert designs(held((*TRIO, TESTER), ledger=Ledger())) == []


def test_a_claim_that_came_with_a_check_needs_no_other_while_that_one_is_run() -> None:
    claim = replace(CLAIM, check=WRITTEN)

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome="fails_at_head"))
        assert not isinstance(asked.question, CheckDesign)
        if isinstance(asked.question, FirstPass):
            return claims_reply(claim) if asked.seat.name == "critic" else claims_reply()
        return position_reply("neutral", 0.5)

    passages = (a_passage("a.py", CODE),)
    brief = Brief(passages, Papers((a_dossier(*passages),)), frozenset({"a.py"}), RUNNER)
    talk = talked(debate(brief, Table((*TRIO, TESTER)), DebateOptions()), answer)
    assert talk.end.cases[0].proof is Proof.PROVEN


@pytest.mark.parametrize("written", [design_reply(None), Reply(ReplyStatus.FAILED, reason="down")])
def test_a_writer_without_an_idea_leaves_the_claim_to_the_arguments(written: Answer) -> None:
    talk = held((*TRIO, TESTER), design=lambda _: written, stances=(0.9, 0.9, 0.9))
    (case,) = talk.end.cases
    assert case.check is None
    assert case.settled_by is SettledBy.AGREEMENT


def test_the_formal_seat_writes_a_specification_and_the_tester_s_check_goes_first() -> None:
    spec = Check((), source="def spec_total(rows: list[int]) -> None: ...", kind=CheckKind.CONTRACT)
    talk = held((*TRIO, FORMAL, TESTER), design=lambda ask: design_reply(spec if ask.seat.name == "formal" else WRITTEN))
    assert designs(talk) == [("tester", "F1", 1), ("formal", "F1", 1)]
    assert talk.end.cases[0].check.kind is CheckKind.TEST
    alone = held((*TRIO, FORMAL), design=lambda _: design_reply(spec))
    assert alone.end.cases[0].check.kind is CheckKind.CONTRACT


def test_a_deadlock_gets_one_decisive_experiment_before_the_moderator_judges() -> None:
    even = (0.95, 0.25, 0.5)
    without = held(TRIO, ledger=Ledger(), stances=even, moderator=MODERATOR)
    assert without.end.cases[0].deadlocked
    talk = held(TRIO, stances=even, moderator=MODERATOR)
    assert designs(talk) == [("moderator", "F1", 3)]
    assert talk.end.cases[0].proof is Proof.PROVEN
    assert not talk.end.cases[0].deadlocked
    assert not [ask for ask in talk.asks if isinstance(ask.question, Judgement)]


def test_the_second_design_is_told_what_the_first_check_showed() -> None:
    seen: list[tuple[str, ...]] = []

    def design(ask: Ask) -> Answer:
        assert isinstance(ask.question, CheckDesign)
        seen.append(ask.question.tried)
        return design_reply(replace(WRITTEN, source=f"def test_{len(seen)}(): ..."))

    talk = held((*TRIO, TESTER), design=design, outcome="fails_at_both", stances=(0.95, 0.25, 0.5))
    assert seen[0] == ()
    assert "fails at both" in seen[1][0]
    assert "def test_1" in seen[1][0]
    assert len(seen) == 2
    assert [check.source for check in talk.end.cases[0].tried] == ["def test_1(): ..."]


def test_no_more_than_three_checks_are_run_for_a_claim() -> None:
    checks = iter(range(100))

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome="fails_at_both"))
        if isinstance(asked.question, FirstPass):
            return claims_reply(replace(CLAIM, check=WRITTEN)) if asked.seat.name == "critic" else claims_reply()
        if isinstance(asked.question, CheckDesign):
            return design_reply(Check(("a", str(next(checks)))))
        if asked.seat.name == "critic":
            return rebuttal_reply("defend", "a.py:4")
        stance, believed = ("support", 0.95) if asked.seat.name == "reviewer" else ("oppose", 0.25)
        return position_reply(stance, believed, f"a.py:{asked.round}", check=Check(("b", str(next(checks)))))

    passages = (a_passage("a.py", CODE),)
    brief = Brief(passages, Papers((a_dossier(*passages),)), frozenset({"a.py"}), RUNNER)
    talk = talked(debate(brief, Table(TRIO, MODERATOR), DebateOptions(rounds=5)), answer)
    assert talk.end.cases[0].deadlocked
    assert sum(isinstance(asked, Experiment) for put in talk.rounds for asked in put) == 3
