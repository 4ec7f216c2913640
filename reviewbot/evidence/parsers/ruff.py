"""``ruff check --output-format json``."""

from __future__ import annotations

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Grade, Remark

_SYNTAX = ("", "invalid-syntax")
"""The code of a file that cannot be parsed: none in older versions."""


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything ruff said; ``rule`` is ``None`` for a file that cannot be parsed. Raises Unreadable."""
    return shape.first(map(_remark, shape.records(shape.load(data))))


def _remark(item: shape.Record) -> Remark:
    item.require("location", "end_location")
    start, end = item.record("location"), item.record("end_location")
    start.require("row")
    end.require("row")
    line, code = start.number("row"), item.word("code")
    return Remark(
        item.text("filename"),
        line,
        item.text("message"),
        rule=None if code in _SYNTAX else code,
        grade=item.grade("severity", plain.GRADES, default=Grade.ERROR if code in _SYNTAX else Grade.WARNING),
        end_line=shape.end_of(line, end.number("row"), end.number("column")),
        column=start.number("column"),
    )
