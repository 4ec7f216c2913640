"""Where code that nobody trusts may run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from reviewbot.domain.evidence import Side


@dataclass(frozen=True, slots=True)
class Job:
    """One process to run in zone R. No shell; the environment is empty but for ``environment``.

    ``tree`` names the exported tree whose copy is the working directory (``None``: the scratch folder), ``overlay`` files that
    are laid over that copy. ``files`` are laid into
    the scratch folder before the start; ``collect`` names files of it that are read back. ``executes`` says that code or
    configuration of the change runs: without a sandbox such a job is refused. These words in ``argv`` and ``environment``
    are replaced: ``{python}`` (the interpreter that runs the project's tests), ``{own_python}`` (reviewbot's own),
    ``{ruff}``, ``{scratch}``, ``{tree}``, ``{beside}``, ``{probes}`` (folder of the programs that reviewbot brings along), and
    ``{tool:NAME}`` (a program of the project's own, of reviewbot's environment or of the system; a job that names one that is
    not there is ``missing``).

    ``without`` names files that are taken out of the copy of the tree before ``overlay`` is laid over it. ``beside`` is another
    exported tree that the job may read, at ``{beside}``. ``alone`` asks for the machine: nothing else is run meanwhile.
    ``keep``: the job, its trees and the tools it names decide its outcome, which may be kept for another review where it ends
    with one of these codes.
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
    without: tuple[str, ...] = ()
    beside: Side | None = None
    alone: bool = False
    keep: tuple[int, ...] = ()


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
