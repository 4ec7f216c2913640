"""What tools offer, as bytes of files: whether two offers are in each other's way, and what files become of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from reviewbot.ports import Splice

Splices = tuple[Splice, ...]


class Misfit(ValueError):
    """Splices that do not fit their files. The message says which, and why."""


def spliced(files: Mapping[str, bytes], splices: Iterable[Splice]) -> dict[str, bytes]:
    """Every file that is named, with its splices in it. Equal splices count once; what is added at one place stands in the order
    given. Raises Misfit where one is outside of its file, or overlaps another."""
    by_path: dict[str, list[Splice]] = {}
    for splice in dict.fromkeys(splices):
        by_path.setdefault(splice.path, []).append(splice)
    return {path: _joined(path, files.get(path), found) for path, found in by_path.items()}


def apart(wanted: Sequence[Splices], taken: Iterable[Splice] = ()) -> tuple[int, ...]:
    """The indexes of offers that can all be taken: none clashes with what is ``taken``, or with an earlier one of them."""
    known: dict[str, list[Splice]] = {}
    _add(known, taken)
    chosen = []
    for index, splices in enumerate(wanted):
        if not any(clash(splice, other) for splice in splices for other in known.get(splice.path, ())):
            chosen.append(index)
            _add(known, splices)
    return tuple(chosen)


def clash(one: Splice, other: Splice) -> bool:
    """They cannot both be made: they change the same bytes differently, or one adds at an edge of the other, and nobody knows in
    which order. Two that change neighbouring bytes do not clash."""
    if one.path != other.path or one == other:
        return False
    if one.start == one.end or other.start == other.end:
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end


def moved(splice: Splice, head: bytes, now: bytes) -> Splice | None:
    """The splice of a file at ``head`` for the file as it is ``now``: ``None`` where what it is about may have changed."""
    before, after = unchanged_ends(head, now)
    if splice.end <= before:
        return splice
    if splice.start >= len(head) - after:
        shift = len(now) - len(head)
        return replace(splice, start=splice.start + shift, end=splice.end + shift)
    return None


def unchanged_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """How many items at the beginning, and of the rest how many at the end, are the same in both."""
    most = min(len(old), len(new))
    before = _same(old, new, most)
    after = next((n for n in range(most - before) if old[-1 - n] != new[-1 - n]), most - before)
    return before, after


def _same(old: Sequence[object], new: Sequence[object], most: int) -> int:
    return next((n for n in range(most) if old[n] != new[n]), most)


def _joined(path: str, content: bytes | None, splices: list[Splice]) -> bytes:
    if content is None:
        raise Misfit(f"{path} is not there")
    parts, position = [], 0
    for splice in sorted(splices, key=lambda one: (one.start, one.end)):
        if not 0 <= splice.start <= splice.end <= len(content):
            raise Misfit(f"bytes {splice.start}-{splice.end} are not in {path}")
        if splice.start < position:
            raise Misfit(f"two changes of {path} overlap at byte {splice.start}")
        parts += [content[position : splice.start], splice.text]
        position = splice.end
    return b"".join((*parts, content[position:]))


def _add(known: dict[str, list[Splice]], splices: Iterable[Splice]) -> None:
    for splice in splices:
        known.setdefault(splice.path, []).append(splice)
