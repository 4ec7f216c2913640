"""The effective configuration: values by dotted key, each with its origin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from reviewbot.config.keys import KEYS, key_named

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setting:
    """An effective value and where it came from: ``default``, ``--timeout``, ``.reviewbot.yml line 7``."""

    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder's own file says of reviews: names of files with rules, (glob, rules), globs of what is not reviewed. All of
    them as seen from the top, and none means anything outside of the folder ``path``."""

    path: str
    instructions: tuple[str, ...] = ()
    path_rules: tuple[tuple[str, str], ...] = ()
    ignore: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """What holds for this run. ``notices`` tell in plain words what was written down and does not hold. ``folders`` is what
    folders around changed files add to ``review.*``, outer ones first."""

    settings: Mapping[str, Setting] = field(default_factory=lambda: MappingProxyType({}))
    notices: tuple[str, ...] = ()
    folders: tuple[Folder, ...] = ()

    def setting(self, name: str) -> Setting:
        """A key's value and origin. Raises KeyError for a name that is no key."""
        if name in self.settings:
            return self.settings[name]
        key = key_named(name)
        if key is None:
            raise KeyError(name)
        return Setting(key.default, "default")

    def value(self, name: str) -> object:
        """A key's value; ``None`` where it has no default and nobody set it."""
        return self.setting(name).value

    def origin(self, name: str) -> str:
        """Where the value came from."""
        return self.setting(name).origin

    def get(self, name: str, kind: type[T]) -> T:
        """A key's value, known to be of a type: ``get("debate.rounds", int)``. Raises TypeError where it is not."""
        value = self.value(name)
        if not isinstance(value, kind):
            raise TypeError(f"{name} holds {type(value).__name__}, not {kind.__name__}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """The value of a key that holds a list of texts."""
        return tuple(str(item) for item in self.get(name, tuple))

    def records(self, name: str) -> tuple[Mapping[str, object], ...]:
        """The value of a key that holds a list of mappings: ``checks``, ``review.path_rules``."""
        return tuple(item for item in self.get(name, tuple) if isinstance(item, Mapping))

    def names(self, prefix: str) -> tuple[str, ...]:
        """The names that the user chose below ``panel``, ``panels``, ``providers``, in the order they were written."""
        below = f"{prefix}."
        return tuple(dict.fromkeys(n.removeprefix(below).split(".")[0] for n in self.settings if n.startswith(below)))

    def rows(self) -> Iterator[tuple[str, Setting]]:
        """Every key with its setting, in the order of the table; those with a chosen name only where they are set."""
        for key in KEYS:
            if "*" not in key.parts:
                yield key.name, self.setting(key.name)
            else:
                yield from ((name, held) for name, held in self.settings.items() if key_named(name) is key)
