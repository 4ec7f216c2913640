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
from contextlib import suppress
from pathlib import Path, PurePosixPath

from msgspec import Struct

from reviewbot.errors import WriteError
from reviewbot.git.tree import is_outside

# The id of a folder, a symbolic link or a device.
NO_FILE = "no regular file"
LEAVE_OUT = "leave this fix out"
RACE_HINT = "run it again when nothing else writes there"


class FileChange(Struct, frozen=True):
    """A file of the work tree.

    Attributes:
        before, after: ids of its bytes as a blob; "" for no file.
        beside: the name, without its suffix, of files that are kept beside it meanwhile.
        mode: permissions if the file has to be made, those of the umask if 0.
    """

    path: str
    before: str
    after: str
    beside: str
    mode: int


def step(done: str) -> None:
    """Called with what has just been done. Tests put something in its place."""


class WorkTree(Struct, frozen=True):
    """The files below a folder."""

    root: Path
    object_format: str

    def blob_id(self, content: bytes | None) -> str:
        """The id that git gives to a blob, "" for None."""
        if content is None:
            return ""
        start = b"blob %d\0" % len(content)
        return hashlib.new(self.object_format, start + content, usedforsecurity=False).hexdigest()

    def read(self, path: str) -> tuple[bytes | None, int]:
        """Content and permissions; None and 0 for no file. Raises WriteError if it must stay."""
        file = self._file(path)
        status = _status(file)
        if status and not stat.S_ISREG(status.st_mode):
            raise WriteError(f"{path} is not a regular file", hint=LEAVE_OUT)
        if status and status.st_uid != os.geteuid():
            raise WriteError(f"{path} belongs to another user", hint=LEAVE_OUT)
        # Root may write everything, but a file without the bit was meant to stay.
        if not all(one.st_mode & stat.S_IWUSR for one in (_status(file.parent), status) if one):
            raise WriteError(f"{path} or its folder is read-only", hint="make it writable")
        return (file.read_bytes(), stat.S_IMODE(status.st_mode)) if status else (None, 0)

    def replace(self, change: FileChange, content: bytes | None) -> None:
        """Raises WriteError if the file is not what it was. Call `settle` in any case."""
        path, file = change.path, self._file(change.path, make=True)
        new, old = (file.with_name(f"{change.beside}.{end}") for end in ("new", "old"))
        if _status(old):
            raise WriteError(f"{old.name} is beside {path}", hint="read it, then remove it")
        if content is not None:
            status = _status(file)
            with new.open("xb") as written:
                written.write(content)
                written.flush()
                if mode := stat.S_IMODE(status.st_mode) if status else change.mode:
                    os.fchmod(written.fileno(), mode)
                os.fsync(written.fileno())
            step(f"create {path}")
        if change.before:
            with suppress(FileNotFoundError):
                file.rename(old)
            step(f"rename {path}")
            if self._id(old) != change.before:
                raise WriteError(f"{path} was changed meanwhile", hint=RACE_HINT)
        if content is not None:
            try:  # unlike a rename, this fails if somebody saved a file of this name
                os.link(new, file, follow_symlinks=False)
            except FileExistsError:
                raise WriteError(f"{path} was saved meanwhile", hint=RACE_HINT) from None
            step(f"link {path}")
            new.unlink()

    def settle(self, change: FileChange, *, is_done: bool) -> str:
        """Remove what is beside a file that changed, or make the file what it was.

        It may be called again if it was killed. Returns why it could not, "" if it could.
        """
        path, reason = change.path, ""
        try:
            file = self._file(path)
            file.with_name(f"{change.beside}.new").unlink(missing_ok=True)
            if not is_done:
                reason = self._take_back(file, change)
            old = file.with_name(f"{change.beside}.old")
            # A program that had it open may have written to it after it was compared.
            if self._id(old) not in ("", change.before):
                return f"{path} was saved meanwhile: another version is {old.name} beside it"
            old.unlink(missing_ok=True)
        except WriteError as error:
            return str(error)
        if not (change.after if is_done else change.before):
            with suppress(OSError):  # as git does, remove the folders that are empty now
                for folder in PurePosixPath(path).parents[:-1]:
                    (self.root / folder).rmdir()
        step(f"settle {path}")
        return reason

    def _take_back(self, file: Path, change: FileChange) -> str:
        path, after = change.path, change.after
        out, old = (file.with_name(f"{change.beside}.{end}") for end in ("out", "old"))
        # A process that was killed while it took the file back may have left "out".
        if after and self._id(file) == after and not _status(out):
            file.rename(out)
            step(f"out {path}")
        if self._id(out) == after:
            out.unlink(missing_ok=True)
        elif not self._put_back(out, file):  # it was saved a moment before the rename
            return f"{path} was saved meanwhile: another version is {out.name} beside it"
        self._put_back(old, file)
        is_back = self._id(file) == change.before
        return "" if is_back else f"{path} was changed meanwhile and stays"

    def _put_back(self, source: Path, file: Path) -> bool:
        """Give a file, if there is one, its name, unless another has it."""
        if not _status(source):
            return True
        try:
            os.link(source, file, follow_symlinks=False)
            step(f"back {file.name}")
        except FileExistsError:
            if not self._id(source) == self._id(file) != NO_FILE:
                return False
        except OSError:  # a folder, or a file system without hard links
            source.rename(file)
        source.unlink(missing_ok=True)
        return True

    def _id(self, file: Path) -> str:
        if (status := _status(file)) is None:
            return ""
        return self.blob_id(file.read_bytes()) if stat.S_ISREG(status.st_mode) else NO_FILE

    def _file(self, path: str, *, make: bool = False) -> Path:
        """Where a file is, or would be. Raises WriteError if it is no part of the work tree."""
        if is_outside(path) or "\0" in path:
            raise WriteError(f"{path!r} is not the path of a file", hint=LEAVE_OUT)
        for name in reversed(PurePosixPath(path).parents[:-1]):
            folder = self.root / name
            if make and not _status(folder):
                folder.mkdir()
                step(f"folder {name}")
            if (status := _status(folder)) and not stat.S_ISDIR(status.st_mode):
                raise WriteError(f"{name} is a symbolic link, or no folder", hint=LEAVE_OUT)
            if _status(folder / ".git"):
                raise WriteError(f"{name} is a repository of its own", hint=LEAVE_OUT)
        return self.root / path


def _status(path: Path) -> os.stat_result | None:
    with suppress(FileNotFoundError):
        return path.lstat()
    return None
