"""JSON from untrusted text: bounded, without the surprises of ``json.loads``.

Refused: more than ``max_bytes``, nesting too deep for the reader, duplicate keys, NaN and infinities, integers beyond 64 bits,
lone surrogates and NUL (PostgreSQL cannot store them, encoders fail on them later).
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_BYTES = 16_000_000
MAX_DEPTH = 64
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class InvalidJson(ValueError):
    """The text is not JSON that can be trusted to mean one thing."""


def loads(text: str | bytes, *, max_bytes: int = MAX_BYTES) -> Any:
    """The value of ``text``. Raises InvalidJson, and nothing else, with the reason in words."""
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise InvalidJson(f"{size} bytes are more than the {max_bytes} that are read")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_int=_small_int,
            parse_float=_finite_float,
        )
    except RecursionError as exc:
        raise InvalidJson("nested too deeply") from exc
    except UnicodeDecodeError as exc:
        raise InvalidJson("not UTF-8") from exc
    except ValueError as exc:
        raise InvalidJson(str(exc)) from exc
    _storable(value, MAX_DEPTH)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidJson("a key is given twice")
    return found


def _no_constant(name: str) -> None:
    raise InvalidJson(f"{name} is not a JSON number")


def _small_int(digits: str) -> int:
    if len(digits) > 19:
        raise InvalidJson("an integer is too large")
    return int(digits)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise InvalidJson("a number is too large")
    return number


def _storable(value: Any, depth: int) -> None:
    if depth < 0:
        raise InvalidJson("nested too deeply")
    if isinstance(value, str):
        if _UNSTORABLE.search(value):
            raise InvalidJson("a text holds NUL or half a surrogate pair")
    elif isinstance(value, dict):
        for key, item in value.items():
            _storable(key, depth - 1)
            _storable(item, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _storable(item, depth - 1)
