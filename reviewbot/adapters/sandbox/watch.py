"""Looks at a process and all its descendants: how many, how much memory and disk. Linux's ``/proc`` is the source."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCK = 512
"""The unit of ``st_blocks``."""
_GROUP, _THREADS, _STARTED, _RESIDENT_PAGES = 2, 17, 19, 21
"""Fields of ``/proc/PID/stat`` behind the name (man proc_pid_stat, less three)."""
_AVAILABLE = re.compile(rb"MemAvailable:\s+(\d+) kB")
_SHARE = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)
_RESIDENT = re.compile(rb"^VmRSS:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Tree:
    """A process with its descendants: ``members`` are ``(pid, start time in ticks)``, the root first; resident bytes are summed,
    shared ones counted as often as they are shared. ``groups`` are the process groups of all but the root's own."""

    members: tuple[tuple[int, str], ...]
    groups: frozenset[int]
    threads: int
    resident_bytes: int

    def proportional_bytes(self) -> int:
        """Its memory with every shared page divided among those who share it. Slow: the kernel walks through all of it."""
        return sum(_proportional(pid) for pid, _ in self.members)


def look(root: int, most: int) -> Tree:
    """The processes that stem from ``root``, itself included, at most ``most`` of them: who multiplies may be faster than one who
    counts. Those that end meanwhile are left out."""
    members: list[tuple[int, str]] = []
    groups: dict[int, int] = {}
    resident = threads = 0
    waiting = [root]
    while waiting and len(members) < most:
        pid = waiting.pop()
        with contextlib.suppress(OSError, IndexError):
            fields = _fields(pid)
            members.append((pid, fields[_STARTED]))
            groups[pid] = int(fields[_GROUP])
            resident += int(fields[_RESIDENT_PAGES]) * _PAGE
            threads += int(fields[_THREADS])
            waiting += _children(pid, alone=fields[_THREADS] == "1")
    return Tree(tuple(members), frozenset(groups.values()) - {0, groups.get(root, 0)}, threads, resident)


def started(pid: int) -> str:
    """When a process began, which tells it from a later one of the same number. Raises OSError where there is none."""
    return _fields(pid)[_STARTED]


def kill(members: tuple[tuple[int, str], ...]) -> None:
    """End these processes, and none that took over their numbers."""
    for pid, start in members:
        with contextlib.suppress(OSError, IndexError):
            if started(pid) == start:
                os.kill(pid, signal.SIGKILL)


def kill_tree(tree: Tree) -> None:
    """End the descendants of a root that lives: whole groups at once, so that nobody in them can start another."""
    for group in tree.groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)
    kill(tree.members[1:])


def marked(mark: str) -> tuple[tuple[int, str], ...]:
    """All processes, wherever they went, that were started with ``mark`` in their environment."""
    found: list[tuple[int, str]] = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                if mark.encode("ascii") in (entry / "environ").read_bytes():
                    found.append((int(entry.name), started(int(entry.name))))
    return tuple(found)


def machine_available_bytes() -> int:
    """Memory that the machine could still give, by its own estimate (``MemAvailable``)."""
    found = _AVAILABLE.search((_PROC / "meminfo").read_bytes())
    return int(found[1]) * 1024 if found else sys.maxsize


def folder_bytes(folder: Path) -> int:
    """What the files below a folder take of the disk. Links are not followed; what vanishes meanwhile is left out."""
    total = 0
    waiting = [str(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
    return total


def _fields(pid: int) -> list[str]:
    """Of a process, what stands behind its name. Raises OSError where there is none."""
    return (_PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()


def _children(pid: int, *, alone: bool) -> list[int]:
    """Who was started by any thread of a process; ``alone``: it has but one."""
    tasks = _PROC / str(pid) / "task"
    found: list[int] = []
    for task in (tasks / str(pid),) if alone else tasks.iterdir():
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_bytes().split())
    return found


def _proportional(pid: int) -> int:
    """One process's share; its resident bytes where the kernel does not tell."""
    for name, form in (("smaps_rollup", _SHARE), ("status", _RESIDENT)):
        with contextlib.suppress(OSError):
            if found := form.search((_PROC / str(pid) / name).read_bytes()):
                return int(found[1]) * 1024
    return 0
