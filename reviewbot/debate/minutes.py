"""The record of a debate while it runs: turns, notes, who kept a seat, what it cost."""

from __future__ import annotations

from collections.abc import Iterable

from reviewbot.domain.debate import Attendance, Case, Ruling, Seat, SeatStatus, Transcript, Turn
from reviewbot.domain.money import Bill, Usage
from reviewbot.ports import Ask, Experiment, Reply, ReplyStatus, Verification


def quorum(seats: int) -> int:
    """How many must answer the first pass for a verdict to mean anything: 2 of 3, 1 of 1."""
    return seats // 2 + 1


class Minutes:
    """Written by the protocol as it goes, turned into a Transcript at the end."""

    def __init__(self, seats: tuple[Seat, ...]) -> None:
        self._seats = {seat.name: Attendance(seat, SeatStatus.OK) for seat in seats}
        self._usage = {seat.name: Usage() for seat in seats}
        self._turns: list[Turn] = []
        self._trouble: dict[str, str] = {}
        self._rulings: list[Ruling] = []
        self._dropped: list[str] = []
        self._notes: list[str] = []
        self.rounds = 0

    @property
    def seated(self) -> tuple[Seat, ...]:
        """Who still has a chair."""
        return tuple(entry.seat for entry in self._seats.values() if entry.status is SeatStatus.OK)

    @property
    def has_quorum(self) -> bool:
        """Enough of those who were invited still sit."""
        return len(self.seated) >= quorum(len(self._seats))

    def say(self, phase: str, summary: str, *, who: str = "", subject: str = "", outcome: str = "ok") -> None:
        """One turn."""
        self._turns.append(Turn(len(self._turns) + 1, phase, who, self.rounds, subject, outcome, summary))

    def answered(self, ask: Ask, reply: Reply, *, problem: str = "") -> None:
        """What a panelist's reply cost, and (where it did not count) why."""
        name = ask.seat.name
        self._usage[name] += reply.usage
        if reply.status is not ReplyStatus.OK or problem:
            reason = problem or reply.reason or reply.status.value
            outcome = "invalid" if problem else reply.status.value
            self._trouble[name] = reason
            self.say(_phase(ask), reason, who=name, subject=ask.subject, outcome=outcome)

    def tested(self, experiment: Experiment, verification: Verification) -> None:
        """What an experiment showed."""
        check = verification.check
        self.say("proof", f"{' '.join(check.command)}: {check.outcome}", who="sandbox", subject=experiment.subject)

    def lost(self, seat: Seat) -> None:
        """A panelist who did not answer the first pass loses the seat, visibly, with what went wrong last."""
        reason = self._trouble.get(seat.name, "no valid answer to the first pass")
        self._seats[seat.name] = Attendance(seat, SeatStatus.LOST, reason)
        self._notes.append(f"{seat.name} took no part: {reason}")

    def drop(self, who: str, title: str, reason: str) -> None:
        """A claim that did not pass the gates."""
        self._dropped.append(f"{who}: {title}: {reason}")
        self.say("S1", f"dropped: {title}: {reason}", who=who, outcome="dropped")

    def note(self, text: str) -> None:
        """Something the reader of the review should know."""
        self._notes.append(text)

    def rule(self, cases: Iterable[Case], decision: str, *, still_open: tuple[str, ...]) -> None:
        """What the moderator saw after a round, and ordered."""
        scores = tuple((case.id, round(case.probability, 3)) for case in cases)
        self._rulings.append(Ruling(self.rounds, scores, still_open, decision))
        self.say("S6", decision, who="moderator")

    def transcript(self, cases: tuple[Case, ...], criteria: tuple[tuple[str, int], ...]) -> Transcript:
        """The debate, ended."""
        return Transcript(
            cases=cases,
            dropped=tuple(self._dropped),
            turns=tuple(self._turns),
            rulings=tuple(self._rulings),
            attendance=tuple(self._seats.values()),
            rounds=self.rounds,
            quorum=self.has_quorum,
            bill=Bill(sum(self._usage.values(), Usage()), dict(self._usage)),
            notes=tuple(self._notes),
            criteria=criteria,
        )


def _phase(ask: Ask) -> str:
    return "S4" if ask.subject else "S1"
