"""The work tree, entered folder by folder from its top: no symbolic link is ever followed, and nothing is ever written over.

A file is replaced in steps of which each leaves every byte somewhere: the new one is laid beside it, the old one is set aside,
looked at (somebody may have saved it a moment ago), and only then does the new one take its place, where nothing is.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from reviewbot.errors import WriteError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})
"""How file systems say that they have no hard links."""
_OWNER_MAY_WRITE = 0o200
_MODE = 0o7777

_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_GITS_OWN = re.compile(r"(\.git|git~\d+)[ .]*(:.*)?", re.IGNORECASE | re.DOTALL)
"""Names that some file system takes for ``.git`` (git's own ``core.protectHFS`` and ``core.protectNTFS``)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A regular file as it stands: its bytes, its permission bits, when it was changed (nanoseconds), whose it is."""

    content: bytes
    mode: int
    mtime_ns: int
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Shape:
    """A file as it shall be. ``mode`` is ``None`` for a new one, which gets what the process's umask leaves of 0666."""

    content: bytes
    mode: int | None = None
    mtime_ns: int | None = None
    owner: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Beside:
    """The names, in a file's own folder, under which its new version waits and its old one is looked at."""

    fresh: str
    aside: str


def is_safe(path: str) -> bool:
    """The path names something inside of the tree, and nothing of git's own."""
    return not any(
        part in ("", ".", "..") or "\0" in part or _GITS_OWN.fullmatch(_IGNORED.sub("", part)) for part in path.split("/")
    )


def flush(folder: int) -> None:
    """What stands in a folder is on the disk, where the file system knows of such a thing."""
    try:
        os.fsync(folder)
    except OSError as exc:
        if exc.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


class Ground:
    """The work tree below ``top``. Every method raises WriteError where a path leads through a link or is no regular file, and
    OSError where the system refuses. ``step`` is told each step by name."""

    def __init__(self, top: Path, step: Callable[[str], None]) -> None:
        self._top = top
        self._step = step

    def look(self, path: str) -> Standing | None:
        """What stands there; ``None``: nothing."""
        with self._parent(path) as parent:
            return None if parent is None else self.read(parent, _name(path), path)

    def obstacle(self, path: str) -> str:
        """Why the file may not be replaced, made or deleted; empty where it may."""
        with self._parent(path) as parent:
            if parent is None:
                return self.obstacle(path.rpartition("/")[0])
            if not _may_write(parent, "."):
                return f"the folder of {path} is read-only"
            # What is asked for may be a folder that is still to be made.
            there = status_of(parent, _name(path))
            if there and os.geteuid() not in (0, there.st_uid):
                return f"{path} belongs to another user"
            return f"{path} is read-only" if there and not _may_write(parent, _name(path)) else ""

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """The folders that have to be made for a file, outermost first."""
        parts = path.split("/")[:-1]
        folders = ["/".join(parts[: length + 1]) for length in range(len(parts))]
        return tuple(folder for folder in folders if not self._is_folder(folder))

    def make_folder(self, path: str) -> None:
        """One folder; it may be there already."""
        with self._expected_parent(path) as parent, suppress(FileExistsError):
            os.mkdir(_name(path), dir_fd=parent)

    def remove_folder(self, path: str) -> None:
        """One folder, where it is empty."""
        with suppress(OSError, WriteError), self._expected_parent(path) as parent:
            os.rmdir(_name(path), dir_fd=parent)

    def replace(self, path: str, *, old: Standing | None, new: Shape | None, beside: Beside) -> None:
        """Put ``new`` in the place of ``old`` (``None``: there is none, or shall be none).

        Raises WriteError where something else stands there, which then stands there or at ``beside.aside``.
        """
        with self._expected_parent(path) as parent:
            if new is not None:
                _lay(parent, beside.fresh, new)
                self._step(f"laid {path}")
            if old is not None:
                self._set_aside(parent, path, old=old.content, beside=beside)
            if new is not None:
                self.appear(parent, beside.fresh, path)
                self._step(f"placed {path}")
            if not self._leads_to(path, parent):
                _swap_back(parent, _name(path), beside.aside)
                raise WriteError(f"the folder of {path} was moved at the same time", hint="run it again when nothing moves it")
            if old is not None:
                os.unlink(beside.aside, dir_fd=parent)
            flush(parent)
        self._step(f"replaced {path}")

    @contextmanager
    def around(self, path: str) -> Iterator[tuple[int, str] | None]:
        """The descriptor of a file's folder, and the file's name in it; ``None`` where the folder is gone."""
        with self._parent(path) as parent:
            yield None if parent is None else (parent, _name(path))

    def read(self, parent: int, name: str, path: str) -> Standing | None:
        """What is called ``name`` in a folder; ``path`` is how to speak of it."""
        there = status_of(parent, name)
        if there is None:
            return None
        if not stat.S_ISREG(there.st_mode):
            raise WriteError(f"{path} is {_kind(there.st_mode)}")
        try:
            handle = os.open(name, _READ, dir_fd=parent)
        except PermissionError as exc:
            raise WriteError(f"{path} cannot be read", hint="see whose file it is") from exc
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise WriteError(f"{path} is no regular file")
            return Standing(file.read(), status.st_mode & _MODE, status.st_mtime_ns, status.st_uid, status.st_gid)

    def _set_aside(self, parent: int, path: str, *, old: bytes, beside: Beside) -> None:
        os.rename(_name(path), beside.aside, src_dir_fd=parent, dst_dir_fd=parent)
        self._step(f"aside {path}")
        found = self.read(parent, beside.aside, path)
        if found is None or found.content != old:
            raise WriteError(f"{path} was changed at the same time", hint="run it again when nothing else writes to it")

    def appear(self, parent: int, name: str, path: str) -> None:
        """Give a file of the folder its place, where nothing stands. Raises WriteError where something does."""
        target = _name(path)
        try:
            os.link(name, target, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
        except FileExistsError as exc:
            raise WriteError(f"{path} was made by somebody else at the same time", hint="look at it, then run it again") from exc
        except OSError as exc:
            if exc.errno not in NO_LINKS:
                raise
            if status_of(parent, target) is not None:
                raise WriteError(
                    f"{path} was made by somebody else at the same time", hint="look at it, then run it again"
                ) from exc
            os.rename(name, target, src_dir_fd=parent, dst_dir_fd=parent)
            return
        self._step(f"linked {path}")
        os.unlink(name, dir_fd=parent)

    def _leads_to(self, path: str, parent: int) -> bool:
        """The path still leads to the folder that was entered by it."""
        try:
            with self._parent(path) as again:
                return again is not None and os.path.samestat(os.fstat(again), os.fstat(parent))
        except WriteError:
            return False

    def _is_folder(self, path: str) -> bool:
        with self._parent(path) as parent:
            there = None if parent is None else status_of(parent, _name(path))
            return there is not None and stat.S_ISDIR(there.st_mode)

    @contextmanager
    def _expected_parent(self, path: str) -> Iterator[int]:
        with self._parent(path) as parent:
            if parent is None:
                raise WriteError(f"the folder of {path} is gone", hint="run it again when nothing else changes the files")
            yield parent

    @contextmanager
    def _parent(self, path: str) -> Iterator[int | None]:
        """The folder of a path, reached without a link; ``None`` where there is none."""
        if not is_safe(path):
            raise WriteError(f"{path!r} is no path of a file in a work tree")
        parts = path.split("/")[:-1]
        handle: int | None = os.open(self._top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for length, part in enumerate(parts, 1):
                assert handle is not None
                deeper = _entered(handle, part, "/".join(parts[:length]))
                os.close(handle)
                handle = deeper
                if handle is None:
                    break
            yield handle
        finally:
            if handle is not None:
                os.close(handle)


def _entered(parent: int, name: str, path: str) -> int | None:
    """The folder ``name`` of a folder; ``None`` where there is none."""
    try:
        handle = os.open(name, _FOLDER, dir_fd=parent)
    except FileNotFoundError:
        return None
    except OSError as exc:
        there = status_of(parent, name)
        if exc.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK) and there is not None:
            raise WriteError(f"{path} is {_kind(there.st_mode)}, and no folder") from exc
        raise
    if status_of(handle, ".git") is not None:
        os.close(handle)
        raise WriteError(f"{path} is a repository of its own", hint="fix it there")
    return handle


def _lay(parent: int, name: str, new: Shape) -> None:
    """A new file, whole and on the disk."""
    handle = os.open(name, _FRESH, 0o666 if new.mode is None else 0o600, dir_fd=parent)
    with os.fdopen(handle, "wb") as file:
        file.write(new.content)
        file.flush()
        made = os.fstat(handle)
        if new.owner is not None and new.owner != (made.st_uid, made.st_gid):
            os.fchown(handle, *new.owner)
        if new.mode is not None:
            os.fchmod(handle, new.mode)
        if new.mtime_ns is not None:
            os.utime(handle, ns=(made.st_atime_ns, new.mtime_ns))
        os.fsync(handle)


def _swap_back(parent: int, name: str, aside: str) -> None:
    """What was done in a folder to which the path leads no more."""
    if status_of(parent, aside) is not None:
        os.rename(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
    else:
        os.unlink(name, dir_fd=parent)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def status_of(parent: int, name: str) -> os.stat_result | None:
    """What is called so in a folder, a link for itself; ``None``: nothing."""
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _may_write(parent: int, name: str) -> bool:
    """Also for who may write everything: a file without the bit was meant to stay as it is."""
    there = status_of(parent, name)
    marked = there is not None and bool(there.st_mode & _OWNER_MAY_WRITE)
    return marked and os.access(name, os.W_OK, dir_fd=parent, effective_ids=os.access in os.supports_effective_ids)


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a file" if stat.S_ISREG(mode) else "no regular file"
