"""A long passage cut into parts: where something is declared, else at a blank line, never within a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from reviewbot.changeset import outline
from reviewbot.changeset.pack import TOKENS_PER_FILE, TOKENS_PER_LINE_NUMBER
from reviewbot.domain.tokens import BYTES_PER_TOKEN, DENSE_BLANKS, DENSE_FACTOR
from reviewbot.ports import Passage, Removed

TOP, NESTED, GAP, ANYWHERE = range(4)
"""How good a place to cut is, best first: before an outer declaration, before an inner one, at a blank line or between two
changed spots, anywhere."""
LARGEST_HEAD = 1 / 4
"""Share of a part's room that the repeated first line of its function may take."""
SHORT = 20
"""Lines up to here never make a text dense: their line feeds are blanks enough."""

_MODIFIERS = (
    "export", "default", "public", "private", "protected", "internal", "static", "final", "abstract", "async", "override",
    "inline", "unsafe", "const", "virtual", "extern", "create", "pub",
)  # fmt: skip
_KEYWORDS = (
    "def", "class", "func", "function", "fun", "fn", "interface", "struct", "trait", "impl", "enum", "module", "namespace",
    "type", "table", "procedure",
)  # fmt: skip
_OPENING_WORDS = frozenset((*_MODIFIERS, *_KEYWORDS))


@cache
def _declaration() -> re.Pattern[str]:
    """How a declaration begins. It takes milliseconds to compile: not before a long passage is cut."""
    modifiers, keywords = "|".join(_MODIFIERS), "|".join(_KEYWORDS)
    return re.compile(rf"(?:(?:{modifiers})(?:\([^)]{{0,40}}\))?\s+){{0,6}}(?:{keywords})\b", re.IGNORECASE)


_BELONGS_BELOW = ("@", "#", "//", "/*", "*", "--", '"""')
"""How a line begins that is said of the declaration after it: a decorator, a comment."""
_CLOSED = ("}", "};", "})", "});", "end")


