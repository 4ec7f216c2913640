"""Flags over environment over repository file over user file over defaults, and what a repository file may not do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from reviewbot.config.configuration import Configuration, Setting
from reviewbot.config.keys import FREE_NAME, KEYS, Key, Power, key_named, names_below
from reviewbot.config.kinds import Choice, Text
from reviewbot.config.node import Entries, Node, Place, Scalar, node_of, plain, shortened
from reviewbot.config.read_toml import read_toml
from reviewbot.config.read_yaml import read_yaml
from reviewbot.errors import ConfigError

VARIABLE = "REVIEWBOT__"
OPERATOR_HINT = "it belongs in the user file, the environment or a flag"


@dataclass(frozen=True, slots=True)
class Source:
    """A file's name, as it is shown, and its bytes. A name that ends in ``.toml`` is read as a ``pyproject.toml``."""

    name: str
    data: bytes


def load(
    *,
    flags: Mapping[str, tuple[object, str]] = MappingProxyType({}),
    environ: Mapping[str, str] = MappingProxyType({}),
    repository: tuple[Source, ...] = (),
    user: Source | None = None,
) -> Configuration:
    """Lay the layers over each other. Raises ConfigError.

    ``flags``: key → (value, the flag's name). ``repository``: the files of the **base commit** that may configure, best
    first: the first that does counts.
    """
    settings: dict[str, Setting] = {}
    notices: list[str] = []
    for name, value, place in held(user) if user else ():
        settings[name] = Setting(value, str(place))
    told, ignored = _first_told(repository)
    notices += [f"{other} is not read: {told[0][2].source} configures this repository" for other in ignored]
    for name, value, place in told:
        operators = settings.get(name, Setting(_key(name).default, "default"))
        if _may_follow(name, value, place=place, operators=operators):
            settings[name] = Setting(value, str(place))
        else:
            kept = f"{operators.value} ({operators.origin}) stays"
            notices.append(f"{name}: {value} in {place} is looser than the operator allows; {kept}")
    for name, value, place in _environment(environ):
        settings[name] = Setting(value, str(place))
    for name, (value, flag) in flags.items():
        settings[name] = Setting(_from_flag(name, value, flag), flag)
    return Configuration(MappingProxyType(settings), tuple(notices))


def validate(source: Source, *, operator: bool = False) -> tuple[str, ...]:
    """Read one file as it would be read, and return its notices. ``operator``: a user file. Raises ConfigError."""
    layers = load(user=source) if operator else load(repository=(source,))
    return layers.notices


def _first_told(sources: tuple[Source, ...]) -> tuple[tuple[tuple[str, object, Place], ...], tuple[str, ...]]:
    """What the first source that says something says, and the names of others that do too."""
    told = [(source, found) for source in sources if (found := held(source))]
    return (told[0][1], tuple(source.name for source, _ in told[1:])) if told else ((), ())


def held(source: Source) -> tuple[tuple[str, object, Place], ...]:
    """Dotted name, value and place of everything a file sets. Raises ConfigError."""
    read = read_toml if source.name.endswith(".toml") else read_yaml
    root = read(source.data, source.name)
    if root is None or (isinstance(root, Scalar) and root.value is None):
        return ()
    if not isinstance(root, Entries):
        raise ConfigError(f"{root.place} is not a mapping of keys", hint="start with 'version: 1'")
    return tuple(_walk(root, ()))


def _walk(entries: Entries, path: tuple[str, ...]) -> Iterator[tuple[str, object, Place]]:
    for part, place, node in entries.entries:
        inner = (*path, part)
        name = ".".join(inner)
        if not _is_known(part, path):
            raise ConfigError(f"unknown key {shortened(name)!r} ({place})", hint=_nearest(part, path))
        key = key_named(name)
        if key is not None:
            yield name, key.kind.read(node, name), place
        elif isinstance(node, Entries) and node.entries:
            yield from _walk(node, inner)
        elif _is_empty(node):
            yield from _bare_seat(part, name, place)
        else:
            below = ", ".join(n if n != "*" else "names of your own" for n in names_below(inner))
            raise ConfigError(f"{name} is not a mapping ({place})", hint=f"below it stand {below}")


