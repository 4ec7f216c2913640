"""JSON Schemas as vendors' structured output accepts them. What they cannot enforce is dropped: replies are read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEPT = ("description", "title", "enum", "const", "$ref")
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """For OpenAI's strict mode: every property required, no others allowed, a type on everything (a list where it may be
    null), no sizes or ranges. A property that was optional may be null instead."""
    kinds = _kinds(schema)
    out = _skeleton(schema, strict)
    if kinds:
        out["type"] = kinds[0] if len(kinds) == 1 else kinds
    properties = schema.get("properties")
    if "object" in kinds:
        wanted = set(schema.get("required", ()))
        out["properties"] = {
            name: strict(part) if name in wanted else _or_null(strict(part)) for name, part in (properties or {}).items()
        }
        out["required"] = list(out["properties"])
        out["additionalProperties"] = False
    if "array" in kinds and "items" in schema:
        out["items"] = strict(schema["items"])
    return out


def plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    """For Anthropic: one type or an ``anyOf``, never a list of types; no sizes or ranges; no properties but the named ones.

    After what ``transform_schema`` of the anthropic package does, which knows no list of types and appends what it drops to
    the descriptions.
    """
    kinds = _kinds(schema)
    if len(kinds) > 1 and "enum" not in schema:
        return {"anyOf": [plain({**schema, "type": kind}) for kind in kinds]}
    out = _skeleton(schema, plain)
    if "enum" in schema or "const" in schema:
        return out
    if kinds:
        out["type"] = kinds[0]
    if "object" in kinds:
        out["properties"] = {name: plain(part) for name, part in schema.get("properties", {}).items()}
        out["required"] = [name for name in schema.get("required", ()) if name in out["properties"]]
        out["additionalProperties"] = False
    if "array" in kinds and "items" in schema:
        out["items"] = plain(schema["items"])
    return out


def _skeleton(schema: Mapping[str, Any], dialect: Any) -> dict[str, Any]:
    """What both keep: words, choices, and the parts of unions and definitions."""
    out: dict[str, Any] = {key: schema[key] for key in _KEPT if key in schema}
    for union in ("anyOf", "oneOf"):
        if union in schema:
            out["anyOf"] = [dialect(part) for part in schema[union]]
    if "$defs" in schema:
        out["$defs"] = {name: dialect(part) for name, part in schema["$defs"].items()}
    return out


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """The types of a schema in order, from its choices where it names none."""
    named = schema.get("type")
    if named is not None:
        return [named] if isinstance(named, str) else list(named)
    choices = schema["enum"] if "enum" in schema else [schema["const"]] if "const" in schema else []
    return list(dict.fromkeys(_NAMES[type(choice)] for choice in choices if type(choice) in _NAMES))


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "type" not in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if "null" in kinds:
        return schema
    nullable = {**schema, "type": [*kinds, "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable
