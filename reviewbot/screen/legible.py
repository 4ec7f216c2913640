"""A file as it is shown, and back: where each part of the shown text really stands, so that an edit of it changes what is meant.

Three things differ between a file and what is shown of it: line ends, secrets, hidden characters. An edit finds its place in the
shown text alone, so that no guess at a secret is answered, and touches a placeholder whole or not at all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from reviewbot.screen import hidden, secrets

MARKS = re.compile(r"«secret:|⟨U\+|⟨\d+ more characters⟩")
"""What stands only in shown text: a secret's placeholder, a hidden character made visible, the rest of a long line."""


class Misplaced(ValueError):
    """An edit that does not fit the file. The message is for who wrote it."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one step of screening replaced: ``start``–``end`` before, ``at``–``to`` after it."""

    start: int
    end: int
    at: int
    to: int


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of screening: all that it replaced, in order."""

    pieces: tuple[_Piece, ...]
    keys: tuple[int, ...]

    def back(self, offset: int) -> int | None:
        """Where ``offset`` of the text after this step stands before it; ``None`` inside of what was replaced."""
        passed = bisect_right(self.keys, offset)
        if passed < len(self.pieces) and self.pieces[passed].at < offset:
            return None
        last = self.pieces[passed - 1] if passed else _Piece(0, 0, 0, 0)
        return last.end + offset - last.to


@dataclass(frozen=True, slots=True)
class Legible:
    """A file's text as it is shown, and the way back."""

    text: str
    _raw: str
    _steps: tuple[_Step, ...]

    @classmethod
    def of(cls, content: bytes) -> Legible | None:
        """The file; ``None`` where it is no text in UTF-8."""
        try:
            raw = content.decode("utf-8")
        except UnicodeDecodeError:
            return None
        if "\0" in raw:
            return None
        lines, ends = _step(raw, _line_ends(raw))
        redacted, kept = _step(lines, _secrets(lines))
        visible, shown = _step(redacted, _hidden(redacted))
        return cls(visible, raw, (ends, kept, shown))

    def line(self, find: str) -> int:
        """The number of the line in which ``find`` begins."""
        return self.text.count("\n", 0, max(self.text.find(find), 0)) + 1

    def replaced(self, find: str, replace: str) -> bytes:
        """The file with ``replace`` where ``find`` is, which stands exactly once in the text as shown. Raises Misplaced."""
        first = self.text.find(find) if find else -1
        if first < 0:
            raise Misplaced("the text to find does not stand in the file as it is shown" if find else "the text to find is empty")
        if self.text.find(find, first + 1) >= 0:
            raise Misplaced("the text to find stands more than once in the file: give more of the lines around it")
        start, end = self._back(first), self._back(first + len(find))
        if start is None or end is None:
            raise Misplaced("the text to find begins or ends inside of a placeholder: take all of it, or none")
        return f"{self._raw[:start]}{self._ended(replace)}{self._raw[end:]}".encode()

    def rewritten(self, text: str) -> bytes:
        """``text`` in place of the whole file, with line ends as the file has them. Raises Misplaced."""
        return self._ended(text).encode("utf-8")

    def _ended(self, text: str) -> str:
        """New text with the line ends of most lines of this file. Raises Misplaced for what is only shown, and never is."""
        if mark := MARKS.search(text):
            raise Misplaced(f"the new text holds {mark[0]!r}, which stands for what is not shown: write around it")
        if self._raw.count("\r\n") * 2 <= self._raw.count("\n"):
            return text
        return re.sub(r"(?<!\r)\n", "\r\n", text)

    def _back(self, offset: int) -> int | None:
        found: int | None = offset
        for step in reversed(self._steps):
            found = None if found is None else step.back(found)
        return found


NEW = Legible("", "", ())
"""A file that is not there yet."""


def _step(text: str, replaced: Iterable[tuple[int, int, str]]) -> tuple[str, _Step]:
    """The text after a step, and its record."""
    parts: list[str] = []
    pieces: list[_Piece] = []
    position = length = 0
    for start, end, new in replaced:
        parts += (text[position:start], new)
        at = length + start - position
        position, length = end, at + len(new)
        pieces.append(_Piece(start, end, at, length))
    # A place beside something that is not shown at all lies before it: a line's end goes with the line feed.
    keys = tuple(piece.to + (piece.at == piece.to) for piece in pieces)
    return "".join((*parts, text[position:])), _Step(tuple(pieces), keys)


def _line_ends(text: str) -> Iterable[tuple[int, int, str]]:
    """As ``shown.lines`` takes them away: one carriage return at each line's end."""
    return ((match.start(), match.end(), "") for match in re.finditer(r"\r(?=\n|\Z)", text))


def _secrets(text: str) -> Iterable[tuple[int, int, str]]:
    """As ``secrets.redact`` writes them."""
    for secret in secrets.find(text):
        yield secret.start, secret.end, f"«secret:{secret.name}»" + "\n" * text.count("\n", secret.start, secret.end)


def _hidden(text: str) -> Iterable[tuple[int, int, str]]:
    """As ``hidden.visible`` writes them."""
    return ((one.column, one.column + 1, f"⟨U+{one.codepoint:04X}⟩") for one in hidden.find(text))
