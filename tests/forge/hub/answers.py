"""Requests and answers as values."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

JSON = "application/json; charset=utf-8"


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    content: bytes

    @property
    def parameters(self) -> dict[str, str]:
        return dict(parse_qsl(self.query, keep_blank_values=True))


@dataclass(frozen=True)
class Answer:
    """An answer as it goes."""

    status: int
    content: bytes
    media: str = JSON
    headers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def json(cls, status: int, body: Any, headers: dict[str, str] | None = None) -> Answer:
        return cls(status, b"" if body is None else json.dumps(body).encode(), JSON, headers or {})


class Dropped(Exception):
    """The connection is to end without an answer."""


@dataclass(frozen=True)
class Known:
    """What a request turned out to be: its name in the journal and in faults (``words``: other names that a fault may have)."""

    operation: str
    is_write: bool
    words: frozenset[str] = frozenset()
