"""Change files of a work tree so that a killed process leaves what the next one can finish.

No symbolic link is followed and no file is overwritten. The new file is written beside the old one,
the old one is renamed and compared (somebody may have saved it a moment ago), and then the new one
gets the name by a hard link, which fails if somebody took it. Old files stay beside the new ones
until everything is written.
"""

from __future__ import annotations

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
# The id of a folder, a symbolic link or a device.
NO_FILE = "no regular file"
LEAVE_OUT = "leave this fix out"
RACE_HINT = "run it again when nothing else writes there"


class FileChange(Struct, frozen=True):
    """A file of the work tree.

    Attributes:
        before, after: ids of its bytes as a blob, without conversions; "" for no file.
        blob: the id that git must give it, after conversions; "" if that is not checked.
        beside: the name, without its suffix, of files that are kept beside it meanwhile.
        mode: permissions if the file has to be made, those of the umask if 0.
    """

    path: str
    before: str
    after: str
    blob: str
    beside: str
    mode: int


class WorkTree:
    """The files below a folder. `step` is called with what has just been done, for tests."""

    def __init__(self, root: Path, object_format: str, step: Step) -> None:
        self._root = root
        self._format = object_format
        self._step = step

    def blob_id(self, content: bytes | None) -> str:
        """The id that git gives to a blob, "" for None."""
        if content is None:
            return ""
        start = b"blob %d\0" % len(content)
        return hashlib.new(self._format, start + content, usedforsecurity=False).hexdigest()

    def read(self, path: str) -> tuple[bytes | None, int]:
        """Content and permissions; None and 0 for no file. Raises WriteError if it must stay."""
        with self._parent(path) as (folder, name):
            if folder is None:
                return None, 0
            status = _status(folder, name)
            if status and not stat.S_ISREG(status.st_mode):
                raise WriteError(f"{path} is not a regular file", hint=LEAVE_OUT)
            if status and status.st_uid != os.geteuid():
                raise WriteError(f"{path} belongs to another user", hint=LEAVE_OUT)
            # Root may write everything, but a file without the bit was meant to stay.
            if not all(one.st_mode & stat.S_IWUSR for one in (os.fstat(folder), status) if one):
                raise WriteError(f"{path} or its folder is read-only", hint="make it writable")
            return (_read(folder, name), stat.S_IMODE(status.st_mode)) if status else (None, 0)

    def replace(self, change: FileChange, content: bytes | None) -> None:
        """Raises WriteError if the file is not what it was. Call `settle` in any case."""
        path, new, old = change.path, f"{change.beside}.new", f"{change.beside}.old"
        with self._parent(path, make=True) as (folder, name):
            if folder is None or _status(folder, old):
                raise WriteError(f"{old} is beside {path}", hint="read it, then remove it")
            if content is not None:
                status = _status(folder, name)
                mode = stat.S_IMODE(status.st_mode) if status else change.mode
                with os.fdopen(os.open(new, CREATE, 0o666, dir_fd=folder), "wb") as file:
                    file.write(content)
                    file.flush()
                    if mode:
                        os.fchmod(file.fileno(), mode)
                    os.fsync(file.fileno())
                self._step(f"create {path}")
            if change.before:
                with suppress(FileNotFoundError):
                    os.rename(name, old, src_dir_fd=folder, dst_dir_fd=folder)
                self._step(f"rename {path}")
                if self._id(folder, old) != change.before:
                    raise WriteError(f"{path} was changed meanwhile", hint=RACE_HINT)
            if content is not None:
                try:  # unlike a rename, this fails if somebody saved a file of this name
                    os.link(new, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                except FileExistsError:
                    raise WriteError(f"{path} was saved meanwhile", hint=RACE_HINT) from None
                self._step(f"link {path}")
                os.unlink(new, dir_fd=folder)
            os.fsync(folder)

    def settle(self, change: FileChange, *, is_done: bool) -> str:
        """Remove what is beside a file that changed, or make the file what it was.

        It may be called again if it was killed. Returns why it could not, "" if it could.
        """
        path, old, reason = change.path, f"{change.beside}.old", ""
        try:
            with self._parent(path) as (folder, name):
                if folder is None and not is_done and change.before:
                    return f"the folder of {path} is gone"
                if folder is not None:
                    _unlink(folder, f"{change.beside}.new")
                    reason = "" if is_done else self._take_back(folder, name, change)
                    # A program that had it open may have written to it after it was compared.
                    if self._id(folder, old) not in ("", change.before):
                        return f"{path} was saved meanwhile: another version is {old} beside it"
                    _unlink(folder, old)
                    os.fsync(folder)
        except WriteError as error:
            return str(error)
        # As git does, remove the folders that were left empty by a file that is gone.
        gone = path if not (change.after if is_done else change.before) else ""
        while gone := gone.rpartition("/")[0]:
            with suppress(OSError, WriteError), self._parent(gone) as (folder, name):
                if folder is not None:
                    os.rmdir(name, dir_fd=folder)
        self._step(f"settle {path}")
        return reason

    def _take_back(self, folder: int, name: str, change: FileChange) -> str:
        path, after, out = change.path, change.after, f"{change.beside}.out"
        # A process that was killed while it took the file back may have left "out".
        if after and self._id(folder, name) == after and not _status(folder, out):
            os.rename(name, out, src_dir_fd=folder, dst_dir_fd=folder)
            self._step(f"out {path}")
        if self._id(folder, out) == after:
            _unlink(folder, out)
        elif not self._put_back(folder, out, name):  # it was saved a moment before the rename
            return f"{path} was saved meanwhile: another version is {out} beside it"
        self._put_back(folder, f"{change.beside}.old", name)
        is_back = self._id(folder, name) == change.before
        return "" if is_back else f"{path} was changed meanwhile and stays"

    def _put_back(self, folder: int, source: str, name: str) -> bool:
        """Give a file, if there is one, its name, unless another has it."""
        if not _status(folder, source):
            return True
        try:
            os.link(source, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            self._step(f"back {name}")
        except FileExistsError:
            if not self._id(folder, source) == self._id(folder, name) != NO_FILE:
                return False
        except OSError:  # a folder, or a file system without hard links
            os.rename(source, name, src_dir_fd=folder, dst_dir_fd=folder)
        _unlink(folder, source)
        return True

    def _id(self, folder: int, name: str) -> str:
        if (status := _status(folder, name)) is None:
            return ""
        return self.blob_id(_read(folder, name)) if stat.S_ISREG(status.st_mode) else NO_FILE

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
        """The open folder of a file, None if there is none, and its name. Raises WriteError."""
        if is_outside(path) or "\0" in path:
            raise WriteError(f"{path!r} is not the path of a file", hint=LEAVE_OUT)
        *parts, name = path.split("/")
        folder = os.open(self._root, FOLDER & ~os.O_NOFOLLOW)
        try:
            for count, part in enumerate(parts, 1):
                here = "/".join(parts[:count])
                if make and not _status(folder, part):
                    os.mkdir(part, dir_fd=folder)
                    os.fsync(folder)
                    self._step(f"folder {here}")
                try:
                    deeper = os.open(part, FOLDER, dir_fd=folder)
                except FileNotFoundError:
                    yield None, name
                    return
                except OSError as error:
                    message = f"{here} is a symbolic link, or cannot be read: {error.strerror}"
                    raise WriteError(message, hint=LEAVE_OUT) from error
                os.close(folder)
                folder = deeper
                if _status(folder, ".git"):
                    raise WriteError(f"{here} is a repository of its own", hint=LEAVE_OUT)
            yield folder, name
        finally:
            os.close(folder)


def _unlink(folder: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _read(folder: int, name: str) -> bytes:
    with os.fdopen(os.open(name, READ, dir_fd=folder), "rb") as file:
        return file.read()


def _status(folder: int, name: str) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    return None
