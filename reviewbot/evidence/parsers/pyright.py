"""``pyright --outputjson``, also basedpyright's. Places count from 0 there."""

from __future__ import annotations

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Remark


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything pyright said. Raises Unreadable."""
    report = shape.record(shape.load(data))
    report.require("generalDiagnostics")
    return shape.first(map(_remark, report.records("generalDiagnostics")))


def _remark(item: shape.Record) -> Remark:
    start, end = item.record("range").record("start"), item.record("range").record("end")
    line = _one_based(start, "line")
    return Remark(
        item.text("file"),
        line,
        item.text("message"),
        rule=item.word("rule") or None,
        grade=item.grade("severity", plain.GRADES),
        end_line=shape.end_of(line, _one_based(end, "line"), _one_based(end, "character")),
        column=_one_based(start, "character"),
    )


def _one_based(point: shape.Record, key: str) -> int:
    return point.number(key) + 1 if point.values.get(key) is not None else 0
