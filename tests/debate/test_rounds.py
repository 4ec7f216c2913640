"""One round of questions and experiments, and what it brings to the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.protocol import Brief, DebateOptions, debate
from reviewbot.debate.rounds import Heard, Held, hold
from reviewbot.debate.strict import InvalidReply
from reviewbot.domain.debate import Check, Proof, SettledBy, Table, Transcript, Triage
from reviewbot.domain.evidence import Ledger, Severity
from reviewbot.ports import Ask, CrossExamination, Experiment, FirstPass, Rebuttal, Reply, ReplyStatus, Verification
from reviewbot.testing import a_claim, a_dossier, a_passage, a_seat, claims_reply, position_reply, rebuttal_reply
from tests.debate.conversation import Answer, Talk, argued, portions, talked

SEATS = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
(DOSSIER,) = portions("P1")
CHECK = Check(("pytest", "-q"), "def test_it(): ...", "t.py::test_it")


def asks(*names: str) -> list[Ask]:
    return [Ask(a_seat(name), FirstPass(DOSSIER), subject=name) for name in names]


def shouted(asked: Ask, text: str) -> str:
    if text.startswith("?"):
        raise InvalidReply(f"{text} is not what {asked.seat.name} was asked for")
    return text.upper()


def round_of(
    put: list[Ask], answer: Callable[[Ask | Experiment], Answer], *, experiments: tuple[Experiment, ...] = ()
) -> tuple[Talk[Held], Minutes]:
    minutes = Minutes(SEATS)
    return talked(hold(put, shouted, minutes, experiments=experiments), answer), minutes


def test_a_round_without_a_question_is_not_held() -> None:
    talk, _ = round_of([], lambda _: "")
    assert (talk.rounds, talk.end) == ([], Held(()))


def test_answers_come_back_in_the_order_of_the_questions_beside_experiments() -> None:
    experiment = Experiment("F1", CHECK)
    shown = Verification(replace(CHECK, outcome="fails_at_head"), "1 failed")
    talk, minutes = round_of(
        asks("critic", "reviewer"),
        lambda asked: shown if isinstance(asked, Experiment) else asked.subject,
        experiments=(experiment,),
    )
    assert talk.rounds == [(*asks("critic", "reviewer"), experiment)]
    assert talk.end == Held((Heard("CRITIC"), Heard("REVIEWER")), (shown,))
    (turn,) = minutes.transcript((), ()).turns
    assert (turn.phase, turn.panelist, turn.subject, turn.summary) == ("proof", "sandbox", "F1", "pytest -q: fails_at_head")


def test_only_invalid_answers_are_asked_for_again_and_take_their_old_place() -> None:
    def answer(asked: Ask | Experiment) -> Answer:
        assert isinstance(asked, Ask)
        return "?" if asked.seat.name != "critic" and asked.attempt == 1 else f"{asked.subject} {asked.attempt}"

    talk, _ = round_of(asks("reviewer", "critic", "optimizer"), answer)
    assert [heard.value for heard in talk.end.heard] == ["REVIEWER 2", "CRITIC 1", "OPTIMIZER 2"]
    (_, again) = talk.rounds
    assert [(asked.subject, asked.attempt, asked.complaint) for asked in again if isinstance(asked, Ask)] == [
        ("reviewer", 2, "? is not what reviewer was asked for"),
        ("optimizer", 2, "? is not what optimizer was asked for"),
    ]


@pytest.mark.parametrize("second", ["?", Reply(ReplyStatus.TIMEOUT, text="late")], ids=["invalid", "failed"])
def test_nothing_is_asked_a_third_time(second: Answer) -> None:
    talk, minutes = round_of(asks("critic"), lambda asked: "?" if isinstance(asked, Ask) and asked.attempt == 1 else second)
    assert len(talk.rounds) == 2
    assert talk.end == Held((Heard(None),))
    outcomes = [turn.outcome for turn in minutes.transcript((), ()).turns]
    assert outcomes == ["invalid", "invalid" if second == "?" else "timeout"]


def test_what_was_unread_in_the_second_attempt_counts_and_not_in_the_first() -> None:
    first = Reply(ReplyStatus.OK, "?", unread=DOSSIER.passages)
    talk, _ = round_of(asks("critic"), lambda asked: first if isinstance(asked, Ask) and asked.attempt == 1 else "yes")
    assert talk.end == Held((Heard("YES"),))
    second = Reply(ReplyStatus.OK, "yes", unread=DOSSIER.passages)
    talk, _ = round_of(asks("critic"), lambda asked: "?" if isinstance(asked, Ask) and asked.attempt == 1 else second)
    assert talk.end == Held((Heard("YES", DOSSIER.passages),))
    talk, _ = round_of(asks("critic"), lambda _: first)
    assert talk.end == Held((Heard(None),))


def test_a_failure_has_no_value_whatever_its_text() -> None:
    talk, _ = round_of(asks("critic"), lambda _: Reply(ReplyStatus.TRUNCATED, text="whole after all"))
    assert talk.end == Held((Heard(None),))


# Rounds of the whole debate

CODE = "def total(rows, seen=[]):\n    for row in rows:\n        seen.append(row)\n    return len(seen)"
PASSAGES = (a_passage("a.py", CODE),)
CLAIM = a_claim("a.py", 1, "def total(rows, seen=[]):", severity=Severity.HIGH)


def offering(stance: str, probability: float, *cites: str, check: Check = CHECK) -> str:
    """A position that names an experiment."""
    named = {"kind": check.kind.value, "command": list(check.command), "source": check.source, "subject": check.subject}
    return json.dumps({"arguments": [argued(*cites)], "check": named, "stance": stance, "probability": probability})


def held(answers: dict[str, list[Answer]], *, outcome: str = "fails_at_head", rounds: int = 2) -> Talk[Transcript]:
    """A debate of one claim of the critic's; later answers by seat, in order."""

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=outcome), "1 failed in 0.1s")
        if isinstance(asked.question, FirstPass):
            return claims_reply(CLAIM) if asked.seat.name == "critic" else claims_reply()
        return answers[asked.seat.name].pop(0)

    brief = Brief(PASSAGES, Papers((a_dossier(*PASSAGES),)), frozenset({"a.py"}), Ledger())
    return talked(debate(brief, Table(SEATS), DebateOptions(rounds=rounds)), answer)


