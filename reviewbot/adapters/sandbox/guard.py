"""Says when a running job has passed one of its limits, and which."""

from __future__ import annotations

import time
from pathlib import Path

from reviewbot.adapters.sandbox import watch
from reviewbot.adapters.sandbox.limits import Limits
from reviewbot.ports import Ended

_DISK_SECONDS = 0.5
"""How often a folder is measured, at most. A measurement takes no more than one part of time in ``_DISK_SHARE``."""
_DISK_SHARE = 20
_SURELY = 8
"""So many times the allowed memory cannot be pages that are counted twice."""

Passed = tuple[Ended, str] | None


class Guard:
    """Watches over one job. ``folder``, where given, may grow by ``Limits.folder_bytes``."""

    def __init__(self, limits: Limits, seconds: float, folder: Path | None) -> None:
        self._limits = limits
        self._seconds = seconds
        self._folder = folder
        self._began = self._next_measurement = time.monotonic()
        self._available = watch.machine_available_bytes()
        self._size_before = watch.folder_bytes(folder) if folder else 0

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._began

    def passed(self, tree: watch.Tree, output: int) -> Passed:
        """The limit that is passed by these processes and so many bytes of output."""
        limits = self._limits
        if self.elapsed > self._seconds:
            return Ended.TIMEOUT, f"it did not end within {self._seconds:.0f} s"
        if len(tree.members) > limits.processes:
            return Ended.PROCESSES, f"it started more than {limits.processes} processes"
        if tree.threads > limits.threads:
            return Ended.PROCESSES, f"it started more than {limits.threads} threads"
        if output > limits.flood_bytes:
            return Ended.OUTPUT, f"it wrote more than {limits.flood_bytes} bytes of output"
        return self._memory(tree) or self._disk()

    def _memory(self, tree: watch.Tree) -> Passed:
        allowed = self._limits.memory_bytes
        if tree.resident_bytes > allowed and (tree.resident_bytes > _SURELY * allowed or tree.proportional_bytes() > allowed):
            return Ended.MEMORY, f"it used more than {allowed} bytes of memory"
        available = watch.machine_available_bytes()
        if available < self._limits.reserve_bytes and available < self._available - allowed:
            return Ended.MEMORY, f"while it ran the machine came to have less than {self._limits.reserve_bytes} bytes of memory"
        return None

    def _disk(self) -> Passed:
        began = time.monotonic()
        if self._folder is None or began < self._next_measurement:
            return None
        grown = watch.folder_bytes(self._folder) - self._size_before
        ended = time.monotonic()
        self._next_measurement = ended + max(_DISK_SECONDS, (ended - began) * _DISK_SHARE)
        if grown > self._limits.folder_bytes:
            return Ended.OUTPUT, f"it wrote more than {self._limits.folder_bytes} bytes of files"
        return None
