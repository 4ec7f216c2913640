"""reviewdog's diagnostic format, as one document (rdjson) and as lines (rdjsonl).

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.remark import Grade, Remark

_GRADES = {"error": Grade.ERROR, "warning": Grade.WARNING, "info": Grade.NOTE}
_NUMBERED = {1: Grade.ERROR, 2: Grade.WARNING, 3: Grade.NOTE}


def read(data: bytes) -> tuple[Remark, ...]:
    """The diagnostics of a document, as grave as the document where they do not say. Raises Unreadable."""
    report = shape.record(shape.load(data))
    overall = _grade(report, Grade.WARNING)
    report.require("diagnostics")
    return shape.first(_remark(item, overall) for item in report.records("diagnostics"))


def read_lines(data: bytes) -> tuple[Remark, ...]:
    """The diagnostics of lines. Raises Unreadable."""
    return shape.first(_remark(item, Grade.WARNING) for item in shape.load_lines(data))


def _remark(item: shape.Record, overall: Grade) -> Remark:
    place = item.record("location")
    start, end = place.record("range").record("start"), place.record("range").record("end")
    line = start.number("line")
    return Remark(
        place.text("path"),
        line,
        item.text("message"),
        rule=item.record("code").word("value") or None,
        grade=_grade(item, overall),
        end_line=shape.end_of(line, end.number("line"), end.number("column")),
        column=start.number("column"),
    )


def _grade(item: shape.Record, default: Grade) -> Grade:
    """Protocol buffers let an enumeration be a number, too."""
    if type(item.values.get("severity")) is int:
        return _NUMBERED.get(item.number("severity"), default)
    return item.grade("severity", _GRADES, default=default)
