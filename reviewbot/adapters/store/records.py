"""What the history gives: frozen values, no rows. Times are Unix seconds."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.adapters.store.states import AgentState, TaskState
from reviewbot.domain.debate import Check, Position, Version
from reviewbot.domain.money import Usage
from reviewbot.domain.repair import Repair
from reviewbot.ports import CallState, SessionState


@dataclass(frozen=True, slots=True)
class SeatRecord:
    """Who sat at the table; ``reason`` says why a seat was lost in the end."""

    name: str
    role: str
    model: str
    state: AgentState
    reason: str


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a line. ``state`` is ``interrupted`` where nobody runs it. ``usage`` is over all its calls, replayed ones
    too; ``paid_usd`` and ``replayed_calls`` in it tell them apart. ``posted`` of ``findings`` are told to the author."""

    id: str
    key: str
    generation: int
    project: str
    base: str
    head: str
    title: str
    state: SessionState
    task: TaskState
    conclusion: str
    verdict: str
    begun_at: float
    ended_at: float | None
    seats: tuple[SeatRecord, ...]
    usage: Usage
    findings: int
    posted: int


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call as this session used it. ``document`` is the completion, or the failure, as JSON text; ``made_by`` the session
    that made the call; ``number`` orders the turns of a session."""

    number: int
    replayed: bool
    made_by: str
    seat: str
    model: str
    phase: str
    subject: str
    round: int
    attempt: int
    step: int
    parameters: str
    system: str
    prefix: str
    suffix: str
    exchanges: str
    state: CallState
    outcome: str
    document: str
    usage: Usage
    seconds: float
    asked_at: float
    ended_at: float | None


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A whole session. ``documents`` are the names of what it kept; ``History.document`` reads one. ``repairs`` is the code that
    it made, with everything that was tried and written on the way."""

    summary: SessionSummary
    calls: tuple[CallRecord, ...]
    documents: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingRecord:
    """A finding and all that was said of it. ``severity`` is the label; ``replacement`` the suggested lines, where there are."""

    session: str
    id: str
    fingerprint: str
    path: str
    start_line: int
    line: int
    severity: str
    category: str
    title: str
    body: str
    failure_scenario: str
    quote: str
    status: str
    proof: str
    confidence: str
    probability: float
    settled_by: str
    stop_reason: str
    dissent: str | None
    rule: str | None
    raised_by: tuple[str, ...]
    evidence: tuple[str, ...]
    positions: tuple[Position, ...]
    versions: tuple[Version, ...]
    check: Check | None
    replacement: str | None
