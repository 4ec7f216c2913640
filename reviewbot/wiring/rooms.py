"""Where a review takes place: the repository, and the sandbox with both trees."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.adapters.git.narrow import NarrowRepo
from reviewbot.adapters.sandbox import ClosableSandbox
from reviewbot.config import Configuration, Source
from reviewbot.domain.change import Revisions
from reviewbot.domain.evidence import Side
from reviewbot.errors import GitError, RepositoryError
from reviewbot.ports import Objects, Sandbox
from reviewbot.wiring import hosting
from reviewbot.wiring.hook_order import StagedOrder
from reviewbot.wiring.order import REPOSITORY_FILES, Order

KEPT = "kept"
"""The folder of outcomes in the state directory."""


@contextmanager
def open_repository(directory: Path, scratch: Path, environment: Mapping[str, str]) -> Iterator[GitRepo]:
    """The repository around a directory. Raises RepositoryError."""
    with closing(GitRepo.open(directory, scratch, environment=environment)) as repo:
        yield repo


@contextmanager
def open_staged(order: StagedOrder, scratch: Path) -> Iterator[GitRepo]:
    """The repository of an order that reviews an index. Raises RepositoryError."""
    place, environment, index = order.directory, order.environment, order.index
    if order.names is None:
        repo = GitRepo.open(place, scratch, environment=environment, index=index)
    else:
        repo = NarrowRepo.among(place, scratch, environment=environment, index=index, names=order.names)
    with closing(repo):
        yield repo


def repository_files(directory: Path, environment: Mapping[str, str]) -> tuple[Source, ...]:
    """The committed files that would configure a review of uncommitted work here; none outside a repository."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(directory, Path(scratch), environment) as repo:
                found = [(name, repo.head_config(name)) for name in REPOSITORY_FILES]
        except RepositoryError:
            return ()
    return tuple(Source(name, data) for name, data in found if data is not None)


def is_private_file(path: Path) -> bool:
    """Git ignores a file and does not track it: no commit of somebody else put it there."""
    with tempfile.TemporaryDirectory(prefix="reviewbot-") as scratch:
        try:
            with open_repository(path.parent, Path(scratch), {"PATH": os.defpath}) as repo:
                return repo.is_private(path.name)
        except (RepositoryError, GitError):
            return False


@dataclass(frozen=True, slots=True)
class Rooms:
    """The sandbox of a review, and as many more as there are candidates to be tried: other trees behind the same wall."""

    room: ClosableSandbox
    _annex: Callable[[Revisions], ClosableSandbox]
    _exports: Exports

    @contextmanager
    def annex(self, revisions: Revisions) -> Iterator[ClosableSandbox]:
        """A sandbox with the trees of these revisions. Ends every process it started, and forgets the trees."""
        was_there = self._exports.has(revisions.head_tree)
        room = self._annex(revisions)
        try:
            yield room
        finally:
            room.close()
            if not was_there:
                self._exports.forget(revisions.head_tree)


class Exports:
    """Trees written out to folders, each once, when somebody first asks. Safe to use from several threads."""

    def __init__(self, objects: Objects | None, folder: Path) -> None:
        self._objects = objects
        self._folder = folder
        self._lock = threading.Lock()
        self._done: dict[str | None, Path] = {}

    def of(self, revisions: Revisions) -> Callable[[Side], Path]:
        """Where each side's tree of these revisions lies."""
        trees = {Side.BASE: revisions.base_tree, Side.HEAD: revisions.head_tree}
        return lambda side: self._written(trees[side])

    def has(self, tree: str | None) -> bool:
        """A tree is written out already."""
        with self._lock:
            return tree in self._done

    def forget(self, tree: str | None) -> None:
        """Remove a tree's folder."""
        with self._lock:
            if (folder := self._done.pop(tree, None)) is not None:
                shutil.rmtree(folder, ignore_errors=True)

    def _written(self, tree: str | None) -> Path:
        with self._lock:
            if tree not in self._done:
                folder = self._folder / f"tree-{tree or 'none'}"
                folder.mkdir()
                if self._objects is not None and tree is not None:
                    self._objects.export(tree, folder)
                self._done[tree] = folder
            return self._done[tree]


@contextmanager
def open_sandbox(
    configuration: Configuration, git: GitRepo | None, revisions: Revisions, *, scratch: Path, order: Order
) -> Iterator[Sandbox]:
    """The sandbox for one review, with both trees exported when first needed, after ``setup``. Ends every process it started."""
    with open_rooms(configuration, git, revisions, scratch=scratch, order=order) as rooms:
        yield rooms.room


@contextmanager
def open_rooms(
    configuration: Configuration, git: GitRepo | None, revisions: Revisions, *, scratch: Path, order: Order
) -> Iterator[Rooms]:
    """The same, with annexes. What ``setup`` prepares is that of the base for all of them."""
    toplevel = git.toplevel if git is not None else None
    level = configuration.get("sandbox", str) if order.execute else "none"
    interpreters, exports = sandbox.discover(toplevel), Exports(git, scratch)
    trees = exports.of(revisions)
    host = hosting.host(order.environment, configuration)
    ground = sandbox.Ground(trees, interpreters, sandbox.Limits(), toplevel, host)
    commands = configuration.texts("setup")
    if commands and git is not None and revisions.base_tree is not None and level in hosting.PREPARING_LEVELS:
        state = order.state or scratch
        host = hosting.prepared(ground, commands, git=git, base_tree=revisions.base_tree, state=state)

    def chosen(ends: Revisions, state: Path | None) -> ClosableSandbox:
        here = replace(host, memory=_memory(state, ends))
        return sandbox.choose(level, trees=exports.of(ends), toplevel=toplevel, interpreters=interpreters, host=here)

    remembered = None if order.fresh else order.state
    room = chosen(revisions, remembered)
    try:
        yield Rooms(room, lambda ends: chosen(ends, scratch), exports)
    finally:
        room.close()


def _memory(state: Path | None, revisions: Revisions) -> sandbox.Memory | None:
    """Where outcomes at base are kept for the next push; nowhere where nothing is remembered, or all shall be begun anew."""
    if state is None:
        return None
    trees = {Side.BASE: revisions.base_tree, Side.HEAD: revisions.head_tree}
    return sandbox.Memory(state / KEPT, {side: tree for side, tree in trees.items() if tree is not None})
