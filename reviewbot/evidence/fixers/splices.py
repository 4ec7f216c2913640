"""Several replacements in one file: which of them go together, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby, pairwise
from operator import attrgetter

from reviewbot.ports import Splice

MOST_LINES = 2_000
"""Lines of a file among which differences are looked for: that takes long where much differs. More are one difference."""


def together(splices: Iterable[Splice]) -> tuple[Splice, ...] | None:
    """The replacements in order, each once: tools say of every use that one import is to be added. ``None`` where two of them
    are about the same bytes, or put different things at one place."""
    ordered = sorted(set(splices), key=lambda one: (one.path, one.start, one.end, one.text))
    return None if any(one.path == other.path and _collide(one, other) for one, other in pairwise(ordered)) else tuple(ordered)


def applied(data: bytes, splices: Iterable[Splice]) -> bytes:
    """A file with these replacements in it, which go together. They are about one path."""
    parts, done = [], 0
    for one in sorted(splices, key=attrgetter("start", "end")):
        parts += [data[done : one.start], one.text]
        done = one.end
    return b"".join((*parts, data[done:]))


def by_path(splices: Iterable[Splice]) -> Iterable[tuple[str, tuple[Splice, ...]]]:
    """The replacements of each file, files and replacements in order."""
    ordered = sorted(splices, key=attrgetter("path", "start", "end"))
    return ((path, tuple(mine)) for path, mine in groupby(ordered, key=attrgetter("path")))


def between(path: str, old: bytes, new: bytes) -> tuple[Splice, ...]:
    """What makes one text of another, in whole lines."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = _equal(before, after)
    tail = _equal(before[head:][::-1], after[head:][::-1])
    first, second = before[head : len(before) - tail], after[head : len(after) - tail]
    starts = [sum(map(len, before[:head])), *map(len, first)]
    places = [*accumulate(starts)]
    return tuple(
        Splice(path, places[start], places[end], b"".join(second[begin:stop]))
        for start, end, begin, stop in _differences(first, second)
    )


def _differences(first: Sequence[bytes], second: Sequence[bytes]) -> Iterable[tuple[int, int, int, int]]:
    """The lines of one that differ, and those of the other that stand in their place."""
    if max(len(first), len(second)) > MOST_LINES:
        return [(0, len(first), 0, len(second))]
    found = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return [(start, end, begin, stop) for kind, start, end, begin, stop in found if kind != "equal"]


def _equal(first: Sequence[bytes], second: Sequence[bytes]) -> int:
    """How many lines at the beginning are the same."""
    most = min(len(first), len(second))
    return next((number for number in range(most) if first[number] != second[number]), most)


def _collide(one: Splice, other: Splice) -> bool:
    """``other`` is another one that begins no earlier, and ends no earlier where both begin at one place."""
    return other.start < one.end or one.start == one.end == other.start == other.end
