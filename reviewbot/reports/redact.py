"""Documents without secrets. Reports shorten texts, and half a token is not recognised any more."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from reviewbot.text.secrets import redact

Document = TypeVar("Document", bound=Struct)


def redacted(document: Document) -> Document:
    """The document with placeholders such as `«secret:jwt»` in every text."""
    return msgspec.convert(_redacted(msgspec.to_builtins(document)), type(document))


def _redacted(value: object) -> object:
    match value:
        case str():
            return redact(value)[0]
        case dict():
            return {key: _redacted(item) for key, item in value.items()}
        case list() | tuple():
            return [_redacted(item) for item in value]
        case _:
            return value
