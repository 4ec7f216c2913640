"""``sqlfluff lint --format json``, since sqlfluff 3: the edits of each violation."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Break, Measure, Spot, Unit
from reviewbot.evidence.parsers import shape

_MEASURE = Measure((Unit.CHARACTER,), (Break.ANY,), (False,))
"""Tried with sqlfluff 4: its offsets count a carriage return and a line feed as one, its lines and columns go astray nowhere."""
_KINDS = ("replace", "delete", "create_before", "create_after")
"""What is created has a place that is empty."""


def read(data: bytes) -> Iterator[Offer]:
    """Every violation with its edits. Raises Unreadable, also while it is read."""
    for file in shape.records(shape.load(data)):
        path = file.text("filepath")
        yield from (_offer(path, violation) for violation in file.records("violations"))


def _offer(path: str, violation: shape.Record) -> Offer:
    """The edits are one change: some make room for others. None of an unknown kind is made, and then none at all."""
    edits = tuple(violation.records("fixes"))
    known = all(edit.word("type") in _KINDS for edit in edits)
    return Offer(
        path,
        violation.number("start_line_no"),
        violation.word("code"),
        tuple(_change(path, edit) for edit in edits) if known else (),
        _MEASURE,
        violation.word("description"),
        whole=True,
    )


def _change(path: str, edit: shape.Record) -> Change:
    edit.require("start_line_no", "start_line_pos", "end_line_no", "end_line_pos")
    start = Spot(edit.number("start_line_no"), edit.number("start_line_pos"))
    return Change(path, start, Spot(edit.number("end_line_no"), edit.number("end_line_pos")), edit.word("edit"))
