"""reviewdog's diagnostic format: its suggestions.

Columns should be bytes; ruff and Biome write characters. So a suggestion counts where that is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Spot
from reviewbot.evidence.parsers import shape


def read(data: bytes) -> Iterator[Offer]:
    """The diagnostics of a document. Raises Unreadable, also while it is read."""
    report = shape.record(shape.load(data))
    report.require("diagnostics")
    return map(_offer, report.records("diagnostics"))


def read_lines(data: bytes) -> Iterator[Offer]:
    """The diagnostics of lines. Raises Unreadable, also while it is read."""
    return map(_offer, shape.load_lines(data))


def _offer(item: shape.Record) -> Offer:
    """Several suggestions are parts of one fix in some tools and a choice in others: only a single one is taken."""
    place = item.record("location")
    path = place.text("path")
    suggestions = tuple(item.records("suggestions"))
    return Offer(
        path,
        place.record("range").record("start").number("line"),
        item.record("code").word("value"),
        (_change(path, suggestions[0]),) if len(suggestions) == 1 else (),
        explanation=item.word("message"),
    )


def _change(path: str, suggestion: shape.Record) -> Change:
    place = suggestion.record("range")
    place.require("start")
    start, end = place.record("start"), place.record("end")
    start.require("line")
    text = suggestion.word("text")
    first, column = start.number("line"), start.number("column")
    last = end.number("line") or first
    if not (column or end.number("column")):  # whole lines, but for the end of the last
        return Change(path, Spot(first, 1), Spot(last, 0), text.removesuffix("\n"))
    begin = Spot(first, column or 1)
    return Change(path, begin, Spot(last, end.number("column") or 1) if end.values else begin, text)
