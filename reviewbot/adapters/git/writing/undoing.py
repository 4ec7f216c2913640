"""Taking a write back: whether all is still as it left it, and the change that reverses it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

from reviewbot.adapters.git.writing.backup import Backup, Kept
from reviewbot.adapters.git.writing.carry import Change
from reviewbot.adapters.git.writing.ground import Ground, Shape, Standing
from reviewbot.adapters.git.writing.index import IndexCopy
from reviewbot.adapters.git.writing.journal import Journal, Move, RefMove, Slot
from reviewbot.adapters.git.writing.prepare import move as moved
from reviewbot.adapters.git.writing.standing import Complaint, blob_id, expect, expect_branch, expect_free, expect_resolved
from reviewbot.adapters.git.writing.store import Store
from reviewbot.errors import WriteError


def reversal(kept: Kept, store: Store, ground: Ground, *, index: IndexCopy, real_index: Path) -> Change:
    """What takes the write back. Raises WriteError where something is not as it left it.

    Files get a new time: it is a change like any other, and what is built from them must notice. What somebody did to their
    permissions since stays.
    """
    backup, head = kept.backup, store.value("HEAD")
    if backup.commits:
        _expect_ours(backup, store, head)
    if backup.slots:
        expect_resolved(index)
        expect_free(real_index)
    standings: dict[str, Standing | None] = {}
    expect([*_changed(kept, ground, standings), *_staged(backup, index)], "nothing was taken back")
    old = tuple(standings[one.path] for one in backup.moves)
    new = tuple(_shape(one, standing, store) for one, standing in zip(backup.moves, old, strict=True))
    like = store.place.empty_tree
    paths = [one.path for one in backup.moves]
    moves = tuple(moved(path, one, shape, like=like) for path, one, shape in zip(paths, old, new, strict=True))
    branch = (RefMove(backup.branch, backup.commits[-1], backup.head),) if backup.commits and backup.branch else ()
    made = (folder for one in backup.moves if one.before for folder in ground.missing_folders(one.path))
    journal = Journal(
        name=secrets.token_hex(8),
        head=head,
        moves=moves,
        folders=tuple(dict.fromkeys(made)),
        slots=tuple(Slot(slot.path, slot.after, slot.before) for slot in backup.slots),
        closing=(*branch, RefMove(kept.ref, kept.commit, None)),
        rmdirs=tuple(reversed(backup.folders)),
    )
    return Change(journal, old, new, {slot.path: slot.before for slot in backup.slots}, "reviewbot fix --undo")


def _expect_ours(backup: Backup, store: Store, head: str | None) -> None:
    """The commits are still the last ones of their branch, and nobody else has them. Raises WriteError."""
    first, last = backup.commits[0], backup.commits[-1]
    hint = f"revert them: `git revert --no-edit {first[:12]}^..{last[:12]}`"
    branch = store.branch()
    if branch != backup.branch:
        raise WriteError(f"nothing was taken back: the commits are on {_short(backup.branch)}", hint="switch to it first")
    expect_branch(store.place, head, branch)
    if head != last:
        raise WriteError("nothing was taken back: the fix's commits are not the last ones any more", hint=hint)
    if published := store.published(first):
        raise WriteError(f"nothing was taken back: the commits are in {_short(published)} already", hint=hint)


def _changed(kept: Kept, ground: Ground, standings: dict[str, Standing | None]) -> Iterator[Complaint]:
    """Files that are not as the fix left them. Of the others it is noted how they stand."""
    for move in kept.backup.moves:
        see = f"see how it was: `git show {kept.ref}:{move.path}`" if move.before else "look at it, then remove it by hand"
        try:
            standing = ground.look(move.path)
            obstacle = ground.obstacle(move.path)
        except WriteError as exc:
            yield exc.message, see
            continue
        if (standing and blob_id(standing.content, kept.commit)) != move.after:
            yield f"{move.path} is not as the fix left it", see
        elif obstacle:
            yield obstacle, "make it writable"
        standings[move.path] = standing


def _staged(backup: Backup, index: IndexCopy) -> Iterator[Complaint]:
    """Entries of the index that are not as the fix left them."""
    named = index.named(slot.path for slot in backup.slots)
    for slot in backup.slots:
        one = named.get(slot.path)
        if (one and one.entry) != slot.after or (one and (one.skipped or one.assumed)):
            yield f"{slot.path} is not staged as the fix left it", "unstage it: `git restore --staged`, or commit it"


def _shape(move: Move, standing: Standing | None, store: Store) -> Shape | None:
    if move.before is None:
        return None
    content = store.content(move.before.object_id)
    if standing is None:
        return Shape(content, move.before.mode & 0o777, None, (move.before.uid, move.before.gid))
    return Shape(content, standing.mode, None, (standing.uid, standing.gid))


def _short(ref: str | None) -> str:
    return (ref or "no branch").removeprefix("refs/heads/").removeprefix("refs/remotes/")
