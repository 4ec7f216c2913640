"""Dispute: a person argues against a finding that was told. Who raised it defends, amends or withdraws it, the others vote again.

All are asked at once and see nobody else's answer. The person's words are one anonymous argument among those that count as far as
what they cite shows it. The written rule, in this order:

1. What was executed keeps a finding: neither words nor votes take it back or make it smaller; a person may still dismiss it.
2. It is withdrawn where everyone who raised it takes it back citing what exists, and nobody else supports it with a citation.
3. It is withdrawn where its probability falls under ``numbers.WITHDRAWN_BELOW``.
4. It is amended where who raised it says so, citing what exists. Severity falls, never rises.
5. Else it is maintained.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.debate import examine, numbers, reply, weigh
from reviewbot.debate.cites import Shown
from reviewbot.debate.minutes import Minutes, quorum
from reviewbot.debate.patterns.charge import Charge, held_before, placed, reopened
from reviewbot.debate.prompt_case import MOST_FIELD
from reviewbot.debate.rounds import Answers, Heard, Round, hold
from reviewbot.domain.answer import DisputeEnd, Settlement, Voice
from reviewbot.domain.debate import Case, Position, Seat, Stance, Table
from reviewbot.domain.review import Finding
from reviewbot.ports import Ask, CrossExamination, Dispute, Word

Disputing = Generator[Round, Answers, Settlement]
Said = Position | reply.Answer

STATIC = "static panel, no language model: nobody here can weigh an argument in words"
MOST_ARGUMENT = 2 * MOST_FIELD
"""Characters of a person's argument: as many as a prompt shows of any argument."""

GONE = "its lines are not in the change as it is now, so nobody can weigh it"


def dispute(charge: Charge, table: Table, *, seconds: float = 120.0) -> Disputing:
    """Hold it. Returns how it ended."""
    minutes = Minutes(table.seats)
    here = placed(charge.finding, charge.passages)
    if here is None:
        return _closed(unheard(charge.finding, charge.argument, GONE), minutes)
    desk = _Desk.of(replace(charge, finding=here), table)
    asks = [desk.ask(seat, seconds) for seat in table.seats]
    held = yield from hold(asks, _read, minutes)
    said = desk.weighed(asks, held.heard)
    for ask, answer in zip(asks, said, strict=True):
        if answer.value is None:
            minutes.lost(ask.seat)
    for note in desk.notes:
        minutes.note(note)
    if not minutes.has_quorum:
        few = f"{len(minutes.seated)} of {len(table.seats)} panelists answered, and {quorum(len(table.seats))} are needed"
        return _closed(unheard(charge.finding, charge.argument, f"too few to decide: {few}"), minutes)
    after = desk.after(asks, said, minutes)
    return _closed(desk.settled(asks, said, after), minutes)


def unheard(finding: Finding, argument: str, reason: str, *, notes: Iterable[str] = ()) -> Settlement:
    """The dispute of a finding that nobody could weigh: it stands as it stood."""
    return Settlement(
        finding,
        argument,
        DisputeEnd.UNHEARD,
        reason,
        finding.probability,
        finding.severity,
        finding.title,
        held_by=held_before(finding)[1],
        notes=tuple(notes),
    )


def _read(ask: Ask, text: str) -> Said:
    """A raiser's answer, or a vote. Raises InvalidReply."""
    if isinstance(ask.question, Dispute):
        return reply.rebuttal(text)
    return reply.position(text, ask.seat, round_number=ask.round)


