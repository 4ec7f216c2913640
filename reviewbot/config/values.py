"""What a file says, checked against the types of settings."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal, TypeGuard, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.inspect import FloatType, IntType, Metadata, type_info

from reviewbot.errors import ConfigError
from reviewbot.text.secrets import redact

Key = tuple[str, ...]
# Where a key was set, as messages and `config show` say it.
Where = Callable[[Key], str]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
fields = cache(msgspec.structs.fields)  # a millisecond for each struct


class Document(Struct, frozen=True):
    """A value as JSON has them, and the lines where keys, and the items "[0]" of lists, begin."""

    value: object
    lines: Mapping[Key, int] = {}

    def line(self, key: Key) -> int | None:
        """The line of the key, or else of the nearest one around it."""
        around = (key[:end] for end in range(len(key), -1, -1))
        return next((self.lines[key] for key in around if key in self.lines), None)


def dotted(key: Key) -> str:
    return ".".join(key).replace(".[", "[")


def validate(
    value: object,
    kind: object,
    key: Key,
    where: Where,
    *,
    is_text: bool = False,
    is_part: bool = False,
) -> object:
    """The value, and all in it, as plain values of the right type.

    With `is_text`, values are texts to be read as their type; with `is_part`, keys that are
    required may be missing, but not in a list. Raises ConfigError.
    """
    options = get_args(kind)
    if type(None) in options:
        kind = options[0]
    if get_origin(kind) is tuple:
        if is_text and isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        if not isinstance(value, list | tuple):
            raise _wrong(key, where, "a list")
        return [
            validate(item, options[0], (*key, f"[{number}]"), where, is_text=is_text)
            for number, item in enumerate(value)
        ]
    if not _is_struct(kind) and get_origin(kind) is not dict:
        try:
            return msgspec.convert(value, kind, strict=not is_text)
        except msgspec.ValidationError:
            raise _wrong(key, where, allowed(kind)) from None
    value = {} if value is None else value
    if not isinstance(value, dict):
        raise _wrong(key, where, "a mapping")
    found = {}
    for name, inner in value.items():
        place = (*key, name)
        inner_kind = _kind_of(place, kind, where)
        found[name] = validate(inner, inner_kind, place, where, is_text=is_text, is_part=is_part)
    for field in fields(kind) if _is_struct(kind) and not is_part else ():
        if field.required and field.name not in found:
            raise ConfigError(f"{where(key)}: {dotted((*key, field.name))} is missing")
    return found


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


def _wrong(key: Key, where: Where, what: str) -> ConfigError:
    """An error that does not quote the value, which may be a secret."""
    return ConfigError(f"{where(key)}: {dotted(key)} must be {what}")


def _kind_of(key: Key, kind: object, where: Where) -> object:
    """The type of a key of a dictionary or of settings. Raises ConfigError if they lack it."""
    if not _is_struct(kind):
        if NAME.fullmatch(key[-1]):
            return get_args(kind)[1]
        what = f"a name in {dotted(key[:-1])} has letters, digits, '-' and '_', at most 64"
        raise ConfigError(f"{where(key)}: {what}")
    kinds = {field.name: field.type for field in fields(kind)}
    if key[-1] in kinds:
        return kinds[key[-1]]
    near = difflib.get_close_matches(key[-1], kinds, n=1)
    nearest = dotted((*key[:-1], *near))
    hint = f"did you mean {nearest}?" if near else f"known are {', '.join(kinds)}"
    raise ConfigError(f"{where(key)}: unknown key {redact(dotted(key))[0][:80]}; {hint}")


def _is_struct(kind: object) -> TypeGuard[type[Struct]]:
    return isinstance(kind, type) and issubclass(kind, Struct)
