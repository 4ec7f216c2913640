"""The phases of a review debate, in order, as a generator: it yields rounds of questions and experiments, and is sent answers.

A round is a tuple of Ask and Experiment values; what is sent back is a tuple of Reply and Verification values in the same order.
Nothing here waits, retries, spends or knows the time: a test of the debate is a list of replies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import dataclass

from reviewbot.debate import cluster, examine, first_pass, numbers, prove, triage
from reviewbot.debate.claims import Gate
from reviewbot.debate.first_pass import LocalWork
from reviewbot.debate.minutes import Minutes, quorum
from reviewbot.debate.moderate import Bench
from reviewbot.debate.papers import Papers
from reviewbot.debate.rounds import Answers, Conversation, Round, hold
from reviewbot.domain.counted import counted
from reviewbot.domain.debate import Case, Claim, Seat, Table
from reviewbot.domain.evidence import Ledger
from reviewbot.ports import Passage

__all__ = ["Answers", "Brief", "Conversation", "DebateOptions", "Round", "debate"]


@dataclass(frozen=True, slots=True)
class DebateOptions:
    """``rounds`` per disputed claim, ``max_disputes`` claims debated, ``round_seconds`` for each answer; whether deadlocks go
    before a moderator, whether somebody runs the checks that are written, and what local panelists may be given."""

    criteria: tuple[tuple[str, int], ...] = numbers.CRITERIA
    rounds: int = 2
    round_seconds: float = 120.0
    max_disputes: int = 6
    moderate: bool = True
    runner: bool = True
    local: LocalWork = LocalWork()


def _nobody(_leads: Sequence[Claim], _ids: Sequence[str]) -> Collection[str]:
    return ()


@dataclass(frozen=True, slots=True)
class Brief:
    """What the debate is about: all passages shown, the papers that divide them, every changed path, the evidence. ``names``
    gives the claims that speak for the cases their ids, in the same order; ``spared`` says of which of these nobody is to be
    asked."""

    passages: tuple[Passage, ...]
    papers: Papers
    paths: frozenset[str]
    ledger: Ledger
    documentation_only: bool = False
    names: Callable[[Sequence[Claim]], Sequence[str]] = triage.numbered
    spared: Callable[[Sequence[Claim], Sequence[str]], Collection[str]] = _nobody


def debate(brief: Brief, table: Table, options: DebateOptions) -> Conversation:
    """S0 to S7 of one review. Returns the transcript."""
    minutes = Minutes(table.seats)
    minutes.say("S0", _ledger_summary(brief.ledger))
    if (brief.documentation_only or not brief.passages) and not brief.ledger.new():
        what = "documentation only" if brief.passages else "nothing to show"
        minutes.note(f"{what} and no new evidence: no debate was held")
        return minutes.transcript((), options.criteria)
    opening = yield from first_pass.hold_first_pass(brief.papers, minutes, seconds=options.round_seconds, local=options.local)
    minutes.unread = opening.reading.missing(brief.passages, _needed(table.seats), len(table.seats))
    gate = Gate.of(brief.passages, brief.paths, brief.ledger)
    groups = cluster.clusters(tuple(_admitted(opening.claims, gate, minutes)))
    raised = sum(map(len, groups))
    minutes.say("S2", f"{counted(raised, 'claim')} {'is' if raised == 1 else 'are'} about {counted(len(groups), 'thing')}")
    readers = {claims: opening.reading.of(claims[0]) or len(minutes.seated) for claims in groups}
    leads = [claims[0] for claims in groups]
    names = brief.names(leads)
    spared, most = brief.spared(leads, names), options.max_disputes
    cases = triage.cases(groups, readers=readers, ledger=brief.ledger, max_disputes=most, names=names, spared=spared)
    for case in cases:
        minutes.say("S3", f"{case.triage.value}: {case.triage_reason}", subject=case.id)
    closed = yield from _hearing(cases, brief, table, minutes=minutes, options=options)
    return minutes.transcript(closed, options.criteria)


def _needed(seats: tuple[Seat, ...]) -> int:
    """How many must have read a line for it to count as reviewed: a quorum of those who read everything."""
    strong = sum(not seat.local for seat in seats)
    return quorum(strong) if strong else 1


def _admitted(claims: Iterable[Claim], gate: Gate, minutes: Minutes) -> Generator[Claim, None, None]:
    for claim in claims:
        verdict = gate.admit(claim)
        if isinstance(verdict, Claim):
            yield verdict
        else:
            minutes.drop(claim.raised_by, claim.title, verdict)


def _hearing(
    cases: tuple[Case, ...], brief: Brief, table: Table, *, minutes: Minutes, options: DebateOptions
) -> Generator[Round, Answers, tuple[Case, ...]]:
    """S4 to S7: rounds over the cases that are still open, experiments beside them, and the moderator for what stays stuck."""
    seats = {seat.name: seat for seat in minutes.seated}
    hearing = examine.Hearing(brief.passages, brief.papers, brief.ledger, seats, options.rounds)
    docket = {case.id: hearing.opened(case) for case in cases}
    judge = table.moderator if options.moderate else None
    laboratory = prove.Laboratory(hearing, options.round_seconds, judge, runner=options.runner)
    wanted = prove.experiments(docket.values())
    while asks := hearing.asks(docket.values(), minutes.seated, seconds=options.round_seconds, number=minutes.rounds + 1):
        minutes.rounds += 1
        designs = laboratory.asks(docket.values(), minutes.seated, number=minutes.rounds)
        held = yield from hold([*asks, *designs], prove.read, minutes, experiments=wanted)
        docket.update(hearing.proved(docket, wanted, held.verified))
        docket.update(hearing.heard(docket, asks, held.heard[: len(asks)], minutes=minutes))
        written = hearing.offered(docket) | laboratory.take(docket, designs, held.heard[len(asks) :])
        if written:  # before anybody is asked again: what is executed may end the case, and is heard in any event
            further = prove.experiments(written.values())
            tested = yield from hold([], prove.read, minutes, experiments=further)
            docket.update(written | hearing.proved(written, further, tested.verified))
        wanted = ()
        still_open = tuple(case.id for case in docket.values() if hearing.is_open(case))
        decision = f"{len(still_open)} of {len(docket)} cases stay open" if still_open else "every case is settled"
        minutes.rule(docket.values(), decision, still_open=still_open)
    if wanted:
        held = yield from hold([], prove.read, minutes, experiments=wanted)
        docket.update(hearing.proved(docket, wanted, held.verified))
    docket = {name: hearing.closed(case) for name, case in docket.items()}
    docket.update((yield from laboratory.settle(docket, minutes)))
    if table.moderator and options.moderate:
        docket.update((yield from Bench(table.moderator, options.round_seconds).judge(docket, hearing, minutes)))
    return tuple(docket.values())


def _ledger_summary(ledger: Ledger) -> str:
    ran = sum(check.ran for check in ledger.checks)
    return f"{ran} of {len(ledger.checks)} checks ran: {counted(len(ledger.items), 'result')}, {len(ledger.new())} new"
