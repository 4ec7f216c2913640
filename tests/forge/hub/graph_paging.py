"""Connections of GraphQL: pages by cursor, and what GitHub refuses about them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError

if TYPE_CHECKING:
    from tests.forge.hub.graph_reading import Reader
    from tests.forge.hub.repository import Repository

MOST = 100


def refused(kind: str, message: str) -> GraphQLError:
    """An error with a type, as GitHub's have."""
    return GraphQLError(message, extensions={"type": kind})


def forbidden() -> GraphQLError:
    return refused("FORBIDDEN", "Resource not accessible by integration")


def need(reader: Reader, home: Repository, *permissions: str) -> None:
    """One of the permissions, to write."""
    if not reader.token.may(home, tuple((permission, "write") for permission in permissions)):
        raise forbidden()


def nowhere(message: str) -> GraphQLError:
    return refused("NOT_FOUND", message)


def connection(name: str, items: Sequence[Any], show: Callable[[Any], Any] = lambda item: item) -> Callable[..., dict[str, Any]]:
    """A field that pages over ``items``."""

    def page(
        first: int | None = None, last: int | None = None, after: str | None = None, before: str | None = None, **_: Any
    ) -> dict[str, Any]:
        check(name, first, last)
        start = place(after) + 1 if after else 0
        stop = place(before) if before else len(items)
        if first is not None:
            stop = min(stop, start + first)
        elif last is not None:
            start = max(start, stop - last)
        window = range(start, max(start, min(stop, len(items))))
        nodes = [show(items[at]) for at in window]
        return {
            "totalCount": len(items),
            "nodes": nodes,
            "edges": [{"cursor": cursor(at), "node": node} for at, node in zip(window, nodes, strict=True)],
            "pageInfo": {
                "hasNextPage": window.stop < len(items),
                "hasPreviousPage": window.start > 0,
                "startCursor": cursor(window.start) if window else None,
                "endCursor": cursor(window.stop - 1) if window else None,
            },
        }

    return page


def check(name: str, first: int | None, last: int | None) -> None:
    if first is None and last is None:
        message = f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
        raise refused("MISSING_PAGINATION_BOUNDARIES", message)
    for word, value in (("first", first), ("last", last)):
        if value is not None and value > MOST:
            message = f"Requesting {value} records on the `{name}` connection exceeds the `{word}` limit of {MOST} records."
            raise refused("EXCESSIVE_PAGINATION", message)


def cursor(at: int) -> str:
    return base64.b64encode(f"cursor:v2:{at}".encode()).decode()


def place(text: str) -> int:
    try:
        return int(base64.b64decode(text).decode().rsplit(":", 1)[1])
    except (ValueError, IndexError):
        raise refused("INVALID_CURSOR_ARGUMENTS", f"`{text}` does not appear to be a valid cursor.") from None