def split(check_in: str, round_number: int = 1) -> dict[str, list[Answer]]:
    """Two rounds without an end, in which one seat names an experiment."""
    answers: dict[str, list[Answer]] = {
        "reviewer": [position_reply("support", 0.8, "a.py:2"), position_reply("support", 0.8, "a.py:2")],
        "optimizer": [position_reply("oppose", 0.2, "a.py:3"), position_reply("oppose", 0.2, "a.py:3")],
        "critic": [rebuttal_reply("defend", "a.py:4")],
    }
    stance, probability, cite = ("support", 0.8, "a.py:2") if check_in == "reviewer" else ("oppose", 0.2, "a.py:3")
    answers[check_in][round_number - 1] = offering(stance, probability, cite)
    return answers


def experiments(talk: Talk[Transcript]) -> list[list[Experiment]]:
    return [[asked for asked in put if isinstance(asked, Experiment)] for put in talk.rounds]


def of(check: Check, author: str = "") -> Experiment:
    """The check as an experiment at the claim's place."""
    return Experiment("F1", replace(check, author=author), "a.py", 1, 1)


@pytest.mark.parametrize("who", ["reviewer", "optimizer"])
def test_a_check_that_somebody_offers_is_run_before_anybody_is_asked_again(who: str) -> None:
    talk = held(split(who))
    assert experiments(talk) == [[], [], [of(CHECK, who)]]
    assert len(talk.rounds) == 3, "what was proven is not argued any further"
    (case,) = talk.end.cases
    assert case.proof is Proof.PROVEN
    assert case.settled_by is SettledBy.EVIDENCE
    assert case.probability >= 0.95
    assert case.check == replace(CHECK, outcome="fails_at_head", output="1 failed in 0.1s", author=who)


