"""What a page shows of an output, held against what was really said.

The rule: what is shown stands in the output word for word, line by line and in one piece. A line that is ``…`` stands for any
lines that are left out. Seconds differ from run to run and are all one; so is white space at the end of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

LEFT_OUT = "…"
SECONDS = re.compile(r"\b\d+(?:\.\d+)? s\b")


def missing(shown: str, said: str) -> str:
    """The first piece that is shown and was not said there; empty where all of it was."""
    real = _lines(said)
    start = 0
    for piece in _pieces(_lines(shown)):
        at = _find(piece, real, start)
        if at is None:
            return "\n".join(piece)
        start = at + len(piece)
    return ""


def _lines(text: str) -> list[str]:
    return [SECONDS.sub("N s", line.rstrip()) for line in text.strip("\n").split("\n")]


def _pieces(lines: Sequence[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    for line in (*lines, LEFT_OUT):
        if line.strip() != LEFT_OUT:
            piece.append(line)
        elif piece:
            yield piece
            piece = []


def _find(piece: list[str], real: list[str], start: int) -> int | None:
    size = len(piece)
    return next((at for at in range(start, len(real) - size + 1) if real[at : at + size] == piece), None)
