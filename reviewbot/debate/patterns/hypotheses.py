"""A report of a bug before those who write checks: each forms hypotheses alone, and each hypothesis comes with a failing check.

Nobody sees another's. Whether a check fails is not for anybody to say: it is run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from reviewbot.debate import diagnosis
from reviewbot.debate.diagnosis import Hypothesis
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.rounds import Answers, Round, hold
from reviewbot.domain.debate import Seat
from reviewbot.ports import Ask, Diagnosis

Forming = Generator[Round, Answers, "Formed"]

WRITERS = ("tester", "critic", "reviewer", "proposer", "formal")
"""Who is asked first, by role: those who write checks, then those who trace inputs to failures."""

MOST_WRITERS = 3
"""Seats that are asked: several heads find more, and each costs a call [design]."""

STATIC = "static"
"""The family of seats behind which no language model sits."""

SUBJECT = "the report"


@dataclass(frozen=True, slots=True)
class Formed:
    """The hypotheses, those that most seats hold first. ``asked`` are the seats, ``answered`` those that gave a valid answer."""

    hypotheses: tuple[Hypothesis, ...]
    asked: tuple[str, ...]
    answered: tuple[str, ...]


def form(report: str, papers: Papers, minutes: Minutes, *, most: int, seconds: float) -> Forming:
    """Ask them. At most ``most`` hypotheses are kept, of each seat its first before anybody's second."""
    seats = writers(minutes.seated)
    asks = [
        Ask(seat, Diagnosis(dossier, report, most), subject=SUBJECT, timeout_seconds=seconds)
        for seat in seats
        for dossier in papers.piles(seat)[:1]
    ]
    held = yield from hold(asks, lambda _, text: diagnosis.hypotheses(text), minutes)
    said: list[list[Hypothesis]] = []
    for ask, heard in zip(asks, held.heard, strict=True):
        if heard.value is not None:
            said.append([_by(one, ask.seat.name) for one in heard.value])
            minutes.say("make", _words(said[-1]), who=ask.seat.name, subject=SUBJECT)
    answered = tuple(ask.seat.name for ask, heard in zip(asks, held.heard, strict=True) if heard.value is not None)
    return Formed(tuple(_joined(said)[:most]), tuple(seat.name for seat in seats), answered)


def writers(seated: Iterable[Seat]) -> list[Seat]:
    """Who is asked: by role, else whoever sits; of local models, which are slow, only where nobody else does."""
    seats = [seat for seat in seated if seat.family != STATIC]
    strong = [seat for seat in seats if not seat.local] or seats
    ranked = sorted(strong, key=lambda seat: WRITERS.index(seat.role) if seat.role in WRITERS else len(WRITERS))
    return ranked[:MOST_WRITERS]


def _joined(said: Sequence[Sequence[Hypothesis]]) -> list[Hypothesis]:
    """All of them in turn, equal ones once. Those that several hold come first."""
    found: dict[tuple[object, ...], Hypothesis] = {}
    for one in chain.from_iterable(zip_longest(*said)):
        if one is not None:
            key = (one.check.kind, " ".join(one.check.source.split()), one.check.command, one.check.subject)
            known = found.get(key)
            found[key] = one if known is None else replace(known, by=tuple(dict.fromkeys((*known.by, *one.by))))
    return sorted(found.values(), key=lambda one: -len(one.by))


def _by(one: Hypothesis, name: str) -> Hypothesis:
    return replace(one, by=(name,), check=replace(one.check, author=name))


def _words(formed: Sequence[Hypothesis]) -> str:
    return "; ".join(one.title for one in formed) or "no hypothesis"
