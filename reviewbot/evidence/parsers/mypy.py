"""``mypy --output json``, one object a line, and mypy's plain text.

Notes are left out: they explain the error before them, and what stands alone (``reveal_type``) is an answer to its author.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable

_PLAIN = re.compile(
    r"(?P<path>[^:\s][^:]*+(?::(?=[\\/])[^:]*+)*+)(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?(?::(?P<end>\d{1,9}):\d{1,9})?"
    r": (?P<severity>error|warning|note): (?P<message>.*?)(?:  \[(?P<rule>[\w-]+)\])?",
    re.ASCII,
)
_SUMMARY = re.compile(r"Found \d+ error|Success: ")


def read(data: bytes) -> tuple[Remark, ...]:
    """All errors. Raises Unreadable for text of which no line is mypy's; no text at all is a run without errors."""
    if data.lstrip().startswith(b"{"):
        return shape.first(_remark(line) for line in shape.load_lines(data) if line.text("severity") != "note")
    return shape.first(_plain_remarks(data))


def _remark(line: shape.Record) -> Remark:
    """mypy writes -1 for what has no place, and counts columns from 0."""
    number, column = line.number("line"), line.values.get("column")
    return Remark(
        line.text("file"),
        number,
        line.text("message"),
        rule=line.word("code") or None,
        grade=line.grade("severity", plain.GRADES, default=Grade.ERROR),
        end_line=line.number("end_line"),
        column=line.number("column") + 1 if number and column is not None and column != -1 else 0,
    )


def _plain_remarks(data: bytes) -> Iterator[Remark]:
    is_text, is_known = False, False
    for line in plain.lines(data):
        is_text = is_text or bool(line.strip())
        if found := _PLAIN.fullmatch(line):
            is_known = True
            if found["severity"] != "note":
                yield _plain_remark(found)
        elif _SUMMARY.match(line):
            is_known = True
    if is_text and not is_known:
        raise Unreadable("no line of it is mypy's")


def _plain_remark(found: re.Match[str]) -> Remark:
    return Remark(
        found["path"],
        plain.number(found["line"]),
        found["message"],
        rule=found["rule"],
        grade=plain.GRADES[found["severity"]],
        end_line=plain.number(found["end"]),
        column=plain.number(found["column"]),
    )
