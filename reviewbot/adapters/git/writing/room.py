"""The folder ``reviewbot`` in the git folder of a work tree: the lock, the journal, the images of what stood before."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from reviewbot.adapters.git.writing import journal as journals
from reviewbot.adapters.git.writing.ground import flush
from reviewbot.adapters.git.writing.journal import Journal
from reviewbot.errors import WriteError

WAIT_SECONDS = 10.0
"""How long is waited for another writer: a write takes less than one."""
_PAUSE_SECONDS = 0.02


class Room:
    """``work`` is there while somebody is at work; what lies in it without a journal beside it is of no use to anybody."""

    def __init__(self, git_dir: Path, wait_seconds: float = WAIT_SECONDS) -> None:
        self._folder = git_dir / "reviewbot"
        self._journal = self._folder / "journal.json"
        self._wait_seconds = wait_seconds
        self.work = self._folder / "work"

    @property
    def has_journal(self) -> bool:
        """Somebody is at work, or was killed."""
        return os.path.lexists(self._journal)

    @contextmanager
    def alone(self) -> Iterator[int]:
        """Nobody else writes meanwhile. The descriptor holds the lock: a child that inherits it keeps others out as long as it
        lives, also where its parent was killed. Raises WriteError.

        The operating system takes the lock from a dead process, so there is none that is stale. Who holds it stands in the file.
        """
        lock = self._folder / "lock"
        handle = self._locked(lock)
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({"pid": os.getpid(), "since": f"{datetime.now(UTC):%H:%M:%S} UTC"}).encode(), 0)
            yield handle
        finally:
            # Removed while it is held: nobody can take it for a free one in between.
            lock.unlink(missing_ok=True)
            os.close(handle)

    def clear(self) -> None:
        """Make room for work."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(mode=0o700, parents=True, exist_ok=True)

    def keep_image(self, number: int, content: bytes) -> None:
        """Keep how a file was before the so many-th move, on the disk."""
        _write(self._image(number), content)

    def image(self, number: int) -> bytes:
        """How it was. Raises OSError."""
        return self._image(number).read_bytes()

    def save(self, journal: Journal) -> None:
        """From here on there is something to restore: all that is needed for it is on the disk before."""
        _flush_folder(self.work)
        fresh = self._folder / "journal.new"
        _write(fresh, journals.dumped(journal))
        fresh.replace(self._journal)
        _flush_folder(self._folder)

    def load(self) -> Journal:
        """Raises WriteError where it cannot be read."""
        try:
            return journals.loaded(self._journal.read_bytes())
        except OSError as exc:
            raise WriteError(f"{self._journal} cannot be read ({exc.strerror})", hint="see whose file it is") from exc

    def seal(self) -> None:
        """It is done: there is nothing to restore any more."""
        self._journal.unlink()
        _flush_folder(self._folder)
        self.tidy()

    def tidy(self) -> None:
        """Remove what is of no use."""
        shutil.rmtree(self.work, ignore_errors=True)

    def _image(self, number: int) -> Path:
        return self.work / f"{number}.before"

    def _locked(self, lock: Path) -> int:
        until = time.monotonic() + self._wait_seconds
        while (handle := self._tried(lock)) is None:
            if time.monotonic() > until:
                raise WriteError(f"another reviewbot is writing here{_said(lock)}", hint="run it again when that one is done")
            time.sleep(_PAUSE_SECONDS)
        return handle

    def _tried(self, lock: Path) -> int | None:
        """The file, made and locked; ``None`` where another holds it, or removed it while we took it."""
        handle = None
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            with suppress(BlockingIOError, FileNotFoundError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if lock.stat().st_ino == os.fstat(handle).st_ino:
                    taken, handle = handle, None
                    return taken
        except OSError as exc:
            raise WriteError(f"{self._folder} cannot be locked ({exc.strerror})", hint="make it writable") from exc
        finally:
            if handle is not None:
                os.close(handle)
        return None


def _said(lock: Path) -> str:
    """What the holder says of itself, as far as it can be read."""
    try:
        said = json.loads(lock.read_bytes()[:200])
        return f" (process {int(said['pid'])}, since {str(said['since'])[:20]})"
    except (OSError, ValueError, TypeError, KeyError):
        return ""


def _write(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        flush(handle)
    finally:
        os.close(handle)
