"""Requests, responses, and the errors GitHub answers with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

JSON = "application/json; charset=utf-8"
DOCUMENTATION = "https://docs.github.com/rest"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: str
    headers: dict[str, str]  # names in lower case
    content: bytes

    @property
    def parameters(self) -> dict[str, str]:
        return dict(parse_qsl(self.query, keep_blank_values=True))


@dataclass(frozen=True)
class Response:
    status: int
    content: bytes = b""
    media: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
        return cls(status, b"" if body is None else json.dumps(body).encode(), JSON, headers or {})


@dataclass(frozen=True)
class LogEntry:
    """A request in `GitHub.log`.

    Attributes:
        operation: the id of a REST operation as `pulls/get`, `graphql` for a query,
            `graphql:<mutation>`, `git` for git's own transport, `download` for an artifact,
            `unknown`.
        status: 0 where a fault closed the connection before anything was done.
    """

    method: str
    path: str
    operation: str
    status: int
    is_write: bool
    login: str | None = None


class ApiError(Exception):
    """A response that is an error. `errors` are strings or objects, as GitHub sends them."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None) -> None:
        super().__init__(f"{status} {message} {errors or ''}")
        self.status = status
        self.body: dict[str, Any] = {"message": message, **({"errors": errors} if errors else {})}
        self.body |= {"documentation_url": DOCUMENTATION, "status": str(status)}


def not_found() -> ApiError:
    return ApiError(404, "Not Found")


def forbidden() -> ApiError:
    """G14"""
    return ApiError(403, "Resource not accessible by integration")


def unauthenticated() -> ApiError:
    return ApiError(401, "Requires authentication")


def unprocessable(*errors: str) -> ApiError:
    """`validation-error-simple` of the OpenAPI description, the shape reviews use."""
    return ApiError(422, "Unprocessable Entity", list(errors))


def validation_failed(
    resource: str, field: str, message: str = "", code: str = "custom"
) -> ApiError:
    """`validation-error` of the OpenAPI description, the shape nearly all other calls use."""
    error = {"resource": resource, "field": field, "code": code}
    return ApiError(422, "Validation Failed", [error | ({"message": message} if message else {})])
