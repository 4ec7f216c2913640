"""The smallest instance of a JSON Schema: what a constrained model could say at the least."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SCALARS: dict[str, Any] = {"string": "", "integer": 0, "number": 0.5, "boolean": False, "null": None}


def smallest(schema: Any, root: Mapping[str, Any] | None = None) -> Any:
    """A small valid instance. Knows the words that vendors know; patterns and formats are not among them."""
    if not isinstance(schema, Mapping):
        return None
    root = schema if root is None else root
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    if "$ref" in schema:
        return smallest(_referred(schema["$ref"], root), root)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return smallest(choices[0], root)
    return _of_kind(schema, root)


def _of_kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = (kind[0] if isinstance(kind, list) else kind).lower()
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: smallest(properties.get(name, {}), root) for name in schema.get("required", ())}
    if kind == "array":
        return [smallest(schema.get("items", {}), root) for _ in range(schema.get("minItems", 0))]
    if kind in ("integer", "number") and ("minimum" in schema or "maximum" in schema):
        return schema.get("minimum", min(0, schema.get("maximum", 0)))
    if kind == "string":
        return "x" * schema.get("minLength", 0)
    return SCALARS[kind]


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found[name]
    return found
