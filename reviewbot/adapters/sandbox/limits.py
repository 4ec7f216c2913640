"""How much a job may use."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one job. Bytes and counts; the wall time comes with the job.

    ``memory_bytes`` and ``processes`` hold for all its processes together, ``address_bytes`` and ``cpu_seconds`` for each.
    ``folder_bytes`` bounds what it writes in its tree and in ``/tmp``, each; ``file_bytes`` one file. ``output_bytes`` of
    each stream are kept, head and tail; a job that writes ``flood_bytes`` is ended.
    """

    memory_bytes: int = 2048 * MIB
    address_bytes: int = 8192 * MIB
    processes: int = 256
    cpu_seconds: int = 600
    folder_bytes: int = 1024 * MIB
    file_bytes: int = 256 * MIB
    output_bytes: int = 16 * MIB
    flood_bytes: int = 256 * MIB

    def prlimit(self) -> tuple[str, ...]:
        """The words that put a command behind ``prlimit``. The count of processes is watched instead: root has no such limit,
        and old kernels count all processes of a user."""
        return (
            "/usr/bin/prlimit",
            f"--as={self.address_bytes}",
            f"--fsize={self.file_bytes}",
            f"--cpu={self.cpu_seconds}",
            "--core=0",
            "--",
        )
