"""What is made of a candidate by those who judge it: blind, one call each, and what they cite is held against what exists."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import fmean
from string import ascii_uppercase

from reviewbot.debate import reply
from reviewbot.debate.cites import Shown as Citable
from reviewbot.debate.making import reply as answers
from reviewbot.debate.making.outcome import Candidate
from reviewbot.debate.making.reply import Point, Verdict
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.reply import Decision, Judged
from reviewbot.debate.rounds import Answers, Heard, Round, hold
from reviewbot.domain.debate import Seat
from reviewbot.ports import Appraisal, Arbitration, Ask, Dossier, Shown, Task

MOST_ARBITRATED = 3
"""Grounds that a moderator is asked about, one at a time."""


class Ruling(StrEnum):
    """What the judges say together. ``rejected``: nobody accepts it."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DISPUTED = "disputed"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Voice:
    """A judge's word on one candidate, with only those points critical that cite what exists."""

    judge: str
    acceptable: bool
    score: float
    points: tuple[Point, ...]

    @property
    def rejects(self) -> bool:
        """It names a ground that forbids the candidate."""
        return any(point.critical for point in self.points)

    @property
    def accepts(self) -> bool:
        """It lets the candidate pass. A judge who does not, and names no ground, does neither."""
        return self.acceptable and not self.rejects

    @property
    def told(self) -> str:
        """In a line."""
        ground = next((point.text for point in (*self.grounds, *self.points)), "")
        word = "acceptable" if self.accepts else "not acceptable"
        return f"{word} ({self.score:g} of 10){f': {ground}' if ground else ''}"

    @property
    def grounds(self) -> tuple[Point, ...]:
        """The points that forbid it."""
        return tuple(point for point in self.points if point.critical)


Voices = tuple[Voice, ...]


def ruling(voices: Voices) -> Ruling:
    """What the judges say together."""
    if not voices:
        return Ruling.UNJUDGED
    if not any(voice.accepts for voice in voices):
        return Ruling.REJECTED
    return Ruling.DISPUTED if any(voice.rejects for voice in voices) else Ruling.ACCEPTED


def score(voices: Voices) -> float:
    """How good it is held to be, from 0 to 10."""
    return fmean(voice.score for voice in voices) if voices else 0.0


def dissent(voices: Voices) -> str | None:
    """Who did not accept it, and why."""
    others = [f"{voice.judge}: {voice.told}" for voice in voices if not voice.accepts]
    return "; ".join(others) or None


def forbidding(voices: Voices) -> tuple[str, ...]:
    """What forbids it, in words without names."""
    return tuple(dict.fromkeys(_worded(point) for voice in voices for point in voice.grounds))


def grounds(voices: Voices) -> tuple[str, ...]:
    """Everything that is said against it: what forbids it first."""
    return tuple(dict.fromkeys((*forbidding(voices), *(_worded(point) for voice in voices for point in voice.points))))


