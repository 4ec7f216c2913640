"""Splices of several proposals put together into whole files. Those that touch each other are never guessed about."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping

from reviewbot.domain.repair import Edit
from reviewbot.errors import PatchError
from reviewbot.ports import Splice

_Place = tuple[int, int, bytes]


def merged(files: Mapping[str, bytes], splices: Iterable[Splice]) -> tuple[Edit, ...]:
    """The files with every splice in them, in the order of their paths, without those that stay as they are. ``files`` are those
    of the head, by path. One splice said twice is one.

    Raises PatchError where two touch each other, or one is about a place that is not there.
    """
    places: dict[str, list[_Place]] = {}
    for splice in splices:
        if splice.path not in files:
            raise PatchError(f"{splice.path!r} is not among the files that were read")
        if not 0 <= splice.start <= splice.end <= len(files[splice.path]):
            raise PatchError(f"{splice.path!r} has no bytes {splice.start} to {splice.end}")
        if not _place(splice, places):
            raise PatchError(f"two changes of {splice.path!r} touch each other at byte {splice.start}")
    written = ((path, _written(files[path], found)) for path, found in sorted(places.items()))
    return tuple(Edit(path, content) for path, content in written if content != files[path])


def apart(groups: Iterable[Iterable[Splice]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The positions of groups that can be merged at once, the earlier before the later, and of those that are left over: they
    touch one that was chosen, or themselves, or hold nothing."""
    places: dict[str, list[_Place]] = {}
    chosen: list[int] = []
    left: list[int] = []
    for position, group in enumerate(groups):
        mine = tuple(group)
        fits = bool(mine) and _fits(mine, places)
        (chosen if fits else left).append(position)
    return tuple(chosen), tuple(left)


def _fits(group: tuple[Splice, ...], places: dict[str, list[_Place]]) -> bool:
    """Put all of a group among ``places``, or none of it."""
    tried = {path: list(places.get(path, ())) for path in {splice.path for splice in group}}
    if not all(_place(splice, tried) for splice in group):
        return False
    places.update(tried)
    return True


def _place(splice: Splice, places: dict[str, list[_Place]]) -> bool:
    """Put one splice among those of its file, which are in order and apart; false where it touches one. Side by side counts as
    touching, as with ruff: which of two insertions at one place comes first, nobody knows."""
    among = places.setdefault(splice.path, [])
    mine = (splice.start, splice.end, splice.text)
    at = bisect_left(among, mine)
    if at < len(among) and among[at] == mine:
        return True
    if at and among[at - 1][1] >= splice.start:
        return False
    if at < len(among) and among[at][0] <= splice.end:
        return False
    insort(among, mine)
    return True


def _written(content: bytes, places: list[_Place]) -> bytes:
    pieces: list[bytes] = []
    position = 0
    for start, end, text in places:
        pieces += (content[position:start], text)
        position = end
    return b"".join((*pieces, content[position:]))
