"""What stands under a test in TAP: a block between ``---`` and ``...``, comments, plain lines.

The block should be YAML, and with some runners is not (vitest lets texts of several lines stand at the margin). It is read line
by line for the few keys that say why and where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import takewhile

from reviewbot.evidence.parsers import failure_text
from reviewbot.evidence.parsers.failure_text import Said
from reviewbot.screen import strict_json

_KEY = re.compile(r"( *)([\w-]{1,40}):(?: +(.*))?$")
_FOLDED = re.compile(r"[|>][+-]?\d?$")
_OPENED = frozenset({"at", "location", "error"})
"""Keys whose own keys count."""
_WHY = ("message", "error", "stack")
_WHERE = ("location", "at")
_STANDS = (("file", "line"), ("filename", "linenumber"))


@dataclass(slots=True)
class Diagnostics:
    """``loose`` stood before the test: it is shown, and says something where nothing else does."""

    block: Said = field(default_factory=Said)
    spoken: Said = field(default_factory=Said)
    loose: Said = field(default_factory=Said)

    def text(self) -> str:
        """All of it."""
        return "".join(said.text() for said in (self.loose, self.spoken, self.block)).strip("\n")

    def message(self) -> str:
        """What it says first; empty where it says nothing."""
        keys = _keys(self.block.text())
        given = (keys.get(key, "") for key in _WHY)
        said = (said.text() for said in (self.spoken, self.block, self.loose))
        return next((words for text in (*given, *said) if (words := failure_text.message(text))), "")

    def place(self) -> tuple[str, int]:
        """File and line (1-based), empty and 0 where nothing is said of them."""
        keys = _keys(self.block.text())
        for file, line in _STANDS:
            if keys.get(file) and re.fullmatch("[0-9]{1,9}", keys.get(line, "")):
                return keys[file].removeprefix("file://"), int(keys[line])
        named = (failure_text.place(keys.get(key, "")) for key in _WHERE)
        return next((found for found in named if found[1]), failure_text.place(self.text()))


def _keys(block: str) -> dict[str, str]:
    """Values of the outermost keys, and of those inside the opened ones; the first of each name."""
    found: dict[str, str] = {}
    margin, outer = -1, ""
    lines = block.split("\n")
    number = 0
    while number < len(lines):
        key = _KEY.match(lines[number])
        number += 1
        if not key:
            continue
        indent, name = len(key[1]), key[2].lower()
        margin = indent if margin < 0 else margin
        outer = name if indent == margin else outer
        if indent == margin or (indent > margin and outer in _OPENED):
            folded = _folded(lines, number, indent) if _FOLDED.match(key[3] or "") else []
            found.setdefault(name, "\n".join(folded) if folded else _unquoted(key[3] or ""))
            number += len(folded)
    return found


def _folded(lines: list[str], start: int, indent: int) -> list[str]:
    """The lines of a text that stands deeper than its key."""
    inside = (lines[number] for number in range(start, len(lines)))
    return [line.strip() for line in takewhile(lambda line: not line.strip() or line.startswith(" " * (indent + 1)), inside)]


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return str(strict_json.loads(value))
        except strict_json.InvalidJson:
            return value[1:-1]
    return value
