"""``sqlfluff lint --format json``."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything sqlfluff said; what cannot be parsed breaks the rule ``PRS``. Raises Unreadable."""
    return shape.first(remark for file in shape.records(shape.load(data)) for remark in _remarks(file))


def _remarks(file: shape.Record) -> Iterator[Remark]:
    path = file.text("filepath")
    file.require("violations")
    return (_remark(path, violation) for violation in file.records("violations"))


def _remark(path: str, violation: shape.Record) -> Remark:
    line = _either(violation, "start_line_no", "line_no")
    return Remark(
        path,
        line,
        violation.text("description"),
        rule=violation.word("code") or None,
        grade=Grade.WARNING if violation.values.get("warning") is True else Grade.ERROR,
        end_line=shape.end_of(line, violation.number("end_line_no"), violation.number("end_line_pos")),
        column=_either(violation, "start_line_pos", "line_pos"),
    )


def _either(violation: shape.Record, key: str, before_3: str) -> int:
    """The names that sqlfluff 3 changed."""
    if violation.values.get(key) is None and violation.values.get(before_3) is None:
        raise Unreadable(f"it lacks {key!r}")
    return violation.number(key) or violation.number(before_3)
