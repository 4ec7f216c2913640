"""What the processes of a sandbox use, as Linux tells it in /proc."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from reviewbot.process import LimitExceeded
from reviewbot.sandbox.job import Limits

PAGE = os.sysconf("SC_PAGE_SIZE")
# Fields of /proc/PID/stat behind the name, see proc(5).
THREADS, RESIDENT_PAGES = 17, 21
# Memory can be held where no process shows it, as files without a name. Less than this must not be
# left to the machine while a job runs that took as much as it may.
RESERVE = 512 << 20


class Watch:
    """Raises LimitExceeded when it is called and the descendants of a process use too much.

    Args:
        folders: folders inside that are in memory, with their sizes.
        report: a file of ours that the job writes.
    """

    def __init__(self, limits: Limits, folders: dict[str, int], report: Path) -> None:
        self._limits = limits
        self._folders = folders
        self._report = report
        self._available = _available()

    def __call__(self, pid: int) -> None:
        limits = self._limits
        pids = []
        threads = resident = 0
        for child in _descendants(pid):
            with suppress(OSError, IndexError):
                stat = Path(f"/proc/{child}/stat").read_text(encoding="utf-8", errors="replace")
                fields = stat.rpartition(")")[2].split()
                threads += int(fields[THREADS])
                resident += int(fields[RESIDENT_PAGES]) * PAGE
                pids.append(child)
            if threads > limits.processes:
                raise LimitExceeded(f"started more than {limits.processes} processes")
        if not pids:
            return
        files = sum(_used(f"/proc/{pids[0]}/root{at}", size) for at, size in self._folders.items())
        # Shared pages count as often as they are shared there, and once here; the latter is slow.
        is_over = resident + files > limits.memory
        is_over = is_over and sum(map(_share, pids)) + files > limits.memory
        available = _available()
        if is_over or (available < RESERVE and available < self._available - limits.memory):
            raise LimitExceeded(f"used more than {limits.memory >> 20} MB of memory")
        if self._report.stat().st_size > limits.report:
            raise LimitExceeded(f"wrote a report of more than {limits.report // 1_000_000} MB")


def _used(folder: str, size: int) -> int:
    """Bytes of all files in a folder in memory that has at most `size` bytes."""
    with suppress(OSError):
        found = os.statvfs(folder)
        # Until the sandbox is set up, this is a folder of the machine.
        if found.f_blocks * found.f_frsize <= size + PAGE:
            return (found.f_blocks - found.f_bfree) * found.f_frsize
    return 0


def _descendants(pid: int) -> Iterator[int]:
    """The children of all threads of a process and theirs, outermost first.

    Each of them may end at any moment.
    """
    waiting = [pid]
    while waiting:
        with suppress(OSError):
            for task in Path(f"/proc/{waiting.pop(0)}/task").iterdir():
                with suppress(OSError):
                    text = (task / "children").read_text(encoding="ascii")
                    children = list(map(int, text.split()))
                    waiting += children
                    yield from children


def _share(pid: int) -> int:
    """The memory of a process, with each shared page divided among those who share it."""
    for name, pattern in (("smaps_rollup", r"^Pss:\s+(\d+)"), ("status", r"^VmRSS:\s+(\d+)")):
        with suppress(OSError):
            text = Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
            if found := re.search(pattern, text, re.MULTILINE):
                return int(found[1]) * 1024
    return 0


def _available() -> int:
    """Bytes that the machine could still give."""
    found = re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text(encoding="ascii"))
    return int(found[1]) * 1024 if found else 1 << 60
