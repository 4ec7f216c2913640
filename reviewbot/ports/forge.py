"""A forge: reading what stands under a pull request, doing one thing there, and the diff as the forge tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from reviewbot.domain.action import (
    Action,
    Done,
)
from reviewbot.domain.forge import (
    Commit,
    Notice,
    Permission,
    Standing,
    Touched,
)
from reviewbot.ports.repo import RawDiff


@dataclass(frozen=True, slots=True)
class ForgeDiff:
    """A change as the forge tells it: its diff (``raw`` and ``numstat`` empty), and what of it the forge left out, in words."""

    diff: RawDiff
    left_out: tuple[str, ...] = ()


class Desk(Protocol):
    """Where a pull request is looked up. Every method raises ForgeError."""

    def standing(self, number: int) -> Standing:
        """Everything that stands under a pull request now."""
        ...

    def permission(self, login: str) -> Permission:
        """What somebody may do in the repository; ``NONE`` for whoever it does not know. Unsure answers are ``NONE``."""
        ...

    def pull_of(self, head_repository: str, head_ref: str, head_sha: str) -> int | None:
        """The open pull request whose head this is, by number. ``head_repository`` is empty where it was deleted."""
        ...


class Changes(Protocol):
    """The change of a pull request without a repository at hand."""

    def diff(self, number: int, changed_files: int) -> ForgeDiff:
        """What the pull request changes. Raises ForgeError."""
        ...

    def merge_base(self, base_sha: str, head_sha: str) -> str:
        """The commit at which the head left its base, by one small question. Raises ForgeError."""
        ...


class Board(Protocol):
    """Where issues hang."""

    def notice(self, marker: str) -> Notice | None:
        """Our open issue whose body opens with ``marker``. Raises ForgeError."""
        ...


class Archive(Protocol):
    """What runs left behind."""

    def artifact(self, run_id: int, name: str) -> Mapping[str, bytes]:
        """The files of an artifact, by path. What they say is the word of who ran it. Raises ForgeError."""
        ...


class Branches(Protocol):
    """What must be known of a branch before something is written to it, and after a write whose answer was lost. Every method
    raises ForgeError."""

    def head(self, branch: str) -> Commit | None:
        """The commit at which a branch of the repository stands now, ``None`` where there is no such branch."""
        ...

    def is_protected(self, branch: str) -> bool | None:
        """Whether something guards the branch against commits that no pull request brings. ``None`` where that cannot be known:
        treat it as guarded."""
        ...


class History(Protocol):
    """What a commit did, and whether it still holds. Every method raises ForgeError."""

    def touched(self, sha: str, head: str) -> tuple[Touched, ...]:
        """The files that the commit ``sha`` changed, by path, and what the commit ``head`` has of them. Raises InvalidError for
        a commit that has not just one parent."""
        ...

    def blob(self, object_id: str) -> bytes:
        """The bytes of a file that ``touched`` named. Raises GoneError where they are not there."""
        ...


class Forge(Protocol):
    """Where things are done. Each at most once: who is told :class:`~reviewbot.errors.UnsureError` looks before trying again."""

    def do(self, action: Action) -> Done:
        """Do one thing. Raises ForgeError."""
        ...
