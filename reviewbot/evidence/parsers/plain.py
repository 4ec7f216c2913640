"""Plain text of linters: its lines, fit for regular expressions, and the words by which tools say how grave something is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reviewbot.evidence.parsers.remark import Grade, Unreadable

MAX_BYTES = 16_000_000
MAX_LINES = 200_000
"""What comes after them is not read."""
MAX_LINE = 4_000
"""Characters. The rest of a longer line is left out."""
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,40}[A-Za-z]")

_WORDS = {
    Grade.ERROR: ("fatal error", "fatal", "error", "err", "e", "critical", "failure", "high"),
    Grade.WARNING: ("warning", "warn", "w", "medium", "moderate"),
    Grade.NOTE: ("note", "n", "info", "information", "i", "hint", "help", "style", "convention", "refactor", "suggestion", "low"),
}
GRADES = {word: grade for grade, words in _WORDS.items() for word in words}


def lines(data: bytes) -> Iterator[str]:
    """The lines without their ends, colours and NULs. Raises Unreadable for more than MAX_BYTES."""
    if len(data) > MAX_BYTES:
        raise Unreadable(f"{len(data)} bytes are more than the {MAX_BYTES} that are read")
    return map(_clean, data.split(b"\n", MAX_LINES)[:MAX_LINES])


def _clean(line: bytes) -> str:
    text = line[: 4 * MAX_LINE].decode("utf-8", "replace").replace("\0", "\ufffd")
    return _ESCAPES.sub("", text).rstrip("\r\n")[:MAX_LINE]


def number(digits: str | None) -> int:
    """The number of a line or column; 0 for what was not said."""
    return int(digits) if digits else 0
