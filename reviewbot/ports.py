"""The narrow doors to the world, and the values that pass through them. Adapters stand behind, stages never look."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Check, Seat, Stance
from reviewbot.domain.event import Target
from reviewbot.domain.evidence import Category, Ledger, Severity, Side
from reviewbot.domain.money import Usage

# --- the repository -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RawDiff:
    """What git said of a change, in its own bytes: ``--raw -z``, ``--numstat -z`` (the truth for names), ``--patch`` (hunks).

    For a patch without repository the first two are empty.
    """

    raw: bytes
    numstat: bytes
    patch: bytes


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file of a tree: path (UTF-8 with ``surrogateescape``), mode, blob id, size in bytes (-1 for a submodule)."""

    path: str
    mode: int
    object_id: str
    size: int


class Repo(Protocol):
    """Where changes come from."""

    def resolve(self, target: Target) -> Revisions:
        """Find both ends. Raises RevisionError, RepositoryError."""
        ...

    def diff(self, revisions: Revisions) -> RawDiff:
        """What differs between both ends."""
        ...


class Objects(Protocol):
    """Git's objects, read without running anything that a repository could name."""

    def blob(self, object_id: str) -> bytes:
        """A blob's bytes. Raises GitError where it is not there."""
        ...

    def entries(self, tree: str) -> tuple[TreeEntry, ...]:
        """Every file below a tree."""
        ...

    def export(self, tree: str, into: Path) -> tuple[str, ...]:
        """Write a tree's files below ``into``: no filter run, no symlink kept that leaves it. Returns what was left out."""
        ...


# --- the sandbox ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """One process to run in zone R. No shell; the environment is empty but for ``environment``.

    ``tree`` names the exported tree whose copy is the working directory (``None``: the scratch folder), ``overlay`` files that
    are laid over that copy. ``files`` are laid into
    the scratch folder before the start; ``collect`` names files of it that are read back. ``executes`` says that code or
    configuration of the change runs: without a sandbox such a job is refused. These words in ``argv`` and ``environment``
    are replaced: ``{python}`` (the interpreter that runs the project's tests), ``{own_python}`` (reviewbot's own),
    ``{ruff}``, ``{scratch}``, ``{tree}``, ``{probes}`` (folder of the programs that reviewbot brings along).
    """

    name: str
    argv: tuple[str, ...]
    timeout_seconds: float
    executes: bool
    tree: Side | None = None
    files: tuple[tuple[str, bytes], ...] = ()
    overlay: tuple[tuple[str, bytes], ...] = ()
    collect: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    stdin: bytes = b""


class Ended(StrEnum):
    """How a job ended."""

    EXITED = "exited"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"
    REFUSED = "refused"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a job. Output is capped; ``reason`` says in words why it did not exit by itself."""

    ended: Ended
    exit_code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    seconds: float = 0.0
    collected: tuple[tuple[str, bytes], ...] = ()
    reason: str = ""

    def file(self, name: str) -> bytes | None:
        """A collected file's bytes."""
        return dict(self.collected).get(name)


class Sandbox(Protocol):
    """Where code that nobody trusts may run."""

    @property
    def level(self) -> str:
        """``bubblewrap``, ``container``, ``unconfined`` or ``none``."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the level is what it is, where a reader should know."""
        ...

    def run(self, job: Job) -> Outcome:
        """Run one job to its end. Never raises for what the job does."""
        ...


# --- the panel ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Passage:
    """Numbered lines of one file as they are shown: redacted, hidden characters made visible.

    ``start`` is the head number of the first of ``lines``; ``changed`` holds the numbers of added lines; ``symbol`` names
    the enclosing function or class.
    """

    path: str
    start: int
    lines: tuple[str, ...]
    changed: frozenset[int]
    symbol: str = ""

    def text(self, line: int) -> str | None:
        """One line by its head number."""
        index = line - self.start
        return self.lines[index] if 0 <= index < len(self.lines) else None


@dataclass(frozen=True, slots=True)
class FirstPass:
    """S1: what is wrong with this change? Asked blind."""

    passages: tuple[Passage, ...]
    ledger: Ledger
    title: str = ""
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Packet:
    """A claim as the others see it: no author, no votes, no confidence."""

    path: str
    start_line: int
    line: int
    quote: str
    category: Category
    severity: Severity
    title: str
    trigger: str
    consequence: str
    falsifier: str
    evidence: tuple[str, ...]
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """A peer's argument, without its name: what is said, what it cites."""

    stance: Stance
    claim: str
    evidence: tuple[str, ...]
    reasoning: str


@dataclass(frozen=True, slots=True)
class CrossExamination:
    """S4: does this claim stand? Asked of those who did not raise it; from round 2 with the arguments said so far."""

    packet: Packet
    passages: tuple[Passage, ...]
    ledger: Ledger
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Rebuttal:
    """S4, round 2: the raiser's one answer: defend, amend or withdraw."""

    packet: Packet
    passages: tuple[Passage, ...]
    ledger: Ledger
    words: tuple[Word, ...]


Question = FirstPass | CrossExamination | Rebuttal


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to one seat.

    ``subject`` is the case it is about, empty in the first pass; ``complaint`` quotes why the last attempt was invalid.
    """

    seat: Seat
    question: Question
    subject: str = ""
    round: int = 1
    attempt: int = 1
    timeout_seconds: float = 120.0
    complaint: str = ""


class ReplyStatus(StrEnum):
    """How an ask ended. Only ``ok`` can become a vote."""

    OK = "ok"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    TIMEOUT = "timeout"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, as text that is still to be read, or why nothing did."""

    status: ReplyStatus
    text: str = ""
    reason: str = ""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Experiment:
    """A check of a claim, to be run at base and head, twice."""

    subject: str
    check: Check


@dataclass(frozen=True, slots=True)
class Verification:
    """What an experiment showed: the check with its outcome. ``excerpt`` is the trimmed output."""

    check: Check
    excerpt: str = ""


class Panel(Protocol):
    """Whoever answers: a model, several, or the static analysts."""

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The chairs and who sits on them."""
        ...

    @property
    def capacity(self) -> int | None:
        """How many tokens of diff the smallest window takes, ``None`` for no limit."""
        ...

    async def ask(self, ask: Ask) -> Reply:
        """One answer. Failures are replies, not exceptions."""
        ...


# --- the rest -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """Something a person who waits would like to see. ``stage`` is a stage's name."""

    stage: str
    text: str


class Observer(Protocol):
    """Who watches."""

    def saw(self, progress: Progress) -> None:
        """Take note; never raises."""
        ...


class Clock(Protocol):
    """Time, so that tests own it."""

    def seconds(self) -> float:
        """Monotonic seconds."""
        ...
