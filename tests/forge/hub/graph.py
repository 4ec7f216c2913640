"""The GraphQL API: GitHub's own schema, executed by graphql-core against what stands on the fake.

A query that the schema does not allow is a violation, and so is a field that the fake does not know yet: both fail the test.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from graphql import (
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from tests.forge.contract.cut import GRAPHQL
from tests.forge.hub.answers import Answer, Known
from tests.forge.hub.graph_doing import MUTATIONS
from tests.forge.hub.graph_reading import Reader

if TYPE_CHECKING:
    from tests.forge.hub.answers import Asked
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.tokens import Token

MISSING = object()


@cache
def schema() -> GraphQLSchema:
    """GitHub's schema. It takes about a second, once a process."""
    return build_schema(gzip.decompress(GRAPHQL.read_bytes()).decode(), assume_valid=True)


def told(asked: Asked) -> dict[str, Any]:
    try:
        body = json.loads(asked.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def known(asked: Asked) -> Known:
    """``graphql`` for a query, ``graphql:name`` for a mutation."""
    try:
        document = parse(str(told(asked).get("query", "")))
    except GraphQLError:
        return Known("graphql", is_write=False)
    names = [
        field.name.value
        for operation in document.definitions
        if isinstance(operation, OperationDefinitionNode) and operation.operation == OperationType.MUTATION
        for field in operation.selection_set.selections
        if isinstance(field, FieldNode)
    ]
    return Known(f"graphql:{names[0]}" if names else "graphql", is_write=bool(names), words=frozenset({"graphql"}))


def answered(hub: Hub, asked: Asked, token: Token | None) -> Answer:
    body = told(asked)
    if token is None:
        return Answer.json(401, {"message": "This endpoint requires you to be authenticated.", "status": "401"})
    if not isinstance(body.get("query"), str) or set(body) - {"query", "variables", "operationName"}:
        hub.violations.append(f"POST /api/graphql: {sorted(body)} is no query")
        return Answer.json(400, {"message": "A query attribute must be specified and must be a string."})
    result = run(hub, body, Reader(hub, token))
    errors = [shown(error) for error in result.errors or ()]
    ran = result.data is not None or any("path" in error for error in errors)
    if not ran:
        hub.violations += [f"POST /api/graphql: {error['message']}" for error in errors]
    answer: dict[str, Any] = {"data": result.data} if ran else {}
    return Answer.json(200, answer | ({"errors": errors} if errors else {}))


def run(hub: Hub, body: dict[str, Any], reader: Reader) -> ExecutionResult:
    try:
        document = parse(body["query"])
    except GraphQLError as error:
        return ExecutionResult(None, [error])
    if errors := validate(schema(), document):
        return ExecutionResult(None, errors)

    def resolve(source: Any, info: GraphQLResolveInfo[Any], **args: Any) -> Any:
        value = source.get(info.field_name, MISSING)
        if value is MISSING:
            hub.violations.append(f"the fake does not know {info.parent_type.name}.{info.field_name} yet")
            raise GraphQLError(f"the fake does not know {info.parent_type.name}.{info.field_name}")
        return value(**args) if callable(value) else value

    root = {**reader.root(), **{name: bound(deed, reader) for name, deed in MUTATIONS.items()}}
    return execute_sync(
        schema(),
        document,
        root,
        variable_values=body.get("variables") or {},
        operation_name=body.get("operationName"),
        field_resolver=resolve,
    )


def bound(deed: Any, reader: Reader) -> Any:
    def done(input: dict[str, Any]) -> Any:  # noqa: A002
        return {"clientMutationId": input.get("clientMutationId"), **deed(reader, input)}

    return done


def shown(error: GraphQLError) -> dict[str, Any]:
    """An error as GitHub sends it: its type stands beside the message."""
    told: dict[str, Any] = {**error.formatted}
    kind = told.pop("extensions", {}).get("type")
    return {**({"type": kind} if kind else {}), **told}