@dataclass(frozen=True, slots=True)
class Jury:
    """Where candidates for one task are judged. ``seconds`` for each answer."""

    task: Task
    papers: Papers
    minutes: Minutes
    seconds: float

    def appraise(
        self, candidates: Sequence[Candidate], judges: Sequence[Seat], *, turn: int
    ) -> Generator[Round, Answers, list[Voices]]:
        """What the judges say of each candidate. Letters follow the contents: neither place nor letter tells who wrote what."""
        ranked = sorted(range(len(candidates)), key=lambda index: (_digest(candidates[index]), index))
        letters = {index: ascii_uppercase[rank] for rank, index in enumerate(ranked)}
        table = {letters[index]: candidates[index] for index in ranked}
        shown = tuple(Shown(letter, one.delta.text, one.trialled.told) for letter, one in table.items())
        asks = [self._ask(judge, Appraisal(self.task, self._dossier(judge), shown), turn) for judge in judges]
        held = yield from hold(asks, lambda _, text: answers.verdicts(text, letters=table), self.minutes)
        voices = [self._voices(ask, heard, table) for ask, heard in zip(asks, held.heard, strict=True)]
        for ask, said in zip(asks, voices, strict=True):
            if said:
                words = "; ".join(f"{letter}: {voice.told}" for letter, voice in said.items())
                self.minutes.say("make", words, who=ask.seat.name, subject=self.task.id)
        return [tuple(said[letters[index]] for said in voices if said) for index in range(len(candidates))]

    def arbitrate(
        self, candidate: Candidate, voices: Voices, moderator: Seat, *, turn: int
    ) -> Generator[Round, Answers, Decision]:
        """Whether one of the grounds forbids the candidate: each is put first once. Forbidden is what one ground forbids; allowed
        what none does, by an answer for each of them that cites something."""
        shown = Shown("A", candidate.delta.text, candidate.trialled.told)
        said = grounds(voices)
        first = min(len(forbidding(voices)), MOST_ARBITRATED)
        orders = [(said[index], *said[:index], *said[index + 1 :]) for index in range(first)]
        asks = [
            self._ask(moderator, Arbitration(self.task, self._dossier(moderator), shown, points), turn + index)
            for index, points in enumerate(orders)
        ]
        held = yield from hold(asks, lambda _, text: reply.judgement(text), self.minutes)
        told = [self._grounded(ask, heard, candidate) for ask, heard in zip(asks, held.heard, strict=True)]
        decision = _decided(told, all_asked=first == len(forbidding(voices)))
        word = {Decision.UPHELD: "it may not be used", Decision.REJECTED: "it may be used"}.get(decision, "nothing is decided")
        self.minutes.say("make", f"{word}, by what the judges differ about", who=moderator.name, subject=self.task.id)
        return decision

    def _ask(self, seat: Seat, question: Appraisal | Arbitration, turn: int) -> Ask:
        return Ask(seat, question, subject=self.task.id, round=turn, timeout_seconds=self.seconds)

    def _dossier(self, seat: Seat) -> Dossier:
        return self.papers.about(self.task.packet, seat)

    def _voices(self, ask: Ask, heard: Heard, table: Mapping[str, Candidate]) -> dict[str, Voice]:
        """A judge's words by letter; none where there was no answer."""
        found = {}
        for verdict in heard.value or ():
            assert isinstance(verdict, Verdict)
            candidate = table[verdict.letter]
            points = tuple(
                replace(point, critical=point.critical and self._holds(point.cites, ask, heard, candidate=candidate))
                for point in verdict.points
            )
            found[verdict.letter] = Voice(ask.seat.name, verdict.acceptable, verdict.score, points)
        return found

    def _grounded(self, ask: Ask, heard: Heard, candidate: Candidate) -> Decision:
        """A moderator's answer, where it cites what exists."""
        judged = heard.value
        if not isinstance(judged, Judged):
            return Decision.UNDECIDED
        cites = tuple(cite for argument in judged.arguments for cite in argument.evidence)
        return judged.decision if self._holds(cites, ask, heard, candidate=candidate) else Decision.UNDECIDED

    def _holds(self, cites: tuple[str, ...], ask: Ask, heard: Heard, *, candidate: Candidate) -> bool:
        """One of these is a line that was shown, a ledger item, a line of the candidate or one of its hunks."""
        dossier = ask.question.dossier
        shown = Citable.of((dossier,), dossier.ledger)
        own = Citable(candidate.delta.passages, dossier.ledger)
        return any(
            candidate.delta.has(cite) or own.holds(cite) or shown.holds(cite, heard.unread)
            for cite in (cite.strip().strip("`") for cite in cites)
        )


def _decided(told: Sequence[Decision], *, all_asked: bool) -> Decision:
    if Decision.UPHELD in told:
        return Decision.UPHELD
    return Decision.REJECTED if all_asked and set(told) == {Decision.REJECTED} else Decision.UNDECIDED


def _worded(point: Point) -> str:
    cites = f" ({', '.join(point.cites)})" if point.cites else ""
    return f"{point.text}{cites}"


def _digest(candidate: Candidate) -> str:
    return hashlib.sha256(candidate.delta.text.encode("utf-8", "surrogatepass")).hexdigest()