def _is_empty(node: Node) -> bool:
    return isinstance(node, Entries) or (isinstance(node, Scalar) and node.value is None)


def _bare_seat(part: str, name: str, place: Place) -> Iterator[tuple[str, object, Place]]:
    """A seat of which nothing is said still sits: by the role that its name says. Anything else that is empty says nothing."""
    role = f"{name}.role"
    if key_named(role) is not None:
        yield role, part, place


def _is_known(part: str, path: tuple[str, ...]) -> bool:
    allowed = names_below(path)
    return part in allowed or ("*" in allowed and re.fullmatch(FREE_NAME, part) is not None)


def _nearest(part: str, path: tuple[str, ...]) -> str:
    """The nearest valid name: a sibling, else a key of that name elsewhere."""
    siblings = [name for name in names_below(path) if name != "*"]
    if near := difflib.get_close_matches(part, siblings, n=1):
        return f"did you mean {'.'.join((*path, near[0]))!r}?"
    by_last = {key.parts[-1]: key.name for key in KEYS}
    if near := difflib.get_close_matches(part, by_last, n=1):
        return f"did you mean {by_last[near[0]]!r}?"
    return f"known are {', '.join(siblings)}" if siblings else "a name has letters, digits, '-' and '_'"


def _may_follow(name: str, value: object, *, place: Place, operators: Setting) -> bool:
    """A repository file may set this key to this value. Raises ConfigError where it may not name the key at all."""
    key = _key(name)
    if key.power is Power.OPERATOR:
        raise ConfigError(f"{name} is an operator key ({place}) and a repository may not set it", hint=OPERATOR_HINT)
    return key.tightens(value, operators.value)


def _environment(environ: Mapping[str, str]) -> Iterator[tuple[str, object, Place]]:
    """``REVIEWBOT__DEBATE__ROUNDS`` sets ``debate.rounds``; an empty variable says nothing."""
    for variable, text in environ.items():
        if not variable.startswith(VARIABLE) or not text:
            continue
        path = tuple(variable.removeprefix(VARIABLE).lower().split("__"))
        name = ".".join(path)
        key = key_named(name)
        if key is None or not all(_is_known(part, path[:depth]) for depth, part in enumerate(path)):
            names = {_variable(other): other.name for other in KEYS if "*" not in other.parts}
            near = difflib.get_close_matches(variable, names, n=1)
            hint = f"did you mean {near[0]}?" if near else "see 'reviewbot config show' for all keys"
            raise ConfigError(f"unknown key in the environment: {variable}", hint=hint)
        yield name, key.kind.read(_from_text(key, text, variable), name), Place(f"environment {variable}")


def _variable(key: Key) -> str:
    return VARIABLE + "__".join(key.parts).upper()


def _from_text(key: Key, text: str, variable: str) -> Node:
    """A variable's text as a node: words as they stand, everything else as YAML would read it."""
    place = Place(f"environment {variable}")
    if isinstance(key.kind, Text | Choice):
        return Scalar(text, text, place)
    if text[:1] in ("[", "{", "-") and (node := read_yaml(text.encode("utf-8", "surrogateescape"), place.source)):
        return node
    return Scalar(plain(text), text, place)


def _from_flag(name: str, value: object, flag: str) -> object:
    key = key_named(name)
    if key is None:
        raise ConfigError(f"unknown key {shortened(name)!r} ({flag})", hint=_nearest_key(name))
    return key.kind.read(node_of(value, Place(flag)), name)


def _nearest_key(name: str) -> str:
    near = difflib.get_close_matches(name, [key.name for key in KEYS], n=1)
    return f"did you mean {near[0]!r}?" if near else "see 'reviewbot config show' for all keys"


def _key(name: str) -> Key:
    key = key_named(name)
    if key is None:
        raise KeyError(name)
    return key