def test_a_check_that_is_offered_in_the_last_round_is_run_all_the_same() -> None:
    talk = held(split("optimizer", 2))
    assert experiments(talk) == [[], [], [], [of(CHECK, "optimizer")]]
    assert talk.end.cases[0].proof is Proof.PROVEN


def test_what_a_check_showed_reaches_the_next_question() -> None:
    talk = held(split("reviewer"), outcome="unstable")
    late = {asked.round: asked.question.late for asked in talk.asks if isinstance(asked.question, CrossExamination | Rebuttal)}
    assert late[1] == ()
    assert late[2] == ("pytest -q: unstable\n1 failed in 0.1s\ndef test_it(): ...",)


@pytest.mark.parametrize(
    ("outcome", "more"), [("fails_at_both", True), ("unrelated", True), ("passes_at_head", False), ("none_found", False)]
)
def test_a_check_that_decided_nothing_makes_room_for_another(outcome: str, more: bool) -> None:
    other = Check(("pytest", "other"))

    def answer(asked: Ask | Experiment) -> Answer:
        if isinstance(asked, Experiment):
            return Verification(replace(asked.check, outcome=outcome))
        if isinstance(asked.question, FirstPass):
            return claims_reply(replace(CLAIM, check=CHECK)) if asked.seat.name == "critic" else claims_reply()
        return offering("oppose", 0.1, "a.py:3", check=other)

    brief = Brief(PASSAGES, Papers((a_dossier(*PASSAGES),)), frozenset({"a.py"}), Ledger())
    talk = talked(debate(brief, Table(SEATS), DebateOptions(rounds=1)), answer)
    assert experiments(talk) == [[], [of(CHECK)], *([[of(other, "reviewer")]] if more else [])]
    assert [check.command for check in talk.end.cases[0].tried] == ([CHECK.command] if more else [])


def test_a_check_that_did_not_run_shows_nothing_to_anybody() -> None:
    talk = held(split("reviewer"), outcome="not_run")
    (case,) = talk.end.cases
    assert case.proof is Proof.UNTESTED
    assert case.settled_by is not SettledBy.EVIDENCE
    assert case.triage is Triage.DEBATED


def test_who_misses_a_round_abstains_and_is_told() -> None:
    answers: dict[str, list[Answer]] = {
        "reviewer": [Reply(ReplyStatus.TIMEOUT, reason="too slow")],
        "optimizer": [position_reply("support", 0.9, "a.py:2")],
    }
    talk = held(answers)
    (case,) = talk.end.cases
    assert {position.panelist for position in case.positions} == {"critic", "optimizer"}
    assert talk.end.notes == ("reviewer gave no valid answer to 1 of 2 questions: too slow",)
    assert talk.end.quorum
    missed = [turn for turn in talk.end.turns if turn.outcome == "timeout"]
    assert [(turn.phase, turn.panelist, turn.subject) for turn in missed] == [("S4", "reviewer", "F1")]


def test_nobody_hears_its_own_words_as_anothers() -> None:
    answers = split("reviewer")
    answers["reviewer"][0] = position_reply("support", 0.8, "a.py:2", claim="the reviewer's own")
    talk = held(answers, outcome="not_run")
    second = {asked.seat.name: asked.question for asked in talk.asks if asked.round == 2}
    heard = {name: "own" in repr(question.words) for name, question in second.items() if isinstance(question, CrossExamination)}
    assert heard == {"reviewer": False, "optimizer": True}


def test_arguments_reach_the_others_without_the_names_of_those_who_made_them() -> None:
    talk = held(split("reviewer"), outcome="not_run")
    second = [asked for asked in talk.asks if asked.round == 2]
    assert {asked.seat.name for asked in second} == {"critic", "reviewer", "optimizer"}
    for asked in second:
        assert isinstance(asked.question, CrossExamination | Rebuttal)
        assert asked.question.words
        assert not any(seat.name in repr(asked.question) for seat in SEATS)
