"""What was written, kept as a commit on no branch: the files as they stood before, and in its message what became of them.

Like a stash: the first parent is the commit at ``HEAD``, the second one holds the index. ``git show REF:PATH`` shows a file.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reviewbot.adapters.git import snapshot
from reviewbot.adapters.git.writing import journal as journals
from reviewbot.adapters.git.writing.index import IndexCopy
from reviewbot.adapters.git.writing.journal import Entry, Move, RefMove, Slot
from reviewbot.adapters.git.writing.standing import REGULAR
from reviewbot.adapters.git.writing.store import Store
from reviewbot.errors import GitError, WriteError

NAMESPACE = "refs/reviewbot/backup/"
MOST_KEPT = 20
_VERSION = "1"
_EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class Backup:
    """What one write did. ``where`` says to which work tree, as the path from the common git folder to its own; ``commits`` were
    made on ``branch``, on top of ``head``. ``folders`` were made."""

    where: str
    head: str | None
    branch: str | None
    moves: tuple[Move, ...]
    slots: tuple[Slot, ...] = ()
    folders: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A backup with its ref and the commit that it names."""

    ref: str
    commit: str
    backup: Backup


def where(store: Store) -> str:
    """Which work tree this is."""
    common = store.place.real.run("rev-parse", "--path-format=absolute", "--git-common-dir").removesuffix(b"\n")
    git_dir, whole = store.place.git_dir, Path(common.decode("utf-8", "surrogateescape"))
    return git_dir.relative_to(whole).as_posix() if git_dir.is_relative_to(whole) else git_dir.as_posix()


def keep(store: Store, index: IndexCopy, backup: Backup) -> RefMove:
    """Make the commit, of which nobody knows as yet; and how its ref is made. Raises GitError."""
    heads = [backup.head] if backup.head else []
    staged = snapshot.staged(store.place, index.path)
    older = store.tree(backup.head) if backup.head else store.place.empty_tree
    staged_tree = store.grown(older, store.differences(older, staged))
    stood = {move.path: _entry(move) for move in backup.moves}
    staged_commit = store.note(staged_tree, heads, "reviewbot: the index before a fix\n")
    made = store.note(store.grown(staged_tree, stood), [*heads, staged_commit], written(backup))
    name = f"{NAMESPACE}{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"
    return RefMove(name, None, made)


def newest(store: Store) -> Kept:
    """The newest backup of this work tree. Raises WriteError where there is none, or it cannot be read."""
    here = where(store)
    for ref, commit in reversed(_refs(store)):
        backup = read(_message(store, commit), ref)
        if backup.where == here:
            return Kept(ref, commit, backup)
    raise WriteError("there is nothing to take back here", hint="see `git for-each-ref refs/reviewbot/backup`")


def superfluous(store: Store) -> tuple[RefMove, ...]:
    """The oldest backups, where there are too many."""
    return tuple(RefMove(ref, commit, None) for ref, commit in _refs(store)[:-MOST_KEPT])


def written(backup: Backup) -> str:
    """The message of a backup's commit: a line for people, and trailers, of which the values are JSON."""
    count = len(backup.moves)
    trailers: list[tuple[str, Any]] = [
        ("Backup", _VERSION),
        ("Worktree", backup.where),
        ("Branch", backup.branch),
        ("Head", backup.head),
        *(("Commit", commit) for commit in backup.commits),
        *(("Wrote", asdict(move)) for move in backup.moves),
        *(("Staged", asdict(slot)) for slot in backup.slots),
        *(("Folder", folder) for folder in backup.folders),
    ]
    lines = "".join(f"Reviewbot-{name}: {json.dumps(value)}\n" for name, value in trailers)
    return f"reviewbot: {count} file{'s' if count != 1 else ''} before a fix\n\n{lines}"


def read(message: bytes, ref: str) -> Backup:
    """What ``written`` gave. Raises WriteError for anything else."""
    try:
        said: dict[str, list[Any]] = {}
        for name, value in _trailers(message):
            said.setdefault(name, []).append(value)
        if said["Backup"] != [_VERSION]:
            raise ValueError("of another version")
        (place,), (branch,), (head,) = said["Worktree"], said["Branch"], said["Head"]
        if not isinstance(place, str):
            raise ValueError("of no work tree")
        return Backup(
            where=place,
            head=None if head is None else journals.object_id(head),
            branch=None if branch is None else journals.ref(branch),
            moves=tuple(journals.move(one) for one in said.get("Wrote", ())),
            slots=tuple(journals.slot(one) for one in said.get("Staged", ())),
            folders=tuple(journals.path(one) for one in said.get("Folder", ())),
            commits=tuple(journals.object_id(one) for one in said.get("Commit", ())),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as exc:
        raise WriteError(
            f"{ref} is no backup that can be read ({exc})",
            hint=f"look at it with `git show {ref}`; `git update-ref -d {ref}` removes it",
        ) from exc


def _trailers(message: bytes) -> Iterator[tuple[str, Any]]:
    for line in message.decode("ascii").split("\n"):
        if line.startswith("Reviewbot-"):
            name, _, value = line.removeprefix("Reviewbot-").partition(": ")
            yield name, json.loads(value)


def _refs(store: Store) -> list[tuple[str, str]]:
    """All backups, the oldest first: their names begin with the time."""
    output = store.place.real.run("for-each-ref", "--sort=refname", "--format=%(objectname) %(refname)", NAMESPACE)
    lines = output.decode("utf-8", "surrogateescape").splitlines()
    return [(name, commit) for commit, _, name in (line.partition(" ") for line in lines)]


def _message(store: Store, commit: str) -> bytes:
    try:
        return store.place.real.run("cat-file", "commit", commit).partition(b"\n\n")[2]
    except GitError:
        return b""


def _entry(move: Move) -> Entry | None:
    if move.before is None:
        return None
    return Entry(REGULAR[bool(move.before.mode & _EXECUTABLE)], move.before.object_id)
