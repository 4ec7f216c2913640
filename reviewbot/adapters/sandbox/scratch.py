"""A job's folder on this side of the wall: what is laid in, what is read back, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reviewbot.adapters.sandbox.laying import lay
from reviewbot.ports import Job


@contextlib.contextmanager
def scratch(job: Job) -> Iterator[Path]:
    """A folder with ``files/`` (the job's files, and its empty files to collect) and ``overlay/``. Raises Unlayable.

    The folder is gone afterwards, whatever happened.
    """
    folder = Path(tempfile.mkdtemp(prefix="reviewbot-"))
    try:
        for part, files in (("files", job.files), ("overlay", job.overlay), ("files", tuple((n, b"") for n in job.collect))):
            (folder / part).mkdir(exist_ok=True)
            for name, data in files:
                lay(folder / part, name, data)
        yield folder
    finally:
        remove_folder(folder)


def collected(folder: Path, names: tuple[str, ...], limit: int) -> tuple[tuple[str, bytes], ...]:
    """What a job wrote into its files to collect; no link is followed, nothing but a plain file is read."""
    return tuple((name, data) for name in names if (data := read_plain(folder / "files" / name, limit)))


def read_plain(path: Path, limit: int) -> bytes:
    """The first ``limit`` bytes of a plain file that a job may have put its hands on; nothing of anything else."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def remove_folder(folder: Path) -> None:
    """Remove a folder, also where a job took away its own right to look into one."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for place, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                Path(place).chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)
