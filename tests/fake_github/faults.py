"""Faults that tests put in the way: `github.faults.append(faults.server_error("write"))`.

G numbers are those of the table of faults: what GitHub or clients of it documented.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.fake_github.messages import DOCUMENTATION

SECONDARY_LIMIT = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content "
    "creation. Please retry your request again later."
)
NO_SERVER = (
    "No server is currently available to service your request. Sorry about that. "
    "Please try resubmitting your request and contact us if the problem persists."
)


@dataclass
class Fault:
    """What happens to the next requests that match.

    Attributes:
        on: an operation as `pulls/create-review`, `graphql` (queries and mutations),
            `graphql:resolveReviewThread`, `write`, `read` or `any` of the API; or `git`.
        status: of the response; without one (and without `drop`) the request is done as usual.
        after: the request is done first, and then its response is lost.
        drop: the connection is closed without a response.
        delay: seconds before anything is done.
        times: how many requests it affects.
        skip: how many matching requests pass before.
        then: called when the fault happens (with `after`: once the request is done).
    """

    on: str = "any"
    status: int = 0
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    drop: bool = False
    delay: float = 0
    times: int = 1
    skip: int = 0
    then: Callable[[], object] | None = None

    @property
    def replaces_response(self) -> bool:
        return self.drop or bool(self.status)

    def matches(self, operation: str, *, is_write: bool) -> bool:
        if operation == "git":
            return self.on == "git"
        if self.on in ("write", "read"):
            return is_write == (self.on == "write")
        return self.on in ("any", operation, operation.partition(":")[0])


class Faults(list[Fault]):
    """The queue of faults."""

    def take(self, operation: str, *, is_write: bool) -> Fault | None:
        """The first fault that matches."""
        for fault in list(self):
            if not fault.matches(operation, is_write=is_write):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self.remove(fault)
            return fault
        return None


def error(
    on: str, status: int, message: str, errors: list[Any] | None = None, **more: Any
) -> Fault:
    """Any response that is an error."""
    body = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
    return Fault(on, status, json.dumps(body | ({"errors": errors} if errors else {})), **more)


def meanwhile(on: str, then: Callable[[], object], **more: Any) -> Fault:
    """G30: something happens before (or `after`) a request that is done as usual."""
    return Fault(on, then=then, **more)


def secondary_limit(on: str = "write", *, retry_after: int = 60, **more: Any) -> Fault:
    """G12"""
    return error(on, 403, SECONDARY_LIMIT, headers={"retry-after": str(retry_after)}, **more)


def server_error(on: str = "any", *, status: int = 502, **more: Any) -> Fault:
    """G18. With `after` the write happened."""
    return error(on, status, NO_SERVER if status == 503 else "Server Error", **more)


def dropped(on: str = "any", **more: Any) -> Fault:
    """The connection is closed without a response. With `after` the write happened."""
    return Fault(on, drop=True, **more)


def slow(on: str = "any", *, delay: float, **more: Any) -> Fault:
    return Fault(on, delay=delay, **more)
