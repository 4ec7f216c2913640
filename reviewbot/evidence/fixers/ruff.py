"""``ruff check --output-format json``: the fixes that ruff itself calls safe."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Break, Measure, Spot, Unit
from reviewbot.evidence.parsers import shape

_MEASURE = Measure((Unit.CHARACTER,), (Break.ANY,), (False,))
"""Tried with ruff 0.17: columns are code points, a lone carriage return ends a line, a byte order mark is not counted."""


def read(data: bytes) -> Iterator[Offer]:
    """Every diagnostic with its fix. Raises Unreadable, also while it is read."""
    return map(_offer, shape.records(shape.load(data)))


def _offer(item: shape.Record) -> Offer:
    fix, path = item.record("fix"), item.text("filename")
    is_safe = fix.word("applicability") == "safe" and item.values.get("cell") is None
    return Offer(
        path,
        item.record("location").number("row"),
        item.word("code"),
        tuple(_change(path, edit) for edit in fix.records("edits")) if is_safe else (),
        _MEASURE,
        fix.word("message"),
    )


def _change(path: str, edit: shape.Record) -> Change:
    edit.require("location", "end_location", "content")
    return Change(path, _spot(edit.record("location")), _spot(edit.record("end_location")), edit.word("content"))


def _spot(place: shape.Record) -> Spot:
    place.require("row", "column")
    return Spot(place.number("row"), place.number("column"))
