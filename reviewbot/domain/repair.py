"""Code that was made: what was wanted, what was written, what it had to pass, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.debate import Check

FINDING_TRAILER, CHECK_TRAILER = "Reviewbot-Finding", "Reviewbot-Check"
UNDO_TRAILER, COMMAND_TRAILER = "Reviewbot-Undo", "Reviewbot-Command"
"""Trailers of the commits that we make: which finding, what shows that it is mended; which commit of ours is taken back, and the
number of the comment that asked for that."""


class Goal(StrEnum):
    """What code is made for: to mend a finding or a reported bug, to be faster, to be simpler, to be tested."""

    FIX = "fix"
    REPORT = "report"
    PERFORMANCE = "performance"
    REFACTOR = "refactor"
    TESTS = "tests"


@dataclass(frozen=True, slots=True)
class Edit:
    """A file as it shall be, all of it. ``content`` is ``None`` where the file shall go. ``path`` is a name in the tree (UTF-8
    with ``surrogateescape``)."""

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class CodeVersion:
    """One write of one file in a scratch tree: the first has ``number`` 1. ``by`` is the seat that wrote."""

    number: int
    path: str
    content: bytes | None
    by: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a patch may not be: the ``rule`` of the gate that it breaks, the path where it is about one, and a sentence."""

    rule: str
    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason


class RepairOutcome(StrEnum):
    """What became of a task. ``fixed``: proven, and may be written. ``suggested``: it passed the gate and made nothing worse, but
    no check proves it. ``skipped``: nobody tried. ``failed``: nothing that was tried may be used."""

    FIXED = "fixed"
    SUGGESTED = "suggested"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Tried:
    """A candidate that was tried: who wrote it, in which attempt, and why it was not used (empty where it was)."""

    author: str
    attempt: int
    patch: bytes
    reason: str = ""
    versions: tuple[CodeVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Proven:
    """What shows that a repair works: the ``check`` that failed before and passes after (``None`` where a result of the ledger
    went away), and that in words; ``beside`` says what else was run and is no worse."""

    told: str
    check: Check | None = None
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Repair:
    """What became of one task. ``edits`` are whole files, and ``patch`` git's own diff, on top of the head with all earlier
    repairs that are ``fixed`` or ``suggested`` in it. ``why`` says why it is no more than it is, ``dissent`` who
    thought otherwise. ``withheld`` says why its patch is not in the document that it was read from: then it cannot be used."""

    id: str
    title: str
    outcome: RepairOutcome
    goal: Goal = Goal.FIX
    why: str = ""
    author: str = ""
    explanation: str = ""
    edits: tuple[Edit, ...] = ()
    patch: bytes = b""
    proof: Proven | None = None
    tries: tuple[Tried, ...] = ()
    dissent: str | None = None
    withheld: str = ""

    @property
    def is_made(self) -> bool:
        """There is code to use."""
        return self.outcome in (RepairOutcome.FIXED, RepairOutcome.SUGGESTED) and not self.withheld
