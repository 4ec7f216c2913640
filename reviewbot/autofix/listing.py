"""git's own list of what a patch did to a tree: ``--raw -z`` and ``--numstat -z`` without renames. Anything else is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reviewbot.ports import RawDiff

_ID = rb"[0-9a-f]{40}|[0-9a-f]{64}"
_RECORD = re.compile(rb":([0-7]{6}) ([0-7]{6}) (%s) (%s) ([A-Z])\d{0,3}\0([^\0]+)\0" % (_ID, _ID))
_COUNT = re.compile(rb"(?:(\d{1,9})\t(\d{1,9})|-\t-)\t([^\0]+)\0")

REGULAR = frozenset({0o100644, 0o100755})
NEW = 0o100644


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that differs: path (UTF-8 with ``surrogateescape``), git's letter, and mode and blob of either side (0 and zeros
    where there is none). ``lines`` were added or removed; ``None``: git takes it for binary."""

    path: str
    letter: str
    old_mode: int
    new_mode: int
    old_id: str
    new_id: str
    lines: int | None

    @property
    def is_modified(self) -> bool:
        """Another content of a regular file, and nothing else."""
        return self.letter == "M" and self.old_mode == self.new_mode and self.old_mode in REGULAR

    @property
    def is_added(self) -> bool:
        """A new regular file that cannot be executed."""
        return self.letter == "A" and self.old_mode == 0 and self.new_mode == NEW


def read(diff: RawDiff) -> tuple[Entry, ...] | None:
    """Every file that differs; ``None`` where both lists do not name the same files, each once, or are no such lists."""
    counted = _counted(diff.numstat)
    found: list[Entry] = []
    at = 0
    while at < len(diff.raw):
        record = _RECORD.match(diff.raw, at)
        if record is None or counted is None or record[6] not in counted:
            return None
        old_mode, new_mode, old_id, new_id, letter, path = record.groups()
        name, lines = path.decode("utf-8", "surrogateescape"), counted.pop(path)
        ids = old_id.decode("ascii"), new_id.decode("ascii")
        found.append(Entry(name, letter.decode("ascii"), int(old_mode, 8), int(new_mode, 8), *ids, lines))
        at = record.end()
    return None if counted or counted is None else tuple(found)


def _counted(numstat: bytes) -> dict[bytes, int | None] | None:
    """Added and removed lines by path."""
    found: dict[bytes, int | None] = {}
    at = 0
    while at < len(numstat):
        record = _COUNT.match(numstat, at)
        if record is None or record[3] in found:
            return None
        found[record[3]] = None if record[1] is None else int(record[1]) + int(record[2])
        at = record.end()
    return found
