"""Temporary folders that go with the process that made them, even if it is killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import weakref
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

PREFIX = "reviewbot-"


class ScratchFolder:
    """A private folder, removed by `close`, or else when this object or the process ends."""

    def __init__(self) -> None:
        _sweep(Path(gettempdir()))
        self.path = Path(mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        lock = os.open(self.path, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.close = weakref.finalize(self, _remove, self.path, lock)


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove folders whose process is dead.

    The lock tells it for processes of containers too, which share a folder but not process ids.
    """
    with os.scandir(parent) as entries:
        found = [Path(entry.path) for entry in entries if entry.name.startswith(PREFIX)]
    for folder in found:
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not pid.isdigit() or Path("/proc", pid).exists():
            continue
        with suppress(OSError):  # somebody else's, no folder, locked, or removed meanwhile
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.getuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
