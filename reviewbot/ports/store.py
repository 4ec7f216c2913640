"""What is remembered beyond a run: calls that were paid for, debates, and how fast local models are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from reviewbot.domain.money import Usage
from reviewbot.domain.review import Review


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that is about to be made, with everything its record needs. ``key`` is a SHA-256 in hex over (provider and model,
    parameters, seat, attempt, prompt bytes): equal keys are the same call."""

    key: str
    model: str
    seat: str
    phase: str
    subject: str
    round: int
    attempt: int
    step: int
    system: str
    prefix: str
    suffix: str
    exchanges: str
    parameters: str


class CallState(StrEnum):
    """``answered``: a completion arrived. ``failed``: it ended without one (refusals are answers)."""

    ANSWERED = "answered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Recorded:
    """How a call ended. ``document`` is the Completion (or the failure) as JSON text; ``seconds`` its latency."""

    state: CallState
    document: str
    usage: Usage
    seconds: float
    outcome: str


class Calls(Protocol):
    """The pay-once ledger of one session. Thread-safe; every method is one transaction."""

    def claim(self, wanted: Wanted) -> Recorded | None:
        """What this call gave when it was made before; ``None``: it is ours to make now.

        Where another living process is making it, waits for that process to finish (or die). Failed outcomes count only
        within their own session. After ``None`` the caller calls ``settle`` or ``release``.
        """
        ...

    def settle(self, wanted: Wanted, recorded: Recorded) -> None:
        """Write the outcome, before anybody uses it."""
        ...

    def release(self, wanted: Wanted) -> None:
        """Give a claim back: the call was cancelled before it ended, or a budget forbade it."""
        ...


class SessionState(StrEnum):
    """``pending`` → ``checking`` → ``in_debate`` → ``converged``, ``partial`` or ``failed``. One that is not at its end and
    whose process is gone reads as ``interrupted``; running it again resumes it."""

    PENDING = "pending"
    CHECKING = "checking"
    IN_DEBATE = "in_debate"
    CONVERGED = "converged"
    PARTIAL = "partial"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """Which debate this is. ``key`` is a SHA-256 over everything that decides its course (both trees, options, seats): equal
    keys resume each other. ``project`` names the repository, ``seats`` are (name, role, model)."""

    key: str
    run_id: str
    project: str
    base: str
    head: str
    title: str
    seats: tuple[tuple[str, str, str], ...]
    fresh: bool = False


class Session(Protocol):
    """One debate under way, remembered."""

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """A document that this session (or the one it resumes) kept under ``name``."""
        ...

    def keep(self, name: str, document: Mapping[str, Any], state: SessionState | None = None) -> None:
        """Keep a document and go on to ``state``, in one transaction."""
        ...

    def close(self, review: Review, state: SessionState) -> None:
        """Write the review with its findings, positions and code versions, and end in ``state``."""
        ...


@dataclass(frozen=True, slots=True)
class Profile:
    """How fast a local model works on a host, from its server's own counters; ``samples`` answers went into it."""

    host: str
    model: str
    prompt_tokens_per_second: float
    output_tokens_per_second: float
    load_seconds: float
    samples: int
    predictions: tuple[tuple[float, float], ...] = field(default=())
    """The last (predicted, real) seconds, newest last."""


class Profiles(Protocol):
    """The speeds that were measured, kept over runs."""

    def profile(self, host: str, model: str) -> Profile | None:
        """What is known."""
        ...

    def learn(self, profile: Profile) -> None:
        """Keep it in place of what was known."""
        ...
