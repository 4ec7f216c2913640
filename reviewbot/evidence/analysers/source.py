"""A file at one end, as the analysers see it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from reviewbot.domain.change import is_test_path


@dataclass(frozen=True, slots=True)
class Source:
    """``lines`` are ``(number, text)``: all of a file, or those that a patch shows. ``tree`` is its syntax, if it is Python."""

    path: str
    lines: tuple[tuple[int, str], ...]
    tree: ast.Module | None = None

    @classmethod
    def of_bytes(cls, path: str, data: bytes, *, tree: ast.Module | None) -> Source:
        """A whole file."""
        rows = data.decode("utf-8", "surrogateescape").split("\n")
        return cls(path, tuple((number, row.removesuffix("\r")) for number, row in enumerate(rows, start=1)), tree)

    @classmethod
    def of_lines(cls, path: str | None, rows: Iterable[tuple[int, bytes]]) -> Source | None:
        """Some lines of a file."""
        if path is None:
            return None
        texts = ((number, row.decode("utf-8", "surrogateescape").removesuffix("\r")) for number, row in rows)
        return cls(path, tuple(texts))

    @property
    def is_test(self) -> bool:
        """It is test code."""
        return is_test_path(self.path)

    def anchor(self, number: int) -> str:
        """The text of a line, without indentation."""
        if 0 < number <= len(self.lines) and self.lines[number - 1][0] == number:
            return self.lines[number - 1][1].strip()
        return next((text.strip() for line, text in self.lines if line == number), "")
