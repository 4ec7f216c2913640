"""Untrusted JSON of linters: every value is of the kind that the format gives it, or the report is unreadable.

A report that breaks its format in one place is refused as a whole: what it says elsewhere may be as wrong. Only the number of
remarks is no such breach: of very many the first are kept, and the rest is not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable
from reviewbot.screen import strict_json

Item = TypeVar("Item")

MAX_REMARKS = 20_000
"""Kept of one report. A report with as many may have had more."""
MAX_NUMBER = 1_000_000_000
"""No file has a line beyond it."""


@dataclass(frozen=True, slots=True)
class Record:
    """An object of a report. A value that is absent is like one that is ``null``; one of another kind is Unreadable."""

    values: Mapping[str, Any]

    def require(self, *keys: str) -> None:
        """Raises Unreadable where one of ``keys`` is absent."""
        for key in keys:
            if self.values.get(key) is None:
                raise Unreadable(f"it lacks {key!r}")

    def text(self, key: str) -> str:
        """A text that has to be there."""
        self.require(key)
        return self.word(key)

    def word(self, key: str) -> str:
        """A text, empty where there is none."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise Unreadable(f"{key!r} is not a text")
        return value

    def number(self, key: str) -> int:
        """A line or column: 0 where there is none, and for the numbers below 0 by which some tools say so."""
        value = self.values.get(key)
        if value is None:
            return 0
        if type(value) is not int or value > MAX_NUMBER:
            raise Unreadable(f"{key!r} is not the number of a line or column")
        return max(value, 0)

    def record(self, key: str) -> Record:
        """An object, empty where there is none."""
        value = self.values.get(key)
        return Record({}) if value is None else record(value, repr(key))

    def records(self, key: str) -> Iterator[Record]:
        """A list of objects, empty where there is none."""
        value = self.values.get(key)
        return iter(()) if value is None else records(value, repr(key))

    def among(self, key: str, items: Sequence[Item]) -> Item | None:
        """The item whose index, from 0, a value is; ``None`` where there is no such item."""
        index = self.values.get(key)
        return items[index] if type(index) is int and 0 <= index < len(items) else None

    def grade(self, key: str, grades: Mapping[str, Grade], *, default: Grade = Grade.WARNING) -> Grade:
        """What ``grades`` says of a word. Tools invent words: one that is not in the table is like none."""
        return grades.get(self.word(key).lower(), default)


def load(data: bytes) -> Any:
    """The value of a document. Raises Unreadable."""
    try:
        return strict_json.loads(data)
    except strict_json.InvalidJson as exc:
        raise Unreadable(str(exc)) from exc


def load_lines(data: bytes) -> Iterator[Record]:
    """The objects of a report that has one a line. Raises Unreadable."""
    if len(data) > strict_json.MAX_BYTES:
        raise Unreadable(f"{len(data)} bytes are more than the {strict_json.MAX_BYTES} that are read")
    return (record(load(line), "a line") for line in data.split(b"\n") if line.strip())


def record(value: object, what: str = "the report") -> Record:
    """``value`` as an object. Raises Unreadable."""
    if not isinstance(value, dict):
        raise Unreadable(f"{what} is not an object")
    return Record(value)


def records(value: object, what: str = "the report") -> Iterator[Record]:
    """``value`` as a list of objects. Raises Unreadable, also while it is read."""
    if not isinstance(value, list):
        raise Unreadable(f"{what} is not a list")
    return (record(item, f"an item of {what}") for item in value)


def first(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """As many remarks as are kept."""
    return tuple(islice(remarks, MAX_REMARKS))


def end_of(line: int, end_line: int, end_column: int) -> int:
    """The last line of a range whose end is exclusive: an end before the first character of a line leaves that line out."""
    return end_line - 1 if end_line > line and end_column == 1 else end_line
