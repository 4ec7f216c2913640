"""What a terminal shows once a program has written to it: rows of characters, each with its looks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace

TOKENS = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|([\r\n\t\b])|([^\x00-\x1f\x7f]+)")
TAB = 8
BRIGHT = 8


class NotUnderstood(ValueError):
    """The program wrote something that this terminal does not know: a picture of it would not be true."""


@dataclass(frozen=True, slots=True)
class Style:
    """Looks of a character. ``ink`` and ``paper`` are 0 to 15, the colours of a terminal; ``None`` is its own colour."""

    ink: int | None = None
    paper: int | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False


PLAIN = Style()
ON = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}
OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 27: ("reverse",)}


@dataclass(frozen=True, slots=True)
class Cell:
    """A character that takes ``columns`` columns, marks that combine with it included."""

    text: str
    style: Style = PLAIN
    columns: int = 1


BLANK = Cell(" ")
REST = Cell("", columns=0)
"""The second column of a wide character."""


class Screen:
    """So many columns, and as many rows as it takes: nothing scrolls away."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._rows: list[list[Cell]] = [[]]
        self._row = self._column = 0
        self._style = PLAIN

    @property
    def rows(self) -> list[list[Cell]]:
        """All of them, without empty ones at the end."""
        last = max((number for number, row in enumerate(self._rows) if _words(row)), default=-1)
        return self._rows[: last + 1]

    def text(self) -> str:
        """What is there to read."""
        return "\n".join(_words(row) for row in self.rows)

    def write(self, written: str) -> None:
        """Take in what a program wrote. Raises NotUnderstood."""
        place = 0
        while place < len(written):
            found = TOKENS.match(written, place)
            if found is None:
                raise NotUnderstood(f"after {written[max(0, place - 20) : place]!r}: {written[place : place + 12]!r}")
            values, letter, control, words = found.groups()
            if letter:
                self._obey(letter, values)
            elif control:
                self._move(control)
            for character in words or "":
                self._put(character)
            place = found.end()

    def _obey(self, letter: str, values: str) -> None:
        if values.startswith("?"):  # whether the cursor is shown and the like: no picture shows it
            return
        orders: dict[str, Callable[[int], None]] = {"A": self._up, "K": self._wipe_line, "J": self._wipe_below}
        if letter == "m":
            self._look([int(value or 0) for value in values.split(";")])
        elif letter in orders:
            orders[letter](int(values or 0))
        else:
            raise NotUnderstood(f"ESC [ {values} {letter}")

    def _look(self, codes: list[int]) -> None:
        for code in codes:
            if code == 0:
                self._style = PLAIN
            elif code in ON:
                self._style = replace(self._style, **{ON[code]: True})
            elif code in OFF:
                self._style = replace(self._style, **dict.fromkeys(OFF[code], False))
            else:
                self._style = self._colored(code)

    def _colored(self, code: int) -> Style:
        if 30 <= code <= 37 or 90 <= code <= 97:
            return replace(self._style, ink=code - 30 if code < 90 else code - 90 + BRIGHT)
        if 40 <= code <= 47 or 100 <= code <= 107:
            return replace(self._style, paper=code - 40 if code < 100 else code - 100 + BRIGHT)
        if code in (39, 49):
            return replace(self._style, **{"ink" if code == 39 else "paper": None})
        raise NotUnderstood(f"a colour: ESC [ {code} m")

    def _move(self, control: str) -> None:
        if control == "\n":
            self._row += 1
            self._rows += [[] for _ in range(self._row + 1 - len(self._rows))]
        elif control == "\r":
            self._column = 0
        elif control == "\b":
            self._column = max(0, self._column - 1)
        else:
            self._column = min((self._column // TAB + 1) * TAB, self._columns - 1)

    def _put(self, character: str) -> None:
        if unicodedata.combining(character) and self._column:
            self._join(character)
            return
        columns = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if self._column + columns > self._columns:
            self._move("\n")
            self._column = 0
        row = self._rows[self._row]
        row += [BLANK] * (self._column + columns - len(row))
        row[self._column : self._column + columns] = [Cell(character, self._style, columns), *[REST] * (columns - 1)]
        self._column += columns

    def _join(self, mark: str) -> None:
        """A mark that combines belongs to the character before it."""
        row = self._rows[self._row]
        at = next((at for at in range(min(self._column, len(row)) - 1, -1, -1) if row[at].columns), None)
        if at is not None:
            row[at] = replace(row[at], text=row[at].text + mark)

    def _up(self, rows: int) -> None:
        self._row = max(0, self._row - max(1, rows))

    def _wipe_line(self, how: int) -> None:
        row = self._rows[self._row]
        if how == 2:
            row.clear()
        elif how == 0:
            del row[self._column :]
        else:
            raise NotUnderstood(f"ESC [ {how} K")

    def _wipe_below(self, how: int) -> None:
        if how not in (0, 2):
            raise NotUnderstood(f"ESC [ {how} J")
        self._wipe_line(0)
        del self._rows[self._row + 1 :]


def _words(row: list[Cell]) -> str:
    return "".join(cell.text for cell in row).rstrip()
