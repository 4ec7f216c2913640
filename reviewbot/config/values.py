"""What a file says, checked against the types of settings."""

from __future__ import annotations

import difflib
import re
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeGuard, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.inspect import FloatType, IntType, Metadata, type_info

from reviewbot.errors import ConfigError
from reviewbot.text.secrets import redact

Key = tuple[str, ...]
# Where a key was set, as messages and `config show` say it.
Where = Callable[[Key, int | None], str]

MAX_DEPTH = 8
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
HARMLESS = re.compile(r"[\w. -]{1,24}")


class Node(Struct, frozen=True):
    """A value and the line where it, or its key, begins; None where there are no lines."""

    value: str | int | float | bool | tuple[Node, ...] | dict[str, Node] | None
    line: int | None = None


def dotted(key: Key) -> str:
    return ".".join(key).replace(".[", "[")


def read_values(
    node: Node, kind: object, key: Key, where: Where, *, is_text: bool = False
) -> Iterator[tuple[Key, object, int | None]]:
    """The keys that are set below `key`, with plain values of the right type, and their lines.

    Lists are values. With `is_text`, values are texts to be read as their type.
    Raises ConfigError for an unknown key and for a wrong value.
    """
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(option for option in get_args(kind) if option is not type(None))
    if not _is_struct(kind) and get_origin(kind) is not dict:
        yield key, _value(node, kind, key, where, is_text), node.line
        return
    if node.value is None:
        return
    if not isinstance(node.value, dict):
        raise _wrong(node, key, where, "a mapping")
    for name, inner in node.value.items():
        place = (*key, name)
        if _is_struct(kind):
            fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
            if name not in fields:
                raise _unknown(place, kind, where(place, inner.line))
            inner_kind = fields[name]
        else:
            if not NAME.fullmatch(name):
                what = f"a name in {dotted(key)} has letters, digits, '-' and '_', at most 64"
                raise ConfigError(f"{where(place, inner.line)}: {what}")
            inner_kind = get_args(kind)[1]
        yield from read_values(inner, inner_kind, place, where, is_text=is_text)


def require(kind: type[Struct], values: Mapping[str, object], key: Key, where: str) -> None:
    """Raises ConfigError if a field without a default has no value."""
    for field in msgspec.structs.fields(kind):
        if field.required and field.name not in values:
            raise ConfigError(f"{where}: {dotted((*key, field.name))} is missing")


def _value(node: Node, kind: object, key: Key, where: Where, is_text: bool) -> object:
    if get_origin(kind) is tuple:
        item_kind = get_args(kind)[0]
        value = node.value
        if is_text and isinstance(value, str):
            value = tuple(Node(part.strip()) for part in value.split(",") if part.strip())
        if not isinstance(value, tuple):
            raise _wrong(node, key, where, "a list")
        places = [(*key, f"[{number}]") for number in range(len(value))]
        items = zip(value, places, strict=True)
        return [_value(item, item_kind, place, where, is_text) for item, place in items]
    if _is_struct(kind):
        if not isinstance(node.value, dict):
            raise _wrong(node, key, where, "a mapping")
        found = {path[-1]: value for path, value, _ in read_values(node, kind, key, where)}
        require(kind, found, key, where(key, node.line))
        return found
    try:
        return msgspec.to_builtins(msgspec.convert(node.value, kind, strict=not is_text))
    except msgspec.ValidationError:
        raise _wrong(node, key, where, allowed(kind)) from None


def allowed(kind: object) -> str:
    """The values of a type, in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    info = type_info(kind)
    if isinstance(info, Metadata):
        info = info.type
    if isinstance(info, IntType | FloatType):
        name = "a whole number" if isinstance(info, IntType) else "a number"
        return f"{name} from {info.ge} to {info.le}"
    return "true or false" if kind is bool else "a text"


def _wrong(node: Node, key: Key, where: Where, what: str) -> ConfigError:
    """An error that quotes the value only if it is short and looks like no secret."""
    said = str(node.value).lower() if isinstance(node.value, bool) else str(node.value)
    is_shown = isinstance(node.value, str | int | float) and HARMLESS.fullmatch(said)
    said = f", not {said!r}" if is_shown and not redact(said)[1] else ""
    said = ", and has no value" if node.value is None else said
    return ConfigError(f"{where(key, node.line)}: {dotted(key)} must be {what}{said}")


def _unknown(key: Key, kind: type[Struct], place: str) -> ConfigError:
    """Names the nearest key: one beside it, else one of that name in a section."""
    names: dict[str, Key] = {}
    for field in msgspec.structs.fields(kind):
        if _is_struct(field.type):
            below = (inner.name for inner in msgspec.structs.fields(field.type))
            names |= {name: (*key[:-1], field.name, name) for name in below}
    siblings = [field.name for field in msgspec.structs.fields(kind)]
    names |= {name: (*key[:-1], name) for name in siblings}
    near = difflib.get_close_matches(key[-1], names, n=1)
    hint = f"did you mean {dotted(names[near[0]])}?" if near else f"known are {', '.join(siblings)}"
    return ConfigError(f"{place}: unknown key {redact(dotted(key))[0][:80]}; {hint}")


def _is_struct(kind: object) -> TypeGuard[type[Struct]]:
    return isinstance(kind, type) and issubclass(kind, Struct)
