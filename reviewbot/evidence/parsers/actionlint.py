"""``actionlint -format '{{json .}}'``."""

from __future__ import annotations

from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.remark import Grade, Remark


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything actionlint said: it knows errors only. Raises Unreadable."""
    return shape.first(map(_remark, shape.records(shape.load(data))))


def _remark(item: shape.Record) -> Remark:
    return Remark(
        item.text("filepath"),
        item.number("line"),
        item.text("message"),
        rule=item.word("kind") or None,
        grade=Grade.ERROR,
        column=item.number("column"),
    )
