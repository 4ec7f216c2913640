"""What a person is told who asks why the sandbox is what it is: every level with its self-test, and where tools are found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reviewbot.adapters.sandbox import borrow, mounts, tools
from reviewbot.adapters.sandbox.bubblewrap import Bubblewrap
from reviewbot.adapters.sandbox.container import Container
from reviewbot.adapters.sandbox.host import Ground
from reviewbot.adapters.sandbox.plain import Plain
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError
from reviewbot.ports import Job

_ASKING = Job("survey", (), 1.0, executes=True, tree=Side.HEAD)


@dataclass(frozen=True, slots=True)
class Rung:
    """A level of the ladder. ``problem`` is empty where its self-test passed; ``programs``, where they are those of an image."""

    level: str
    problem: str = ""
    next_step: str = ""
    programs: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a tool was found: its path as a job sees it, and whose it is: ``project`` or ``machine``. No path: nowhere."""

    name: str
    path: str = ""
    owner: str = ""


def rungs(ground: Ground) -> tuple[Rung, ...]:
    """The walled levels, best first, each tried for real."""
    return (_bubblewrap(ground), _container(ground))


def spots(names: Iterable[str], ground: Ground) -> tuple[Spot, ...]:
    """Where a job that executes the change would find these tools, outside of a container."""
    lent = borrow.borrowed(_ASKING, ground)
    project = borrow.shelves(lent, mounts.tree_path(ground.toplevel))
    machine = tools.own_shelves(ground.host.path, ground.toplevel)
    return tuple(_spot(name, ground, project, machine=machine) for name in names)


def _spot(name: str, ground: Ground, project: tuple[tools.Shelf, ...], *, machine: tuple[tools.Shelf, ...]) -> Spot:
    for owner, shelves in (("project", project), ("machine", machine)):
        found = tools.gather((name,), shelves, ground.hides).programs.get(name)
        if found:
            return Spot(name, found, owner)
    return Spot(name)


def _bubblewrap(ground: Ground) -> Rung:
    try:
        Bubblewrap(ground).close()
    except SandboxError as exc:
        return Rung("bubblewrap", exc.message, exc.hint)
    return Rung("bubblewrap")


def _container(ground: Ground) -> Rung:
    try:
        room = Container(ground, Plain(ground))
    except SandboxError as exc:
        return Rung("container", exc.message, exc.hint)
    room.close()
    return Rung("container", programs=room.programs)
