"""``tsc --noEmit --pretty false``: a line for each error, and indented lines that explain it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reviewbot.evidence.parsers import plain, shape
from reviewbot.evidence.parsers.remark import Remark, Unreadable

_LINE = re.compile(
    r"(?:(?P<path>\S.*?)\((?P<line>\d{1,9}),(?P<column>\d{1,9})\): )?"
    r"(?P<severity>error|warning|message|suggestion) (?P<rule>TS\d{1,6}): (?P<message>.*)",
    re.ASCII,
)
_OF_NPM = "> "
"""How npm and others announce the command that they run."""
_MAX_EXPLANATION = 40
"""Lines of one remark."""


def read(data: bytes) -> tuple[Remark, ...]:
    """Every error with its explanation on further lines; one of the configuration has the path "".

    Raises Unreadable for text of which no line is the compiler's; no text at all is a run without errors.
    """
    return shape.first(_remarks(data))


def _remarks(data: bytes) -> Iterator[Remark]:
    remark, is_text, explanation = None, False, 0
    for line in plain.lines(data):
        found = _LINE.fullmatch(line)
        if found:
            if remark:
                yield remark
            remark, explanation = _remark(found), 0
        elif remark and line.startswith(" ") and explanation < _MAX_EXPLANATION:
            remark, explanation = replace(remark, message=f"{remark.message}\n{line.rstrip()}"), explanation + 1
        else:
            is_text = is_text or bool(line.strip() and not line.startswith(_OF_NPM))
    if remark:
        yield remark
    elif is_text:
        raise Unreadable("no line of it is the compiler's")


def _remark(found: re.Match[str]) -> Remark:
    return Remark(
        found["path"] or "",
        plain.number(found["line"]),
        found["message"],
        rule=found["rule"],
        grade=plain.GRADES.get(found["severity"], plain.GRADES["note"]),
        column=plain.number(found["column"]),
    )
