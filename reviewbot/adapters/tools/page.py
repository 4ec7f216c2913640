"""An answer that fits on a page: long lines and long lists are cut, and it is said."""

from __future__ import annotations

from collections.abc import Iterable

MOST_BYTES = 24_000
"""About 7,500 tokens: several answers fit into any context window."""
LONGEST_LINE = 400


def short(line: str) -> str:
    """A line of at most ``LONGEST_LINE`` characters, with what is missing."""
    missing = len(line) - LONGEST_LINE
    return line if missing <= 0 else f"{line[:LONGEST_LINE]}⟨{missing} more characters⟩"


def fitting(lines: Iterable[str], most: int) -> tuple[str, ...]:
    """As many lines as there is room for, ``most`` of them."""
    taken: list[str] = []
    room = MOST_BYTES
    for line in lines:
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0 or len(taken) == most:
            break
        taken.append(line)
    return tuple(taken)
