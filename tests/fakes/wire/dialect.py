"""What a dialect must be able to do, and what several of them share."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tests.fakes.faults import Trouble
from tests.fakes.http import Reply, Request
from tests.fakes.seen import Answer, Asked, Pace, Seen, Wish


class Refusal(Exception):
    """A request that the real server would refuse with 400: the message says why."""


class Wire(Protocol):
    """One vendor's protocol."""

    def asked(self, request: Request, body: Mapping[str, Any]) -> Asked | None:
        """The call in this request, ``None`` where the path is another's. Raises Refusal (and KeyError or TypeError for nonsense)."""
        ...

    def reply(self, seen: Seen, answer: Answer, pace: Pace | None) -> Reply:
        """The whole good reply."""
        ...

    def trouble(self, fault: Trouble) -> Reply:
        """A documented error."""
        ...

    def error_event(self) -> bytes:
        """How a stream says in its midst that it failed."""
        ...


def dumped(value: Any) -> bytes:
    """JSON as servers send it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def arguments_text(wish: Wish) -> str:
    """A wish's arguments as JSON text."""
    return wish.arguments if isinstance(wish.arguments, str) else json.dumps(wish.arguments)


def arguments_value(wish: Wish) -> Any:
    """A wish's arguments as a value, for dialects that have no text there."""
    return json.loads(wish.arguments) if isinstance(wish.arguments, str) else dict(wish.arguments)


def call_id(seen: Seen, index: int, wish: Wish, prefix: str) -> str:
    """An id that no other call has."""
    return wish.id or f"{prefix}{seen.number:04d}{index:02d}"


def slices(text: str, size: int = 40) -> list[str]:
    """A text in pieces, as a stream brings it; at least one."""
    return [text[at : at + size] for at in range(0, len(text), size)] or [""]


def event(data: Any, name: str = "") -> bytes:
    """One server-sent event."""
    return (b"event: %s\n" % name.encode() if name else b"") + b"data: " + dumped(data) + b"\n\n"


def text_of(content: Any) -> list[str]:
    """The text blocks of a content that is a text or a list of blocks."""
    if isinstance(content, str):
        return [content]
    return [block["text"] for block in content or [] if "text" in block and block.get("type", "text") in ("text", "input_text")]


def cacheable(*pieces: Any) -> bytes:
    """Everything of a request that is read before the answer, in order."""
    return b"".join(piece.encode() if isinstance(piece, str) else dumped(piece) for piece in pieces if piece)


def row(table: Mapping[str, Sequence[Any]], fault: Trouble) -> Sequence[Any]:
    """The table's row for a fault: that of its code, else that of its kind."""
    return table.get(fault.code) or table[fault.kind]


def walk(schema: Any) -> list[Mapping[str, Any]]:
    """Every schema inside a schema, itself first."""
    if isinstance(schema, list):
        return [found for item in schema for found in walk(item)]
    if not isinstance(schema, dict):
        return []
    inner: list[Mapping[str, Any]] = [schema]
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions"):
            inner += [found for item in value.values() for found in walk(item)]
        elif key in ("items", "anyOf", "allOf", "oneOf", "additionalProperties"):
            inner += walk(value)
    return inner


def retry_header(fault: Trouble) -> tuple[tuple[str, str], ...]:
    """``retry-after``, where the fault wants one."""
    return () if fault.retry_after is None else (("retry-after", f"{fault.retry_after:g}"),)
