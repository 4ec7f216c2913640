"""A change that did not come to its end: completed or taken back by its journal, from wherever it stopped."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from reviewbot.adapters.git.writing.ground import Ground, Shape, flush, status_of
from reviewbot.adapters.git.writing.index import IndexCopy
from reviewbot.adapters.git.writing.journal import Journal, Move, RefMove
from reviewbot.adapters.git.writing.patience import patience
from reviewbot.adapters.git.writing.room import Room
from reviewbot.adapters.git.writing.standing import blob_id
from reviewbot.adapters.git.writing.store import Store
from reviewbot.adapters.git.writing.swap import IndexSwap
from reviewbot.errors import ReviewbotError, WriteError
from reviewbot.ports.writing import Recovered

_FORTH, _BACK = "reviewbot fix", "reviewbot fix: taken back"
_FAILURES = (OSError, ReviewbotError)


class Mender:
    """Whoever calls holds the lock. ``step`` is told each step by name."""

    def __init__(self, store: Store, ground: Ground, room: Room, *, swap: IndexSwap, step: Callable[[str], None]) -> None:
        self._store = store
        self._ground = ground
        self._room = room
        self._swap = swap
        self._step = step

    def recover(self) -> Recovered:
        """Complete what a killed run left, where nothing was missing but its end; else take it back. Raises WriteError."""
        journal = self._room.load()
        with patience():
            try:
                return self._completed(journal) if self._is_complete(journal) else self._taken_back(journal)
            except _FAILURES as exc:
                raise _stuck(journal, exc) from exc

    def abandon(self, journal: Journal, why: BaseException) -> None:
        """Take everything back, now. Raises WriteError where not all of it can be."""
        try:
            done = self._taken_back(replace(journal, abandoned=True))
        except _FAILURES as exc:
            raise _stuck(journal, exc) from why
        if done.notes and isinstance(why, _FAILURES):
            kept = f"how it was before is kept in {done.backup}" if done.backup else "see `git status`"
            raise WriteError("; ".join((str(why), *done.notes)), hint=kept) from why

    def finish(self, journal: Journal) -> None:
        """Nothing is missing any more, and from here on nothing is taken back. Raises OSError."""
        self._swap.release()
        for folder in journal.rmdirs:
            self._ground.remove_folder(folder)
        self._step("complete")
        self._room.seal()
        self._step("done")

    def _is_complete(self, journal: Journal) -> bool:
        """Only its last word was missing: a ref of its end is where it shall be, or else the index is."""
        if journal.abandoned:
            return False
        if any(self._is_there(move) for move in journal.closing):
            return True
        if not journal.slots:
            return False
        now = IndexCopy.take(self._store.place, self._swap.index, self._room.work / "now")
        named = now.named(slot.path for slot in journal.slots)
        return all((one.entry if (one := named.get(slot.path)) else None) == slot.after for slot in journal.slots)

    def _is_there(self, move: RefMove) -> bool:
        """The ref is where it shall be, or was moved on to there and somebody built on it."""
        now, holds = self._store.value(move.name), self._store.holds
        if now is None or move.before is None or move.after is None:
            return now == move.after
        return now == move.after or (holds(move.after, move.before) and holds(now, move.after))

    def _completed(self, journal: Journal) -> Recovered:
        notes = []
        try:
            if missing := [move for move in journal.closing if not self._is_there(move)]:
                self._store.move(missing, _FORTH)
        except WriteError as exc:
            notes.append(str(exc))
        self.finish(journal)
        paths = tuple(move.path for move in journal.moves)
        backup = journal.opening.name if journal.opening else None
        return Recovered(completed=True, paths=paths, backup=backup, notes=tuple(notes))

    def _taken_back(self, journal: Journal) -> Recovered:
        """Everything as it was, in the reverse order; what others changed since stays."""
        if journal.abandoned:
            self._refs_back(journal)
        notes = [said for said in (self._swap.back(self._step) if journal.slots else "",) if said]
        self._swap.release()
        # Who committed after a kill has gone on with what was written: taking that away would surprise.
        stays = not journal.abandoned and self._store.value("HEAD") != journal.head
        left: list[str] = []
        for number, move in reversed(list(enumerate(journal.moves))):
            if complaint := self._file_back(journal, number, stays=stays):
                left.append(move.path)
                notes.append(complaint)
            self._step(f"back {move.path}")
        for folder in reversed(journal.folders):
            self._ground.remove_folder(folder)
        backup = journal.opening.name if journal.opening and left else None
        if backup is None:
            self._forget_backup(journal)
        self._room.seal()
        paths = tuple(move.path for move in journal.moves if move.path not in left)
        return Recovered(completed=False, paths=paths, left=tuple(left), backup=backup, notes=tuple(notes))

    def _refs_back(self, journal: Journal) -> None:
        """Only who is taken back at once has moved them, or else it was completed."""
        with suppress(OSError):  # on a full disk the files matter more
            self._room.save(journal)
        if back := [RefMove(m.name, m.after, m.before) for m in journal.closing if self._store.value(m.name) == m.after]:
            self._store.move(back, _BACK)
        self._step("refs back")

    def _forget_backup(self, journal: Journal) -> None:
        opening = journal.opening
        if opening and self._store.value(opening.name) == opening.after:
            self._store.move([RefMove(opening.name, opening.after, None)], _BACK)

    def _file_back(self, journal: Journal, number: int, *, stays: bool) -> str:
        """One file as it was; why it could not be, or nothing."""
        move, beside = journal.moves[number], journal.beside(number)
        try:
            with self._ground.around(move.path) as place:
                if place is None:
                    return f"the folder of {move.path} is gone" if move.before else ""
                parent, name = place
                complaint = self._aside_back(parent, name, move, aside=beside.aside)
                with suppress(FileNotFoundError):
                    os.unlink(beside.fresh, dir_fd=parent)
                here = self._ground.read(parent, name, move.path)
            now = here and blob_id(here.content, self._store.place.empty_tree)
            if complaint or now == (move.before and move.before.object_id):
                return complaint
            if stays or now not in (None, move.after):
                return f"{move.path} was changed since, and stays as it is"
            shape = None if move.before is None else _shape(move, self._room.image(number))
            self._ground.replace(move.path, old=here, new=shape, beside=beside)
        except WriteError as exc:
            return str(exc)
        return ""

    def _aside_back(self, parent: int, name: str, move: Move, *, aside: str) -> str:
        """Put back, or away, a file that was looked at when the run ended. Of two versions the one that others wrote stays."""
        ground, like = self._ground, self._store.place.empty_tree
        if status_of(parent, aside) is None:
            return ""
        if status_of(parent, name) is None:
            ground.appear(parent, aside, move.path)
            return ""
        found, here = ground.read(parent, aside, move.path), ground.read(parent, name, move.path)
        assert found is not None
        assert here is not None
        was, now = blob_id(found.content, like), blob_id(here.content, like)
        ours = (move.after, move.before and move.before.object_id)
        if now in ours and was != move.after:
            os.rename(aside, name, src_dir_fd=parent, dst_dir_fd=parent)
            with suppress(FileNotFoundError):  # two names of one file: renaming does nothing
                os.unlink(aside, dir_fd=parent)
        elif was in ours:
            os.unlink(aside, dir_fd=parent)
        else:
            return f"two others changed {move.path}: one version stays there, the other one is {aside} beside it"
        flush(parent)
        return ""


def _shape(move: Move, content: bytes) -> Shape:
    assert move.before is not None
    before = move.before
    return Shape(content, before.mode, before.mtime_ns, (before.uid, before.gid))


def _stuck(journal: Journal, exc: BaseException) -> WriteError:
    kept = f"what stood there is kept in {journal.opening.name}" if journal.opening else "see `git status`"
    return WriteError(
        f"what was begun cannot be taken back yet: {exc}", hint=f"mend that; the next reviewbot tries again ({kept})"
    )
