"""GitHub's OpenAPI description: which operation a request is, and what in it is not described.

Repairs make the description fit what GitHub sends: a nullable enum admits null, `oneOf` is read as
`anyOf` because GitHub's alternatives overlap, and the head repository of a pull request is null
once it is deleted (G30). Keys of a request that are not described are refused, although the
description does not forbid them: a misspelt key would pass every validator.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jsonschema.exceptions import best_match
from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

DATA = Path(__file__).parents[1] / "data" / "github"
BASE_URI = "urn:github"
# Statuses that GitHub sends everywhere, documented or not; their bodies have a `message`.
GENERIC_ERRORS = frozenset({301, 307, 401, 403, 404, 409, 410, 422, 429, 500, 502, 503, 504})
VARIABLE = re.compile(r"\{(\w+)\}")

Schema = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """An operation of the REST API.

    Attributes:
        id: as `pulls/get`.
        integers: variables of the path that are numbers.
        query: schemas of the query's parameters.
        body: schema of the body, None where there is none.
        responses: by status, as text.
        literal: how many characters of the path are no variables.
    """

    id: str
    method: str
    pattern: re.Pattern[str]
    integers: frozenset[str]
    query: dict[str, Schema]
    body: Schema | None
    body_required: bool
    responses: dict[str, Any]
    literal: int

    @property
    def is_write(self) -> bool:
        return self.method != "GET"

    @property
    def success(self) -> int:
        """The first status of success that is described."""
        return next(int(status) for status in self.responses if status[0] in "23")


@dataclass(frozen=True)
class Contract:
    document: dict[str, Any]
    registry: Any
    optional: Any  # the same without `required`
    operations: list[Operation]

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, Any]] | None:
        """The operation, and the variables of its path."""
        for operation in self.operations:
            match = operation.pattern.fullmatch(path) if operation.method == method else None
            if match is None:
                continue
            texts = {name: unquote(text) for name, text in match.groupdict().items()}
            if all(texts[name].isdecimal() for name in operation.integers):
                integers = {name: int(texts[name]) for name in operation.integers}
                return operation, {**texts, **integers}
        return None

    def request_errors(self, operation: Operation, query: dict[str, str], body: Any) -> list[str]:
        errors = []
        for name, text in query.items():
            schema = operation.query.get(name)
            if schema is None:
                errors.append(f"query {name!r} is not described")
            else:
                errors += query_errors(self.resolve(schema), name, text)
        if operation.body is None:
            return errors + (["a body is not described"] if body else [])
        if body is None:
            return errors + (["the body is missing"] if operation.body_required else [])
        errors += [
            f"body {error}" for error in self.schema_errors(operation.body, body, self.registry)
        ]
        unknown = self.unknown_keys(operation.body, body)
        return errors + [f"body key {key} is not described" for key in unknown]

    def response_errors(self, operation: Operation, status: int, body: Any) -> list[str]:
        """The fake sends what is read. What it sends is as described; what it lacks is no error."""
        described = operation.responses.get(str(status))
        if described is None:
            is_error = isinstance(body, dict) and "message" in body
            if status in GENERIC_ERRORS and is_error:
                return []
            return [f"status {status} is not described"]
        schema = json_schema(self.resolve(described))
        if schema is None:
            return [] if body is None or status >= 400 else [f"response {status} has no body"]
        errors = self.schema_errors(schema, body, self.optional)
        return [f"response {status} {error}" for error in errors]

    def resolve(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            node: Any = self.document
            for word in schema["$ref"].removeprefix(f"{BASE_URI}#/").split("/"):
                node = node[word]
            schema = node
        return schema

    def schema_errors(self, schema: Schema, value: Any, registry: Any) -> list[str]:
        """The best error of a validator, if there is one."""
        validator = OAS30Validator(schema, registry=registry)
        error = best_match(validator.iter_errors(value))
        return [f"{error.json_path}: {error.message[:300]}"] if error else []

    def unknown_keys(self, schema: Schema, value: Any, at: str = "$") -> list[str]:
        schema = self.resolve(schema)
        if isinstance(value, list):
            items = schema.get("items", {})
            pairs = enumerate(value)
            return [
                key for i, each in pairs for key in self.unknown_keys(items, each, f"{at}[{i}]")
            ]
        if not isinstance(value, dict):
            return []
        own = schema.get("properties", {})
        choices = schema.get("anyOf", []) + schema.get("allOf", [])
        if not own and choices:
            return min((self.unknown_keys(choice, value, at) for choice in choices), key=len)
        if not own or isinstance(schema.get("additionalProperties"), dict):
            return []
        unknown = [f"{at}.{key}" for key in value if key not in own]
        for key in own.keys() & value.keys():
            unknown += self.unknown_keys(own[key], value[key], f"{at}.{key}")
        return unknown


@cache
def contract() -> Contract:
    document = repair(json.loads(gzip.decompress((DATA / "rest.json.gz").read_bytes())))
    for schema in ("pull-request", "pull-request-simple"):
        head = document["components"]["schemas"][schema]["properties"]["head"]["properties"]
        head["repo"] = {"anyOf": [head["repo"], {"enum": [None]}]}
    registry = Registry().with_resource(BASE_URI, DRAFT4.create_resource(document))
    operations = [
        read_operation(document, path, method, described)
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    operations.sort(key=lambda operation: -operation.literal)
    optional = Registry().with_resource(
        BASE_URI, DRAFT4.create_resource(without_required(document))
    )
    return Contract(document, registry, optional, operations)


def without_required(node: Any) -> Any:
    if isinstance(node, list):
        return [without_required(each) for each in node]
    if not isinstance(node, dict):
        return node
    is_list = isinstance(node.get("required"), list)
    return {k: without_required(v) for k, v in node.items() if k != "required" or not is_list}


def repair(node: Any) -> Any:
    """The same description, in which what GitHub sends is valid."""
    if isinstance(node, list):
        return [repair(each) for each in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return {"$ref": BASE_URI + node["$ref"]}
    node = {
        ("anyOf" if key == "oneOf" and "anyOf" not in node else key): repair(value)
        for key, value in node.items()
        if key != "discriminator"
    }
    if node.get("nullable") and isinstance(node.get("enum"), list) and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    if node.get("nullable") and isinstance(node.get("anyOf"), list):
        node["anyOf"] = [*node["anyOf"], {"enum": [None]}]
    return node


def read_operation(
    document: dict[str, Any], path: str, method: str, described: dict[str, Any]
) -> Operation:
    named = document["components"].get("parameters", {})
    parameters = [
        named[node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node
        for node in described.get("parameters", ())
    ]
    in_path = {p["name"]: p for p in parameters if p["in"] == "path"}

    def group(match: re.Match[str]) -> str:
        name = match[1]
        # `x-multi-segment` is the only sign that a variable may contain a slash; GitHub's
        # description lacks it for `basehead`.
        slashes = in_path.get(name, {}).get("x-multi-segment") or name == "basehead"
        return f"(?P<{name}>{'.+' if slashes else '[^/]+'})"

    integers = [n for n, p in in_path.items() if p.get("schema", {}).get("type") == "integer"]
    body = described.get("requestBody", {})
    return Operation(
        id=described["operationId"],
        method=method.upper(),
        pattern=re.compile(VARIABLE.sub(group, path)),
        integers=frozenset(integers),
        query={p["name"]: p["schema"] for p in parameters if p["in"] == "query"},
        body=json_schema(body),
        body_required=body.get("required", False),
        responses=described["responses"],
        literal=len(VARIABLE.sub("", path)),
    )


def json_schema(described: dict[str, Any]) -> Schema | None:
    """The schema of a body in JSON."""
    schema: Schema | None = described.get("content", {}).get("application/json", {}).get("schema")
    return schema


def query_errors(schema: Schema, name: str, text: str) -> list[str]:
    if schema.get("type") == "integer" and not text.isdecimal():
        return [f"query {name}={text!r} is not a number"]
    if "enum" in schema and text not in schema["enum"]:
        return [f"query {name}={text!r} is none of {schema['enum']}"]
    return []
