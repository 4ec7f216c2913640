"""What is reviewed, as whoever asks for it names it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TargetKind(StrEnum):
    """The forms in which a change can be named (``interface.md`` §1)."""

    RANGE = "range"  # A..B
    MERGE_BASE = "merge_base"  # A...B, --base REF
    COMMIT = "commit"  # one commit against its first parent
    STAGED = "staged"  # the index against HEAD
    WORKTREE = "worktree"  # the work tree against HEAD
    AUTO = "auto"  # worktree where something is uncommitted, else the last commit
    PATCH = "patch"  # a unified diff, no repository
    ALL = "all"  # an audit: the whole tree of one commit


@dataclass(frozen=True, slots=True)
class Target:
    """A change, named but not yet resolved: ``base``/``head`` as the caller wrote them, ``patch`` the diff's bytes."""

    kind: TargetKind
    base: str | None = None
    head: str | None = None
    patch: bytes | None = None
