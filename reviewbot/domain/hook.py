"""The hooks of a repository: where git looks for them, what was found there, and what is done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NAMES = ("pre-commit", "pre-push")
"""The hooks that reviewbot can be, as git names their files."""

BEFORE = ".before-reviewbot"
"""Ends the name of a hook that was there first: ours runs it first."""

LEGACY = ".legacy"
"""Ends the name that pre-commit gives to the hook which it found where its own was to be; it runs it first, too."""


class Ground(StrEnum):
    """Whose a folder of hooks is: the repository's own (below its ``.git``), a part of the work tree that may be committed, or
    something outside, which other repositories may use as well."""

    OWN = "own"
    TREE = "tree"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Setting:
    """``core.hooksPath`` as it is set: its words, its scope (``local``, ``global`` …) and where it is written."""

    value: str
    scope: str
    origin: str

    def __str__(self) -> str:
        return f"core.hooksPath ({self.scope}, {self.origin})"


@dataclass(frozen=True, slots=True)
class HookFolder:
    """A folder of hooks. ``path`` is absolute, ``shown`` as it is told to a person."""

    path: str
    shown: str
    ground: Ground
    setting: Setting | None = None


@dataclass(frozen=True, slots=True)
class HookFile:
    """A file as it stands. Of a symbolic link, ``link`` is what it says, and the rest is that of the file it leads to; a link
    that leads nowhere has no content."""

    content: bytes
    executable: bool
    link: str | None = None


@dataclass(frozen=True, slots=True)
class FoundHook:
    """All that stands where one hook has its place: the hook, the one that ours runs first, and the one that pre-commit runs
    first."""

    name: str
    folder: HookFolder
    hook: HookFile | None = None
    before: HookFile | None = None
    legacy: HookFile | None = None

    @property
    def path(self) -> str:
        """Where git looks for it, as it is told to a person."""
        return f"{self.folder.shown}/{self.name}"


class Act(StrEnum):
    """One thing that is done in a folder of hooks, wholly or not at all."""

    KEEP = "keep"
    """The file gets a second name, and no longer belongs to the first once that is written."""
    WRITE = "write"
    """The file is replaced by new content, and can be executed."""
    MOVE = "move"
    """The file gets another name; what had that name is replaced."""
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class Step:
    """``file`` is a name in the folder; ``to`` another one, and ``content`` what is written, where the act has one."""

    act: Act
    file: str
    to: str = ""
    content: bytes = b""
