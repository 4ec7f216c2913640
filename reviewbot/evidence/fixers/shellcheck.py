"""``shellcheck --format json1``, and ``json``, which counts a tab as the columns up to the next multiple of eight."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Break, Measure, Spot, Unit
from reviewbot.evidence.parsers import shape

_MEASURE = Measure((Unit.CHARACTER,), (Break.FEED,))
"""Tried with ShellCheck 0.9: columns are code points, a tab is one, and only a line feed ends a line. It offers nothing on a line
that begins with a byte order mark."""


def read(data: bytes) -> Iterator[Offer]:
    """Every comment with its fix; of the format ``json`` none, whose columns depend on tabs. Raises Unreadable, also while it is
    read."""
    document = shape.load(data)
    if isinstance(document, list):
        return iter(())
    report = shape.record(document)
    report.require("comments")
    return map(_offer, report.records("comments"))


def _offer(comment: shape.Record) -> Offer:
    """A fix is one change, however many replacements it has: two quotes are put around a word, or none."""
    path = comment.text("file")
    return Offer(
        path,
        comment.number("line"),
        f"SC{comment.number('code')}",
        tuple(_change(path, item) for item in comment.record("fix").records("replacements")),
        _MEASURE,
        comment.word("message"),
        whole=True,
    )


def _change(path: str, item: shape.Record) -> Change:
    item.require("line", "column", "endLine", "endColumn", "replacement")
    start = Spot(item.number("line"), item.number("column"))
    return Change(path, start, Spot(item.number("endLine"), item.number("endColumn")), item.word("replacement"))
