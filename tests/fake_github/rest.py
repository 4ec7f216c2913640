"""The REST API: find the operation, check the request, call its handler, check the response."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.fake_github import operations  # noqa: F401  # adds them to HANDLERS
from tests.fake_github.call import HANDLERS, Call, Page, Respond
from tests.fake_github.contract import contract
from tests.fake_github.messages import (
    ApiError,
    Request,
    Response,
    forbidden,
    not_found,
    unauthenticated,
)

if TYPE_CHECKING:
    from tests.fake_github.contract import Operation
    from tests.fake_github.github import GitHub
    from tests.fake_github.permissions import Token

PREFIX = "/api/v3"
# No client expects this status, so none takes a violation for an error of GitHub.
VIOLATION = 418
UNKNOWN = 501


def classify(request: Request) -> tuple[str, bool]:
    """The operation's id, and whether it writes."""
    found = contract().find(request.method, request.path.removeprefix(PREFIX))
    return found[0].id if found else "unknown", request.method not in ("GET", "HEAD")


def respond(github: GitHub, request: Request, token: Token | None) -> Response:
    found = contract().find(request.method, request.path.removeprefix(PREFIX))
    if found is None:
        return violation(github, request, ["the fake has no such operation"], UNKNOWN)
    operation, variables = found
    body = json.loads(request.content) if request.content else None
    if errors := contract().request_errors(operation, request.parameters, body):
        return violation(github, request, errors)
    call = Call(
        github, operation, variables, request.parameters, body if body is not None else {}, token
    )
    try:
        check_permissions(call)
        result = HANDLERS[operation.id].function(call)
    except ApiError as error:
        result = Respond(error.status, error.body)
    if isinstance(result, Page):
        result = result.response(call)
    if not isinstance(result, Respond):
        result = Respond(operation.success, result)
    return check_response(github, request, operation, result)


def check_permissions(call: Call) -> None:
    """G14. A private repository does not exist for who may not read it."""
    needs, token = HANDLERS[call.operation.id].needs, call.token
    if not needs:
        return
    repository = call.repository
    if token is None:
        raise unauthenticated()
    if repository.private and not token.reaches(repository):
        raise not_found()
    if call.operation.id.startswith("checks/") and not token.is_app:
        raise ApiError(403, "You must authenticate via a GitHub App.")
    if not token.may(repository, *needs):
        raise forbidden()


def check_response(
    github: GitHub, request: Request, operation: Operation, result: Respond
) -> Response:
    if errors := contract().response_errors(operation, result.status, result.body):
        return violation(github, request, errors)
    return Response.json(result.status, result.body, result.headers)


def violation(
    github: GitHub, request: Request, errors: list[str], status: int = VIOLATION
) -> Response:
    github.violations += [f"{request.method} {request.path}: {error}" for error in errors]
    return Response.json(status, {"message": "not as GitHub describes it", "errors": errors})
