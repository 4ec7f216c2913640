"""Writing what was made into the user's repository, and taking it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from reviewbot.domain.repair import Edit
from reviewbot.domain.target import TargetKind


@dataclass(frozen=True, slots=True)
class WriteStep:
    """One thing that was made: ``subject`` is the finding's id. ``edits`` are whole files on top of all earlier steps, in the
    form that git keeps (no conversion of line ends). ``message`` is the commit's, trailers and all."""

    edits: tuple[Edit, ...]
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What shall be written, and onto what: ``kind`` and ``head_tree`` are those of the ``Revisions`` that were reviewed.

    With ``commit`` there is one commit for each step on the branch of ``HEAD``, else only files are written (and their index
    entries where ``kind`` is ``staged``).
    """

    kind: TargetKind
    head_tree: str
    steps: tuple[WriteStep, ...]
    commit: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: paths in order, the ref that keeps what stood there before (``None``: nothing had to be written), and the
    commits as ``(subject, id)`` in order. ``notes`` are for the person who asked."""

    paths: tuple[str, ...] = ()
    backup: str | None = None
    commits: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back: the files that are again as they were, the commits that are gone from the branch (the newest last),
    and the name of the backup that was used, which is gone too."""

    paths: tuple[str, ...]
    backup: str
    commits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a run that was killed while it wrote. ``completed``: all was there but its last word, and it stays; else
    all is as it was before.

    ``left`` are files that somebody changed since: they stay as they are, and ``backup`` keeps how they were before the run.
    """

    completed: bool
    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    backup: str | None = None
    notes: tuple[str, ...] = ()


class Writer(Protocol):
    """Changes the user's repository, wholly or not at all."""

    def write(self, plan: WritePlan) -> Written:
        """Raises WriteError, and then nothing is changed: something stands in the way, or is not what was reviewed."""
        ...

    def undo(self) -> Undone:
        """Take the newest write back. Raises WriteError, and then nothing is changed."""
        ...

    def recover(self) -> Recovered | None:
        """Mend what a killed run left half done; ``None`` where there is nothing to mend. Raises WriteError where that cannot be
        done, or another process is at work and does not end."""
        ...
