"""A model's arguments, checked against the schema that the model was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.ports import ToolSpec
from reviewbot.screen import strict_json

MOST_BYTES = 4_000
_TYPES: Mapping[str, type] = {"string": str, "integer": int}


class Invalid(ValueError):
    """A call that cannot be answered; the message tells the model how to make one that can."""


def read(spec: ToolSpec, text: str) -> dict[str, Any]:
    """The arguments by name; those that are absent or ``null`` are left out. Raises Invalid.

    Of JSON Schema just so much is known as the tools here use: ``type`` with ``null``, ``enum``, ``minimum``, ``required``.
    """
    try:
        given = strict_json.loads(text or "{}", max_bytes=MOST_BYTES)
    except strict_json.InvalidJson as error:
        raise Invalid(f"the arguments are not valid JSON ({error}); {wanted(spec)}") from error
    if not isinstance(given, dict):
        raise Invalid(f"the arguments are not an object; {wanted(spec)}")
    properties = spec.parameters["properties"]
    unknown = sorted(set(given) - set(properties))
    if unknown:
        raise Invalid(f"there is no argument {unknown[0][:80]!r}; {wanted(spec)}")
    found = {name: value for name, value in given.items() if value is not None}
    for name, schema in properties.items():
        if name in found:
            if complaint := _complaint(found[name], schema):
                raise Invalid(f"{name} {complaint}; {wanted(spec)}")
        elif "null" not in _allowed(schema):
            raise Invalid(f"{name} is missing; {wanted(spec)}")
    return found


def wanted(spec: ToolSpec) -> str:
    """In one sentence, what a call looks like."""
    parts = (
        f"{name} ({' or '.join(_allowed(schema))}): {schema['description']}"
        for name, schema in spec.parameters["properties"].items()
    )
    return f"{spec.name} takes an object with " + "; ".join(parts)


def _allowed(schema: Mapping[str, Any]) -> tuple[str, ...]:
    types = schema["type"]
    return (types,) if isinstance(types, str) else tuple(types)


def _complaint(value: Any, schema: Mapping[str, Any]) -> str:
    known = tuple(_TYPES[name] for name in _allowed(schema) if name in _TYPES)
    if not isinstance(value, known) or isinstance(value, bool):
        return f"is no {_allowed(schema)[0]}"
    if "enum" in schema and value not in schema["enum"]:
        return f"is none of {', '.join(word for word in schema['enum'] if word)}"
    if "minimum" in schema and value < schema["minimum"]:
        return f"is less than {schema['minimum']}"
    return ""
