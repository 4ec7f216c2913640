"""What goes wrong on the way: a queue of faults, each for the next requests that it fits. Row numbers are those of the fault list."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SECONDARY = (
    "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. "
    "Please retry your request again later."
)
NO_SERVER = (
    "No server is currently available to service your request. Sorry about that. "
    "Please try resubmitting your request and contact us if the problem persists."
)
UNICORN = "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p>We had issues producing the response.</p></body></html>"


@dataclass
class Fault:
    """``on``: an operation as ``pulls/create-review``, ``graphql``, ``graphql:resolveReviewThread``, ``write``, ``read``, ``any``, or
    ``git`` (git's own transport, which none of the others touches).
    ``after``: the request is done first and its answer is lost. ``drop``: the connection ends without an answer. ``delay``: seconds
    before anything is done. A fault without status that neither drops nor redirects is only slow. ``skip``: so many requests that fit
    go by untouched first. ``then`` is called when the fault strikes (with ``after`` once the request is done): kill a process there, or
    push while somebody reads."""

    on: str = "any"
    status: int = 0
    body: str = ""
    media: str = "application/json; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    drop: bool = False
    delay: float = 0.0
    times: int = 1
    skip: int = 0
    then: Callable[[], object] | None = None

    @property
    def is_answer(self) -> bool:
        """What was asked for is not what comes back."""
        return self.drop or bool(self.status)

    def fits(self, operation: str, *, is_write: bool, words: frozenset[str]) -> bool:
        if operation == "git":
            return self.on == "git"
        if self.on == "any":
            return True
        if self.on in ("write", "read"):
            return is_write == (self.on == "write")
        return self.on == operation or self.on in words


class Faults(list[Fault]):
    """The queue: ``hub.faults.append(Fault(…))``, or one of the ready ones below."""

    def take(self, operation: str, *, is_write: bool, words: frozenset[str] = frozenset()) -> Fault | None:
        """The first fault that fits, used up by one."""
        for fault in list(self):
            if not fault.fits(operation, is_write=is_write, words=words):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self.remove(fault)
            return fault
        return None


def told(message: str, **more: Any) -> str:
    return json.dumps({"message": message, "documentation_url": "https://docs.github.com/rest", **more})


def refusal(on: str, status: int, message: str, errors: list[Any] | None = None, **more: Any) -> Fault:
    """Any other answer that is an error."""
    return Fault(on, status, told(message, **({"errors": errors} if errors else {})), **more)


def meanwhile(on: str, then: Callable[[], object], **more: Any) -> Fault:
    """G30: something happens before (or with ``after`` after) a request that goes on undisturbed."""
    return Fault(on, then=then, **more)


def secondary_limit(on: str = "write", *, status: int = 403, retry_after: int | None = 60, **more: Any) -> Fault:
    """G12: too many writes in a short time; the header may be missing."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Fault(on, status, told(SECONDARY), headers=headers, **more)


def primary_limit(on: str = "any", *, status: int = 403, reset_in: float = 60, **more: Any) -> Fault:
    """G13: no requests are left until the reset."""
    headers = {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-used": "5000",
        "x-ratelimit-resource": "core",
    }
    headers["x-ratelimit-reset"] = str(int(time.time() + reset_in))
    return Fault(on, status, told("API rate limit exceeded for installation ID 1."), headers=headers, **more)


def server_error(on: str = "any", *, status: int = 502, html: bool = False, after: bool = False, **more: Any) -> Fault:
    """G18: with ``after`` the write took place all the same."""
    if html:
        return Fault(on, status, UNICORN, media="text/html; charset=utf-8", after=after, **more)
    return Fault(on, status, told(NO_SERVER if status == 503 else "Server Error"), after=after, **more)


def dropped(on: str = "any", *, after: bool = False, **more: Any) -> Fault:
    """The connection ends: before the request was done, or after."""
    return Fault(on, drop=True, after=after, **more)


def slow(on: str = "any", *, delay: float, **more: Any) -> Fault:
    return Fault(on, delay=delay, **more)


def moved(on: str = "any", *, to: str, status: int = 301, **more: Any) -> Fault:
    """G22: ``to`` is a whole address, at this origin or another."""
    return Fault(on, status, told("Moved Permanently", url=to), headers={"location": to}, **more)


def graphql_limit(**more: Any) -> Fault:
    """G23: status 200, and an error of type RATE_LIMITED."""
    body = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation ID 1."}]}
    return Fault("graphql", 200, json.dumps(body), **more)


def graphql_nothing(**more: Any) -> Fault:
    """G23: status 200 and no data."""
    body = {
        "data": None,
        "errors": [
            {"message": "Something went wrong while executing your query. Please include `0000` when reporting this issue."}
        ],
    }
    return Fault("graphql", 200, json.dumps(body), **more)


def not_a_user(**more: Any) -> Fault:
    """G29."""
    return Fault("repos/get-collaborator-permission-level", 404, told("someone is not a user"), **more)
