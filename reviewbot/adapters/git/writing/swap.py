"""A whole index in the place of another, under git's own lock, as git itself does it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from reviewbot.adapters.git.writing.ground import NO_LINKS
from reviewbot.adapters.git.writing.index import digest
from reviewbot.errors import WriteError


class IndexSwap:
    """``index`` is the real one. ``older`` is a copy of it, ``newer`` that which shall be in its place; both lie in ``work``."""

    def __init__(self, index: Path, work: Path) -> None:
        self.index = index
        self.older, self.newer = work / "index.old", work / "index.new"
        self._lock = Path(f"{index}.lock")

    def forth(self, say: Callable[[str], None]) -> None:
        """The newer one in the place of the older one. Raises WriteError where another one stands there."""
        self._swap(self.older, self.newer, say)

    def back(self, say: Callable[[str], None]) -> str:
        """The older one again, byte for byte and as old as it was, if the newer one is there; a word where another one is."""
        now = digest(self.index)
        if now == digest(self.older) or not self.newer.exists():
            return ""
        if now != digest(self.newer):
            return "the index was changed since, and stays as it is"
        self.release()
        self._swap(self.newer, self.older, lambda step: say(f"{step} back"))
        return ""

    def release(self) -> None:
        """Give git's lock back, where it is ours."""
        if self._is_ours(self.older) or self._is_ours(self.newer):
            self._lock.unlink()

    def _swap(self, expected: Path, wanted: Path, say: Callable[[str], None]) -> None:
        wanted.chmod(self.index.stat().st_mode & 0o7777)
        _flush(wanted)
        try:
            _appear(wanted, self._lock)
        except FileExistsError as exc:
            raise WriteError("another git is at work: the index is locked", hint="run it again when it is done") from exc
        say("index locked")
        if digest(self.index) != digest(expected) or not self._is_ours(wanted):
            self.release()
            raise WriteError("the index was changed at the same time", hint="run it again when no other git is at work")
        self._lock.replace(self.index)
        say("index")

    def _is_ours(self, index: Path) -> bool:
        """What locks the index is this file, and no other git's."""
        with suppress(FileNotFoundError):
            return self._lock.samefile(index) or digest(self._lock) == digest(index)
        return False


def _appear(wanted: Path, lock: Path) -> None:
    """The lock appears with all its bytes: a kill leaves one that can be told from another git's. Where the file system has no
    hard links it is written, and one that a kill cut off has to be removed by hand, as that of a killed git. Raises OSError."""
    try:
        os.link(wanted, lock)
    except OSError as exc:
        if exc.errno not in NO_LINKS:
            raise
        with lock.open("xb") as file:
            file.write(wanted.read_bytes())
        shutil.copystat(wanted, lock)
        _flush(lock)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
