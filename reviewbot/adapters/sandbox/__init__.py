"""Where code that nobody trusts may run: behind bubblewrap, in a container, or not at all unless a user insists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reviewbot.adapters.sandbox.absent import Absent
from reviewbot.adapters.sandbox.attended import Attended, ClosableSandbox
from reviewbot.adapters.sandbox.bubblewrap import Bubblewrap
from reviewbot.adapters.sandbox.container import Container
from reviewbot.adapters.sandbox.host import ContainerOptions, Ground, Host, Layer, Memory
from reviewbot.adapters.sandbox.interpreters import Interpreters, discover
from reviewbot.adapters.sandbox.kept import Kept
from reviewbot.adapters.sandbox.limits import Limits
from reviewbot.adapters.sandbox.plain import Plain
from reviewbot.adapters.sandbox.preparation import key, prepare
from reviewbot.adapters.sandbox.unconfined import Unconfined
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError

__all__ = [
    "ClosableSandbox",
    "ContainerOptions",
    "Ground",
    "Host",
    "Interpreters",
    "Layer",
    "Limits",
    "Memory",
    "choose",
    "discover",
    "key",
    "prepare",
]

_STANDARD = Limits()
_NOBODY = Host()


def choose(
    level: str,
    *,
    trees: Callable[[Side], Path],
    interpreters: Interpreters,
    limits: Limits = _STANDARD,
    toplevel: Path | None = None,
    host: Host = _NOBODY,
) -> ClosableSandbox:
    """The sandbox of a level: ``auto``, ``bubblewrap``, ``container``, ``unconfined`` or ``none``.

    ``trees`` gives the folder of an exported tree; ``toplevel`` is the repository's own path, where its copy stands inside.
    ``auto`` is bubblewrap, else a container where an image for it is configured, else none, with every reason in its notes.
    Raises SandboxError where a level that was asked for by name cannot be had.
    """
    ground = Ground(trees, interpreters, limits, toplevel, host)
    room = _chosen(level, ground)
    return Attended(Kept(room, ground, host.memory) if host.memory else room, host.notes)


def _chosen(level: str, ground: Ground) -> ClosableSandbox:
    plain = Plain(ground)
    if level == "none":
        return Absent(plain, ("nothing of the change was executed: no sandbox was wanted",))
    if level == "unconfined":
        return Unconfined(plain)
    walled: dict[str, Callable[[], ClosableSandbox]] = {
        "bubblewrap": lambda: Bubblewrap(ground),
        "container": lambda: Container(ground, plain),
    }
    if level in walled:
        return walled[level]()
    if level != "auto":
        raise SandboxError(f"there is no sandbox {level!r}", hint="use auto, bubblewrap, container, unconfined or none")
    return _best(ground, plain)


def _best(ground: Ground, plain: Plain) -> ClosableSandbox:
    """The first that can be had, best first."""
    try:
        return Bubblewrap(ground)
    except SandboxError as exc:
        reasons = [str(exc)]
    if ground.host.container.image:
        try:
            room = Container(ground, plain)
        except SandboxError as exc:
            reasons.append(str(exc))
        else:
            room.notes = (*room.notes, *reasons)
            return room
    return Absent(plain, (f"nothing of the change was executed: {'; '.join(reasons)}",))
