"""``eslint --format json``: a fix is one range of UTF-16 units, counted from behind a byte order mark."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Break, Measure, Spot, Unit
from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.remark import Unreadable

_MEASURE = Measure((Unit.UTF16,), (Break.FEED,), (False,))


def read(data: bytes) -> Iterator[Offer]:
    """Every message with its fix. Suggestions, of which a person has to choose one, are none. Raises Unreadable, also while it is
    read."""
    for file in shape.records(shape.load(data)):
        path = file.text("filePath")
        yield from (_offer(path, message) for message in file.records("messages"))


def _offer(path: str, message: shape.Record) -> Offer:
    fix = message.record("fix")
    changes = (_change(path, fix),) if fix.values else ()
    return Offer(path, message.number("line"), message.word("ruleId"), changes, _MEASURE, message.word("message"))


def _change(path: str, fix: shape.Record) -> Change:
    """Raises Unreadable. What lies before the file, as a byte order mark does, is at a place that no file has."""
    span = fix.values.get("range")
    if not (isinstance(span, list) and len(span) == 2 and all(type(one) is int for one in span)):
        raise Unreadable("'range' is not a pair of numbers")
    fix.require("text")
    return Change(path, Spot(0, span[0]), Spot(0, span[1]), fix.word("text"))