@dataclass(frozen=True, slots=True)
class _Desk:
    """A dispute under way: the case as it was before, who answers for having raised it, the person's argument as a word."""

    charge: Charge
    case: Case
    hearing: examine.Hearing
    shown: Shown
    argued: Word
    notes: tuple[str, ...]

    @classmethod
    def of(cls, charge: Charge, table: Table) -> _Desk:
        """Everything laid out. Where nobody who raised it sits, another answers in their place."""
        shown = Shown.of((*charge.papers.dossiers, *charge.papers.small), charge.ledger, charge.length)
        raisers = [seat.name for seat in table.seats if seat.name in charge.finding.raised_by]
        notes = []
        if not raisers:
            raisers = [_stand_in(table).name]
            before = " and ".join(charge.finding.raised_by) or "whoever raised it"
            notes.append(f"{raisers[0]} answers in place of {before}, who does not sit here")
        if len(charge.argument) > MOST_ARGUMENT:
            notes.append(f"the argument was cut after {MOST_ARGUMENT:,} characters")
        seats = {seat.name: seat for seat in table.seats}
        hearing = examine.Hearing(charge.passages, charge.papers, charge.ledger, seats, rounds=0)
        case = hearing.opened(reopened(charge, tuple(raisers)))
        first, rest = _halves(charge.argument)
        argued = Word(Stance.OPPOSE, first, shown.named(charge.argument), rest)
        return cls(charge, case, hearing, shown, argued, tuple(notes))

    @property
    def round(self) -> int:
        """The round after all earlier ones."""
        return max((said.round for said in self.case.positions), default=1) + 1

    def ask(self, seat: Seat, seconds: float) -> Ask:
        """The question to one seat, by whether it raised the finding."""
        dossier = self.charge.papers.about(self.case.lead, seat)
        kind = Dispute if seat.name in self.case.raised_by else CrossExamination
        question = kind(examine.packet(self.case), dossier, (self.argued,), examine.late(self.case))
        return Ask(seat, question, subject=self.case.id, round=self.round, timeout_seconds=seconds)

    def weighed(self, asks: list[Ask], heard: Iterable[Heard]) -> list[Heard]:
        """The answers with only those citations that exist. Support or a change of a claim that cites nothing counts for
        nothing."""
        return [
            replace(answer, value=self._grounded(ask, answer)) if answer.value is not None else answer
            for ask, answer in zip(asks, heard, strict=True)
        ]

    def after(self, asks: list[Ask], said: list[Heard], minutes: Minutes) -> Case:
        """The case with what was said in it."""
        return self.hearing.heard({self.case.id: self.case}, asks, tuple(said), minutes=minutes)[self.case.id]

    def settled(self, asks: list[Ask], said: list[Heard], after: Case) -> Settlement:
        """By the written rule."""
        floor, held_by = self._floor()
        voices = self._voices(asks, said, after)
        probability = max(self._moved(after, voices), floor)
        lead, was, raisers = after.lead, self.case.lead, self.case.raised_by
        is_smaller = (after.severity, lead.title) != (self.case.severity, was.title)
        end, reason = _end(voices, probability, raised=len(raisers), held_by=held_by, is_smaller=is_smaller)
        amended = end is DisputeEnd.AMENDED
        return Settlement(
            self.charge.finding,
            self.charge.argument,
            end,
            reason,
            round(probability, 3),
            after.severity if amended else self.case.severity,
            lead.title if amended else was.title,
            voices=voices,
            held_by=held_by,
        )

    def _grounded(self, ask: Ask, answer: Heard) -> Said:
        value = answer.value
        assert isinstance(value, Position | reply.Answer)
        arguments = tuple(
            replace(argument, evidence=self.shown.checked(argument.evidence, answer.unread).held) for argument in value.arguments
        )
        cites = any(argument.evidence for argument in arguments)
        if isinstance(value, Position):
            is_bare = value.stance is Stance.SUPPORT and not cites
            stance, probability = (Stance.NEUTRAL, 0.5) if is_bare else (value.stance, value.probability)
            return replace(value, arguments=arguments, stance=stance, probability=probability)
        if value.decision == "defend" or cites:
            return replace(value, arguments=arguments)
        return Position(ask.seat.name, ask.round, Stance.NEUTRAL, 0.5, arguments, counted=False)

    def _voices(self, asks: list[Ask], said: list[Heard], after: Case) -> tuple[Voice, ...]:
        last = after.last_words()
        found = []
        for ask, answer in zip(asks, said, strict=True):
            name, value = ask.seat.name, answer.value
            raised = name in self.case.raised_by
            if isinstance(value, reply.Answer):
                found.append(Voice(name, value.decision, raised, None, value.arguments))
            elif isinstance(value, Position):
                counted = last[name].counted and not raised
                found.append(Voice(name, value.stance.value, raised, value.probability, value.arguments, counted))
        return tuple(found)

    def _moved(self, after: Case, voices: tuple[Voice, ...]) -> float:
        """How probable the finding is now: as before, moved by as much as the votes move it, and by who takes it back. All who
        raised it are one voice together."""
        low, high = numbers.SURE
        told, before, now = (
            weigh.logit(min(max(p, low), high))
            for p in (self.charge.finding.probability, self.case.probability, after.probability)
        )
        given_up = sum(voice.said == "withdraw" for voice in voices) / len(self.case.raised_by)
        spoken = {name: said for name, said in after.last_words().items() if name not in after.raised_by}
        weight = weigh.correlation(after, spoken, self.hearing.seats)
        return weigh.expit(told + now - before + weight * given_up * weigh.logit(numbers.WITHDRAWAL))

    def _floor(self) -> tuple[float, str]:
        """The probability that executed evidence guarantees, of then or of now, and what that evidence is."""
        floor, held_by = held_before(self.charge.finding)
        now = weigh.floor(self.case, self.charge.ledger)
        if now <= floor:
            return floor, held_by
        items = ", ".join(self.case.evidence)
        return now, f"the result {items} of a check on that very line"


