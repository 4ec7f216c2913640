"""Which function or class a line belongs to."""

from __future__ import annotations

import ast
import bisect
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BYTES = 400_000
"""Larger files are not parsed: git's heading of the hunk has to do."""

_HEADING_NAME = re.compile(r"\b(?:def|class|func|function|fn|interface|struct|trait|impl|module)\s+([A-Za-z_][\w.]*)")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A function or class with its qualified name and first and last line, decorators included.

    ``parent`` is the index of the symbol around it, -1 where there is none.
    """

    name: str
    start: int
    end: int
    parent: int = -1


@dataclass(frozen=True, slots=True)
class Outline:
    """The symbols of one file, outer before inner."""

    symbols: tuple[Symbol, ...] = ()

    def around(self, line: int) -> Symbol | None:
        """The innermost symbol that has this line."""
        index = bisect.bisect_right(self.symbols, line, key=lambda symbol: symbol.start) - 1
        while index >= 0 and self.symbols[index].end < line:
            index = self.symbols[index].parent
        return self.symbols[index] if index >= 0 else None


def of(path: str, content: bytes) -> Outline:
    """The outline of a Python file; empty for what is no Python, too large, or not to be parsed."""
    if not path.endswith((".py", ".pyi")) or len(content) > MAX_BYTES:
        return Outline()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Outline()
    return Outline(tuple(_symbols(tree)))


def named(heading: bytes) -> str:
    """The name in git's heading of a hunk, or the heading itself."""
    text = heading.decode("utf-8", "replace").strip()
    found = _HEADING_NAME.search(text)
    return found[1] if found else text[:80]


def _symbols(tree: ast.Module) -> Iterator[Symbol]:
    """In the order of their first lines. A list of its own instead of recursion: nesting is the author's choice."""
    waiting: list[tuple[str, int, ast.stmt]] = [("", -1, node) for node in reversed(tree.body)]
    count = 0
    while waiting:
        prefix, parent, node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            start = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
            yield Symbol(prefix + node.name, min(start, node.lineno), node.end_lineno or node.lineno, parent)
            prefix, parent, count = f"{prefix}{node.name}.", count, count + 1
        waiting += [(prefix, parent, child) for child in reversed(list(_statements(node)))]


def _statements(node: ast.stmt) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from child.body
