"""GitHub's own description: which operation a request is, whether it and its answer are as described, what an answer lacks.

Repairs make the description usable: a ``nullable`` enum or choice admits null, ``oneOf`` is read as ``anyOf`` (GitHub's alternatives overlap)
without its discriminator, and the head repository of a pull request is null once it was deleted. Keys of a request that are not
described are refused although the description never forbids them.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema.exceptions import best_match
from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

from tests.forge.contract.cut import REST
from tests.forge.hub.router import Operation, Router

#: Where the slice lives for ``$ref``.
HOME = "urn:github"
#: Statuses that GitHub answers everywhere, documented or not; such an answer has a ``message``.
GENERIC_ERRORS = frozenset({301, 307, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504})
#: What GitHub answers with null although its description does not say so (G30).
LOST = (("pull-request", "head", "repo"), ("pull-request-simple", "head", "repo"))
NOTHING: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}


def repaired(node: Any) -> Any:
    """The same description, in which GitHub's own answers are valid."""
    if isinstance(node, list):
        return [repaired(item) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return {"$ref": HOME + node["$ref"]}
    node = {
        ("anyOf" if key == "oneOf" and "anyOf" not in node else key): repaired(value)
        for key, value in node.items()
        if key != "discriminator"
    }
    if node.get("nullable") and isinstance(node.get("enum"), list) and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    if node.get("nullable") and isinstance(node.get("anyOf"), list):
        node["anyOf"] = [*node["anyOf"], {"enum": [None]}]
    return node


@dataclass(frozen=True)
class Contract:
    """The description, ready to ask."""

    document: dict[str, Any]
    registry: Any
    router: Router

    def schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """A schema itself, where a reference to it was given."""
        while "$ref" in schema:
            schema = self.resolved(schema["$ref"])
        return schema

    def resolved(self, reference: str) -> Any:
        node: Any = self.document
        for word in reference.removeprefix(f"{HOME}#/").split("/"):
            node = node[word]
        return node

    def complaint(self, schema: dict[str, Any], value: Any) -> str | None:
        """What is wrong with a value, if something is."""
        validator = OAS30Validator(schema, registry=self.registry)
        error = best_match(validator.iter_errors(value))
        return f"{error.json_path}: {error.message[:300]}" if error else None

    def request(self, operation: Operation, query: dict[str, str], body: Any) -> list[str]:
        """Everything in a request that is not described."""
        found = []
        for name, text in query.items():
            schema = operation.query.get(name)
            found += [f"query {name!r} is not described"] if schema is None else wrong_text(self.schema(schema), name, text)
        schema = operation.body
        if schema is None:
            return found + (["a body is not described"] if body else [])
        if body is None:
            return found + (["the body is missing"] if operation.needs_body else [])
        complaint = self.complaint(schema, body)
        return (
            found
            + ([f"body {complaint}"] if complaint else [])
            + [f"body key {key} is not described" for key in self.unknown(schema, body)]
        )

    def unknown(self, schema: dict[str, Any], value: Any, at: str = "$") -> list[str]:
        """The keys of a value that its schema does not name."""
        schema = self.schema(schema)
        if isinstance(value, list):
            return (
                [key for i, item in enumerate(value) for key in self.unknown(schema.get("items", {}), item, f"{at}[{i}]")]
                if schema.get("items")
                else []
            )
        if not isinstance(value, dict):
            return []
        own = schema.get("properties", {})
        choices = schema.get("anyOf", []) + schema.get("allOf", [])
        if not own and choices:
            return min((self.unknown(choice, value, at) for choice in choices), key=len)
        if not own or isinstance(schema.get("additionalProperties"), dict):
            return []
        strange = [f"{at}.{key}" for key in value if key not in own]
        return strange + [key for name in value if name in own for key in self.unknown(own[name], value[name], f"{at}.{name}")]

    def response(self, operation: Operation, status: int, media: str, body: Any) -> list[str]:
        """Everything in an answer that is not described."""
        described = operation.answers.get(str(status))
        if described is None:
            told = isinstance(body, dict) and "message" in body
            return [] if status in GENERIC_ERRORS and told else [f"status {status} is not described"]
        content = self.schema(described).get("content", {})
        if media != "application/json":
            return []
        schema = content.get(media, {}).get("schema")
        if schema is None:
            return [] if body is None or status >= 400 else [f"an answer {status} has no body"]
        complaint = self.complaint(schema, body)
        return [f"answer {status} {complaint}"] if complaint else []

    def filled(self, operation: Operation, status: int, body: Any) -> Any:
        """An answer with every required field that it lacks."""
        described = self.schema(operation.answers.get(str(status), {}))
        schema = described.get("content", {}).get("application/json", {}).get("schema")
        return body if schema is None else self.fill(schema, body)

    def fill(self, schema: dict[str, Any], known: Any) -> Any:
        """What is known, with the least that a schema asks for beside it."""
        schema = self.chosen(self.schema(schema), known)
        if isinstance(known, list):
            return [self.fill(schema.get("items", {}), item) for item in known]
        if not isinstance(known, dict):
            return known
        own = schema.get("properties", {})
        made = {name: self.least(own.get(name, {})) for name in schema.get("required", ()) if name not in known}
        return made | {name: self.fill(own[name], value) if name in own else value for name, value in known.items()}

    def chosen(self, schema: dict[str, Any], known: Any) -> dict[str, Any]:
        """Of alternatives the one that fits what is known best; of all that apply together their sum."""
        if "allOf" in schema:
            parts = [self.chosen(self.schema(part), known) for part in schema["allOf"]]
            schema = {
                "properties": {name: value for part in parts for name, value in part.get("properties", {}).items()},
                "required": [name for part in parts for name in part.get("required", ())],
            }
        if "anyOf" not in schema or schema.get("properties"):
            return schema
        choices = [self.chosen(self.schema(choice), known) for choice in schema["anyOf"]]
        if isinstance(known, list):
            return next((c for c in choices if c.get("type") == "array"), choices[0])
        if isinstance(known, dict):
            return max(
                choices, key=lambda c: len(known.keys() & c.get("properties", {}).keys()) - len(c.get("required", ())) / 1000
            )
        return choices[0]

    def least(self, schema: dict[str, Any]) -> Any:
        """The smallest value a schema allows."""
        schema = self.schema(schema)
        if schema.get("nullable"):
            return None
        schema = self.chosen(schema, None)
        if "enum" in schema:
            return schema["enum"][0]
        kind = schema.get("type", "object" if "properties" in schema else "string")
        if kind == "array":
            return []
        return self.fill(schema, {}) if kind == "object" else NOTHING[kind]


def wrong_text(schema: dict[str, Any], name: str, text: str) -> list[str]:
    """What a query says, by its type and its words."""
    if schema.get("type") == "integer" and not text.isdecimal():
        return [f"query {name}={text!r} is no number"]
    if "enum" in schema and text not in schema["enum"]:
        return [f"query {name}={text!r} is none of {schema['enum']}"]
    return []


@cache
def contract() -> Contract:
    """The slice of GitHub's description beside this package, read once."""
    document = repaired(json.loads(gzip.decompress(REST.read_bytes())))
    for schema, side, name in LOST:
        inside = document["components"]["schemas"][schema]["properties"][side]["properties"]
        inside[name] = {"anyOf": [inside[name], {"enum": [None]}]}
    registry = Registry().with_resource(HOME, DRAFT4.create_resource(document))
    return Contract(document, registry, Router(document))
