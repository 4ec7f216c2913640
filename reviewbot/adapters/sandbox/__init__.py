"""Where code that nobody trusts may run: behind bubblewrap, or not at all unless a user insists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reviewbot.adapters.sandbox.absent import Absent
from reviewbot.adapters.sandbox.attended import Attended, ClosableSandbox
from reviewbot.adapters.sandbox.bubblewrap import Bubblewrap
from reviewbot.adapters.sandbox.interpreters import Interpreters, discover
from reviewbot.adapters.sandbox.limits import Limits
from reviewbot.adapters.sandbox.plain import Plain
from reviewbot.adapters.sandbox.unconfined import Unconfined
from reviewbot.domain.evidence import Side
from reviewbot.errors import SandboxError

__all__ = ["ClosableSandbox", "Interpreters", "Limits", "choose", "discover"]

_STANDARD = Limits()


def choose(
    level: str,
    *,
    trees: Callable[[Side], Path],
    interpreters: Interpreters,
    limits: Limits = _STANDARD,
    toplevel: Path | None = None,
) -> ClosableSandbox:
    """The sandbox of a level: ``auto``, ``bubblewrap``, ``container``, ``unconfined`` or ``none``.

    ``trees`` gives the folder of an exported tree; ``toplevel`` is the repository's own path, where its copy stands inside.
    ``auto`` is bubblewrap, or none with the reason in its notes. Raises SandboxError where a level that was asked for by
    name cannot be had.
    """
    return Attended(_chosen(level, trees=trees, interpreters=interpreters, limits=limits, toplevel=toplevel))


def _chosen(
    level: str, *, trees: Callable[[Side], Path], interpreters: Interpreters, limits: Limits, toplevel: Path | None
) -> ClosableSandbox:
    plain = Plain(trees=trees, interpreters=interpreters, limits=limits)
    if level == "none":
        return Absent(plain, ("nothing of the change was executed: no sandbox was wanted",))
    if level == "unconfined":
        return Unconfined(plain)
    if level not in ("auto", "bubblewrap"):
        raise SandboxError(f"the sandbox {level!r} is not to be had here", hint="use auto, bubblewrap, unconfined or none")
    try:
        return Bubblewrap(trees=trees, interpreters=interpreters, limits=limits, toplevel=toplevel)
    except SandboxError as exc:
        if level == "bubblewrap":
            raise
        return Absent(plain, (f"nothing of the change was executed: {exc}",))
