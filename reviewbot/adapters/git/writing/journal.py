"""What is about to be changed, written down before anything is: by it the next run restores or completes what a kill cut off."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from reviewbot.adapters.git.writing.ground import Beside, is_safe
from reviewbot.errors import WriteError

VERSION = 1
MOST_BYTES = 50_000_000
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NAME = re.compile(r"[0-9a-f]{16}")
_REF = re.compile(r"refs/[^\x00-\x20\x7f~^:?*\[\\]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as git's index or a tree has it."""

    mode: int
    object_id: str


@dataclass(frozen=True, slots=True)
class Stood:
    """A file of the work tree as it stood: the id that its very bytes have as a blob, permission bits, nanoseconds, owner."""

    object_id: str
    mode: int
    mtime_ns: int
    uid: int
    gid: int


@dataclass(frozen=True, slots=True)
class Move:
    """What becomes of a file: ``before`` as it stood, ``after`` the id of its bytes as they shall be; ``None``: no file."""

    path: str
    before: Stood | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Slot:
    """What becomes of an entry of the index."""

    path: str
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True, slots=True)
class RefMove:
    """What becomes of a ref; ``None``: there is none."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Journal:
    """One change of the repository, in its order: ``opening`` (the backup is made), ``folders`` and ``moves``, the ``slots`` of
    the index at once, ``closing``. ``head`` is the commit at ``HEAD``.

    Where the index is new already, or a ref of ``closing``, a killed change is completed rather than taken back; but not if it
    was ``abandoned``. ``rmdirs`` are removed at the end where they are empty.
    """

    name: str
    head: str | None
    moves: tuple[Move, ...]
    folders: tuple[str, ...] = ()
    slots: tuple[Slot, ...] = ()
    opening: RefMove | None = None
    closing: tuple[RefMove, ...] = ()
    rmdirs: tuple[str, ...] = ()
    abandoned: bool = False

    def beside(self, number: int) -> Beside:
        """The names beside the file of so many-th move."""
        return Beside(f".reviewbot-{self.name}-{number}.new", f".reviewbot-{self.name}-{number}.old")


def dumped(journal: Journal) -> bytes:
    """As bytes of JSON: ASCII, names in escapes, also such as are no UTF-8."""
    return json.dumps({"version": VERSION, **asdict(journal)}).encode("ascii")


def loaded(data: bytes) -> Journal:
    """What ``dumped`` gave. Raises WriteError for anything else."""
    try:
        if len(data) > MOST_BYTES:
            raise ValueError("too large")
        document = json.loads(data)
        if document.pop("version") != VERSION:
            raise ValueError("of another version")
        return _journal(document)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise WriteError(
            f"the journal of an earlier run cannot be read ({exc})",
            hint="look at refs/reviewbot/backup/ and `git status`, then remove the folder `reviewbot` in the git folder",
        ) from exc


def object_id(value: Any) -> str:
    """An object's id, read. Raises ValueError."""
    return _matching(_ID, value)


def path(value: Any) -> str:
    """A path in the work tree, read. Raises ValueError."""
    if not isinstance(value, str) or not is_safe(value):
        raise ValueError("a path leads out of the work tree")
    value.encode("utf-8", "surrogateescape")
    return value


def ref(value: Any) -> str:
    """A ref's full name, read. Raises ValueError."""
    return _matching(_REF, value)


def slot(value: Any) -> Slot:
    """What becomes of an entry, read. Raises ValueError, TypeError or KeyError."""
    return Slot(path(value["path"]), _entry(value["before"]), _entry(value["after"]))


def move(value: Any) -> Move:
    """What becomes of a file, read. Raises ValueError, TypeError or KeyError."""
    return Move(path(value["path"]), _stood(value["before"]), _optional_id(value["after"]))


def _journal(document: dict[str, Any]) -> Journal:
    return Journal(
        name=_matching(_NAME, document["name"]),
        head=_optional_id(document["head"]),
        moves=tuple(move(one) for one in document["moves"]),
        folders=tuple(path(one) for one in document["folders"]),
        slots=tuple(slot(one) for one in document["slots"]),
        opening=None if document["opening"] is None else _ref_move(document["opening"]),
        closing=tuple(_ref_move(one) for one in document["closing"]),
        rmdirs=tuple(path(one) for one in document["rmdirs"]),
        abandoned=document["abandoned"] is True,
    )


def _entry(value: Any) -> Entry | None:
    return None if value is None else Entry(_whole(value["mode"]), object_id(value["object_id"]))


def _stood(value: Any) -> Stood | None:
    if value is None:
        return None
    numbers = (_whole(value[name]) for name in ("mode", "mtime_ns", "uid", "gid"))
    return Stood(object_id(value["object_id"]), *numbers)


def _ref_move(value: Any) -> RefMove:
    return RefMove(ref(value["name"]), _optional_id(value["before"]), _optional_id(value["after"]))


def _optional_id(value: Any) -> str | None:
    return None if value is None else object_id(value)


def _matching(pattern: re.Pattern[str], value: Any) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(f"not as {pattern.pattern} wants it")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("not a number")
    return value