def line_tokens(text: str) -> int:
    """What a line takes with its number. The sum over lines is never less than what ``pack.tokens`` says of ordinary text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    dense = size > SHORT and text.count(" ") + text.count("\t") < size * DENSE_BLANKS
    return int(size / BYTES_PER_TOKEN * (DENSE_FACTOR if dense else 1.0)) + 1 + TOKENS_PER_LINE_NUMBER


def passage_tokens(passage: Passage) -> int:
    """An upper estimate of what showing a passage takes: its heading, its lines, what was removed."""
    texts = (*passage.lines, *(gone.text for gone in passage.removed))
    return _heading_tokens(passage) + sum(map(line_tokens, texts))


def cut(passage: Passage, tokens: int, *, parse: bool) -> Iterator[tuple[Passage, ...]]:
    """The parts of ``passage``, in order, each at most ``tokens`` where no single line is more than that.

    A part that begins inside a function is preceded by a passage of that function's first line, in which nothing counts as
    changed. ``parse``: Python is parsed to find its declarations; otherwise its lines are only looked at.
    """
    rows = tuple(_rows(passage))
    weights = [line_tokens(row.text) for row in rows]
    page = _Page(passage, rows, _ranks(passage, rows, parse=parse), _enclosing(rows))
    start = 0
    while start < len(rows):
        heads = page.heads(start, int(tokens * LARGEST_HEAD))
        room = tokens - _heading_tokens(page.part(start, start + 1))
        left = room - sum(map(passage_tokens, heads))
        if weights[start] > left:
            heads, left = (), room
        end = _farthest(weights, start, left)
        if end < len(rows):
            end = _border(page.ranks, start, end)
        yield (*heads, page.part(start, end))
        start = end


class _Row(NamedTuple):
    """A shown line: its head number, or for a removed one that of the line it stood before. ``indent`` is -1 where it is blank;
    ``declares`` says that it looks like the first line of a function or class."""

    number: int
    text: str
    removed: bool
    indent: int
    declares: bool


@dataclass(frozen=True, slots=True)
class _Page:
    """A passage taken apart: for each row how good a cut before it is, and the index of the row that opens its block (-1)."""

    passage: Passage
    rows: tuple[_Row, ...]
    ranks: list[int]
    enclosing: list[int]

    def heads(self, start: int, most: int) -> tuple[Passage, ...]:
        """The first line of the function in which a part that begins at row ``start`` lies."""
        opener = self.enclosing[start]
        if start == 0 or opener < 0:
            return ()
        row = self.rows[opener]
        head = Passage(self.passage.path, row.number, (row.text,), frozenset(), self._symbol(start))
        return (head,) if passage_tokens(head) <= most else ()

    def part(self, start: int, end: int) -> Passage:
        """The rows from ``start`` until before ``end`` as a passage of their own."""
        rows = self.rows[start:end]
        lines = tuple(row.text for row in rows if not row.removed)
        first = next((row.number for row in rows if not row.removed), rows[0].number)
        changed = self.passage.changed.intersection(range(first, first + len(lines)))
        removed = tuple(Removed(row.number, row.text) for row in rows if row.removed)
        return Passage(self.passage.path, first, lines, changed, self._symbol(start), removed)

    def _symbol(self, start: int) -> str:
        opener = self.enclosing[start]
        return (
            self.passage.symbol if start == 0 or opener < 0 else outline.named(self.rows[opener].text.encode("utf-8", "replace"))
        )


def _heading_tokens(passage: Passage) -> int:
    return TOKENS_PER_FILE + line_tokens(passage.path) + line_tokens(passage.symbol)


def _rows(passage: Passage) -> Iterator[_Row]:
    """Lines and removed lines as they are read from top to bottom."""
    at, removed = 0, passage.removed
    for number, text in enumerate(passage.lines, passage.start):
        while at < len(removed) and removed[at].before <= number:
            yield _row(removed[at].before, removed[at].text, removed=True)
            at += 1
        yield _row(number, text)
    for gone in removed[at:]:
        yield _row(gone.before, gone.text, removed=True)


def _row(number: int, text: str, *, removed: bool = False) -> _Row:
    bare = text.lstrip()
    word = bare.split(" ", 1)[0].split("(", 1)[0].lower() if bare else ""
    declares = word in _OPENING_WORDS and _declaration().match(bare) is not None
    return _Row(number, text, removed, len(text) - len(bare) if bare else -1, declares)


def _ranks(passage: Passage, rows: tuple[_Row, ...], *, parse: bool) -> list[int]:
    known = _declared(passage) if parse else None
    base = min((row.indent for row in rows if row.indent >= 0), default=0)
    ranks: list[int] = []
    before: _Row | None = None
    for row in rows:
        if before is None or row.removed != before.removed:
            rank = ANYWHERE if before is None or before.removed else GAP
        elif known is not None and not row.removed:
            rank = known.get(row.number) or (TOP if row.number in known else _gap(before, row, passage))
        else:
            rank = min(_guessed(before, row, base), _gap(before, row, passage))
        ranks.append(rank)
        before = row
    _lift(ranks, rows)
    return ranks


def _lift(ranks: list[int], rows: tuple[_Row, ...]) -> None:
    """The place before a declaration is the place before what is said of it. Each line is passed once: a linear walk."""
    for index, row in enumerate(rows):
        if ranks[index] <= NESTED and row.declares:
            first = index
            while first and rows[first - 1].removed == row.removed and rows[first - 1].text.lstrip().startswith(_BELONGS_BELOW):
                first -= 1
            ranks[index], ranks[first] = ANYWHERE, min(ranks[first], ranks[index])


def _declared(passage: Passage) -> Mapping[int, int] | None:
    """The numbers of the lines where something begins, with their rank; ``None`` where that cannot be parsed."""
    found = outline.of(passage.path, "\n".join(passage.lines).encode("utf-8", "replace"))
    offset = passage.start - 1
    return {symbol.start + offset: TOP if symbol.parent < 0 else NESTED for symbol in found.symbols} or None


def _gap(before: _Row, row: _Row, passage: Passage) -> int:
    """A blank line above, or two lines in a row that the change did not touch."""
    if before.indent < 0:
        return GAP if row.indent >= 0 else ANYWHERE
    untouched = not row.removed and before.number not in passage.changed and row.number not in passage.changed
    return GAP if untouched else ANYWHERE


def _guessed(before: _Row, row: _Row, base: int) -> int:
    """By the look of a row and of the one above it; ``base`` is the smallest indentation of all."""
    if row.declares:
        return TOP if row.indent == base else NESTED
    fresh = before.indent < 0 or before.text.strip() in _CLOSED
    return TOP if fresh and row.indent == base and not row.text.lstrip().startswith(("}", ")", "]")) else ANYWHERE


def _enclosing(rows: tuple[_Row, ...]) -> list[int]:
    """For each row the index of the nearest declaration above that is indented less. Removed lines open nothing."""
    found: list[int] = []
    open_blocks: list[tuple[int, int]] = []
    for index, row in enumerate(rows):
        if row.indent >= 0 and not row.removed:
            while open_blocks and open_blocks[-1][0] >= row.indent:
                open_blocks.pop()
        found.append(open_blocks[-1][1] if open_blocks else -1)
        if row.declares and not row.removed:
            open_blocks.append((row.indent, index))
    return found


def _farthest(weights: list[int], start: int, room: int) -> int:
    """The index behind as many rows as fit, at least one."""
    end = start
    while end < len(weights) and (room := room - weights[end]) >= 0:
        end += 1
    return max(end, start + 1)


def _border(ranks: list[int], start: int, end: int) -> int:
    """The best place for a cut in the second half of the rows that fit; the last among equals."""
    places = range(max(start + 1, start + (end - start) // 2), end + 1)
    return min(places, key=lambda index: (ranks[index], -index))
