"""A result that fits on a page: screened, cut where it is long with a word of what is missing, and written as JSON.

The first line of the text holds what is short, so that a record that keeps one line of a result keeps the best one; lists of
lines stand a line each, as a reader would have them.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.screen import shown

Item = TypeVar("Item")

MOST_BYTES = 24_000
"""Of the whole JSON. About 7,500 tokens: several answers fit into any context window."""
FOR_MORE = 300
"""Bytes that are kept free for what is said of the rest."""
LONGEST_LINE = 400
WIDE = 400
"""Characters of JSON from which on a value gets lines of its own."""
HEAD = 1 / 3
"""Of a text of which only its ends are shown: programs say at the end what went wrong."""


def short(line: str) -> str:
    """A line of at most ``LONGEST_LINE`` characters, with what is missing."""
    missing = len(line) - LONGEST_LINE
    return line if missing <= 0 else f"{line[:LONGEST_LINE]}⟨{missing} more characters⟩"


def fitting(items: Iterable[Item], most: int, *, beside: Mapping[str, Any]) -> tuple[Item, ...]:
    """As many items as there is room for in one result with the fields ``beside`` them, ``most`` of them."""
    taken: list[Item] = []
    room = MOST_BYTES - FOR_MORE - size(beside)
    for item in items:
        room -= size(item) + len(",\n")
        if room < 0 or len(taken) == most:
            break
        taken.append(item)
    return tuple(taken)


def ends(text: str, room: int) -> str:
    """``text`` in at most ``room`` bytes of JSON: its beginning and its end, and how much is missing between them."""
    if size(text) <= room:
        return text
    left = max(room - len('"\\n⟨1234567890 characters are left out⟩\\n"'.encode()), 0)
    head = _within(text, int(left * HEAD))
    tail = _within(text[::-1], left - int(left * HEAD))[::-1]
    return f"{head}\n⟨{len(text) - len(head) - len(tail)} characters are left out⟩\n{tail}"


def size(value: Any) -> int:
    """Bytes of a value as JSON."""
    return len(_flat(value).encode("utf-8", "replace"))


def told(document: Mapping[str, Any]) -> str:
    """A tool's result as JSON text for a model. Screened at this door too, for what a model or a program said itself.

    Raises Declined where it is larger than a page: then a tool forgot to cut it.
    """
    text = _written(screened(document))
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise Declined(Why.FAILED, "the result is larger than a page: ask for less")
    return text


def screened(value: Any) -> Any:
    """``value`` with its texts as they may be shown. They are screened together: a key of several lines may stand in several."""
    texts = tuple(_texts(value))
    lines = iter(shown.text("\n".join(texts)).split("\n"))
    return _with(value, iter(tuple("\n".join(next(lines) for _ in text.split("\n")) for text in texts)))


def _texts(value: Any) -> Iterator[str]:
    """Every text in ``value`` but the names of fields, which are ours."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _with(value: Any, texts: Iterator[str]) -> Any:
    """``value`` with its texts replaced, in the order of :func:`_texts`."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, Mapping):
        return {name: _with(item, texts) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with(item, texts) for item in value]
    return value


def _written(value: Any) -> str:
    flat = _flat(value)
    if len(flat) <= WIDE or not isinstance(value, Mapping | list):
        return flat
    if isinstance(value, Mapping):
        return f"{{{''.join(_fields(value))}}}"
    return "[\n{}\n]".format(",\n".join(_flat(item) for item in value))


def _fields(document: Mapping[str, Any]) -> Iterator[str]:
    for number, (name, item) in enumerate(document.items()):
        between = "," if number else ""
        space = "" if not number else "\n" if len(_flat(item)) > WIDE else " "
        yield f"{between}{space}{_flat(name)}: {_written(item)}"


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _within(text: str, room: int) -> str:
    """As much of the beginning as takes ``room`` bytes inside of JSON; every character takes one or more."""
    most = bisect_right(range(room + 1), room, key=lambda length: size(text[:length]) - len('""')) - 1
    return text[: max(most, 0)]
