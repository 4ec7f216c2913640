"""Patterns of other packages are held to the rules of the house: who is asked, what counts as cited, what it cost, how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from reviewbot.debate.papers import Papers
from reviewbot.debate.patterns import outside
from reviewbot.debate.patterns.consult import ConsultOptions, Inquiry
from reviewbot.debate.patterns.outside import MOST_ASKS, MOST_ROUNDS, NOBODY, guarded
from reviewbot.domain.answer import Counsel, Dissent, Opinion
from reviewbot.domain.debate import SeatStatus, Table
from reviewbot.domain.evidence import Ledger
from reviewbot.domain.money import Usage
from reviewbot.ports import Ask, Consultation, Experiment, FirstPass, Reply, ReplyStatus
from reviewbot.testing import a_dossier, a_passage, a_seat, evidence_item
from tests.debate.conversation import Answer, Talk, talked

TRIO = tuple(a_seat(name) for name in ("critic", "reviewer", "optimizer"))
TABLE = Table(TRIO, a_seat("moderator"))
LEDGER = Ledger(items=(evidence_item(1, "a.py", 1),))
DOSSIER = a_dossier(a_passage("a.py", "x = 1\ny = 2"), ledger=LEDGER)
SAID = json.dumps({"citations": [], "answer": "Yes.", "caveats": [], "confidence": 0.5})


def take(call: Callable[[], Any]) -> Any:
    """As wiring does it."""
    try:
        return call()
    except Exception as exc:
        raise outside.Failed(f"{type(exc).__name__}: {exc}") from exc


def ask(seat: Any = TRIO[0], **other: Any) -> Ask:
    return Ask(seat, Consultation(DOSSIER, "why?"), subject="the question", **other)


def held(pattern: Any, answer: Callable[[Any], Answer] = lambda _: SAID) -> Talk[Counsel]:
    about = Inquiry("why?", Papers((DOSSIER,)), LEDGER)
    return talked(guarded(pattern, take, of="the pattern 'odd'")(about, TABLE, ConsultOptions(60.0)), answer)


def ending(made: Any, *rounds: Any) -> Any:
    """A pattern that puts these rounds and returns this."""

    def pattern(*_: Any) -> Iterator[Any]:
        for put in rounds or ((ask(),),):  # noqa: UP028 - nothing can be sent to a tuple
            yield put
        return made

    return pattern


def test_what_exists_is_kept_of_what_it_cites_and_the_question_is_the_persons() -> None:
    opinion = Opinion("critic", "A", "Yes.", ("a.py:2", "b.py:1"), 7.0)
    talk = held(ending(Counsel("another", "Yes.", "critic", ("a.py:1", "E1", "a.py:3", "E9"), opinions=(opinion,))))
    end = talk.end
    assert (end.question, end.answer, end.citations, end.dropped) == ("why?", "Yes.", ("a.py:1", "E1"), ("a.py:3", "E9"))
    assert [item.id for item in end.evidence] == ["E1"]
    assert (end.opinions[0].citations, end.opinions[0].dropped, end.opinions[0].confidence) == (("a.py:2",), ("b.py:1",), 1.0)


def test_what_it_cost_and_who_took_part_is_written_down_by_the_house() -> None:
    paid = Reply(ReplyStatus.OK, SAID, usage=Usage(calls=1, cost_usd=0.25))
    lost = Reply(ReplyStatus.TIMEOUT, reason="too slow")
    made = Counsel("", "Yes.", attendance=(), bill=held(ending(Counsel("", "x"))).end.bill)
    end = held(ending(made, (ask(), ask(TRIO[1]))), lambda asked: lost if asked.seat == TRIO[1] else paid).end
    assert (end.bill.total.calls, end.bill.total.cost_usd) == (1, 0.25)
    assert [(one.seat.name, one.status) for one in end.attendance] == [
        ("critic", SeatStatus.OK),
        ("reviewer", SeatStatus.LOST),
        ("optimizer", SeatStatus.OK),
    ]
    assert any("too slow" in note for note in end.notes)


def test_nobody_is_given_more_time_than_the_round_has() -> None:
    talk = held(ending(Counsel("", "Yes."), (ask(timeout_seconds=9_999.0), ask(timeout_seconds=1.0))))
    assert [asked.timeout_seconds for asked in talk.asks] == [60.0, 1.0]


def test_the_moderator_may_be_asked() -> None:
    assert held(ending(Counsel("", "Yes."), (ask(TABLE.moderator),))).end.answer == "Yes."


@pytest.mark.parametrize("status", [status for status in ReplyStatus if status is not ReplyStatus.OK])
def test_an_answer_that_nobody_gave_is_none(status: ReplyStatus) -> None:
    end = held(ending(Counsel("", "I made it up.")), lambda _: Reply(status, reason="no")).end
    assert (end.answer, end.unanswered) == ("", NOBODY)


def test_why_it_has_no_answer_is_its_own_to_say() -> None:
    assert held(ending(Counsel("", "Yes.", unanswered="we could not agree"))).end.unanswered == "we could not agree"
    assert held(ending(Counsel(""))).end.unanswered == NOBODY


def broken(*_: Any) -> Iterator[Any]:
    yield (ask(),)
    raise KeyError("x")


def endless(*_: Any) -> Iterator[Any]:
    while True:
        yield (ask(),)


WRONG = {
    "it raises": (broken, "KeyError: 'x'"),
    "it is no generator": (lambda *_: Counsel("", "Yes."), "AttributeError"),
    "it takes something else": (lambda: iter(()), "TypeError"),
    "it never ends": (endless, f"it did not end after {MOST_ROUNDS} rounds"),
    "it returns something else": (ending("Yes."), "it returned str instead of Counsel"),
    "its answer is no text": (ending(Counsel("", 1)), "a text is expected, not int"),  # type: ignore[arg-type]
    "its citations are none": (ending(Counsel("", "Yes.", citations=(1,))), "a text is expected"),  # type: ignore[arg-type]
    "its dissent is none": (ending(Counsel("", "Yes.", dissent=("a",))), "AttributeError"),  # type: ignore[arg-type]
    "an empty round": (ending(Counsel(""), ()), "a round is a tuple of"),
    "no round": (ending(Counsel(""), ask()), "a round is a tuple of"),
    "a large round": (ending(Counsel(""), (ask(),) * (MOST_ASKS + 1)), "a round is a tuple of"),
    "somebody who does not sit": (ending(Counsel(""), (ask(a_seat("stranger")),)), "somebody who does not sit"),
    "another model on a seat": (ending(Counsel(""), (ask(replace(TRIO[0], model="x:y")),)), "somebody who does not sit"),
    "another kind of question": (ending(Counsel(""), (Ask(TRIO[0], FirstPass(DOSSIER)),)), "may ask Consultation and Synthesis"),
    "a time that is none": (ending(Counsel(""), (ask(timeout_seconds=None),)), "TypeError"),
    "a time below nothing": (ending(Counsel(""), (ask(timeout_seconds=-1.0),)), "timeout_seconds is more than 0"),
    "words that are none": (ending(Counsel(""), (Ask(TRIO[0], Consultation(DOSSIER, None)),)), "a text is expected"),  # type: ignore[arg-type]
    "a dossier that is none": (ending(Counsel(""), (Ask(TRIO[0], Consultation(None, "why?")),)), "about a Dossier"),  # type: ignore[arg-type]
    "an experiment": (ending(Counsel(""), (Experiment("x", None),)), "may ask Consultation and Synthesis"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("how", WRONG)
def test_one_that_fails_leaves_the_question_unanswered_and_says_why(how: str) -> None:
    pattern, words = WRONG[how]
    end = held(pattern).end
    assert end.answer == ""
    assert end.unanswered.startswith("the pattern 'odd' failed: ")
    assert words in end.unanswered


def test_what_it_says_is_bounded() -> None:
    long = "x" * 1_000_000
    made = Counsel(
        "", long, long, (long,) * 99, dissent=(Dissent((long,) * 99, long),) * 99, caveats=(long,) * 99, notes=(long,) * 99
    )
    end = held(ending(made)).end
    assert len(end.answer) == outside.MOST_ANSWER
    assert len(end.caveats) == len(end.dissent) == outside.MOST_LISTED
    assert max(map(len, (end.by, *end.caveats, *end.notes, end.dissent[0].about))) == outside.MOST_SAID
