"""``eslint --format json``. What the project suppressed is left out, and that a file was not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.evidence.parsers import shape
from reviewbot.evidence.parsers.remark import Grade, Remark


def read(data: bytes) -> tuple[Remark, ...]:
    """Everything ESLint said; ``rule`` is ``None`` for a file that cannot be parsed. Raises Unreadable."""
    return shape.first(remark for file in shape.records(shape.load(data)) for remark in _remarks(file))


def _remarks(file: shape.Record) -> Iterator[Remark]:
    path = file.text("filePath")
    file.require("messages")
    for message in file.records("messages"):
        remark = _remark(path, message)
        if remark.line or remark.rule or remark.grade is Grade.ERROR:
            yield remark


def _remark(path: str, message: shape.Record) -> Remark:
    line = message.number("line")
    return Remark(
        path,
        line,
        message.text("message"),
        rule=message.word("ruleId") or None,
        grade=Grade.ERROR if message.number("severity") > 1 or message.values.get("fatal") is True else Grade.WARNING,
        end_line=shape.end_of(line, message.number("endLine"), message.number("endColumn")),
        column=message.number("column"),
    )
