"""What a user asks to review."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Target(Struct, frozen=True, kw_only=True):
    """Which change to review.

    Attributes:
        kind: "auto" is the uncommitted work, or the last commit if there is none; "revision" a
            commit, `A..B` or `A...B`; "staged" the index against HEAD; "worktree" all uncommitted
            work against HEAD, untracked files included; "base" HEAD and the merge base with
            `revision`; "all" the whole tree of `revision`, or of HEAD.
        revision: for the kinds "revision", "base" and "all".
        paths: pathspecs; only files that match one are reviewed. The trees stay whole.
    """

    kind: Literal["auto", "revision", "staged", "worktree", "base", "all"] = "auto"
    revision: str = ""
    paths: tuple[str, ...] = ()
