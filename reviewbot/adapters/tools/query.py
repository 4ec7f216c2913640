"""A question to a database, and what it found: what both databases have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reviewbot.screen import shown

LONGEST_VALUE = 8_000
"""Characters of one value: a plan as JSON is one."""
MOST_SCREENED = 80_000
"""Characters of a long value that are looked at for secrets, so that none is cut where it is shown."""
MOST_CHARACTERS = 100_000
"""Of all values: more than there is room for on a page."""


@dataclass(frozen=True, slots=True)
class Question:
    """One statement that reads, its parameters in order, and where to ask it. ``rows`` bounds the result, ``seconds`` the
    time."""

    address: str = field(repr=False)
    query: str
    parameters: tuple[str | int | float | bool | None, ...]
    seconds: float
    rows: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a database gave. ``truncated``: there was more."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    truncated: bool

    def document(self) -> dict[str, Any]:
        """As it is told."""
        return {"columns": self.columns, "rows": self.rows, "truncated": self.truncated}


class Basket:
    """Rows while they come in, until there are enough."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._room = MOST_CHARACTERS
        self._rows: list[tuple[Any, ...]] = []
        self._truncated = False

    def takes(self, row: tuple[Any, ...]) -> bool:
        """Take a row, or tell that it is too much. Long values are cut, and it is said."""
        self._truncated = len(self._rows) >= self._most or self._room < 0
        if not self._truncated:
            cut = tuple(_cut(value) for value in row)
            self._room -= sum(len(value) for value in cut if isinstance(value, str))
            self._rows.append(cut)
        return not self._truncated

    def found(self, columns: tuple[str, ...]) -> Found:
        """All that was taken."""
        return Found(columns, tuple(self._rows), self._truncated)


def _cut(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= LONGEST_VALUE:
        return value
    beginning = shown.text(value[:MOST_SCREENED])[:LONGEST_VALUE]
    return f"{beginning}⟨{len(value) - len(beginning)} more characters⟩"
