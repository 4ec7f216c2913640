"""A document's JSON, read place by place: strict, and every error names the place where it went wrong."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from reviewbot.domain.evidence import Severity
from reviewbot.errors import UsageError
from reviewbot.screen import strict_json

SCHEMA_VERSION = 1
"""Of every document."""

_Word = TypeVar("_Word", bound=StrEnum)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Kind:
    """What sort of document is read: its name in errors, what to do about a wrong one, and how many bytes are too many."""

    name: str
    hint: str
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the document and its JSON path."""

    value: Any
    path: str
    kind: Kind

    def wrong(self, wanted: str) -> UsageError:
        """The error for this place."""
        return UsageError(f"the {self.kind.name} is wrong at {self.path}: {wanted}", hint=self.kind.hint)

    def fields(self, names: str, later: str = "") -> dict[str, Node]:
        """An object with exactly these keys; those of ``later`` came to the document with a later release and may be absent."""
        expected, known = names.split(), f"{names} {later}".split()
        if not isinstance(self.value, dict):
            raise self.wrong("an object is expected")
        for name in expected:
            if name not in self.value:
                raise self.wrong(f"the key {name!r} is missing")
        for name in self.value:
            if name not in known:
                raise self.wrong(f"the key {name[:80]!r} is unknown")
        return {name: self._below(self.value[name], f".{name}") for name in known if name in self.value}

    def entries(self) -> Iterator[tuple[str, Node]]:
        """An object with free keys."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object is expected")
        return ((name, self._below(item, f".{name[:80]}")) for name, item in self.value.items())

    def each(self, read: Callable[[Node], _Value]) -> tuple[_Value, ...]:
        """A list, every item read."""
        if not isinstance(self.value, list):
            raise self.wrong("a list is expected")
        return tuple(read(self._below(item, f"[{index}]")) for index, item in enumerate(self.value))

    def maybe(self, read: Callable[[Node], _Value]) -> _Value | None:
        """Null, or what ``read`` makes of it."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        """A string."""
        if not isinstance(self.value, str):
            raise self.wrong("a string is expected")
        return self.value

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false is expected")
        return self.value

    def integer(self) -> int:
        """A whole number; an exit code may be below zero."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("a whole number is expected")
        return self.value

    def count(self) -> int:
        """A whole number, zero or more."""
        if self.integer() < 0:
            raise self.wrong("a number of zero or more is expected")
        return self.integer()

    def amount(self) -> float:
        """A finite number, zero or more."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool) or not math.isfinite(self.value):
            raise self.wrong("a number is expected")
        if self.value < 0:
            raise self.wrong("a number of zero or more is expected")
        return self.value

    def probability(self) -> float:
        """A number from 0 to 1."""
        if self.amount() > 1:
            raise self.wrong("a number from 0 to 1 is expected")
        return self.amount()

    def word(self, kind: type[_Word]) -> _Word:
        """One of an enum's words."""
        try:
            return kind(self.text())
        except ValueError as exc:
            raise self.wrong(f"one of {', '.join(kind)} is expected") from exc

    def one_of(self, words: tuple[str, ...]) -> str:
        """One of these words."""
        if self.text() not in words:
            raise self.wrong(f"one of {', '.join(words)} is expected")
        return self.text()

    def severity(self) -> Severity:
        """A severity's word."""
        found = {severity.label: severity for severity in Severity}.get(self.text())
        if found is None:
            raise self.wrong("one of low, medium, high, critical is expected")
        return found

    def path_inside(self) -> str:
        """A path that stays inside the repository, as git writes them."""
        if {"", ".", ".."} & set(self.text().split("/")):
            raise self.wrong("a path inside the repository is expected")
        return self.text()

    def data(self) -> bytes:
        """Bytes in base64, in the one way in which they can be written (RFC 4648 §4)."""
        try:
            found = base64.b64decode(self.text(), validate=True)
        except ValueError as exc:
            raise self.wrong("bytes in base64 are expected") from exc
        if base64.b64encode(found).decode("ascii") != self.value:
            raise self.wrong("bytes in base64 are expected")
        return found

    def version(self) -> None:
        """The version of documents that this release writes."""
        if self.integer() != SCHEMA_VERSION:
            raise self.wrong(f"version {SCHEMA_VERSION} is expected")

    def texts(self) -> tuple[str, ...]:
        """A list of strings."""
        return self.each(Node.text)

    def _below(self, value: Any, step: str) -> Node:
        return Node(value, self.path + step, self.kind)


def root(text: str | bytes, kind: Kind) -> Node:
    """The whole document. Raises UsageError where it is no JSON that means one thing."""
    try:
        return Node(strict_json.loads(text, max_bytes=kind.max_bytes), "$", kind)
    except strict_json.InvalidJson as exc:
        raise UsageError(f"the {kind.name} is not valid JSON: {exc}", hint=kind.hint) from exc
