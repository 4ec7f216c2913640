"""A model's arguments, checked against the schema that the model was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.ports import ToolSpec
from reviewbot.screen import strict_json

MOST_BYTES = 4_000
"""Of all arguments of a call, where its tool names no other number."""
_KINDS: Mapping[type, tuple[str, ...]] = {
    str: ("string",),
    bool: ("boolean",),
    int: ("integer", "number"),
    float: ("number",),
    list: ("array",),
    type(None): ("null",),
}


def read(spec: ToolSpec, text: str, most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """The arguments by name; those that are absent or ``null`` are left out. Raises Declined.

    Of JSON Schema just so much is known as the tools here use: ``type`` with ``null``, ``enum``, ``minimum``, ``items``; what may
    not be ``null`` is required.
    """
    try:
        given = strict_json.loads(text or "{}", max_bytes=most_bytes)
    except strict_json.InvalidJson as error:
        raise _invalid(spec, f"the arguments are not valid JSON ({error})") from error
    if not isinstance(given, dict):
        raise _invalid(spec, "the arguments are not an object")
    properties = spec.parameters["properties"]
    unknown = sorted(set(given) - set(properties))
    if unknown:
        raise _invalid(spec, f"there is no argument {unknown[0][:80]!r}")
    found = {name: value for name, value in given.items() if value is not None}
    for name, schema in properties.items():
        if name in found:
            if complaint := _complaint(found[name], schema):
                raise _invalid(spec, f"{name}{complaint}")
        elif "null" not in _allowed(schema):
            raise _invalid(spec, f"{name} is missing")
    return found


def _invalid(spec: ToolSpec, message: str) -> Declined:
    return Declined(Why.INVALID, message, spec.parameters)


def _allowed(schema: Mapping[str, Any]) -> tuple[str, ...]:
    types = schema["type"]
    return (types,) if isinstance(types, str) else tuple(types)


def _complaint(value: Any, schema: Mapping[str, Any]) -> str:
    """What is wrong, as it follows the name; empty where nothing is."""
    allowed = _allowed(schema)
    if not set(_KINDS.get(type(value), ())) & set(allowed):
        return f" is no {' or '.join(kind for kind in allowed if kind != 'null')}"
    if "enum" in schema and value not in schema["enum"]:
        return f" is none of {', '.join(word for word in schema['enum'] if word)}"
    if "minimum" in schema and value < schema["minimum"]:
        return f" is less than {schema['minimum']}"
    if isinstance(value, list):
        complaints = ((index, _complaint(item, schema["items"])) for index, item in enumerate(value))
        return next((f"[{index}]{complaint}" for index, complaint in complaints if complaint), "")
    return ""
