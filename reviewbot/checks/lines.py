"""How lines of a changed file correspond on its two sides."""

from __future__ import annotations

from reviewbot.git.change import ChangedFile, Hunk


def base_line_of(file: ChangedFile, line: int) -> int | None:
    """Where an unchanged line at head stands at base; None if the change adds it."""
    shift = 0
    for hunk in file.hunks:
        heads = [number for number, _ in hunk.at("head")]
        bases = [number for number, _ in hunk.at("base")]
        if line < (heads[0] if heads else bases[0] - shift):
            break
        if heads and line <= heads[-1]:
            return next(pair.base for pair in hunk.lines if pair.head == line)
        shift += len(bases) - len(heads)
    return line + shift


def hunk_at(file: ChangedFile, line: int) -> Hunk | None:
    """The hunk that shows a line at head."""
    return next((hunk for hunk in file.hunks if line in {n for n, _ in hunk.at("head")}), None)


def removed_from(hunk: Hunk) -> dict[int, str]:
    """Lines at base that a hunk takes away, by number."""
    return {line.base: line.text for line in hunk.lines if line.base and line.head is None}


def lines_beside_removals(file: ChangedFile) -> frozenset[int]:
    """Lines at head that stand where lines were removed and none put in their place."""
    found: set[int] = set()
    for hunk in file.hunks:
        previous, is_gap = 0, False
        for line in hunk.lines:
            if line.head is None:
                is_gap = True
                continue
            if is_gap and line.base is not None:
                found.add(line.head)
            is_gap = False
            previous = line.head
        if is_gap and previous:
            found.add(previous)
    return frozenset(found)


def nearest(numbers: frozenset[int], line: int) -> int | None:
    """The member closest to a line, the earlier of two."""
    return min(numbers, key=lambda number: (abs(number - line), number), default=None)
