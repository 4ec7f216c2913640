"""Claims made executable by who is good at it: the Tester and the Formal seat write checks, the runner alone says what they show.

Asked beside the first round for every open claim that came without a check, and once more for a deadlock that no check decided.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.debate import examine, reply
from reviewbot.debate.examine import Hearing, decided, packet, shown, with_check, words
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.rounds import Answers, Heard, Round, hold
from reviewbot.domain.debate import Case, Check, Seat, Triage
from reviewbot.ports import Ask, CheckDesign, Experiment

WRITERS = ("tester", "formal")
"""Roles that write checks, in the order in which theirs are taken."""


@dataclass(frozen=True, slots=True)
class Laboratory:
    """Who writes checks, against what, with the time for an answer. ``judge`` stands in for a deadlock where no writer
    sits; ``runner`` is false where nobody runs what is written."""

    hearing: Hearing
    seconds: float
    judge: Seat | None = None
    runner: bool = True

    def asks(self, cases: Iterable[Case], seated: Iterable[Seat], *, number: int) -> list[Ask]:
        """The questions of round ``number`` to those who write checks: every open case without one. None without a runner."""
        if not self._has_runner or number > 1:
            return []
        writers = _writers(seated)
        open_cases = [case for case in cases if case.triage is Triage.DEBATED and not case.stop_reason and case.check is None]
        return [self._ask(case, seat, number) for case in open_cases for seat in writers]

    def take(self, table: Mapping[str, Case], asks: Iterable[Ask], heard: Iterable[Heard]) -> dict[str, Case]:
        """The cases for which somebody wrote a check: the first who did, in the order of the asks."""
        found: dict[str, Case] = {}
        for ask, answer in zip(asks, heard, strict=True):
            case = table[ask.subject]
            if isinstance(answer.value, Check) and case.id not in found and not decided(case):
                found[case.id] = with_check(case, answer.value)
        return {name: case for name, case in found.items() if case is not table[name]}

    def settle(self, table: Mapping[str, Case], minutes: Minutes) -> Generator[Round, Answers, dict[str, Case]]:
        """One decisive experiment for each deadlock that none decided: written, run, and weighed."""
        stuck = [case for case in table.values() if case.deadlocked and not decided(case)]
        writer = next(iter(_writers(minutes.seated)), self.judge)
        if not stuck or writer is None or not self._has_runner:
            return {}
        asks = [self._ask(case, writer, minutes.rounds + 1) for case in stuck]
        held = yield from hold(asks, read, minutes)
        written = self.take(table, asks, held.heard)
        if not written:
            return {}
        wanted = experiments(written.values())
        tested = yield from hold([], read, minutes, experiments=wanted)
        proved = written | self.hearing.proved(written, wanted, tested.verified)
        return {name: self.hearing.closed(case) for name, case in proved.items()}

    @property
    def _has_runner(self) -> bool:
        """Somebody will run what is written."""
        return self.runner and self.hearing.ledger.sandbox != "none"

    def _ask(self, case: Case, seat: Seat, number: int) -> Ask:
        dossier = self.hearing.papers.about(case.lead, seat)
        tried = tuple(shown(check) for check in (*case.tried, case.check) if check)
        question = CheckDesign(packet(case), dossier, tuple(words(case)), tried)
        return Ask(seat, question, subject=case.id, round=number, timeout_seconds=self.seconds)


def _writers(seated: Iterable[Seat]) -> list[Seat]:
    by_role = {seat.role: seat for seat in reversed(tuple(seated))}
    return [by_role[role] for role in WRITERS if role in by_role]


def read(ask: Ask, text: str) -> object:
    """The check that was written, or ``none``; a position or a rebuttal beside it. Raises InvalidReply."""
    if not isinstance(ask.question, CheckDesign):
        return examine.read(ask, text)
    check = reply.check_design(text)
    return replace(check, author=ask.seat.name) if check else "none"


def experiments(cases: Iterable[Case]) -> tuple[Experiment, ...]:
    """The check of each case, as an experiment at the claim's place."""
    return tuple(
        Experiment(case.id, case.check, case.lead.path, case.lead.start_line, case.lead.line) for case in cases if case.check
    )
