"""A conversation that another package adds, held to the rules of the house.

It is asked as ``consult`` is, and what it says is held against what exists: who took part and what that cost is written down
here, citations are looked up here, and its questions go only to those who sit. Where it fails, nobody answered, and that is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from reviewbot.debate.cites import Shown
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.patterns.consult import Consulting, ConsultOptions, Inquiry, closed
from reviewbot.debate.rounds import Answers, Round
from reviewbot.domain.answer import Counsel, Opinion
from reviewbot.domain.debate import Seat, Table
from reviewbot.ports import Ask, Consultation, Dossier, Reply, ReplyStatus, Synthesis

Pattern = Callable[[Inquiry, Table, ConsultOptions], Consulting]
"""A conversation about a question: a generator that yields rounds of Asks, is sent their Replies, and returns Counsel."""

Take = Callable[[Callable[[], Any]], Any]
"""Calls code of another package. Raises Failed, and nothing else."""

MOST_ROUNDS, MOST_ASKS = 50, 50
"""Rounds of a conversation, and questions of a round [design]: budgets end it long before, and this what costs nothing."""
MOST_ANSWER, MOST_SAID, MOST_LISTED = 20_000, 1_000, 50
"""Characters of an answer, of a caveat; opinions, caveats and the like [design]."""
NOBODY = "nobody answered"


class Failed(Exception):
    """Code of another package went wrong. The message says how, in words."""


@dataclass(frozen=True, slots=True)
class _Ended:
    """What a conversation returned."""

    made: Any


def guarded(pattern: Pattern, take: Take, *, of: str) -> Pattern:
    """The pattern with the house around it. ``of`` says in words whose it is."""

    def held(inquiry: Inquiry, table: Table, options: ConsultOptions) -> Consulting:
        hall = _Hall(table, options, take, Minutes(table.seats))
        try:
            made = yield from _spoken(hall, lambda: pattern(inquiry, table, options))
            counsel = take(lambda: _proper(made))
        except Failed as exc:
            counsel = Counsel(inquiry.words, unanswered=f"{of} failed: {exc}")
        for seat in hall.silent:
            hall.minutes.lost(seat)
        return closed(_checked(counsel, inquiry, is_heard=any(hall.answers.values())), hall.minutes)

    return held


@dataclass(frozen=True, slots=True)
class _Hall:
    """Where it is held."""

    table: Table
    options: ConsultOptions
    take: Take
    minutes: Minutes
    answers: Counter[Seat] = field(default_factory=Counter)
    """How many answers each seat gave to what it was asked."""

    @property
    def silent(self) -> tuple[Seat, ...]:
        """Panelists who were asked and never answered."""
        return tuple(seat for seat in self.table.seats if seat in self.answers and not self.answers[seat])

    @property
    def everyone(self) -> tuple[Seat, ...]:
        """The panelists, and who judges."""
        return (*self.table.seats, *((self.table.moderator,) if self.table.moderator else ()))

    def asks(self, wanted: Any) -> Round:
        """A round as it is put. Raises Failed."""
        listed: tuple[Any, ...] = self.take(lambda: tuple(wanted)) if isinstance(wanted, tuple | list) else ()
        if not 0 < len(listed) <= MOST_ASKS:
            raise Failed(f"a round is a tuple of 1 to {MOST_ASKS} asks")
        for ask in listed:
            if not isinstance(ask, Ask) or not isinstance(ask.question, Consultation | Synthesis):
                raise Failed("it may ask Consultation and Synthesis, and nothing else")
            if not isinstance(ask.seat, Seat) or ask.seat not in self.everyone:
                raise Failed("it asks somebody who does not sit")
            self.take(partial(_sound, ask))
        return tuple(replace(ask, timeout_seconds=min(ask.timeout_seconds, self.options.seconds)) for ask in listed)

    def note(self, asks: Round, sent: Answers) -> None:
        """What a round brought."""
        for ask, answer in zip(asks, sent, strict=True):
            if isinstance(ask, Ask) and isinstance(answer, Reply):
                self.minutes.answered(ask, answer)
                self.answers[ask.seat] += answer.status is ReplyStatus.OK


def _spoken(hall: _Hall, begin: Callable[[], Consulting]) -> Any:
    """What it returns. Raises Failed."""
    speaking, sent = hall.take(begin), None
    for _ in range(MOST_ROUNDS):
        step = hall.take(_stepping(speaking, sent))
        if isinstance(step, _Ended):
            return step.made
        asks = hall.asks(step)
        sent = yield asks
        hall.note(asks, sent)
    raise Failed(f"it did not end after {MOST_ROUNDS} rounds")


def _sound(ask: Ask) -> None:
    """Raises TypeError for an ask whose parts are something else than they say."""
    question = ask.question
    if not isinstance(question, Consultation | Synthesis) or not isinstance(question.dossier, Dossier):
        raise TypeError("a question is about a Dossier")
    given = question.answers if isinstance(question, Synthesis) else ()
    for text in (question.words, ask.subject, ask.complaint, *(one.answer for one in given), *(one.letter for one in given)):
        _cut(text)
    for text in (text for one in given for text in (*one.citations, *one.caveats)):
        _cut(text)
    if not all(isinstance(number, int) for number in (ask.round, ask.attempt)) or not ask.timeout_seconds > 0:
        raise TypeError("round and attempt are numbers, timeout_seconds is more than 0")


def _stepping(speaking: Consulting, sent: Answers | None) -> Callable[[], Any]:
    def step() -> Any:
        try:
            return speaking.send(sent)  # type: ignore[arg-type]
        except StopIteration as end:
            return _Ended(end.value)

    return step


def _proper(made: Any) -> Counsel:
    """What it returned as Counsel: its texts, none longer than they may be."""
    if not isinstance(made, Counsel):
        raise TypeError(f"it returned {type(made).__name__} instead of Counsel")
    return Counsel(
        "",
        answer=_cut(made.answer, MOST_ANSWER).strip(),
        by=_cut(made.by, MOST_SAID),
        citations=_texts(made.citations),
        caveats=_texts(made.caveats),
        dissent=tuple(replace(one, panelists=_texts(one.panelists), about=_cut(one.about)) for one in _few(made.dissent)),
        opinions=tuple(_opinion(one) for one in _few(made.opinions)),
        unanswered=_cut(made.unanswered),
        notes=_texts(made.notes),
    )


def _opinion(one: Opinion) -> Opinion:
    return Opinion(
        _cut(one.panelist),
        _cut(one.letter),
        _cut(one.answer, MOST_ANSWER).strip(),
        _texts(one.citations),
        min(max(float(one.confidence), 0.0), 1.0),
        caveats=_texts(one.caveats),
        portion=_cut(one.portion),
    )


def _few(listed: Any) -> tuple[Any, ...]:
    return tuple(listed)[:MOST_LISTED]


def _texts(listed: Any) -> tuple[str, ...]:
    return tuple(_cut(text) for text in _few(listed))


def _cut(text: Any, most: int = MOST_SAID) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a text is expected, not {type(text).__name__}")
    return text[:most]


def _checked(made: Counsel, inquiry: Inquiry, *, is_heard: bool) -> Counsel:
    """With citations that exist, and no answer where nobody gave one."""
    shown = Shown.of(inquiry.papers.dossiers, inquiry.ledger, inquiry.length)
    kept = shown.checked(made.citations)
    opinions = tuple(_grounded(one, shown) for one in made.opinions)
    cited: Iterable[str] = (*kept.held, *(cite for one in opinions for cite in one.citations))
    unanswered = made.unanswered or ("" if made.answer and is_heard else NOBODY)
    return replace(
        made,
        question=inquiry.words,
        answer="" if unanswered else made.answer,
        citations=kept.held,
        dropped=kept.dropped,
        opinions=opinions,
        unanswered=unanswered,
        evidence=shown.items(cited),
    )


def _grounded(one: Opinion, shown: Shown) -> Opinion:
    kept = shown.checked(one.citations)
    return replace(one, citations=kept.held, dropped=kept.dropped)
