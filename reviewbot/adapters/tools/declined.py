"""Why a call is not answered, and what a model may do instead: the other form of a tool's result."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

LONGEST_MESSAGE = 1_000


class Why(StrEnum):
    """The kinds of errors that models are told."""

    INVALID = "invalid_arguments"
    UNKNOWN = "unknown_tool"
    MISSING = "not_found"
    REFUSED = "refused"
    FAILED = "failed"
    TIMEOUT = "timeout"


PASSING = frozenset({Why.FAILED, Why.TIMEOUT})
"""What may be otherwise when the same is asked again."""


class Declined(Exception):
    """A call that is not answered. The message is for the model; ``expected`` is a schema, or the names that there are."""

    def __init__(self, why: Why, message: str, expected: Any = None) -> None:
        super().__init__(message)
        self.why = why
        self.message = message
        self.expected = expected

    def document(self) -> dict[str, Mapping[str, Any]]:
        """As it is told."""
        message = self.message[:LONGEST_MESSAGE]
        return {"error": {"kind": self.why.value, "message": message, "expected": self.expected}}
