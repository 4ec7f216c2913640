"""The hooks of a repository put together: what git says, what is decided of it, and what is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from reviewbot.adapters.git import hooks
from reviewbot.adapters.git.hooks import GitHooks
from reviewbot.domain.hook import NAMES as NAMES
from reviewbot.domain.hook import FoundHook, HookFolder
from reviewbot.errors import UsageError
from reviewbot.events import installed
from reviewbot.events.installed import HookStatus, Plan
from reviewbot.events.installed import Wish as Wish

BOTH = Wish()
"""Every hook, with no option."""


@dataclass(frozen=True, slots=True)
class HookReport:
    """The hooks of one repository: the folder where git looks for them, what says so (empty: nothing does), and each hook.
    ``notes`` tell of hooks of ours in the folder where git does not look."""

    folder: str
    setting: str
    hooks: tuple[HookStatus, ...]
    notes: tuple[str, ...] = ()


class RefusedError(UsageError):
    """A hook that was not changed, nor any other. ``snippet`` is text for the file that the hint names."""

    def __init__(self, message: str, *, hint: str = "", snippet: str = "") -> None:
        super().__init__(message, hint=hint)
        self.snippet = snippet


def install(directory: Path, environment: Mapping[str, str], wish: Wish = BOTH) -> tuple[str, ...]:
    """Write the hooks that are wished for where git looks for them; what became of each, in a line. All or none: raises
    RefusedError where one cannot be as things are, RepositoryError where there is no repository with a work tree."""
    place = GitHooks.open(directory, environment)
    python = sys.executable if hooks.starts(sys.executable) else ""
    plans = [installed.install(place.found(place.looked, name), wish, python=python) for name in wish.names]
    return _carried_out(place, plans)


def uninstall(directory: Path, environment: Mapping[str, str], wish: Wish = BOTH) -> tuple[str, ...]:
    """Take ours away where git looks, and where it looked before ``core.hooksPath`` was set; what became of each, in a line.
    Raises as ``install`` does."""
    place = GitHooks.open(directory, environment)
    found = [place.found(folder, name) for name in wish.names for folder in _meant(place, name)]
    return _carried_out(place, [installed.uninstall(one, wish) for one in found])


def status(directory: Path, environment: Mapping[str, str]) -> HookReport:
    """How it is with every hook. Raises RepositoryError, and UsageError where git looks in no folder."""
    place = GitHooks.open(directory, environment)
    on_path = hooks.on_path(environment)

    def told(found: FoundHook) -> HookStatus:
        ours = installed.script_of(found)
        return installed.status(found, is_there=ours is not None and hooks.is_program(ours.python), on_path=on_path)

    looked = place.looked
    notes = tuple(_elsewhere(place, told)) if len(place.folders) > 1 else ()
    found = (place.found(looked, name) for name in NAMES)
    return HookReport(looked.shown, str(looked.setting or ""), tuple(told(one) for one in found), notes)


def _elsewhere(place: GitHooks, told: Callable[[FoundHook], HookStatus]) -> list[str]:
    own = (told(place.found(place.own, name)) for name in NAMES)
    why = f"git does not look there: {place.looked.setting} says {place.looked.shown}"
    return [f"{one.name} is installed as {one.path} as well, but {why}" for one in own if one.installed]


def _meant(place: GitHooks, name: str) -> list[HookFolder]:
    """The folders in which a hook is to be taken away: where git does not look, only where it is ours."""
    others = [one for one in place.folders[1:] if installed.standing(place.found(one, name)) in installed.RUNS]
    first = place.looked
    if others and installed.standing(place.found(first, name)) not in installed.RUNS:
        return others
    return [first, *others]


def _carried_out(place: GitHooks, plans: list[Plan]) -> tuple[str, ...]:
    if refused := [plan for plan in plans if plan.refusal]:
        raise RefusedError(refused[0].refusal, hint=refused[0].hint, snippet=refused[0].snippet)
    for plan in plans:
        if plan.steps:
            place.carry_out(plan.found, plan.steps)
    return tuple(f"{plan.found.name}: {plan.said}" for plan in plans)
