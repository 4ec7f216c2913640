"""What is asked for: the target of a review and the request around it."""

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


@dataclass(frozen=True, slots=True)
class Target:
    """A change, named but not yet resolved: ``base``/``head`` as the caller wrote them, ``patch`` the diff's bytes."""

    kind: TargetKind
    base: str | None = None
    head: str | None = None
    patch: bytes | None = None


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """One review to do. ``title`` and ``focus`` are untrusted words: they direct attention, never the rules."""

    target: Target
    title: str = ""
    focus: str = ""