def _end(voices: tuple[Voice, ...], probability: float, *, raised: int, held_by: str, is_smaller: bool) -> tuple[DisputeEnd, str]:
    """What becomes of a finding that so many had ``raised``, and why: the first row of the rule that holds."""
    raisers = [voice.said for voice in voices if voice.raised]
    given_up = raisers.count("withdraw") == raised
    supported = any(voice.said == "support" and voice.counted for voice in voices)
    wished = " though who raised it would take it back," if given_up else ""
    rule = (
        (bool(held_by), DisputeEnd.MAINTAINED, f"it stays,{wished} because of what was executed: {held_by}"),
        (given_up and not supported, DisputeEnd.WITHDRAWN, "who raised it takes it back, and nobody else supports it"),
        (probability < numbers.WITHDRAWN_BELOW, DisputeEnd.WITHDRAWN, f"after the votes it is held {probability:.0%} probable"),
        ("amend" in raisers and is_smaller, DisputeEnd.AMENDED, "who raised it words it anew"),
        (given_up, DisputeEnd.MAINTAINED, "who raised it would take it back, and others support it with what they cite"),
        ("withdraw" in raisers, DisputeEnd.MAINTAINED, "not everyone who raised it takes it back"),
        (not raisers, DisputeEnd.MAINTAINED, "who raised it did not answer, and the votes leave it standing"),
        ("neutral" in raisers, DisputeEnd.MAINTAINED, "who raised it would give way, but cites nothing that exists for it"),
    )
    otherwise = (DisputeEnd.MAINTAINED, "who raised it stands by it")
    return next(((end, reason) for holds, end, reason in rule if holds), otherwise)


def _halves(argument: str) -> tuple[str, str]:
    """A long argument in two fields of a word, between two of its words where that is possible."""
    if len(argument) <= MOST_FIELD:
        return argument, ""
    at = argument.rfind(" ", MOST_FIELD // 2, MOST_FIELD)
    end = at if at > 0 else MOST_FIELD
    return argument[:end], argument[end : end + MOST_FIELD].strip()


def _stand_in(table: Table) -> Seat:
    """Who answers for a finding whose raiser does not sit: the Critic, else who sits first."""
    by_role: Mapping[str, Seat] = {seat.role: seat for seat in reversed(table.seats)}
    return by_role.get("critic") or table.seats[0]


def _closed(made: Settlement, minutes: Minutes) -> Settlement:
    """With who took part, what it cost, and what was noted on the way."""
    record = minutes.transcript((), ())
    capped = (record.capped,) if record.capped else ()
    notes = tuple(dict.fromkeys((*made.notes, *record.notes, *capped)))
    return replace(made, attendance=record.attendance, bill=record.bill, notes=notes)
