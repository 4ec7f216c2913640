"""A parser: a linter that reports one line of logfmt for each thing it says, such as ``level=error file=a.py line=3 msg="..."``."""

from __future__ import annotations

import re

from reviewbot.evidence.parsers.outside import RemarkParser
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable

_PAIR = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S*))\s*')
_GRADES = {"info": Grade.NOTE, "warn": Grade.WARNING, "error": Grade.ERROR}


def read(report: bytes) -> tuple[Remark, ...]:
    """The remarks, in their order. Raises Unreadable for a line of any other form."""
    lines = report.decode("utf-8", "replace").splitlines()
    return tuple(_remark(line) for line in lines if line.strip())


def _remark(line: str) -> Remark:
    pairs = list(_PAIR.finditer(line))
    said = {pair[1]: pair[2] if pair[2] is not None else pair[3] for pair in pairs}
    if "".join(pair[0] for pair in pairs) != line or not {"file", "msg"} <= said.keys():
        raise Unreadable(f"this is no logfmt with file and msg: {line[:80]}")
    number = said.get("line", "0")
    if not (number.isascii() and number.isdigit() and len(number) < 9):
        raise Unreadable(f"{number[:80]!r} is no line")
    return Remark(said["file"], int(number), said["msg"], said.get("rule"), _GRADES.get(said.get("level", "warn"), Grade.WARNING))


PARSER = RemarkParser(read)
