"""A configuration file as a tree that remembers where each value was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
SHOWN = 60

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER = re.compile(r"[-+]?(?:[0-9]{1,18}\.[0-9]{0,32}|\.[0-9]{1,32}|[0-9]{1,18})(?:[eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was said. ``line`` is 1-based, ``None`` where the source has no lines."""

    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source} line {self.line}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value: as it was understood, and as it was written."""

    value: str | int | float | bool | None
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Node, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Entries:
    """A mapping in the order of the file: name, its place, what it holds. Names are unique."""

    entries: tuple[tuple[str, Place, Node], ...]
    place: Place


Node = Scalar | Items | Entries


def plain(text: str) -> str | int | float | bool | None:
    """What an unquoted word means, after YAML 1.2's core schema: ``off`` and ``no`` are words, not booleans.

    https://yaml.org/spec/1.2.2/#103-core-schema; without its hexadecimal, octal, infinite and undefined numbers.
    """
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    if _WHOLE.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text):
        return float(text)
    return text


def node_of(value: object, place: Place) -> Node:
    """A Python value as a node. Raises TypeError for a value that no file could hold."""
    if isinstance(value, Mapping):
        return Entries(tuple((str(name), place, node_of(inner, place)) for name, inner in value.items()), place)
    if isinstance(value, list | tuple):
        return Items(tuple(node_of(item, place) for item in value), place)
    if value is None or isinstance(value, str | int | float):
        return Scalar(value, str(value), place)
    raise TypeError(f"{place}: {type(value).__name__} is no configuration value")


def shortened(text: str) -> str:
    """A text as an error quotes it."""
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"
