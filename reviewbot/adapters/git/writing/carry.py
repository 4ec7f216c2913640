"""Carrying out a change that was made out: written down first, then step by step, and taken back where a step fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reviewbot.adapters.git.writing.ground import Ground, Shape, Standing
from reviewbot.adapters.git.writing.index import IndexCopy
from reviewbot.adapters.git.writing.journal import Entry, Journal
from reviewbot.adapters.git.writing.mend import Mender
from reviewbot.adapters.git.writing.patience import patience
from reviewbot.adapters.git.writing.room import Room
from reviewbot.adapters.git.writing.store import Store
from reviewbot.adapters.git.writing.swap import IndexSwap
from reviewbot.errors import GitError, WriteError

_REASON = "reviewbot fix"


@dataclass(frozen=True, slots=True)
class Change:
    """What shall be done. ``old`` and ``new`` are for each of the journal's moves how the file stands and how it shall be;
    ``sure`` is what git must see in the files afterwards (``None``: no file). ``reason`` is for the reflog."""

    journal: Journal
    old: tuple[Standing | None, ...]
    new: tuple[Shape | None, ...]
    sure: Mapping[str, Entry | None]
    reason: str = _REASON


class Carrier:
    """Changes the repository. Whoever calls holds the lock; ``mender`` takes back what fails, ``step`` is told each step."""

    def __init__(self, store: Store, ground: Ground, room: Room, *, mender: Mender, step: Callable[[str], None]) -> None:
        self._store = store
        self._ground = ground
        self._room = room
        self._mender = mender
        self._step = step

    def carry_out(self, change: Change, swap: IndexSwap) -> None:
        """All of it, or nothing. Raises WriteError, and whatever a signal means, after everything was taken back."""
        with patience() as stop:

            def say(what: str) -> None:
                self._step(what)
                stop()

            try:
                for number, standing in enumerate(change.old):
                    if standing is not None:
                        self._room.keep_image(number, standing.content)
                self._room.save(change.journal)
                say("journal")
                self._files(change, swap, say)
                if change.journal.slots:
                    swap.forth(say)
                if change.journal.closing:
                    self._store.move(change.journal.closing, change.reason)
                    say("refs")
            except BaseException as exc:
                if self._room.has_journal:
                    self._mender.abandon(change.journal, exc)
                if isinstance(exc, OSError | GitError):
                    raise WriteError(f"nothing was written: {exc}", hint="mend that, then run it again") from exc
                raise
            self._mender.finish(change.journal)

    def _files(self, change: Change, swap: IndexSwap, say: Callable[[str], None]) -> None:
        """The backup, then every file, and a look at them."""
        journal = change.journal
        if journal.opening:
            self._store.move([journal.opening], _REASON)
            say("backup")
        for folder in journal.folders:
            self._ground.make_folder(folder)
            say(f"folder {folder}")
        for number, (move, old, new) in enumerate(zip(journal.moves, change.old, change.new, strict=True)):
            self._ground.replace(move.path, old=old, new=new, beside=journal.beside(number))
            say(f"file {move.path}")
        self._make_sure(change, swap)
        say("sure")

    def _make_sure(self, change: Change, swap: IndexSwap) -> None:
        """Git sees in the files what was proven, whatever it converts. The index that looks is the one that will be."""
        index = IndexCopy(self._store.place, swap.older).copied(swap.newer)
        index.put({slot.path: slot.after for slot in change.journal.slots})
        seen = index.look(change.sure)
        wrong = [path for path, entry in change.sure.items() if seen.get(path) != entry]
        if wrong:
            raise WriteError(
                f"nothing was written: git would not keep {', '.join(wrong[:5])} as it was proven, for what it converts",
                hint="see `git check-attr --all` on it, or write this fix by hand: `reviewbot fix --write-patch FILE`",
            )
