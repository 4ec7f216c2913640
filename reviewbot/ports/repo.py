"""Where changes come from, and git's objects."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reviewbot.domain.change import Revisions
from reviewbot.domain.target import Target

if TYPE_CHECKING:
    from reviewbot.domain.repair import Edit


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


@dataclass(frozen=True, slots=True)
class Hit:
    """A line in which a searched word stands: path, 1-based line number, the line's bytes (cut where it is long)."""

    path: str
    line: int
    text: bytes


class Search(Protocol):
    """Finding words in a tree."""

    def find(self, tree: str, words: tuple[str, ...], *, whole: bool, most: int) -> tuple[Hit, ...]:
        """Lines that hold any of the fixed strings ``words`` (as ``whole`` words or anywhere), in path and line order, at most
        ``most``. Binary files are left out. Never a pattern, never a path of the caller's making."""
        ...


class Trees(Protocol):
    """Making trees beside the repository: nothing of it is changed, and what is made is gone with the run."""

    def graft(self, tree: str, edits: tuple[Edit, ...]) -> str:
        """The tree with these files in it, regular files with the mode that they had (new ones 100644). Raises GitError."""
        ...

    def apply(self, tree: str, patch: bytes) -> str:
        """The tree with the patch in it, exactly: no fuzz, no merge. Raises PatchError where git does not take it."""
        ...

    def between(self, old: str, new: str) -> RawDiff:
        """What differs: ``raw`` and ``numstat`` without renames, and a patch with whole ids and binary parts."""
        ...
