"""Where a change is: added lines, the neighbourhood of removed ones, and what stands on a line."""

from __future__ import annotations

from bisect import bisect_left

from reviewbot.domain.change import FileChange, Hunk, LineKind


def lines(data: bytes | None) -> tuple[str, ...]:
    """The lines of a file as text, line feeds and returns before them left off. Only a line feed ends a line."""
    if data is None:
        return ()
    text = data.decode("utf-8", "surrogateescape")
    return tuple(line.removesuffix("\r") for line in text.split("\n"))


def line_at(texts: tuple[str, ...], number: int) -> str:
    """Line ``number`` without its indentation, empty where there is none."""
    return texts[number - 1].strip() if 0 < number <= len(texts) else ""


def added(file: FileChange) -> frozenset[int]:
    """Head numbers of the added lines."""
    return frozenset(number for number, _ in file.added_lines())


def beside_removals(file: FileChange) -> frozenset[int]:
    """Head numbers of the lines that now stand where lines were removed and none put in their place."""
    found: set[int] = set()
    for hunk in file.hunks:
        new, previous = hunk.new_start, LineKind.CONTEXT
        for line in hunk.lines():
            if line.kind is LineKind.CONTEXT and previous is LineKind.REMOVED:
                found.add(line.new or new)
            new = line.new + 1 if line.new is not None else new
            previous = line.kind
        if previous is LineKind.REMOVED:
            found.add(max(new - 1, 1))
    return frozenset(found)


def head_line(file: FileChange, old: int) -> int:
    """Where line ``old`` of the base stands at head, or would stand had it not been removed; never below 1."""
    shift = 0
    for hunk in file.hunks:
        if old < _first(hunk.old_start, hunk.old_count):
            break
        if old < _first(hunk.old_start, hunk.old_count) + hunk.old_count:
            return _within(hunk, old)
        shift += hunk.new_count - hunk.old_count
    return max(old + shift, 1)


def base_line(file: FileChange, new: int) -> int | None:
    """Where line ``new`` of the head stood at base, ``None`` where it was added."""
    shift = 0
    for hunk in file.hunks:
        if new < _first(hunk.new_start, hunk.new_count):
            break
        if new in hunk.new_span:
            return next((line.old for line in hunk.lines() if line.new == new), None)
        shift += hunk.old_count - hunk.new_count
    return new + shift


def nearest(numbers: frozenset[int], line: int) -> int | None:
    """The member of ``numbers`` closest to ``line``, the earlier of two."""
    ordered = sorted(numbers)
    place = bisect_left(ordered, line)
    near = ordered[max(place - 1, 0) : place + 1]
    return min(near, key=lambda number: (abs(number - line), number), default=None)


def _first(start: int, count: int) -> int:
    """A side without lines is named by the line before it."""
    return start if count else start + 1


def _within(hunk: Hunk, old: int) -> int:
    new = _first(hunk.new_start, hunk.new_count)
    for line in hunk.lines():
        if line.old == old:
            return max(line.new if line.new is not None else new, 1)
        if line.new is not None:
            new = line.new + 1
    return max(new, 1)
