"""The REST API: route, check against the description, ask the handler, fill the answer and check it too."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.forge.hub import rest_actions, rest_checks, rest_code, rest_issues, rest_people, rest_pulls, rest_reviews
from tests.forge.hub.answers import Answer, Known
from tests.forge.hub.call import Call, Listed, Made, Text
from tests.forge.hub.contract import contract
from tests.forge.hub.problem import Problem
from tests.forge.hub.tokens import EVERYBODY, NEEDS, OF_APPS, check_permission

if TYPE_CHECKING:
    from tests.forge.hub.answers import Asked
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.router import Operation
    from tests.forge.hub.tokens import Token

PREFIX = "/api/v3"
TEAPOT = 418
HANDLERS: dict[str, Callable[[Call], Any]] = {
    **rest_actions.OPERATIONS,
    **rest_checks.OPERATIONS,
    **rest_code.OPERATIONS,
    **rest_issues.OPERATIONS,
    **rest_people.OPERATIONS,
    **rest_pulls.OPERATIONS,
    **rest_reviews.OPERATIONS,
}


def known(asked: Asked) -> Known:
    found = contract().router.find(asked.method, asked.path.removeprefix(PREFIX))
    return Known(found[0].id if found else "unknown", is_write=asked.method not in ("GET", "HEAD"))


def answered(hub: Hub, asked: Asked, token: Token | None) -> Answer:
    """What GitHub would answer; 418 where the request or the answer is not as GitHub describes it."""
    found = contract().router.find(asked.method, asked.path.removeprefix(PREFIX))
    if found is None:
        return breach(hub, asked, ["the slice has no such operation"])
    operation, variables = found
    try:
        body = json.loads(asked.content) if asked.content else None
    except ValueError:
        return Answer.json(400, {"message": "Problems parsing JSON"})
    wrong = contract().request(operation, asked.parameters, body)
    if wrong:
        return breach(hub, asked, wrong)
    if operation.id not in HANDLERS:
        return breach(hub, asked, [f"the fake does not know {operation.id} yet"])
    call = Call(
        hub,
        operation,
        variables,
        asked.parameters,
        body if body is not None else {},
        asked.headers.get("accept", ""),
        token,
        repository(hub, variables),
    )
    try:
        check(call)
        return checked(hub, asked, operation, shaped(call, HANDLERS[operation.id](call), asked.path))
    except Problem as problem:
        return checked(hub, asked, operation, Made(problem.status, problem.body))


def repository(hub: Hub, variables: dict[str, Any]) -> Any:
    return hub.repositories.get(f"{variables['owner']}/{variables['repo']}".lower()) if "repo" in variables else None


def check(call: Call) -> None:
    """Whether it exists for who asks, and whether they may."""
    if call.operation.id in OF_APPS:
        return
    if call.operation.id not in EVERYBODY:
        if call.operation.id in NEEDS:
            _ = call.repository
        check_permission(call.token, call.operation.id, call.repository_or_none)


def shaped(call: Call, given: Any, path: str) -> Made | Text:
    """A handler's answer as status, body and headers."""
    if isinstance(given, Made | Text):
        return given
    if isinstance(given, Listed):
        body, headers = call.page(given, f"{call.hub.server_url}{path}")
        return Made(call.operation.success, body, headers)
    return Made(call.operation.success, given)


def checked(hub: Hub, asked: Asked, operation: Operation, given: Made | Text) -> Answer:
    if isinstance(given, Text):
        return Answer(200, given.text.encode(), given.media)
    body = contract().filled(operation, given.status, given.body) if given.status < 300 else given.body
    wrong = contract().response(operation, given.status, "application/json", body)
    return breach(hub, asked, wrong) if wrong else Answer.json(given.status, body, given.headers)


def breach(hub: Hub, asked: Asked, wrong: list[str]) -> Answer:
    hub.violations += [f"{asked.method} {asked.path}: {line}" for line in wrong]
    return Answer.json(TEAPOT, {"message": "not as GitHub describes it", "errors": wrong})
