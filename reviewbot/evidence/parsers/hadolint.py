"""``hadolint --format json``."""

from __future__ import annotations

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Remark


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything hadolint said; a file that cannot be parsed breaks the rule ``DL1000``. Raises Unreadable."""
    return shape.first(map(_remark, shape.records(shape.load(data))))


def _remark(item: shape.Record) -> Remark:
    return Remark(
        item.text("file"),
        item.number("line"),
        item.text("message"),
        rule=item.word("code") or None,
        grade=item.grade("level", plain.GRADES),
        column=item.number("column"),
    )
