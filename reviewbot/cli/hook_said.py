"""What a hook before a commit says."""

from __future__ import annotations

from dataclasses import dataclass

SUBJECT = "this commit"


@dataclass(frozen=True, slots=True)
class Said:
    """What the hook says, and how it ends. ``stamps`` are files that must stay as they are for it to be said again; ``lasts``:
    it may be said again at all. ``is_quiet``: nothing was found."""

    code: int
    err: str = ""
    out: str = ""
    stamps: tuple[str, ...] = ()
    lasts: bool = False
    is_quiet: bool = False
