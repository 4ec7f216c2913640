"""Making code: what is wanted, the questions to those who write and judge it, and the trial that decides.

A file is always told whole (:class:`~reviewbot.domain.repair.Edit`), relative to the head of the change: a later candidate holds
what earlier ones did, where that was accepted.
"""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.domain.debate import Check
from reviewbot.domain.repair import Edit, Goal, Refusal
from reviewbot.ports.question import Dossier, Packet


@dataclass(frozen=True, slots=True)
class Splice:
    """Bytes ``start``–``end`` of a file of the head, and what shall stand there instead."""

    path: str
    start: int
    end: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a tool offers to do for a task: ``author`` is its name. Nothing of it was tried."""

    author: str
    splices: tuple[Splice, ...]
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """Something to be made. ``id`` is the finding's, or one of its own; ``wish`` what is wanted, in words that nobody trusts.

    ``check`` must fail at head and pass with what is made; ``None`` where a result of the ledger (``evidence``: its ids) must go
    away, or nothing is known to show it. ``paths`` may be changed, ``may_add`` says that other files may come. ``proposals`` are
    what tools offer. ``writer`` is the role that drafts (empty: the Proposer's), ``places`` are further lines that it should see.
    ``brings`` are files that come with whatever is made, as they are: a test that was written before.
    """

    id: str
    goal: Goal
    title: str
    packet: Packet
    wish: str = ""
    check: Check | None = None
    evidence: tuple[str, ...] = ()
    paths: frozenset[str] = frozenset()
    may_add: bool = False
    proposals: tuple[Proposal, ...] = ()
    writer: str = ""
    places: tuple[tuple[str, int], ...] = ()
    brings: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file as who writes sees it: screened lines from ``start`` on, of ``of`` lines in all."""

    path: str
    start: int
    lines: tuple[str, ...]
    of: int


@dataclass(frozen=True, slots=True)
class Attempted:
    """A candidate that did not do: its patch as shown, and what was said of it by the gate, the sandbox or the judges."""

    patch: str
    told: str


@dataclass(frozen=True, slots=True)
class Drafting:
    """Write code that does the task: to the Proposer. ``workspace`` names the scratch tree that the ``code`` tool edits,
    ``files`` is what differs from head in it at its beginning; ``tried`` is what did not do, the newest last."""

    task: Task
    dossier: Dossier
    sheets: tuple[Sheet, ...]
    workspace: str
    tried: tuple[Attempted, ...] = ()
    files: tuple[Edit, ...] = ()

    @property
    def packet(self) -> Packet:
        """What it is about."""
        return self.task.packet


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate as its judges see it, under a ``letter`` instead of its author: the patch as shown, and the sandbox's words."""

    letter: str
    patch: str
    told: str


@dataclass(frozen=True, slots=True)
class Appraisal:
    """Do these candidates do the task, and do they do harm? To the Critic and the Reviewer, blind; one call for all of them."""

    task: Task
    dossier: Dossier
    candidates: tuple[Shown, ...]

    @property
    def packet(self) -> Packet:
        """What it is about."""
        return self.task.packet


@dataclass(frozen=True, slots=True)
class Refinement:
    """Make the candidate better, or keep it: to the Optimizer. ``points`` are what its judges said, without names; ``sheets``
    show the files with the candidate in them, and ``files`` is what differs from head in the scratch tree ``workspace``."""

    task: Task
    dossier: Dossier
    sheets: tuple[Sheet, ...]
    workspace: str
    candidate: Shown
    points: tuple[str, ...] = ()
    files: tuple[Edit, ...] = ()

    @property
    def packet(self) -> Packet:
        """What it is about."""
        return self.task.packet


@dataclass(frozen=True, slots=True)
class Arbitration:
    """The judges differ about a candidate that passed its trial: to the moderator. Is the first of the open points one that
    forbids it?"""

    task: Task
    dossier: Dossier
    candidate: Shown
    points: tuple[str, ...]

    @property
    def packet(self) -> Packet:
        """What it is about."""
        return self.task.packet


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What may be behind this report of a bug, and which check would show it? To those who write checks, blind. ``report`` is
    what somebody wrote, or a program printed: trusted by nobody. At most ``most`` hypotheses are wanted."""

    dossier: Dossier
    report: str
    most: int


@dataclass(frozen=True, slots=True)
class Trial:
    """A candidate before the gate and the sandbox. ``edits`` are all that differs from head, ``before`` what of it was accepted
    earlier. ``subject`` is the task's id, or says that it is several at once."""

    subject: str
    tasks: tuple[Task, ...]
    edits: tuple[Edit, ...]
    before: tuple[Edit, ...] = ()
    author: str = ""


@dataclass(frozen=True, slots=True)
class Trialled:
    """What came of a trial. ``patch`` is git's own diff against ``before``; ``refusals`` are the gate's; ``red`` are the ids of
    tasks whose check does not pass with it, ``unknown`` of those that nothing was there to show; ``worse`` is what held before
    and does no more, in words. ``checks`` holds the check of a task as it was run, by its id, ``shown`` in words what shows
    that it is done; ``beside`` what was run and is no worse; ``edits`` what was tried really (a formatter may have gone over it).
    ``reason`` says why it could not be tried, or why it does not do what a goal asks."""

    patch: bytes = b""
    edits: tuple[Edit, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    red: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    checks: tuple[tuple[str, Check], ...] = ()
    shown: tuple[tuple[str, str], ...] = ()
    beside: tuple[str, ...] = ()
    output: str = ""
    reason: str = ""

    @property
    def harmless(self) -> bool:
        """It passed the gate, was run, and made nothing worse."""
        return not (self.refusals or self.worse or self.reason)

    @property
    def passed(self) -> bool:
        """It is harmless, and every task is shown to be done."""
        return self.harmless and not (self.red or self.unknown)

    @property
    def told(self) -> str:
        """Why it may not be used, or that it passed, for those who write and judge."""
        said = [f"refused by the gate ({one.rule}): {one}" for one in self.refusals]
        said += [f"worse than before: {one}" for one in self.worse]
        said += [f"the check of {name} does not pass with it" for name in self.red]
        said += [self.reason] if self.reason else []
        if not said:
            words = "; ".join(words for _, words in self.shown) or "its check failed before and passes with it"
            return "; ".join(("no check shows that it works" if self.unknown else words, *self.beside))
        return "\n".join((*said, *([self.output] if self.output else [])))
