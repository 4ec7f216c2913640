"""What linters and type checkers say, in nobody's format: a remark is one line of their report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Unreadable(ValueError):
    """A report that is not of the format it should be, with the reason in words."""


class Grade(IntEnum):
    """How grave the tool itself holds it."""

    NOTE = 1
    WARNING = 2
    ERROR = 3


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing said of one place. ``path`` is as the tool wrote it; ``line`` 1-based, 0 for the whole file; ``end_line`` and
    ``column`` (1-based) are 0 where the tool does not say. ``rule`` is the tool's name for what was broken."""

    path: str
    line: int
    message: str
    rule: str | None = None
    grade: Grade = Grade.WARNING
    end_line: int = 0
    column: int = 0
