"""Functions and classes of a file as runs of lines, told by declarations and indentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reviewbot.context.names import declared

_CLOSING = ("}", ")", "]", "end")


@dataclass(frozen=True, slots=True)
class Block:
    """A function or class: its name, first and last line."""

    name: str
    start: int
    end: int


Parser = Callable[[str, bytes], tuple[Block, ...] | None]
"""From a path and its content, the blocks in the order of their first lines; ``None`` where the language is not known."""


def guessed(path: str, content: bytes) -> tuple[Block, ...]:
    """A Parser for whatever is indented: a block ends before the next line that is indented as little as its first."""
    del path
    lines = content.decode("utf-8", "replace").split("\n")
    found: list[Block] = []
    waiting: list[tuple[int, str, int]] = []
    last = 0
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        if not bare:
            continue
        indent = len(line) - len(line.lstrip())
        if not (bare.startswith(_CLOSING) and waiting and waiting[-1][0] == indent):
            while waiting and waiting[-1][0] >= indent:
                _, name, start = waiting.pop()
                found.append(Block(name, start, last))
        if (names := declared(line)) and (indent or not _is_plain_value(line, names[0])):
            waiting.append((indent, names[0], number))
        last = number
    found += [Block(name, start, last) for _, name, start in waiting]
    return tuple(sorted(found, key=lambda block: (block.start, -block.end)))


def innermost(blocks: Sequence[Block], line: int) -> Block | None:
    """The smallest block that has this line."""
    around = [block for block in blocks if block.start <= line <= block.end]
    return min(around, key=lambda block: block.end - block.start, default=None)


def _is_plain_value(line: str, name: str) -> bool:
    """An assignment that opens nothing."""
    return line.startswith(name) and not line.rstrip().endswith(("{", "(", "[", ":"))
