"""git's own list of changed files: ``--raw -z`` and ``--numstat -z``. Names come from here and from nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reviewbot.domain.change import FileStatus
from reviewbot.errors import PatchError

_STATUS = {
    b"A": FileStatus.ADDED,
    b"M": FileStatus.MODIFIED,
    b"D": FileStatus.DELETED,
    b"R": FileStatus.RENAMED,
    b"C": FileStatus.COPIED,
    b"T": FileStatus.TYPE_CHANGED,
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of ``--raw -z``. ``old_path`` is set for renames and copies only."""

    path: str
    old_path: str | None
    status: FileStatus
    old_mode: int
    new_mode: int
    old_id: str | None
    new_id: str | None


def entries(raw: bytes) -> Iterator[Entry]:
    """The records of ``git diff-tree -r --raw --no-abbrev -z`` in git's order.

    Raises PatchError for a status that two trees cannot have (unmerged, unknown).
    """
    fields = iter(raw.split(b"\0"))
    for field in fields:
        if not field:
            return
        if not field.startswith(b":") or field.startswith(b"::"):
            raise PatchError(f"git's list of files has an unexpected record {field[:80]!r}")
        old_mode, new_mode, old_id, new_id, letter = field[1:].split(b" ")
        path = next(fields)
        status = _STATUS.get(letter[:1])
        if status is None:
            raise PatchError(f"git lists {name(path)!r} as {letter.decode()}", hint="resolve the conflict, then try again")
        old_path = None
        if status in (FileStatus.RENAMED, FileStatus.COPIED):
            old_path, path = name(path), next(fields)
        yield Entry(name(path), old_path, status, int(old_mode, 8), int(new_mode, 8), _object_id(old_id), _object_id(new_id))


def counts(numstat: bytes) -> dict[str, tuple[int, int] | None]:
    """Added and deleted lines by newer path, ``None`` for a binary file, of ``git diff-tree -r --numstat -z``."""
    found: dict[str, tuple[int, int] | None] = {}
    fields = iter(numstat.split(b"\0"))
    for field in fields:
        if not field:
            break
        added, deleted, path = field.split(b"\t", 2)
        if not path:
            next(fields)
            path = next(fields)
        found[name(path)] = None if added == b"-" else (int(added), int(deleted))
    return found


def name(path: bytes) -> str:
    """A path as the domain writes it."""
    return path.decode("utf-8", "surrogateescape")


def _object_id(text: bytes) -> str | None:
    return text.decode("ascii") if text.strip(b"0") else None
