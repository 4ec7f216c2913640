"""Where a review takes place: the repository, and the sandbox with both trees."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from reviewbot.adapters import sandbox
from reviewbot.adapters.git import GitRepo
from reviewbot.config import Configuration, Source
from reviewbot.domain.change import Revisions
from reviewbot.domain.evidence import Side
from reviewbot.errors import GitError, RepositoryError
from reviewbot.ports import Objects, Sandbox
from reviewbot.wiring import hosting
from reviewbot.wiring.order import REPOSITORY_FILES, Order

KEPT = "kept"
"""The folder of outcomes in the state directory."""


@contextmanager
def open_repository(directory: Path, scratch: Path, environment: Mapping[str, str]) -> Iterator[GitRepo]:
    """The repository around a directory. Raises RepositoryError."""
    repo = GitRepo.open(directory, scratch, environment=environment)
    try:
        yield repo
    finally:
        repo.close()


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


@contextmanager
def open_sandbox(
    configuration: Configuration, git: GitRepo | None, revisions: Revisions, *, scratch: Path, order: Order
) -> Iterator[Sandbox]:
    """The sandbox for one review, with both trees exported when first needed, after ``setup``. Ends every process it started."""
    toplevel = git.toplevel if git is not None else None
    level = configuration.get("sandbox", str) if order.execute else "none"
    interpreters, trees = sandbox.discover(toplevel), _exports(git, revisions, scratch)
    host = hosting.host(order.environment, configuration)
    ground = sandbox.Ground(trees, interpreters, sandbox.Limits(), toplevel, host)
    commands = configuration.texts("setup")
    if commands and git is not None and revisions.base_tree is not None and level in hosting.PREPARING_LEVELS:
        state = order.state or scratch
        host = hosting.prepared(ground, commands, git=git, base_tree=revisions.base_tree, state=state)
    host = replace(host, memory=_memory(order, revisions))
    room = sandbox.choose(level, trees=trees, toplevel=toplevel, interpreters=interpreters, host=host)
    try:
        yield room
    finally:
        room.close()


def _memory(order: Order, revisions: Revisions) -> sandbox.Memory | None:
    """Where outcomes at base are kept for the next push; nowhere where nothing is remembered, or all shall be begun anew."""
    if order.state is None or order.fresh:
        return None
    trees = {Side.BASE: revisions.base_tree, Side.HEAD: revisions.head_tree}
    return sandbox.Memory(order.state / KEPT, {side: tree for side, tree in trees.items() if tree is not None})


def _exports(objects: Objects | None, revisions: Revisions, scratch: Path) -> Callable[[Side], Path]:
    """Where each side's tree lies; it is written once, when somebody first asks."""
    lock = threading.Lock()
    trees = {Side.BASE: revisions.base_tree, Side.HEAD: revisions.head_tree}
    done: dict[Side, Path] = {}

    def tree(side: Side) -> Path:
        with lock:
            if side not in done:
                done[side] = scratch / f"tree-{side.value}"
                done[side].mkdir()
                name = trees[side]
                if objects is not None and name is not None:
                    objects.export(name, done[side])
            return done[side]

    return tree
