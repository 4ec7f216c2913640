"""The errors GitHub answers with: one value, and the texts that were seen."""

from __future__ import annotations

from typing import Any

DOCS = "https://docs.github.com/rest"


class Problem(Exception):
    """An answer that is an error: its status, message and ``errors`` (strings or objects, as GitHub sends them)."""

    def __init__(self, status: int, message: str, errors: list[Any] | None = None, **more: Any) -> None:
        super().__init__(f"{status} {message} {errors or ''}")
        self.status = status
        self.body: dict[str, Any] = {"message": message, **({"errors": errors} if errors else {}), **more}
        self.body |= {"documentation_url": DOCS, "status": str(status)}


class Breach(Exception):
    """What was sent or answered is not what GitHub's own description allows."""


def not_found() -> Problem:
    return Problem(404, "Not Found")


def not_accessible() -> Problem:
    """G14: the token may not."""
    return Problem(403, "Resource not accessible by integration")


def unprocessable(*errors: str) -> Problem:
    """The shape of ``validation-error-simple``: reviews answer so."""
    return Problem(422, "Unprocessable Entity", list(errors))


def invalid(resource: str, field: str, message: str = "", code: str = "custom") -> Problem:
    """The shape of ``validation-error``: nearly all others answer so."""
    return Problem(
        422,
        "Validation Failed",
        [{"resource": resource, "field": field, "code": code, **({"message": message} if message else {})}],
    )
