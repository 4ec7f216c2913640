"""What other installed packages add by entry points: found by name, loaded one at a time, and kept from ending a review.

Nothing is looked for until somebody writes a name that is not reviewbot's own, and of all that is there only what has that name
is imported. Code of another package may raise anything: here it becomes one error that says whose it is.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from reviewbot.errors import ConfigError
from reviewbot.screen import hidden, secrets

GROUPS = {
    "provider": "reviewbot.providers",
    "tool": "reviewbot.tools",
    "pattern": "reviewbot.patterns",
    "parser": "reviewbot.parsers",
}
"""What can be added, and the group of entry points for it."""

MOST_WORDS = 300
UPDATE = "update or remove that package"


class Broken(Exception):
    """Code of another package raised something. The message is its words, on a line."""


@dataclass(frozen=True, slots=True)
class Extension:
    """One thing that a package adds. ``kind`` is a key of ``GROUPS``; ``value`` says where it is: ``module:name``."""

    kind: str
    name: str
    package: str
    version: str
    value: str

    @property
    def origin(self) -> str:
        """The package and its version."""
        return f"{self.package} {self.version}".rstrip()

    @property
    def described(self) -> str:
        """For errors."""
        return f"the {self.kind} {self.name!r} of {self.origin}"


def listed(*kinds: str) -> tuple[Extension, ...]:
    """Everything that is installed, of these kinds or of all. Reads the metadata of every package and imports none. Raises
    ConfigError where it cannot be read."""
    try:
        points = metadata.entry_points()
        return tuple(_extension(kind, point) for kind in kinds or GROUPS for point in points.select(group=GROUPS[kind]))
    except (OSError, ValueError, TypeError) as exc:  # a line that is no entry point is a TypeError
        raise ConfigError(f"what an installed package says of itself cannot be read: {exc}", hint="install it again") from exc


def found(kind: str, name: str) -> Extension | None:
    """What is added under a name. Raises ConfigError where several packages add it: which one is meant, nobody can tell."""
    same = [one for one in listed(kind) if one.name == name]
    if len(same) > 1:
        owners = " and ".join(sorted(one.origin for one in same))
        raise ConfigError(f"the {kind} {name!r} is added by {owners}", hint="remove all of these packages but one")
    return same[0] if same else None


def wanted(kind: str, name: str, own: Iterable[str] = ()) -> Extension:
    """The same, of what somebody named. Raises ConfigError with the nearest name where nobody adds it."""
    known = found(kind, name)
    if known is None:
        names = tuple(dict.fromkeys((*own, *(one.name for one in listed(kind)))))
        raise ConfigError(f"there is no {kind} {name!r}", hint=_nearest(name, names))
    return known


def loaded(one: Extension) -> Any:
    """The object that an entry point stands for. What it prints when it is imported goes to standard
    error. Raises ConfigError."""
    try:
        with guarded(), redirect_stdout(sys.stderr):
            return metadata.EntryPoint(one.name, one.value, GROUPS[one.kind]).load()
    except Broken as exc:
        raise ConfigError(f"{one.described} cannot be loaded: {exc}", hint=UPDATE) from exc


@contextmanager
def guarded(*passing: type[Exception]) -> Iterator[None]:
    """Around code of another package: whatever it raises becomes Broken, but for what it may raise. Who leaves the program from
    there does not."""
    try:
        yield
    except passing:
        raise
    except (Exception, SystemExit) as exc:
        raise Broken(_words(exc)) from exc


def _extension(kind: str, point: metadata.EntryPoint) -> Extension:
    package, version = (point.dist.name, point.dist.version) if point.dist is not None else (point.value, "")
    return Extension(kind, point.name, package or point.value, version or "", point.value)


def _nearest(name: str, names: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are {', '.join(names)}" if names else "install the package that adds it beside reviewbot"


def _words(exc: BaseException) -> str:
    said = " ".join(f"{type(exc).__name__}: {exc}"[: 10 * MOST_WORDS].split())
    text = hidden.visible(secrets.redact(said)[0])
    return text if len(text) <= MOST_WORDS else text[: MOST_WORDS - 1] + "…"
