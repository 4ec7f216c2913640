"""Consultation: a question to the panel. Everyone answers alone, citations are looked up, then one draws the answers together.

Who draws them together sees no names, only letters in an order that the answers' contents decide; the names are put back here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace

from reviewbot.debate import numbers, reply
from reviewbot.debate.cites import Length, Shown, nowhere
from reviewbot.debate.minutes import Minutes, quorum
from reviewbot.debate.papers import Papers
from reviewbot.debate.prompt_consult import MOST_QUESTION
from reviewbot.debate.rounds import Answers, Heard, Round, hold
from reviewbot.domain.answer import Counsel, Dissent, Opinion
from reviewbot.domain.debate import Seat, Table
from reviewbot.domain.evidence import Evidence, Ledger
from reviewbot.ports import Ask, Consultation, Dossier, Given, Synthesis

Consulting = Generator[Round, Answers, Counsel]

SUBJECT = "the question"
STATIC = "static panel, no language model: it cannot answer questions; here is what the checks said about what the question names"
NOTHING_SHOWN = "nothing of the change can be shown"

MOST_ITEMS = 20
"""Ledger items that are listed where nobody can answer."""

_WORD = re.compile(r"[\w./:-]*\w")
_SHORTEST = 3
"""Characters of a word that says something about what a question is about."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question in somebody's ``words``, and what lies before those who answer. ``length``: see ``cites.Length``."""

    words: str
    papers: Papers
    ledger: Ledger
    length: Length = nowhere


@dataclass(frozen=True, slots=True)
class ConsultOptions:
    """``seconds`` for each answer; whether a moderator may be asked; how many ``portions`` of a large change are read for it."""

    seconds: float = 120.0
    moderate: bool = True
    portions: int = numbers.MOST_PORTIONS_ASKED


def consult(inquiry: Inquiry, table: Table, options: ConsultOptions) -> Consulting:
    """Hold it. Returns the panel's counsel; one without an answer says why."""
    minutes = Minutes(table.seats)
    if not any(dossier.passages for dossier in inquiry.papers.dossiers):
        return closed(Counsel(inquiry.words, unanswered=NOTHING_SHOWN), minutes)
    desk = _Desk(inquiry, options)
    asks = [ask for seat in table.seats for ask in desk.asks(seat)]
    held = yield from hold(asks, lambda _, text: reply.opinion(text), minutes)
    opinions = desk.opinions(asks, held.heard)
    heard = {opinion.panelist for opinion in opinions}
    for seat in table.seats:
        if seat.name not in heard:
            minutes.lost(seat)
    for note in desk.notes(asks):
        minutes.note(note)
    made = Counsel(inquiry.words, opinions=opinions)
    if not minutes.has_quorum:
        few = f"{len(heard)} of {len(table.seats)} panelists answered, and {quorum(len(table.seats))} are needed"
        return closed(replace(made, unanswered=f"too few for an answer of the panel: {few}"), minutes)
    if len(opinions) > 1:
        made = yield from desk.drawn(made, _judge(table, minutes, options), minutes)
    else:
        made = _alone(made)
    cited = (*made.citations, *(cite for opinion in opinions for cite in opinion.citations))
    return closed(replace(made, evidence=desk.shown.items(cited)), minutes)


def without_models(words: str, ledger: Ledger, *, notes: Iterable[str] = ()) -> Counsel:
    """What can be said where no language model sits: that it cannot be answered, and the results that concern what it names."""
    items = concerning(words, ledger)
    told = STATIC if items else f"{STATIC}: nothing"
    return Counsel(words, unanswered=told, evidence=items, notes=tuple(notes))


def concerning(words: str, ledger: Ledger) -> tuple[Evidence, ...]:
    """New results whose file, rule, tool or subject the words name, in the ledger's order."""
    named = _words(words)
    return tuple(item for item in ledger.new() if named & _names(item))[:MOST_ITEMS]


def _words(text: str) -> frozenset[str]:
    found = (word.strip(".:-/").casefold() for word in _WORD.findall(text))
    return frozenset(part for word in found for part in (word, word.split(":")[0]) if len(part) >= _SHORTEST)


