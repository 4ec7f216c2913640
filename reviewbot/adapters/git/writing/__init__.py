"""The local writer: how a fix gets into the user's repository, wholly or not at all, and out of it again.

Before anything is changed, everything is made out and written down: the bytes, the commits (as objects that nobody knows of), a
backup, a journal. A kill at any point leaves what the next run restores, or completes where nothing was missing but the end.
What was reviewed must be what stands there; what somebody changes meanwhile is noticed, and stays.

Nothing that the repository or the user's configuration names is run: no hook (``pre-commit``, ``commit-msg``,
``post-commit`` and the like do not see these commits), no filter, no signing program.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from reviewbot.adapters.git import place as places
from reviewbot.adapters.git.place import Place
from reviewbot.adapters.git.writing import backup as backups
from reviewbot.adapters.git.writing.carry import Carrier
from reviewbot.adapters.git.writing.ground import Ground
from reviewbot.adapters.git.writing.index import IndexCopy
from reviewbot.adapters.git.writing.mend import Mender
from reviewbot.adapters.git.writing.prepare import prepared
from reviewbot.adapters.git.writing.room import WAIT_SECONDS, Room
from reviewbot.adapters.git.writing.standing import survey
from reviewbot.adapters.git.writing.store import Store
from reviewbot.adapters.git.writing.swap import IndexSwap
from reviewbot.adapters.git.writing.undoing import reversal
from reviewbot.domain.target import TargetKind
from reviewbot.errors import GitError, WriteError
from reviewbot.ports.writing import Recovered, Undone, WritePlan, Written


@dataclass(frozen=True, slots=True)
class _Hold:
    """What there is while nobody else writes. ``index`` is a copy of the real one."""

    store: Store
    carrier: Carrier
    swap: IndexSwap
    index: IndexCopy
    mended: Recovered | None


class LocalWriter:
    """The port ``Writer``.

    ``place`` is that of the ``GitRepo`` which resolved what was reviewed: the tree of uncommitted work is only there. ``index``
    is the index that was reviewed. Of ``environment`` it is read who commits. ``step`` is told each step by name: a test may
    end the process there.
    """

    def __init__(
        self,
        place: Place,
        index: Path,
        *,
        environment: Mapping[str, str],
        step: Callable[[str], None] | None = None,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._place = place
        self._index = index.resolve()
        self._environment = environment
        self._step = step or _nothing
        self._room = Room(place.git_dir, wait_seconds)
        self._ground = Ground(place.toplevel, self._step)

    @classmethod
    def open(cls, directory: Path, scratch: Path, *, environment: Mapping[str, str]) -> Self:
        """The writer of the repository around ``directory``: to undo, to recover, to write what was reviewed in another run.

        Raises RepositoryError.
        """
        own = Path(tempfile.mkdtemp(prefix="repository-", dir=scratch))
        place = places.find(directory.absolute(), own.absolute(), environment)
        return cls(place, place.index, environment=environment)

    def write(self, plan: WritePlan) -> Written:
        """Write what was made. Raises WriteError, and then nothing is changed."""
        if plan.kind in (TargetKind.PATCH, TargetKind.AUTO):
            raise WriteError("what was reviewed is no state of this repository", hint="apply the fix by hand: --write-patch FILE")
        with self._alone() as hold:
            notes = () if hold.mended is None else (_told(hold.mended),)
            scene = survey(plan, hold.store, self._ground, index=hold.index, real_index=self._index)
            self._step("surveyed")
            ready = prepared(plan, scene, hold.store, ground=self._ground)
            self._step("prepared")
            if ready.change is None:
                return Written(notes=(*notes, *ready.notes))
            hold.carrier.carry_out(ready.change, hold.swap)
            opening = ready.change.journal.opening
            self._prune(hold.store)
            paths = tuple(move.path for move in ready.change.journal.moves)
            return Written(paths, opening.name if opening else None, ready.commits, (*notes, *ready.notes))

    def undo(self) -> Undone:
        """Take the newest write to this work tree back, and forget its backup. Raises WriteError, and then nothing is changed."""
        with self._alone() as hold:
            kept = backups.newest(hold.store)
            change = reversal(kept, hold.store, self._ground, index=hold.index, real_index=self._index)
            hold.carrier.carry_out(change, hold.swap)
            notes = () if hold.mended is None else (_told(hold.mended),)
            return Undone(tuple(move.path for move in change.journal.moves), kept.ref, kept.backup.commits, notes)

    def recover(self) -> Recovered | None:
        """Mend what a killed run left half done. It costs one look at a file where there is nothing. Raises WriteError."""
        if not self._room.has_journal:
            return None
        with self._alone() as hold:
            return hold.mended

    @contextmanager
    def _alone(self) -> Iterator[_Hold]:
        """Nobody else writes, and nothing is half done."""
        with self._room.alone() as lock:
            store = Store(self._place, self._room.work, lock, self._environment)
            swap = IndexSwap(self._index, self._room.work)
            mender = Mender(store, self._ground, self._room, swap=swap, step=self._step)
            mended = mender.recover() if self._room.has_journal else None
            self._room.clear()
            carrier = Carrier(store, self._ground, self._room, mender=mender, step=self._step)
            try:
                yield _Hold(store, carrier, swap, IndexCopy.take(self._place, self._index, swap.older), mended)
            except OSError as exc:
                raise WriteError(f"nothing was changed: {exc}", hint="mend that, then run it again") from exc
            finally:
                if not self._room.has_journal:
                    self._room.tidy()

    @staticmethod
    def _prune(store: Store) -> None:
        """What was written is not less written where an old backup cannot be removed."""
        with suppress(WriteError, GitError):
            if moves := backups.superfluous(store):
                store.move(moves, "reviewbot fix: old backups")


def _told(mended: Recovered) -> str:
    what = "completed" if mended.completed else "taken back"
    return "; ".join((f"a run that was killed before was {what}", *mended.notes))


def _nothing(_step: str) -> None:
    """Nobody listens."""
