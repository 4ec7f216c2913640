"""The phases of a review debate, in order, as a generator: it yields rounds of questions and experiments, and is sent answers.

A round is a tuple of Ask and Experiment values; what is sent back is a tuple of Reply and Verification values in the same order.
Nothing here waits, retries, spends or knows the time: a test of the debate is a list of replies.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

from reviewbot.debate import cluster, examine, numbers, reply, triage
from reviewbot.debate.claims import Gate
from reviewbot.debate.minutes import Minutes
from reviewbot.domain.debate import Case, Claim, Seat, Transcript
from reviewbot.domain.evidence import Ledger
from reviewbot.ports import Ask, Experiment, FirstPass, Passage, Reply, ReplyStatus, Verification

Round = tuple[Ask | Experiment, ...]
Answers = tuple[Reply | Verification, ...]
Conversation = Generator[Round, Answers, Transcript]


@dataclass(frozen=True, slots=True)
class DebateOptions:
    """``rounds`` per disputed claim, ``max_disputes`` claims debated, ``round_seconds`` for each answer."""

    criteria: tuple[tuple[str, int], ...] = numbers.CRITERIA
    rounds: int = 2
    round_seconds: float = 120.0
    max_disputes: int = 6


@dataclass(frozen=True, slots=True)
class Brief:
    """What the panel is given: the passages shown, every changed path, the evidence, and what people said the change is about."""

    passages: tuple[Passage, ...]
    paths: frozenset[str]
    ledger: Ledger
    title: str = ""
    focus: str = ""
    documentation_only: bool = False


def debate(brief: Brief, seats: tuple[Seat, ...], options: DebateOptions) -> Conversation:
    """S0 to S6 of one review. Returns the transcript."""
    minutes = Minutes(seats)
    minutes.say("S0", _ledger_summary(brief.ledger))
    if brief.documentation_only and not brief.ledger.new():
        minutes.note("documentation only and no new evidence: no debate was held")
        return minutes.transcript((), options.criteria)
    claims = yield from _first_pass(brief, minutes, options)
    gate = Gate.of(brief.passages, brief.paths, brief.ledger)
    admitted = tuple(_admitted(claims, gate, minutes))
    groups = cluster.clusters(admitted)
    minutes.say("S2", f"{len(admitted)} claims are about {len(groups)} things")
    cases = triage.cases(groups, seats=len(minutes.seated), ledger=brief.ledger, max_disputes=options.max_disputes)
    for case in cases:
        minutes.say("S3", f"{case.triage.value}: {case.triage_reason}", subject=case.id)
    closed = yield from _cross_examination(cases, brief, minutes=minutes, options=options)
    return minutes.transcript(closed, options.criteria)


def _first_pass(brief: Brief, minutes: Minutes, options: DebateOptions) -> Generator[Round, Answers, list[Claim]]:
    """S1: everyone at once, no one sees another."""
    question = FirstPass(brief.passages, brief.ledger, brief.title, brief.focus)
    asks = [Ask(seat, question, timeout_seconds=options.round_seconds) for seat in minutes.seated]
    answers = yield from _put(asks, lambda ask, text: reply.claims(text, ask.seat), minutes)
    found: list[Claim] = []
    for ask, claims in zip(asks, answers, strict=True):
        if claims is None:
            minutes.lost(ask.seat)
            continue
        minutes.say("S1", f"{len(claims)} claims", who=ask.seat.name)
        found.extend(claims)
    return found


def _admitted(claims: list[Claim], gate: Gate, minutes: Minutes) -> Generator[Claim, None, None]:
    for claim in claims:
        verdict = gate.admit(claim)
        if isinstance(verdict, Claim):
            yield verdict
        else:
            minutes.drop(claim.raised_by, claim.title, verdict)


def _cross_examination(
    cases: tuple[Case, ...], brief: Brief, *, minutes: Minutes, options: DebateOptions
) -> Generator[Round, Answers, tuple[Case, ...]]:
    """S4 to S6: rounds over the cases that are still open, experiments beside the first of them."""
    hearing = examine.Hearing(brief.passages, brief.ledger, {seat.name: seat for seat in minutes.seated}, options.rounds)
    table = {case.id: hearing.opened(case) for case in cases}
    experiments = [Experiment(case.id, case.check) for case in table.values() if case.check]
    while asks := hearing.asks(table.values(), minutes.seated, seconds=options.round_seconds, number=minutes.rounds + 1):
        minutes.rounds += 1
        answers, verified = yield from _round(asks, experiments, minutes)
        experiments = []
        table.update(hearing.proved(table, verified))
        table.update(hearing.heard(table, list(zip(asks, answers, strict=True)), minutes))
        still_open = tuple(case.id for case in table.values() if hearing.is_open(case))
        decision = f"{len(still_open)} of {len(table)} cases stay open" if still_open else "every case is settled"
        minutes.rule(table.values(), decision, still_open=still_open)
    if experiments:
        _, verified = yield from _round([], experiments, minutes)
        table.update(hearing.proved(table, verified))
    return tuple(hearing.closed(case) for case in table.values())


def _round(
    asks: list[Ask], experiments: list[Experiment], minutes: Minutes
) -> Generator[Round, Answers, tuple[list[Any], list[Verification]]]:
    """One round: questions and experiments together, then a second attempt where an answer was invalid."""
    sent = yield (*asks, *experiments)
    verified = [answer for answer in sent if isinstance(answer, Verification)]
    for experiment, verification in zip(experiments, verified, strict=True):
        minutes.tested(experiment, verification)
    replies = [answer for answer in sent if isinstance(answer, Reply)]
    answers = yield from _read(asks, replies, read=examine.read, minutes=minutes)
    return answers, verified


def _put(asks: list[Ask], read: Callable[[Ask, str], Any], minutes: Minutes) -> Generator[Round, Answers, list[Any]]:
    sent = yield tuple(asks)
    replies = [answer for answer in sent if isinstance(answer, Reply)]
    return (yield from _read(asks, replies, read=read, minutes=minutes))


def _read(
    asks: list[Ask], replies: list[Reply], *, read: Callable[[Ask, str], Any], minutes: Minutes
) -> Generator[Round, Answers, list[Any]]:
    """The values of the replies, ``None`` where there is none. An invalid answer is asked for once more, quoting its fault."""
    values = [_value(ask, answer, read=read, minutes=minutes) for ask, answer in zip(asks, replies, strict=True)]
    again = [index for index, value in enumerate(values) if isinstance(value, reply.InvalidReply)]
    if again:
        asks_again = [replace(asks[index], attempt=2, complaint=str(values[index])) for index in again]
        sent = yield tuple(asks_again)
        for index, ask, answer in zip(again, asks_again, sent, strict=True):
            assert isinstance(answer, Reply)
            values[index] = _value(ask, answer, read=read, minutes=minutes)
    return [None if isinstance(value, reply.InvalidReply) else value for value in values]


def _value(ask: Ask, answer: Reply, *, read: Callable[[Ask, str], Any], minutes: Minutes) -> Any:
    """What the answer says, ``None`` for a failure, an InvalidReply where it cannot be read."""
    if answer.status is not ReplyStatus.OK:
        minutes.answered(ask, answer)
        return None
    try:
        value = read(ask, answer.text)
    except reply.InvalidReply as exc:
        minutes.answered(ask, answer, problem=str(exc))
        return exc
    minutes.answered(ask, answer)
    return value


def _ledger_summary(ledger: Ledger) -> str:
    ran = sum(check.ran for check in ledger.checks)
    return f"{ran} of {len(ledger.checks)} checks ran: {len(ledger.items)} results, {len(ledger.new())} new"
