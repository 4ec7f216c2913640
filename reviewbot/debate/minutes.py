"""The record of a debate while it runs: turns, notes, who kept a seat, what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reviewbot.domain.debate import Attendance, Case, Ruling, Seat, SeatStatus, Transcript, Turn, Unread
from reviewbot.domain.money import Bill, Usage
from reviewbot.ports import Ask, Experiment, Reply, ReplyStatus, Trial, Trialled, Verification

MOST_TOLD = 400
"""Characters of what came of a candidate: one that mends a thousand findings has as many things to tell."""


def quorum(seats: int) -> int:
    """How many must answer the first pass for a verdict to mean anything: 2 of 3, 1 of 1."""
    return seats // 2 + 1


class Minutes:
    """Written by the protocol as it goes, turned into a Transcript at the end."""

    def __init__(self, seats: tuple[Seat, ...]) -> None:
        self._seats = {seat.name: Attendance(seat, SeatStatus.OK) for seat in seats}
        self._usage = {seat.name: Usage() for seat in seats}
        self._asked: Counter[str] = Counter()
        self._missed: Counter[str] = Counter()
        self._capped = ""
        self._turns: list[Turn] = []
        self._trouble: dict[str, str] = {}
        self._rulings: list[Ruling] = []
        self._dropped: list[str] = []
        self._notes: list[str] = []
        self.rounds = 0
        self.unread: tuple[Unread, ...] = ()

    @classmethod
    def of(cls, transcript: Transcript) -> Minutes:
        """The minutes of a debate that goes on after its end: its turns, seats and costs."""
        minutes = cls(tuple(entry.seat for entry in transcript.attendance))
        minutes._seats = {entry.seat.name: entry for entry in transcript.attendance}
        minutes._usage = dict(transcript.bill.by_panelist)
        minutes._turns = list(transcript.turns)
        minutes._rulings = list(transcript.rulings)
        minutes._dropped = list(transcript.dropped)
        minutes._notes = list(transcript.notes)
        minutes._capped = transcript.capped
        minutes.rounds, minutes.unread = transcript.rounds, transcript.unread
        return minutes

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
        """What a panelist's reply cost, what it looked up for it, who really gave it, and (where it did not count) why."""
        name = ask.seat.name
        self._usage[name] = self._usage.get(name, Usage()) + reply.usage
        self._asked[name] += 1
        for use in reply.tools:
            self.say("tool", f"{use.name} {use.arguments}: {use.result}", who=name, subject=ask.subject)
        if reply.status is ReplyStatus.OK and reply.model and reply.model != ask.seat.model:
            self._stand_in(ask.seat, reply.model)
        if reply.status is ReplyStatus.CAPPED:
            self._capped = self._capped or reply.reason
        if reply.status is not ReplyStatus.OK or problem:
            reason = problem or reply.reason or reply.status.value
            outcome = "invalid" if problem else reply.status.value
            self._missed[name] += 1
            self._trouble[name] = reason
            self.say(ask.phase, reason, who=name, subject=ask.subject, outcome=outcome)

    def _stand_in(self, seat: Seat, model: str) -> None:
        """Another model answered for a seat (the moderator's too), because its own could not."""
        entry = self._seats.get(seat.name)
        if entry is not None and entry.reason is None:
            self._seats[seat.name] = Attendance(seat, entry.status, f"{model} answered in its place")
        note = f"{seat.name}: {model} answered in place of {seat.model}"
        if note not in self._notes:
            self._notes.append(note)

    def tested(self, experiment: Experiment, verification: Verification) -> None:
        """What an experiment showed."""
        check = verification.check
        self.say("proof", f"{check.label}: {check.outcome}", who="sandbox", subject=experiment.subject)

    def tried(self, trial: Trial, trialled: Trialled) -> None:
        """What came of a candidate."""
        outcome = "ok" if trialled.harmless and not trialled.red else "dropped"
        told = trialled.told.split("\n", 1)[0][:MOST_TOLD]
        what = f"what {trial.author} wrote" if trial.author else "what was accepted"
        self.say("make", f"tried {what}: {told}", who="sandbox", subject=trial.subject, outcome=outcome)

    def trouble(self, seat: Seat) -> str:
        """What went wrong last with a panelist's answers, empty where nothing did."""
        return self._trouble.get(seat.name, "")

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
            notes=(*self._notes, *self._absences()),
            criteria=criteria,
            unread=self.unread,
            capped=self._capped,
        )

    def _absences(self) -> Iterable[str]:
        """Who kept the seat and still left questions without a valid answer."""
        lost = {name for name, entry in self._seats.items() if entry.status is SeatStatus.LOST}
        for name, missed in self._missed.items():
            if name not in lost:
                yield f"{name} gave no valid answer to {missed} of {self._asked[name]} questions: {self._trouble[name]}"
