"""What of a dossier a seat with little room is shown, and what it is not: nothing is lost, nothing is shown twice."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeVar

from reviewbot.domain.event import Told
from reviewbot.domain.tokens import BYTES_PER_TOKEN, DENSE_FACTOR, is_dense
from reviewbot.ports import Dossier, Passage, Related

_T = TypeVar("_T")

BYTES_PER_ROW = 8
"""A line's number, mark and line feed."""
WORTH_CUTTING = 1 / 4
"""A passage that does not fit is cut where at least this share of the room is left for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file that a question is about."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a dossier, in its order, and what is not: together every line of its passages, once."""

    passages: tuple[Passage, ...]
    related: tuple[Related, ...]
    unread: tuple[Passage, ...] = ()
    background: tuple[Told, ...] = ()


def fitting(dossier: Dossier, room: int | None, place: Place | None = None) -> Shown:
    """What fits into ``room`` tokens (``None``: everything).

    Passages come before related code and this before what others say, those near ``place`` first. The first one that does not
    fit is cut where that is worth it: a seat whose room is smaller than every passage still reads something.
    """
    if room is None:
        return everything(dossier)
    shown: list[tuple[int, Passage]] = []
    unread: list[tuple[int, Passage]] = []
    left, whole = float(room), True
    for index in sorted(range(len(dossier.passages)), key=lambda index: (*_distance(dossier.passages[index], place), index)):
        passage = dossier.passages[index]
        kept: Passage | None = passage
        rest: tuple[Passage, ...] = ()
        if tokens(passage) > left:
            worth = whole and left >= room * WORTH_CUTTING
            kept, rest = _cut(passage, left, place) if worth else (None, (passage,))
            whole = False
        if kept:
            shown.append((index, kept))
            left -= tokens(kept)
        unread += [(index, piece) for piece in rest]
    related, left = _while_they_fit([(item, tokens(item.passage)) for item in dossier.related], left if whole else 0.0)
    told, _ = _while_they_fit([(item, _spoken(item)) for item in dossier.background], left)
    return Shown(_in_order(shown), related, _in_order(unread), told)


def everything(dossier: Dossier) -> Shown:
    """All of a dossier."""
    return Shown(dossier.passages, dossier.related, background=dossier.background)


def tokens(passage: Passage) -> float:
    """An estimate of what showing a passage takes, that errs upwards."""
    return _heading(passage) + sum(_weights(passage))


def part(passage: Passage, start: int, end: int) -> Passage:
    """The lines ``start`` to ``end`` of a passage, with what was removed beside them: a removed line is in one part only."""
    last = passage.start + len(passage.lines) - 1
    return replace(
        passage,
        start=start,
        lines=passage.lines[start - passage.start : end - passage.start + 1],
        changed=frozenset(line for line in passage.changed if start <= line <= end),
        removed=tuple(gone for gone in passage.removed if start <= min(max(gone.before, passage.start), last) <= end),
    )


def _heading(passage: Passage) -> float:
    return (len(passage.path) + len(passage.symbol) + 3 * BYTES_PER_ROW) / BYTES_PER_TOKEN


def _weights(passage: Passage) -> list[float]:
    """Tokens by line, those of removed lines counted at the line they stood before (the last one where that is not shown)."""
    weights = [_row(line) for line in passage.lines] or [0.0]
    for gone in passage.removed:
        weights[min(max(gone.before - passage.start, 0), len(weights) - 1)] += _row(gone.text)
    return weights


def _row(text: str) -> float:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    factor = DENSE_FACTOR if is_dense(size, text.count(" ") + text.count("\t")) else 1.0
    return (BYTES_PER_ROW + size * factor) / BYTES_PER_TOKEN


def _distance(passage: Passage, place: Place | None) -> tuple[int, int]:
    """How far a passage is from ``place``: another file, then lines between; without a place all are equally near."""
    if place is None:
        return 0, 0
    if passage.path != place.path:
        return 1, 0
    return 0, max(passage.start - place.end, place.start - (passage.start + len(passage.lines) - 1), 0)


def _spoken(item: Told) -> float:
    return _row(item.who) + sum(map(_row, item.text.split("\n")))


def _while_they_fit(items: Sequence[tuple[_T, float]], left: float) -> tuple[tuple[_T, ...], float]:
    """The first of some things with their tokens, and what is then left; nothing after one that does not fit."""
    shown: list[_T] = []
    for item, price in items:
        if price > left:
            return tuple(shown), 0.0
        shown.append(item)
        left -= price
    return tuple(shown), left


def _cut(passage: Passage, left: float, place: Place | None) -> tuple[Passage | None, tuple[Passage, ...]]:
    """The part of a passage that fits, around ``place`` where that is in it, else from its top; and what is left of it."""
    last = passage.start + len(passage.lines) - 1
    centred = place is not None and _distance(passage, place) == (0, 0)
    first = max(place.start, passage.start) if place and centred else passage.start
    sums = [0.0, *accumulate(_weights(passage))]
    left -= _heading(passage)

    def window(lines: int) -> tuple[int, int]:
        """So many lines: a third of them before ``first``, as far as the passage reaches."""
        start = max(passage.start, min(first - (lines // 3 if centred else 0), last - lines + 1))
        return start, start + lines - 1

    def price(lines: int) -> float:
        start, end = window(lines)
        return sums[end - passage.start + 1] - sums[start - passage.start]

    longest = bisect_right(range(1, len(passage.lines) + 1), left, key=price)
    if not longest:
        return None, (passage,)
    start, end = window(longest)
    end = end if centred else _border(passage, start, end)
    pieces = ((passage.start, start - 1), (end + 1, last))
    return part(passage, start, end), tuple(part(passage, low, high) for low, high in pieces if low <= high)


def _border(passage: Passage, start: int, end: int) -> int:
    """The last blank line in the last quarter of what fits, else ``end``."""
    candidates = range(end, end - (end - start) // 4, -1)
    return next((line for line in candidates if not (passage.text(line) or "").strip()), end)


def _in_order(found: list[tuple[int, Passage]]) -> tuple[Passage, ...]:
    """Passages in the order of the dossier, parts of one in the order of their lines."""
    return tuple(passage for _, passage in sorted(found, key=lambda entry: (entry[0], entry[1].start)))
