"""S1: the blind first pass. Strong panelists read every portion at once; local models read what is assigned to them.

Where both sit, the first strong panelist also deals out the work: it reads the change anyway, and sees how fast the others are.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from reviewbot.debate import reply
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers, Reading
from reviewbot.debate.rounds import Answers, Heard, Held, Round, hold
from reviewbot.domain.counted import counted
from reviewbot.domain.debate import Claim, Seat
from reviewbot.domain.tokens import BYTES_PER_TOKEN
from reviewbot.ports import Ask, Assignment, Dossier, FirstPass, Pace, Passage, Portion


@dataclass(frozen=True, slots=True)
class LocalWork:
    """What local panelists may be given: their ``paces``, how many asks each gets in the first pass, in how many ``seconds``."""

    paces: tuple[Pace, ...] = ()
    asks: int = 5
    seconds: float = 120.0
    errors: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """What the first pass gave."""

    claims: tuple[Claim, ...]
    reading: Reading


def hold_first_pass(papers: Papers, minutes: Minutes, *, seconds: float, local: LocalWork) -> Generator[Round, Answers, Opening]:
    """Everyone at once, no one sees another."""
    floor = _Floor(minutes, seconds)
    strong = tuple(seat for seat in minutes.seated if not seat.local)
    slow = tuple(seat for seat in minutes.seated if seat.local)
    asks = [floor.ask(seat, dossier) for dossier in papers.dossiers for seat in strong]
    dealer = _assignment(strong, slow, papers=papers, local=local, seconds=seconds)
    dealt = None if strong else _dealt_round(slow, papers, most=local.asks)
    piles = {} if dealer else {seat.name: _pile(seat, dealt, papers, most=local.asks) for seat in slow}
    first_turns = _turns(slow, piles, floor)
    held = yield from hold(asks + first_turns + dealer, floor.read, minutes)
    floor.take(asks + first_turns, held)
    if dealer:
        dealt = held.heard[-1].value
        piles = {seat.name: _pile(seat, dealt, papers, most=local.asks) for seat in slow}
    _put_back(first_turns, held.heard[len(asks) :], piles)
    for _ in range(local.asks - bool(first_turns)):
        if turns := _turns(slow, piles, floor):
            held = yield from hold(turns, floor.read, minutes)
            floor.take(turns, held)
            _put_back(turns, held.heard, piles)
    floor.dismiss()
    return Opening(tuple(floor.claims), floor.reading)


class _Floor:
    """The first pass under way."""

    def __init__(self, minutes: Minutes, seconds: float) -> None:
        self._minutes = minutes
        self._seconds = seconds
        self._spoke: dict[Seat, bool] = {}
        self.claims: list[Claim] = []
        self.reading = Reading()

    def ask(self, seat: Seat, dossier: Dossier) -> Ask:
        """The question about one portion."""
        return Ask(seat, FirstPass(dossier), subject=_subject(dossier), timeout_seconds=self._seconds)

    def read(self, ask: Ask, text: str) -> object:
        """An answer's value by the kind of question."""
        if isinstance(question := ask.question, Assignment):
            names = (pace.seat for pace in question.paces)
            return reply.assignment(text, panelists=names, portions=(portion.name for portion in question.portions))
        return reply.claims(text, ask.seat)

    def take(self, asks: list[Ask], held: Held) -> None:
        """Note who answered what."""
        for ask, heard in zip(asks, held.heard, strict=False):
            assert isinstance(ask.question, FirstPass)
            spoke = self._spoke.get(ask.seat, False)
            self._spoke[ask.seat] = spoke or heard.value is not None
            if heard.value is not None:
                self.claims.extend(heard.value)
                self.reading.add(ask.question.dossier, heard.unread)
                self._minutes.say("S1", counted(len(heard.value), "claim"), who=ask.seat.name, subject=ask.subject)

    def dismiss(self) -> None:
        """Who was asked and gave no valid answer at all loses the seat."""
        for seat, spoke in self._spoke.items():
            if not spoke:
                self._minutes.lost(seat)


def _assignment(
    strong: tuple[Seat, ...], slow: tuple[Seat, ...], *, papers: Papers, local: LocalWork, seconds: float
) -> list[Ask]:
    """The question who reads what, where there is something to deal out and somebody who can."""
    piles = papers.small or papers.dossiers
    if not strong or not slow or not local.paces or len(piles) < 2:
        return []
    portions = tuple(Portion(d.portion, tuple(dict.fromkeys(p.path for p in d.passages)), _tokens(d)) for d in piles)
    question = Assignment(papers.dossiers[0], portions, local.paces, local.seconds, local.errors)
    return [Ask(strong[0], question, subject="assignment", timeout_seconds=seconds)]


def _turns(slow: tuple[Seat, ...], piles: dict[str, list[Dossier]], floor: _Floor) -> list[Ask]:
    """The next portion for every local panelist that has one left."""
    return [floor.ask(seat, piles[seat.name].pop(0)) for seat in slow if piles.get(seat.name)]


def _put_back(asks: list[Ask], answers: tuple[Heard, ...], piles: dict[str, list[Dossier]]) -> None:
    """What did not fit into a turn is the beginning of the next."""
    for ask, heard in zip(asks, answers, strict=False):
        if heard.value is not None and heard.unread:
            assert isinstance(ask.question, FirstPass)
            piles[ask.seat.name].insert(0, _rest(ask.question.dossier, heard.unread))


def _dealt_round(slow: tuple[Seat, ...], papers: Papers, *, most: int) -> tuple[tuple[str, str], ...] | None:
    """Where only local panelists sit and none can read it all, each reads another part; else everyone reads everything."""
    pile = papers.piles(slow[0]) if slow else ()
    if len(pile) <= most:
        return None
    return tuple((slow[index % len(slow)].name, dossier.portion) for index, dossier in enumerate(pile))


def _pile(seat: Seat, dealt: tuple[tuple[str, str], ...] | None, papers: Papers, *, most: int) -> list[Dossier]:
    """What a local panelist reads: what was assigned to it, or the riskiest portions where nobody dealt."""
    pile = papers.piles(seat)
    if dealt is not None:
        mine = [portion for who, portion in dealt if who == seat.name]
        by_name = {dossier.portion: dossier for dossier in pile}
        return [by_name[name] for name in mine if name in by_name][:most]
    return list(pile[:most])


def _rest(dossier: Dossier, unread: tuple[Passage, ...]) -> Dossier:
    return replace(dossier, passages=unread, portion=f"{dossier.portion}+", related=())


def _subject(dossier: Dossier) -> str:
    return dossier.portion if dossier.of > 1 else ""


def _tokens(dossier: Dossier) -> int:
    return int(sum(len(line) + 8 for passage in dossier.passages for line in passage.lines) / BYTES_PER_TOKEN)
