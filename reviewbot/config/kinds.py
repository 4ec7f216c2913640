"""What a key may hold: each kind reads a node or says what it expected, and describes itself as JSON Schema."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from reviewbot.config import installed
from reviewbot.config.node import Entries, Items, Node, Scalar, shortened
from reviewbot.errors import ConfigError

MAX_ITEMS = 500
MAX_TEXT = 10_000


class Kind(Protocol):
    """A kind of value."""

    @property
    def expects(self) -> str:
        """In words, after "expected"."""
        ...

    def read(self, node: Node, name: str) -> object:
        """The value, frozen. Raises ConfigError naming the key, its place and what was expected."""
        ...

    def schema(self) -> dict[str, object]:
        """JSON Schema."""
        ...


def mismatch(node: Node, name: str, kind: Kind) -> ConfigError:
    """The one error for a value of the wrong kind."""
    if isinstance(kind, Text) and not kind.is_shown:
        said = "is not valid"
    elif isinstance(node, Scalar):
        said = f"is {shortened(node.text)!r}" if node.value is not None else "has no value"
    else:
        said = "is a list" if isinstance(node, Items) else "is a mapping"
    return ConfigError(f"{name} {said} ({node.place})", hint=f"expected {kind.expects}")


@dataclass(frozen=True, slots=True)
class Boolean:
    """``true`` or ``false``, and no other word for it."""

    @property
    def expects(self) -> str:
        return "true or false"

    def read(self, node: Node, name: str) -> object:
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        raise mismatch(node, name, self)

    def schema(self) -> dict[str, object]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from ``least`` to ``most``."""

    least: int
    most: int

    @property
    def expects(self) -> str:
        return f"a whole number from {self.least:,} to {self.most:,}" if self.least < self.most else str(self.least)

    def read(self, node: Node, name: str) -> object:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most:
            return value
        raise mismatch(node, name, self)

    def schema(self) -> dict[str, object]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Number:
    """A number from ``least`` to ``most``, read as ``float``."""

    least: float
    most: float

    @property
    def expects(self) -> str:
        return f"a number from {self.least:,g} to {self.most:,g}"

    def read(self, node: Node, name: str) -> object:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number) and self.least <= number <= self.most:
                return number
        raise mismatch(node, name, self)

    def schema(self) -> dict[str, object]:
        return {"type": "number", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, slots=True)
class Text:
    """A text that matches ``pattern`` as a whole; ``form`` says so in words. ``most``: characters.

    ``is_shown`` is false where a person may write a secret, rightly or by mistake: no error quotes it.
    """

    form: str = "a text"
    pattern: str = r"[^\x00]+"
    most: int = MAX_TEXT
    is_shown: bool = True

    @property
    def expects(self) -> str:
        return self.form

    def read(self, node: Node, name: str) -> object:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, str) and len(value) <= self.most and re.fullmatch(self.pattern, value, re.DOTALL):
            return value
        raise mismatch(node, name, self)

    def schema(self) -> dict[str, object]:
        return {"type": "string", "maxLength": self.most, "pattern": f"^(?:{self.pattern})$"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some words, from the tightest to the loosest where that matters."""

    words: tuple[str, ...]

    @property
    def expects(self) -> str:
        return f"one of {', '.join(self.words)}"

    def read(self, node: Node, name: str) -> object:
        if isinstance(node, Scalar) and node.text in self.words:
            return node.text
        raise mismatch(node, name, self)

    def schema(self) -> dict[str, object]:
        return {"enum": list(self.words)}


@dataclass(frozen=True, slots=True)
class Offered:
    """One of some words, or a name that an installed package adds under a ``group`` of entry points. Packages are looked through
    only for what is none of the words."""

    words: tuple[str, ...]
    group: str
    pattern: str

    @property
    def expects(self) -> str:
        return f"one of {', '.join(self.words)}, or a name that an installed package adds"

    def read(self, node: Node, name: str) -> object:
        text = node.text if isinstance(node, Scalar) else None
        if text in self.words:
            return text
        added = installed.names(self.group)
        if text is not None and re.fullmatch(self.pattern, text) and text in added:
            return text
        wrong = mismatch(node, name, self)
        near = difflib.get_close_matches(text or "", (*self.words, *added), n=1)
        raise ConfigError(wrong.message, hint=f"did you mean {near[0]!r}?") if near else wrong

    def schema(self) -> dict[str, object]:
        return {"anyOf": [{"enum": list(self.words)}, {"type": "string", "pattern": f"^(?:{self.pattern})$"}]}


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of one kind, read as a tuple."""

    of: Kind

    @property
    def expects(self) -> str:
        return f"a list, each item {self.of.expects}"

    def read(self, node: Node, name: str) -> object:
        if not isinstance(node, Items):
            raise mismatch(node, name, self)
        if len(node.items) > MAX_ITEMS:
            raise ConfigError(f"{name} has {len(node.items)} items ({node.place})", hint=f"at most {MAX_ITEMS}")
        return tuple(self.of.read(item, f"{name}[{index}]") for index, item in enumerate(node.items))

    def schema(self) -> dict[str, object]:
        return {"type": "array", "maxItems": MAX_ITEMS, "items": self.of.schema()}


@dataclass(frozen=True, slots=True)
class Record:
    """A mapping with these names only: all of ``required``, and exactly one of ``either`` where there are some."""

    fields: Mapping[str, Kind]
    required: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    together: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def expects(self) -> str:
        return f"a mapping of {', '.join(self.fields)}"

    def read(self, node: Node, name: str) -> object:
        if not isinstance(node, Entries):
            raise mismatch(node, name, self)
        held: dict[str, object] = {}
        for key, place, inner in node.entries:
            if key not in self.fields:
                near = difflib.get_close_matches(key, self.fields, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"expected {self.expects}"
                raise ConfigError(f"unknown key {shortened(f'{name}.{key}')!r} ({place})", hint=hint)
            held[key] = self.fields[key].read(inner, f"{name}.{key}")
        self._check(held, node, name)
        return MappingProxyType(held)

    def _check(self, held: Mapping[str, object], node: Entries, name: str) -> None:
        needed = (*self.required, *(other for key, other in self.together.items() if key in held))
        missing = [key for key in needed if key not in held]
        if missing:
            raise ConfigError(f"{name} lacks {missing[0]!r} ({node.place})", hint="add it")
        if self.either and sum(key in held for key in self.either) != 1:
            raise ConfigError(f"{name} needs one of {', '.join(self.either)} ({node.place})", hint="keep exactly one")

    def schema(self) -> dict[str, object]:
        schema: dict[str, object] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: kind.schema() for name, kind in self.fields.items()},
        }
        if self.required:
            schema["required"] = list(self.required)
        if self.either:
            schema["oneOf"] = [{"required": [name]} for name in self.either]
        if self.together:
            schema["dependentRequired"] = {name: [other] for name, other in self.together.items()}
        return schema
