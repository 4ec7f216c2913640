"""``shellcheck --format json1``, and ``json``, which is its list alone."""

from __future__ import annotations

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Remark


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything ShellCheck said; rules are called ``SC2086``. Raises Unreadable."""
    document = shape.load(data)
    if isinstance(document, list):
        return shape.first(map(_remark, shape.records(document)))
    report = shape.record(document)
    report.require("comments")
    return shape.first(map(_remark, report.records("comments")))


def _remark(comment: shape.Record) -> Remark:
    comment.require("code")
    line = comment.number("line")
    return Remark(
        comment.text("file"),
        line,
        comment.text("message"),
        rule=f"SC{comment.number('code')}",
        grade=comment.grade("level", plain.GRADES),
        end_line=shape.end_of(line, comment.number("endLine"), comment.number("endColumn")),
        column=comment.number("column"),
    )
