"""What is dismissed where a change is reviewed: the file of its base commit; for uncommitted work that of the work tree."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import excerpt
from reviewbot.config import dismissed, dismissed_text
from reviewbot.consensus import dismissed as dismissing
from reviewbot.consensus.identity import normalised
from reviewbot.domain.change import Revisions
from reviewbot.domain.dismissal import FILE, Dismissal, Dismissals
from reviewbot.domain.review import Finding
from reviewbot.domain.target import TargetKind
from reviewbot.errors import ConfigError, OutputError
from reviewbot.wiring.order import Order
from reviewbot.wiring.rooms import open_repository
from reviewbot.wiring.scene import Scene

UNCOMMITTED = (TargetKind.STAGED, TargetKind.WORKTREE)
"""Changes that only whoever is at the keyboard has: there, whoever that is decides."""
_LARGEST = 2_000_000
"""Bytes of a source file that is looked through."""


def heeded(order: Order, scene: Scene) -> Order:
    """The order with what is dismissed where its change is reviewed. One that brings that along keeps it. Raises GitError."""
    if order.dismissals != Dismissals() or scene.git is None:
        return order
    return replace(order, dismissals=_of(scene.git, scene.revisions))


def _of(git: GitRepo, revisions: Revisions) -> Dismissals:
    here = _standing(git.toplevel) if revisions.kind in UNCOMMITTED else None
    data = git.file_at(revisions.base_tree, FILE) if here is None and revisions.base_tree else here
    held, notes = _read(data, "")
    if revisions.kind in UNCOMMITTED or revisions.head_tree is None:
        return Dismissals(held, (), notes)
    theirs = git.file_at(revisions.head_tree, FILE)
    brought, more = _read(None if theirs == data else theirs, " of the change")
    known = {one.fingerprint for one in held}
    return Dismissals(held, tuple(one for one in brought if one.fingerprint not in known), (*notes, *more))


def _read(data: bytes | None, whose: str) -> tuple[tuple[Dismissal, ...], tuple[str, ...]]:
    """What a file says, and what is to be said of one that cannot be read: nothing is spared by it."""
    try:
        return (dismissed.read(data, FILE) if data is not None else ()), ()
    except ConfigError as exc:
        return (), (f"the file of dismissals{whose} is not read, nothing in it is spared: {exc.message}",)


def _standing(top: Path) -> bytes | None:
    """The file in the work tree, ``None`` where there is none or it is no plain file."""
    with suppress(OSError):
        return _bytes(top / FILE) if not (top / FILE).parent.is_symlink() else None
    return None


def _bytes(path: Path) -> bytes | None:
    """A plain file's bytes, one more than may be at most; ``None`` where it is something else. Raises OSError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        return file.read(dismissed.MOST_BYTES + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None


@dataclass(frozen=True, slots=True)
class Shelf:
    """The file of dismissals in a work tree: where it is, its bytes where it is there, and what it says."""

    path: Path
    data: bytes | None
    held: tuple[Dismissal, ...]

    def of(self, finding: Finding) -> Dismissal | None:
        """What it says of a finding: by its fingerprint, else by all that the command wrote of it."""
        made = dismissing.remembered(finding, "", "")
        alike = (one for one in self.held if _words(one) == _words(made) and one.line)
        return next((one for one in self.held if one.fingerprint == finding.fingerprint), next(alike, None))

    def with_findings(self, findings: Collection[Finding], reason: str, day: str) -> bytes:
        """The file with these, too. ``day``: as in 2026-01-31. Raises ConfigError."""
        return dismissed_text.added(self.data, [dismissing.remembered(one, reason, day) for one in findings], FILE)

    def without(self, gone: Collection[str]) -> bytes:
        """The file without the dismissals of these fingerprints. Raises ConfigError."""
        return dismissed_text.taken(self.data or b"", gone, FILE)

    def stale(self, one: Dismissal) -> str:
        """Why a dismissal is about nothing in the work tree any more; empty where it may be about something."""
        path = self.path.parents[1] / one.path
        try:
            if path.is_symlink() or not path.is_file():
                return "its file is gone"
            with path.open("rb") as file:
                lines = excerpt.shown_lines(file.read(_LARGEST))
        except (OSError, ValueError):
            return ""
        there = not one.line or any(normalised(line).startswith(one.line) for line in lines)
        return "" if there else "its line is gone"


def _words(one: Dismissal) -> tuple[str, str | None, str, str]:
    return one.path, one.rule, one.title, one.line


@contextmanager
def alone(order: Order) -> Iterator[Shelf]:
    """``shelf`` for who writes it: of several at once each sees what the one before has written. Raises as ``shelf`` does."""
    handle = os.open(shelf(order).path.parents[1], os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # a file system without locks: it is written all the same
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield shelf(order)
    finally:
        os.close(handle)


def shelf(order: Order) -> Shelf:
    """The file in the work tree here. Raises RepositoryError, ConfigError for one that cannot be read, OutputError for one that
    is no plain file."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-")))
        top = stack.enter_context(open_repository(order.directory, scratch, order.environment)).toplevel
    path = top / FILE
    folder = path.parent
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise OutputError(f"{folder} is no folder", hint="nothing is written through a link: make it a folder")
    try:
        data = _bytes(path)
    except FileNotFoundError:
        return Shelf(path, None, ())
    except OSError as exc:
        raise OutputError(f"cannot read {path}: {exc.strerror}", hint="make it a plain file that can be read") from exc
    if data is None:
        raise OutputError(f"{path} is no plain file", hint="make it one, or remove it")
    return Shelf(path, data, dismissed.read(data, FILE))
