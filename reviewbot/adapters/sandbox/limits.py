"""How much a job may use."""

from __future__ import annotations

import platform
import re
from dataclasses import dataclass

MIB = 1024 * 1024
_RELEASE = re.compile(r"(\d+)\.(\d+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one job. Bytes and counts; the wall time comes with the job.

    ``memory_bytes``, ``processes`` and ``threads`` hold for all its processes together, ``address_bytes`` and ``cpu_seconds`` for
    each. ``folder_bytes`` bounds what it writes in its tree and in ``/tmp``, each; ``file_bytes`` one file. ``output_bytes`` of
    each stream are kept, head and tail; a job that writes ``flood_bytes`` is ended. So is one while which the machine comes to
    have less than ``reserve_bytes`` of memory, and ``memory_bytes`` less than before: memory can be held where no process shows
    it. ``address_bytes`` leaves room for what WebAssembly and race detectors reserve and never use.
    """

    memory_bytes: int = 2048 * MIB
    address_bytes: int = 65536 * MIB
    processes: int = 256
    threads: int = 1024
    cpu_seconds: int = 600
    folder_bytes: int = 1024 * MIB
    file_bytes: int = 256 * MIB
    output_bytes: int = 16 * MIB
    flood_bytes: int = 256 * MIB
    reserve_bytes: int = 512 * MIB

    def prlimit(self, *, own_users: bool) -> tuple[str, ...]:
        """The words that put a command behind ``prlimit``.

        The count of threads is bounded by the kernel only where it counts for this job alone: in a user namespace
        (``own_users``) since Linux 5.14 (https://git.kernel.org/torvalds/c/21d1c5e386bc). Elsewhere it would count all that
        its user runs, and root is never counted: there the watch alone ends who starts too many.
        """
        counted = own_users and counts_by_namespace(platform.release())
        return (
            "/usr/bin/prlimit",
            f"--as={self.address_bytes}",
            f"--fsize={self.file_bytes}",
            f"--cpu={self.cpu_seconds}",
            "--core=0",
            *((f"--nproc={self.threads}",) if counted else ()),
            "--",
        )


def counts_by_namespace(release: str) -> bool:
    """A kernel of this release counts processes by user namespace. False for a release that cannot be read."""
    found = _RELEASE.match(release)
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)
