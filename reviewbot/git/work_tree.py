"""Change files of a work tree so that a killed process leaves what the next one can finish.

No symbolic link is followed and no file is overwritten. The new file is written beside the old one,
the old one is renamed and compared (somebody may have saved it a moment ago), and then the new one
gets the name by a hard link, which fails if somebody took it. Old files stay beside the new ones
until everything is written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from reviewbot.errors import WriteError
from reviewbot.git.tree import is_outside

Step = Callable[[str], None]

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# What _id says of a folder, a symbolic link or a device.
NO_FILE = "no regular file"
RACE_HINT = "run it again when nothing else writes there"


class FileChange(Struct, frozen=True, kw_only=True):
    """A file of the work tree.

    Attributes:
        before, after: ids of its bytes as a blob, without conversions; "" for no file.
        mode: permissions, those of the umask if 0.
    """

    path: str
    before: str
    after: str
    mode: int = 0


def blob_id(content: bytes, object_format: str) -> str:
    digest = hashlib.new(object_format, b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


class WorkTree:
    """The files below a folder. `step` is told what has just been done, for tests."""

    def __init__(self, root: Path, object_format: str, step: Step) -> None:
        self._root = root
        self._format = object_format
        self._step = step

    def read(self, path: str) -> tuple[bytes, os.stat_result] | None:
        """Raises WriteError if there is anything but a regular file."""
        with self._parent(path) as folder:
            if folder is None or (status := _status(folder, _name(path))) is None:
                return None
            if not stat.S_ISREG(status.st_mode):
                raise WriteError(f"{path} is {_kind(status)}", hint="leave this fix out")
            return _read(folder, _name(path)), status

    def id(self, path: str) -> str:
        """Of its bytes as a blob. Empty if there is no file, NO_FILE if it is not a regular one."""
        try:
            with self._parent(path) as folder:
                return "" if folder is None else self._id(folder, _name(path))
        except WriteError:
            return NO_FILE

    def obstacle(self, path: str) -> str:
        """Why a file may not be changed, empty if it may. Raises WriteError."""
        with self._parent(path) as folder:
            if folder is None:
                return self.obstacle(path.rpartition("/")[0])
            status = _status(folder, _name(path))
            if status and status.st_uid != os.geteuid():
                return f"{path} belongs to another user"
            # Root may write everything, but a file without the bit was meant to stay.
            if status and not status.st_mode & stat.S_IWUSR:
                return f"{path} is read-only"
            if not os.fstat(folder).st_mode & stat.S_IWUSR or not os.access(
                ".", os.W_OK, dir_fd=folder
            ):
                return f"the folder of {path} is read-only"
            return ""

    def missing_folders(self, path: str) -> list[str]:
        parts = path.split("/")[:-1]
        folders = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        return [folder for folder in folders if self.id(folder) == ""]

    def make_folder(self, path: str) -> None:
        with self._parent(path) as folder, suppress(FileExistsError):
            os.mkdir(_name(path), dir_fd=_existing(folder, path))

    def remove_folder(self, path: str) -> None:
        with suppress(OSError, WriteError), self._parent(path) as folder:
            os.rmdir(_name(path), dir_fd=_existing(folder, path))

    def replace(self, change: FileChange, beside: str, content: bytes | None) -> None:
        """Raises WriteError if the file is not, or does not stay, what it was."""
        path, name = change.path, _name(change.path)
        with self._parent(path) as found:
            folder = _existing(found, path)
            if content is not None:
                status = _status(folder, name)
                _create(folder, f"{beside}.new", content, change.mode, status)
                self._step(f"create {path}")
            if change.before:
                try:
                    _move(folder, name, f"{beside}.old")
                except FileNotFoundError:
                    raise WriteError(f"{path} was removed meanwhile", hint=RACE_HINT) from None
                self._step(f"rename {path}")
                if self._id(folder, f"{beside}.old") != change.before:
                    raise WriteError(f"{path} was changed meanwhile", hint=RACE_HINT)
            if content is not None:
                try:
                    os.link(f"{beside}.new", name, src_dir_fd=folder, dst_dir_fd=folder)
                except FileExistsError:
                    message = f"{path} was written by somebody else meanwhile"
                    raise WriteError(message, hint=RACE_HINT) from None
                self._step(f"link {path}")
                os.unlink(f"{beside}.new", dir_fd=folder)
            os.fsync(folder)
            if not self._is_parent(path, folder):
                self._take_back(folder, change, beside, b"")
                raise WriteError(f"the folder of {path} was moved meanwhile", hint=RACE_HINT)

    def finish(self, change: FileChange, beside: str) -> str:
        """Remove the old file. Returns what somebody should know, usually ""."""
        with self._parent(change.path) as folder:
            if folder is None:
                return ""
            old = self._id(folder, f"{beside}.old")
            if old not in ("", change.before):
                # A program that had it open wrote to it after it had been compared.
                return f"{change.path} was saved meanwhile: that version is {beside}.old beside it"
            for name in (f"{beside}.old", f"{beside}.new"):
                _unlink(folder, name)
            os.fsync(folder)
        return ""

    def take_back(self, change: FileChange, beside: str, content: bytes) -> str:
        """Make a file what it was. Returns why it is not, "" if it is.

        Args:
            content: what it was, if `git clean` removed the old file beside it.
        """
        try:
            with self._parent(change.path) as folder:
                if folder is None:
                    return f"the folder of {change.path} is gone" if change.before else ""
                reason = self._take_back(folder, change, beside, content)
                os.fsync(folder)
                return reason
        except WriteError as error:
            return str(error)

    def _take_back(self, folder: int, change: FileChange, beside: str, content: bytes) -> str:
        name = _name(change.path)
        new, old, out = f"{beside}.new", f"{beside}.old", f"{beside}.out"
        _unlink(folder, new)
        status = _status(folder, name)
        for other in (old, out):
            linked = _status(folder, other)
            if status and linked and os.path.samestat(status, linked):
                _unlink(folder, other)  # killed between link and unlink
        if moved := self._id(folder, out):  # killed while it was taken back before
            if moved == change.after:
                _unlink(folder, out)
            elif reason := self._put_back(folder, out, change):
                return reason
        if self._id(folder, name) == change.after and change.after:
            _move(folder, name, out)
            self._step(f"out {change.path}")
            if self._id(folder, out) != change.after:  # saved this very moment
                return self._put_back(folder, out, change) or self._stays(folder, change, old)
            _unlink(folder, out)
        here, before = self._id(folder, name), self._id(folder, old)
        if not here:
            if not change.before:
                return ""
            if not before:
                _create(folder, new, content, change.mode, None)
            return self._put_back(folder, old if before else new, change)
        if here == change.before and not before:
            return ""
        return self._stays(folder, change, old)

    def _put_back(self, folder: int, source: str, change: FileChange) -> str:
        try:
            os.link(source, _name(change.path), src_dir_fd=folder, dst_dir_fd=folder)
        except FileExistsError:
            return f"two others changed {change.path}: one version is {source} beside it"
        self._step(f"back {change.path}")
        _unlink(folder, source)
        return ""

    def _stays(self, folder: int, change: FileChange, old: str) -> str:
        if self._id(folder, old) not in ("", change.before):
            return f"two others changed {change.path}: one version is {old} beside it"
        _unlink(folder, old)
        return f"{change.path} was changed meanwhile and stays as it is"

    def _id(self, folder: int, name: str) -> str:
        if (status := _status(folder, name)) is None:
            return ""
        if not stat.S_ISREG(status.st_mode):
            return NO_FILE
        return blob_id(_read(folder, name), self._format)

    def _is_parent(self, path: str, folder: int) -> bool:
        try:
            with self._parent(path) as now:
                return now is not None and os.path.samestat(os.fstat(now), os.fstat(folder))
        except WriteError:
            return False

    @contextmanager
    def _parent(self, path: str) -> Iterator[int | None]:
        """The open folder of a file, None if it does not exist. Raises WriteError."""
        if is_outside(path) or "\0" in path:
            raise WriteError(f"{path!r} is not the path of a file", hint="leave this fix out")
        *parts, _ = path.split("/")
        folder = os.open(self._root, FOLDER & ~os.O_NOFOLLOW)
        try:
            for count, part in enumerate(parts):
                deeper = _enter(folder, part, "/".join(parts[: count + 1]))
                if deeper is None:
                    yield None
                    return
                os.close(folder)
                folder = deeper
            yield folder
        finally:
            os.close(folder)


def _enter(folder: int, name: str, path: str) -> int | None:
    try:
        deeper = os.open(name, FOLDER, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        status = _status(folder, name)
        if error.errno not in (errno.ELOOP, errno.ENOTDIR) or status is None:
            raise
        raise WriteError(f"{path} is {_kind(status)}", hint="leave this fix out") from error
    if _status(deeper, ".git") is not None:
        os.close(deeper)
        raise WriteError(f"{path} is a repository of its own", hint="run reviewbot there")
    return deeper


def _existing(folder: int | None, path: str) -> int:
    if folder is None:
        raise WriteError(f"the folder of {path} was removed meanwhile", hint=RACE_HINT)
    return folder


def _create(folder: int, name: str, content: bytes, mode: int, like: os.stat_result | None) -> None:
    with os.fdopen(os.open(name, CREATE, 0o666, dir_fd=folder), "wb") as file:
        file.write(content)
        file.flush()
        if like and like.st_gid != os.fstat(file.fileno()).st_gid:
            os.fchown(file.fileno(), -1, like.st_gid)
        if mode:
            os.fchmod(file.fileno(), mode)
        os.fsync(file.fileno())


def _move(folder: int, old: str, new: str) -> None:
    os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)


def _unlink(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _read(folder: int, name: str) -> bytes:
    with os.fdopen(os.open(name, READ, dir_fd=folder), "rb") as file:
        return file.read()


def _status(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _kind(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    return "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"


def write_durably(path: Path, content: bytes) -> None:
    """Replace a file. It is on the disk when this returns."""
    new = path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, CREATE, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
