"""A change of one file as one run of lines that are replaced, in the numbers of the head: what a button can commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from reviewbot.publish.fixes import Run

MOST_MORE = 6
"""Lines behind a change that are looked at for one to keep."""


@dataclass(frozen=True, slots=True)
class Span:
    """So many lines that are ``gone`` from index ``at`` on, and how many have ``come`` in their place."""

    at: int
    gone: int
    come: int


def span(before: bytes, after: bytes) -> Span:
    """All that differs between two texts, in one piece."""
    old, new = _lines(before), _lines(after)
    first = _equal(zip(old, new, strict=False))
    left, right = old[first:], new[first:]
    last = _equal(zip(reversed(left), reversed(right), strict=False))
    return Span(first, len(left) - last, len(right) - last)


def run(path: str, head: bytes, after: bytes, *, made: Span, earlier: Sequence[Span], around: tuple[int, int]) -> Run | None:
    """The change ``made``, after which the file is ``after``, as lines of ``head`` from which ``earlier`` changes led to it, in
    order. The lines ``around`` (1-based, the last one too) belong to it. ``None`` where an earlier change touches the same lines,
    or no button would do exactly that: bytes that are no UTF-8, other line ends, a last line without one."""
    place = _at_head(made, earlier)
    old, new = _lines(head), _lines(after)
    if place is None or not 1 <= around[0] <= around[1] <= len(old):
        return None
    first, end = place
    start, stop = min(first, around[0] - 1), max(end, around[1])
    come = new[made.at : made.at + made.come]
    while not b"".join((*old[start:first], *come, *old[end:stop])).strip() and stop < min(len(old), end + MOST_MORE):
        stop += 1  # a button that only takes lines away is none: it keeps the next one that says something
    lines = [*old[start:first], *come, *old[end:stop]]
    touched = b"".join((*old[start:stop], *lines))
    if not all(line.endswith(b"\n") for line in (*old[start:stop], *lines)) or b"\r" in touched:
        return None
    try:
        text = b"".join(lines).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return Run(path, start + 1, stop, text.removesuffix("\n"))


def _at_head(made: Span, earlier: Sequence[Span]) -> tuple[int, int] | None:
    """The first and the last index but one of the lines that go, before all earlier changes. Where lines only come, what stands
    right beside them is touched, too: nobody can tell the order."""
    first, end = made.at, made.at + made.gone
    for one in reversed(earlier):
        room = 0 if one.gone and made.gone else 1
        if first >= one.at + one.come + room:
            first, end = first - one.come + one.gone, end - one.come + one.gone
        elif end > one.at - room:
            return None
    return first, end


def _equal(pairs: Iterable[tuple[bytes, bytes]]) -> int:
    """How many pairs there are before the first one that differs."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _lines(text: bytes) -> list[bytes]:
    """As git counts them."""
    *lines, rest = text.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])
