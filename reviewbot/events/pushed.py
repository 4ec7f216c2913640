"""What a push is about: the lines that git hands a pre-push hook, or the variables in which pre-commit tells its hooks.

githooks(5): ``<local ref> SP <local object name> SP <remote ref> SP <remote object name> LF`` for every ref. A name of zeros
stands for nothing: the local one of a ref that is deleted, the remote one of a ref that is new. The local ref is what was typed
where that is no name of a ref (``HEAD~2``, ``:/a word``), so it may hold spaces; a remote ref cannot.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from reviewbot.errors import UsageError
from reviewbot.events.target import revision

HINT = "git calls it with lines of `<local ref> <local id> <remote ref> <remote id>` on standard input"

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_REF = re.compile(r"[\x00-\x20\x7f]")
"""What git allows in no name of a ref (git-check-ref-format(1)), as far as it could be mistaken for something else."""


class RefKind(StrEnum):
    """What a ref is for, by its name on the remote."""

    BRANCH = "branch"
    TAG = "tag"
    NOTES = "notes"  # notes and replacements are about commits, and hold no code
    OTHER = "other"  # refs/for/main of Gerrit, refs/pull, refs/meta


_KINDS = (
    ("refs/heads/", RefKind.BRANCH),
    ("refs/tags/", RefKind.TAG),
    ("refs/notes/", RefKind.NOTES),
    ("refs/replace/", RefKind.NOTES),
)


@dataclass(frozen=True, slots=True)
class PushedRef:
    """One ref of a push. ``head`` is what it becomes (``None``: it is deleted), ``old`` what it is on the remote (``None``: it is
    new there): object ids from git, of commits or of tags; from pre-commit revisions as people write them."""

    local_ref: str
    head: str | None
    remote_ref: str
    old: str | None

    @property
    def kind(self) -> RefKind:
        """What it is for."""
        return next((kind for prefix, kind in _KINDS if self.remote_ref.startswith(prefix)), RefKind.OTHER)

    @property
    def nothing(self) -> str:
        """Why it brings nothing to look at, as far as its names tell; empty where it may."""
        if self.head is None:
            return "it is deleted"
        return "it is about commits, and holds no code" if self.kind is RefKind.NOTES else ""

    @property
    def name(self) -> str:
        """As people call it: a branch by its name, a tag as such, anything else in full."""
        if self.kind is RefKind.BRANCH:
            return self.remote_ref.removeprefix("refs/heads/")
        return f"tag {self.remote_ref.removeprefix('refs/tags/')}" if self.kind is RefKind.TAG else self.remote_ref


@dataclass(frozen=True, slots=True)
class Push:
    """A whole push: its refs in git's order, the remote's name (or its address where it has none), and its address."""

    refs: tuple[PushedRef, ...]
    remote: str = ""
    url: str = ""


def read(stdin: bytes) -> tuple[PushedRef, ...]:
    """The refs of a push as git hands them over; none where nothing is pushed. Raises UsageError for any other text."""
    lines = stdin.removesuffix(b"\n").split(b"\n") if stdin else []
    return tuple(_ref(line.decode("utf-8", "surrogateescape"), number) for number, line in enumerate(lines, 1))


def told(environ: Mapping[str, str]) -> Push | None:
    """The push as pre-commit tells it; ``None`` where it is not pre-commit that calls, or it tells of none (``pre-commit run``).
    It tells of the first ref with something new, and of no other. Raises UsageError for what is no revision."""
    if environ.get("PRE_COMMIT") != "1":
        return None
    said = {name: environ.get(f"PRE_COMMIT_{name}", "") for name in _VARIABLES}
    head = said["TO_REF"] or said["LOCAL_BRANCH"]
    if not head:
        return None
    old = revision(said["FROM_REF"]) if said["FROM_REF"] and said["TO_REF"] else None
    local = said["LOCAL_BRANCH"] or head
    ref = PushedRef(local, revision(head), said["REMOTE_BRANCH"] or local, old)
    return Push((ref,), said["REMOTE_NAME"], said["REMOTE_URL"])


_VARIABLES = ("FROM_REF", "TO_REF", "LOCAL_BRANCH", "REMOTE_BRANCH", "REMOTE_NAME", "REMOTE_URL")


def _ref(line: str, number: int) -> PushedRef:
    parts = line.rsplit(" ", 3)
    if len(parts) != 4 or not parts[0]:
        raise _wrong(number, "four words are expected")
    local_ref, head, remote_ref, old = parts
    if not remote_ref or _NO_REF.search(remote_ref):
        raise _wrong(number, "the third word is no name of a ref")
    if not (_ID.fullmatch(head) and _ID.fullmatch(old) and len(head) == len(old)):
        raise _wrong(number, "the second and the fourth word are to be object ids in full")
    return PushedRef(local_ref, _named(head), remote_ref, _named(old))


def _named(object_id: str) -> str | None:
    return object_id if object_id.strip("0") else None


def _wrong(number: int, wanted: str) -> UsageError:
    return UsageError(f"what is pushed cannot be read: line {number}: {wanted}", hint=HINT)
