"""Words laid in rows of so many columns of a terminal. No library does it: a hook has no time to load one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

_PIECE = re.compile(r"(?:`[^`]*`|\S)+")
"""A word; what stands between backticks is one, so that a command can be copied."""

_NO_COLUMN = ("Mn", "Me", "Cf")


def columns(words: str) -> int:
    """How many columns of a terminal these take: https://www.unicode.org/reports/tr11/."""
    return len(words) if words.isascii() else sum(map(_columns, words))


def rows(words: str, width: int, hang: int = 0, *, fold: bool = True) -> Iterator[str]:
    """Rows of at most ``width`` columns; each but the first begins with ``hang`` spaces. Without ``fold`` a word that is longer
    stays whole, so that it can be copied: it is the terminal that breaks it."""
    row, used = "", 0
    for piece in _pieces(words, width - hang, fold=fold):
        size = columns(piece)
        if row and used + 1 + size > width:
            yield row
            row, used = " " * hang + piece, hang + size
        else:
            row, used = (f"{row} {piece}", used + 1 + size) if row else (piece, size)
    if row:
        yield row


def short(words: str, width: int, most: int) -> list[str]:
    """The first ``most`` rows; the last of them says by an ellipsis that there is more."""
    found = list(islice(rows(words, width), most + 1))
    if len(found) > most:
        found[most - 1 :] = [f"{next(rows(found[most - 1], width - 2))} …"]
    return found


def _pieces(words: str, most: int, *, fold: bool) -> Iterator[str]:
    for piece in _PIECE.findall(words):
        if columns(piece) <= most:
            yield piece
        else:
            for word in piece.split():
                yield from _folded(word, most) if fold else (word,)


def _folded(word: str, most: int) -> Iterator[str]:
    """Parts of a word that is longer than a row."""
    start = used = 0
    for at, character in enumerate(word):
        size = _columns(character)
        if used + size > most:
            yield word[start:at]
            start, used = at, 0
        used += size
    yield word[start:]


def _columns(character: str) -> int:
    if unicodedata.category(character) in _NO_COLUMN:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