def _names(item: Evidence) -> frozenset[str]:
    result = item.result
    name = result.path.rsplit("/", 1)[-1]
    said = (result.path, name, name.split(".")[0], result.rule or "", result.tool, result.subject, item.id)
    return frozenset(word.casefold() for word in said if word)


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where the question is put, and answers are looked at before anyone else sees them."""

    inquiry: Inquiry
    options: ConsultOptions

    @property
    def shown(self) -> Shown:
        """What all of the panel could cite."""
        return self._among(self.inquiry.papers.dossiers)

    def asks(self, seat: Seat) -> list[Ask]:
        """The question about each portion that a seat reads for it: one of a local model's, who is slow."""
        chosen = _nearest(self.inquiry.papers.piles(seat), self.inquiry.words)[: 1 if seat.local else self.options.portions]
        return [
            Ask(
                seat,
                Consultation(dossier, self.inquiry.words),
                subject=f"{SUBJECT}, {dossier.portion}" if dossier.of > 1 else SUBJECT,
                timeout_seconds=self.options.seconds,
            )
            for dossier in chosen
        ]

    def opinions(self, asks: list[Ask], heard: Iterable[Heard]) -> tuple[Opinion, ...]:
        """What was answered, with the citations that exist, in the order of the table. Letters follow the contents."""
        told = [self._opinion(ask, answer) for ask, answer in zip(asks, heard, strict=True) if answer.value is not None]
        ranked = sorted(range(len(told)), key=lambda index: (_digest(told[index]), index))
        letters = {index: _letter(rank) for rank, index in enumerate(ranked)}
        return tuple(replace(opinion, letter=letters[index]) for index, opinion in enumerate(told))

    def notes(self, asks: list[Ask]) -> Iterable[str]:
        """What of the question or the change was not read."""
        if len(self.inquiry.words) > MOST_QUESTION:
            yield f"the question was cut after {MOST_QUESTION:,} characters"
        strong = [seat for seat in dict.fromkeys(ask.seat for ask in asks) if not seat.local]
        pile = self.inquiry.papers.dossiers
        read = {ask.question.dossier.portion for ask in asks if ask.seat in strong}
        if strong and len(read) < len(pile):
            yield f"{len(read)} of {len(pile)} portions of the change were read for it: those that the question mentions most"
        if not strong and len(self.inquiry.papers.piles(asks[0].seat)) > 1:
            yield "local panelists read one portion of the change for it: the one that the question mentions most"

    def drawn(self, made: Counsel, judge: Seat, minutes: Minutes) -> Generator[Round, Answers, Counsel]:
        """The answers drawn together by ``judge``, who does not know whose they are."""
        ask = self._synthesis(made, judge)
        names = {opinion.letter: opinion.panelist for opinion in made.opinions}
        held = yield from hold([ask], lambda _, text: reply.counsel(text, letters=names), minutes)
        common = held.heard[0].value
        if common is None:
            return replace(made, unanswered=f"{judge.name} gave no valid answer, so nobody drew the answers together")
        assert isinstance(common, reply.Common)
        kept = self.shown.checked(common.citations, held.heard[0].unread)
        return replace(
            made,
            answer=common.answer.strip(),
            by=judge.name,
            citations=kept.held,
            dropped=kept.dropped,
            caveats=common.caveats,
            dissent=tuple(Dissent(tuple(dict.fromkeys(names[letter] for letter in who)), said) for who, said in common.dissent),
        )

    def _synthesis(self, made: Counsel, judge: Seat) -> Ask:
        given = sorted(
            (Given(one.letter, one.answer, one.citations, one.caveats) for one in made.opinions),
            key=lambda one: (len(one.letter), one.letter),
        )
        dossier = _nearest(self.inquiry.papers.piles(judge), self.inquiry.words)[0]
        question = Synthesis(dossier, self.inquiry.words, tuple(given))
        return Ask(judge, question, subject=SUBJECT, round=2, timeout_seconds=self.options.seconds)

    def _opinion(self, ask: Ask, heard: Heard) -> Opinion:
        said, dossier = heard.value, ask.question.dossier
        assert isinstance(said, reply.Stated)
        kept = self._among((dossier,)).checked(said.citations, heard.unread)
        return Opinion(
            ask.seat.name,
            "",
            said.answer.strip(),
            kept.held,
            said.confidence,
            caveats=said.caveats,
            dropped=kept.dropped,
            portion=dossier.portion if dossier.of > 1 else "",
        )

    def _among(self, dossiers: Iterable[Dossier]) -> Shown:
        return Shown.of(dossiers, self.inquiry.ledger, self.inquiry.length)


def _nearest(pile: tuple[Dossier, ...], words: str) -> tuple[Dossier, ...]:
    """Dossiers with the words of a question most often in their paths and lines first, else in their own order."""
    wanted = _words(words)

    def mentions(dossier: Dossier) -> int:
        texts = (text for passage in dossier.passages for text in (passage.path, passage.path.rsplit("/", 1)[-1], *passage.lines))
        return sum(len(wanted & _words(text)) for text in texts)

    return tuple(sorted(pile, key=lambda dossier: -mentions(dossier))) if len(pile) > 1 else pile


def _judge(table: Table, minutes: Minutes, options: ConsultOptions) -> Seat:
    """Who draws the answers together: the moderator, else the Reviewer, else who answered first."""
    if table.moderator is not None and options.moderate:
        return table.moderator
    by_role = {seat.role: seat for seat in reversed(minutes.seated)}
    return by_role.get("reviewer") or minutes.seated[0]


def _alone(made: Counsel) -> Counsel:
    """A panel of one has nothing to draw together: its answer is the answer."""
    (one,) = made.opinions
    return replace(made, answer=one.answer, by=one.panelist, citations=one.citations, dropped=one.dropped, caveats=one.caveats)


def closed(made: Counsel, minutes: Minutes) -> Counsel:
    """With who took part, what it cost, and what was noted on the way."""
    record = minutes.transcript((), ())
    capped = (record.capped,) if record.capped else ()
    notes = tuple(dict.fromkeys((*made.notes, *record.notes, *capped)))
    return replace(made, attendance=record.attendance, bill=record.bill, notes=notes)


def _digest(opinion: Opinion) -> str:
    said = "\0".join((opinion.answer, *opinion.citations, *opinion.caveats))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _letter(rank: int) -> str:
    return chr(ord("A") + rank % 26) + (str(rank // 26) if rank >= 26 else "")
