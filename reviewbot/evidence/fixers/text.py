"""Where a place that a tool names lies among the bytes of a file.

Tools count columns in characters, in UTF-16 units or in bytes, and not all agree on what ends a line. Where it is not known which
a tool means, a place counts only if all of them lead to the same byte: a fix goes exactly where it belongs, or nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import product

BOM = b"\xef\xbb\xbf"


class Unplaced(ValueError):
    """A place that is not in the file, or may be in several places of it."""


class Unit(Enum):
    """What a column counts: characters (code points), units of UTF-16, bytes of UTF-8."""

    CHARACTER = "character"
    UTF16 = "utf-16"
    BYTE = "byte"


class Break(Enum):
    """What ends a line: a line feed, or also a carriage return that no line feed follows."""

    FEED = rb"\n"
    ANY = rb"\r\n|\n|\r"


Way = tuple[Unit, Break, bool]
"""A unit, what ends lines, and whether a byte order mark is counted."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place as a tool names it: ``line`` and ``column`` count from 1, and column 0 is behind the last character of its line.
    Where ``line`` is 0, ``column`` counts from 0 and from the beginning of the file."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Measure:
    """How a tool may count: every unit, line break, and whether a byte order mark is counted, that it might mean."""

    units: tuple[Unit, ...] = tuple(Unit)
    breaks: tuple[Break, ...] = tuple(Break)
    marks: tuple[bool, ...] = (False, True)

    def ways(self) -> Iterable[Way]:
        """Every way to count that is possible."""
        return product(self.units, self.breaks, self.marks)


@dataclass(frozen=True)
class Text:
    """A file. Raises UnicodeDecodeError where it is not UTF-8: tools make something up then."""

    data: bytes
    _starts: dict[Break, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.data.decode("utf-8")
        for kind in Break:
            self._starts[kind] = [0, *(found.end() for found in re.finditer(kind.value, self.data))]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines as ruff counts them."""
        text = self.data.decode("utf-8")
        return tuple(re.split(r"\r\n|\n|\r", text))

    def at(self, spot: Spot, measure: Measure) -> int:
        """The offset of a place in bytes. Raises Unplaced."""
        found = {self._offset(spot, way) for way in measure.ways()}
        if len(found) != 1:
            raise Unplaced(f"line {spot.line}, column {spot.column} may be in several places")
        return found.pop()

    def span(self, start: Spot, end: Spot, measure: Measure) -> tuple[int, int]:
        """The offsets of a range whose end is exclusive. Raises Unplaced."""
        first, last = self.at(start, measure), self.at(end, measure)
        if first > last:
            raise Unplaced("a range ends before it begins")
        return first, last

    def _offset(self, spot: Spot, way: Way) -> int:
        unit, breaks, marked = way
        start, end = self._line(spot.line, breaks)
        if spot.line and not spot.column:
            return start + len(self.data[start:end].rstrip(b"\r\n"))
        if not marked and start == 0 and self.data.startswith(BOM):
            start += len(BOM)
        return start + _size(self.data[start:end], spot.column - (spot.line > 0), unit)

    def _line(self, line: int, breaks: Break) -> tuple[int, int]:
        """Where a line begins and ends, its end included; line 0 is the whole file, and behind the last line is an empty one."""
        starts = self._starts[breaks]
        if line == 0:
            return 0, len(self.data)
        if not 0 < line <= len(starts):
            raise Unplaced(f"there is no line {line}")
        return starts[line - 1], starts[line] if line < len(starts) else len(self.data)


def _size(line: bytes, index: int, unit: Unit) -> int:
    """The bytes before the unit with this index. Raises Unplaced where there is none, and within a character."""
    text = line.decode("utf-8")
    if unit is Unit.CHARACTER:
        before, total = text[: max(index, 0)], len(text)
    else:
        encoding = "utf-16-le" if unit is Unit.UTF16 else "utf-8"
        width = 2 if unit is Unit.UTF16 else 1
        whole = text.encode(encoding)
        total = len(whole) // width
        try:
            before = whole[: max(index, 0) * width].decode(encoding)
        except UnicodeDecodeError as exc:
            raise Unplaced("it is within a character") from exc
    if not 0 <= index <= total:
        raise Unplaced(f"there is no column {index + 1}")
    return len(before.encode("utf-8"))
