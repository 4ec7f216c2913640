"""The words with which people name a change, as git users write them."""

from __future__ import annotations

from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import UsageError


def named(text: str | None) -> Target:
    """Read ``A..B``, ``A...B``, one commit, or nothing. As in git, a missing end of a range is ``HEAD``. Raises UsageError."""
    if text is None:
        return Target(TargetKind.AUTO)
    for dots, kind in (("...", TargetKind.MERGE_BASE), ("..", TargetKind.RANGE)):
        base, found, head = text.partition(dots)
        if found:
            return Target(kind, base=revision(base or "HEAD"), head=revision(head or "HEAD"))
    return Target(TargetKind.COMMIT, head=revision(text))


def whole(text: str | None) -> Target:
    """The whole tree of one commit, of ``HEAD`` where none is named. Raises UsageError for a range."""
    if text is not None and ".." in text:
        raise UsageError(f"--all looks at one tree, and {text!r} names two ends", hint="name one commit, or leave TARGET out")
    return Target(TargetKind.ALL, head=revision(text) if text is not None else "HEAD")


def revision(text: str) -> str:
    """Refuse what git would read as an option, or what cannot be an argument at all. Raises UsageError."""
    if not text.strip() or text.startswith("-") or "\0" in text:
        raise UsageError(f"{text!r} is not a revision", hint="name a commit, A..B or A...B")
    return text
