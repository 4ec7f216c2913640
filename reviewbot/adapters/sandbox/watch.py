"""Looks at a process and all its descendants: how many, how much memory. Linux's ``/proc`` is the source."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Tree:
    """A process with its descendants: ``members`` are ``(pid, start time in ticks)``, resident bytes are summed."""

    members: tuple[tuple[int, str], ...]
    resident_bytes: int


def look(root: int) -> Tree:
    """The processes that stem from ``root``, itself included. Those that end meanwhile are left out."""
    members: list[tuple[int, str]] = []
    resident = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        try:
            members.append((pid, started(pid)))
            resident += int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * _PAGE
            waiting += _children(pid)
        except (OSError, IndexError):
            continue
    return Tree(tuple(members), resident)


def started(pid: int) -> str:
    """When a process began, which tells it from a later one of the same number. Raises OSError where there is none."""
    after_name = (_PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2]
    return after_name.split()[19]


def kill(members: tuple[tuple[int, str], ...]) -> None:
    """End these processes, and none that took over their numbers."""
    for pid, start in members:
        with contextlib.suppress(OSError, IndexError):
            if started(pid) == start:
                os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> tuple[tuple[int, str], ...]:
    """All processes, wherever they went, that were started with ``mark`` in their environment."""
    found: list[tuple[int, str]] = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                if mark.encode("ascii") in (entry / "environ").read_bytes():
                    found.append((int(entry.name), started(int(entry.name))))
    return tuple(found)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in (_PROC / str(pid) / "task").iterdir():
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_bytes().split())
    return found
