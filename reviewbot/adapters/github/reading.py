"""JSON of GitHub into plain values: every odd shape is one ForgeError, and no text holds what cannot be stored.

GitHub is believed to be GitHub, so this is less strict than ``screen.strict_json``: a NUL or half a surrogate pair in somebody's
comment is replaced, because whoever can comment must not be able to stop a review.
"""

from __future__ import annotations

import json
import re
from email.utils import parsedate_to_datetime
from typing import Any

from reviewbot.errors import ForgeError

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_HINT = "run it again; if it stays so, report it as a bug"


def loads(body: bytes) -> Any:
    """The value of a JSON body. Raises ForgeError."""
    try:
        return json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError) as exc:
        raise ForgeError("GitHub's answer is no JSON that can be read", hint=_HINT) from exc


def fields(value: Any, what: str) -> dict[str, Any]:
    """An object. ``what`` names it in a message. Raises ForgeError for anything else."""
    if isinstance(value, dict):
        return value
    raise odd(what)


def items(value: Any, what: str) -> list[Any]:
    """A list. Raises ForgeError for anything else."""
    if isinstance(value, list):
        return value
    raise odd(what)


def text(node: dict[str, Any], key: str, *, optional: bool = False) -> str:
    """A text; an ``optional`` one is empty where it is null or absent. Raises ForgeError."""
    value = node.get(key)
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if value is None and optional:
        return ""
    raise odd(key)


def number(node: dict[str, Any], key: str, *, optional: bool = False) -> int:
    """A number that is not negative, also one written as a text (``BigInt``); 0 for an ``optional`` one that is not told."""
    value = node.get(key)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if value is None and optional:
        return 0
    raise odd(key)


def line(node: dict[str, Any], key: str) -> int | None:
    """A line, ``None`` where there is none. Raises ForgeError."""
    return None if node.get(key) is None else number(node, key)


def flag(node: dict[str, Any], key: str) -> bool:
    """Yes or no. Raises ForgeError."""
    value = node.get(key)
    if isinstance(value, bool):
        return value
    raise odd(key)


def odd(what: str) -> ForgeError:
    """The one error for a shape that was not expected."""
    return ForgeError(f"GitHub's answer tells {what} in a way that is not understood", hint=_HINT)


def http_date(text: str) -> float | None:
    """Seconds since 1970 of a ``Date`` header, ``None`` where it is none."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
