"""Who is asked, and what comes back: the panel, its asks and replies, experiments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from reviewbot.domain.debate import Check, Seat, Table
from reviewbot.domain.money import Usage
from reviewbot.domain.repair import CodeVersion, Edit
from reviewbot.ports.making import Appraisal, Arbitration, Diagnosis, Drafting, Refinement
from reviewbot.ports.question import (
    Assignment,
    CheckDesign,
    Consultation,
    CrossExamination,
    Dispute,
    Draft,
    FirstPass,
    Improvement,
    Judgement,
    Passage,
    Rebuttal,
    Synthesis,
)

Question = (
    FirstPass
    | CrossExamination
    | Rebuttal
    | Judgement
    | Improvement
    | Assignment
    | CheckDesign
    | Consultation
    | Synthesis
    | Dispute
    | Drafting
    | Appraisal
    | Refinement
    | Arbitration
    | Diagnosis
)

PHASES: Mapping[type, str] = MappingProxyType(
    {
        FirstPass: "S1",
        Assignment: "S1",
        CrossExamination: "S4",
        Rebuttal: "S4",
        CheckDesign: "proof",
        Judgement: "S7",
        Improvement: "S8",
        Drafting: "make",
        Appraisal: "make",
        Refinement: "make",
        Arbitration: "make",
        Diagnosis: "make",
        Consultation: "ask",
        Synthesis: "ask",
        Dispute: "dispute",
    }
)
"""The phase of the protocol that a kind of question belongs to, or the conversation apart from a review."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one seat.

    ``subject`` is the case (or the portion) it is about; ``complaint`` quotes why the last attempt was invalid.
    ``timeout_seconds`` begins when the question is really put, not while it queues.
    """

    seat: Seat
    question: Question
    subject: str = ""
    round: int = 1
    attempt: int = 1
    timeout_seconds: float = 120.0
    complaint: str = ""

    @property
    def phase(self) -> str:
        """The phase of the protocol that it belongs to."""
        return PHASES[type(self.question)]


class ReplyStatus(StrEnum):
    """How an ask ended. Only ``ok`` can become a vote; ``capped`` means that a budget forbade the call."""

    OK = "ok"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    FAILED = "failed"
    CAPPED = "capped"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that a panelist used before it answered, for the record: arguments as JSON, the result's first line."""

    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as text that is still to be read, or why nothing did.

    ``model`` is who really answered (a fallback perhaps; empty: the seat's own). ``unread`` are passages of the dossier that
    were not shown to this panelist because it had no room or no time for them. ``written`` is what it wrote with the ``code``
    tool before it answered, in order.
    """

    status: ReplyStatus
    text: str = ""
    reason: str = ""
    usage: Usage = Usage()
    model: str = ""
    tools: tuple[ToolUse, ...] = ()
    unread: tuple[Passage, ...] = ()
    written: tuple[CodeVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """A check of a claim, to be run at base and head, twice, and at head with ``fix`` where there is one.

    ``path`` and the lines (head numbering) are where the claim stands. ``fix`` is a replacement, or whole files.
    """

    subject: str
    check: Check
    path: str = ""
    start_line: int = 0
    line: int = 0
    fix: Draft | tuple[Edit, ...] | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """What an experiment showed: the check with its outcome. ``excerpt`` is the trimmed output; ``fixed`` whether it passes with
    the fix, ``None`` where there was none to try."""

    check: Check
    excerpt: str = ""
    fixed: bool | None = None


class Panel(Protocol):
    """Whoever answers: a model, several, or the static analysts."""

    @property
    def table(self) -> Table:
        """The chairs and who sits on them."""
        ...

    async def ask(self, ask: Ask) -> Reply:
        """One answer within ``ask.timeout_seconds`` of its turn. Failures are replies, not exceptions."""
        ...

    async def close(self) -> None:
        """The conversation is over: hang up. Nothing is asked afterwards."""
        ...
