"""A change dealt out in portions, each small enough for one reader: what belongs together stays together, riskiest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from reviewbot.changeset.cut import cut, passage_tokens
from reviewbot.changeset.kinds import tier
from reviewbot.domain.change import is_test_path
from reviewbot.ports import Passage, Portion

__all__ = ["divide", "listed", "oversized", "passage_tokens", "portion_tokens"]

OPEN_PORTIONS = 12
"""Portions that may still be filled up: more would only move what is read far from its neighbours."""
MOST_PARSED_BYTES = 400_000
"""Where more than this must be cut, declarations are found by looking at lines: parsing 60,000 lines takes over 0.5 s."""

_TEST_NAME = re.compile(r"^test_|[_-]?(?:test|spec)s?$", re.IGNORECASE)
_TEST_FOLDERS = ("test", "tests", "testing", "spec", "specs", "__tests__")


def divide(passages: Sequence[Passage], tokens: int) -> tuple[tuple[Passage, ...], ...]:
    """``passages`` in portions of at most ``tokens`` as ``portion_tokens`` counts them, the riskiest first.

    Directories stay whole where they fit, else modules with their tests, files, passages; only a passage that is too large
    by itself is cut. Every changed and every removed line is in exactly one portion. A line that is larger than ``tokens``
    alone makes a portion that is too: ``oversized`` names it. Equal input gives equal portions.
    """
    tiers = {path: tier(path) for path in {passage.path for passage in passages}}
    pieces = [_Piece((passage,), passage_tokens(passage), index, tiers[passage.path]) for index, passage in enumerate(passages)]
    large = sum(len(line) for piece in pieces if piece.tokens > tokens for line in piece.passages[0].lines)
    dealer = _Dealer(tokens, parse=large <= MOST_PARSED_BYTES)
    dealer.place(pieces, _keys(passage.path for passage in passages))
    return tuple(basket.passages() for basket in sorted(dealer.shelf, key=_Basket.risk) if basket.pieces)


def portion_tokens(portion: Iterable[Passage]) -> int:
    """An upper estimate of what showing a portion takes."""
    return sum(map(passage_tokens, portion))


def oversized(portions: Sequence[Sequence[Passage]], tokens: int) -> tuple[int, ...]:
    """The indices of the portions that do not fit into ``tokens``, because a line of theirs alone does not."""
    return tuple(index for index, portion in enumerate(portions) if portion_tokens(portion) > tokens)


def listed(portions: Sequence[Sequence[Passage]]) -> tuple[Portion, ...]:
    """The portions by name (P1, P2, …), with their paths and sizes."""
    return tuple(
        Portion(f"P{number}", tuple(dict.fromkeys(passage.path for passage in portion)), portion_tokens(portion))
        for number, portion in enumerate(portions, 1)
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is placed as one: a passage, or a part of one with the first line of its function. ``order`` is its place in the
    change, with ``part`` among the parts of its passage."""

    passages: tuple[Passage, ...]
    tokens: int
    order: int
    tier: int
    part: int = 0

    @property
    def path(self) -> str:
        """The file it is of."""
        return self.passages[0].path


@dataclass(slots=True, eq=False)
class _Basket:
    """A portion that is being filled."""

    room: int
    pieces: list[_Piece] = field(default_factory=list)

    def risk(self) -> int:
        """The tier of the riskiest file in it."""
        return min((piece.tier for piece in self.pieces), default=0)

    def passages(self) -> tuple[Passage, ...]:
        """What is in it, in the order of the change."""
        ordered = sorted(self.pieces, key=lambda piece: (piece.order, piece.part))
        return tuple(passage for piece in ordered for passage in piece.passages)


_Key = Callable[[_Piece], object]


class _Dealer:
    """Fills portions of ``tokens`` each; the ones used last are tried first."""

    def __init__(self, tokens: int, *, parse: bool) -> None:
        self.shelf: list[_Basket] = []
        self._tokens = tokens
        self._parse = parse
        self._open: list[_Basket] = []

    def place(self, pieces: Sequence[_Piece], keys: Sequence[_Key]) -> None:
        """Place ``pieces`` in one portion, or else group by group of the first of ``keys``, or else cut the one that is left."""
        size = sum(piece.tokens for piece in pieces)
        basket = self._basket(size)
        if basket is not None:
            self._fill(basket, pieces, size)
        elif keys:
            for group in _grouped(pieces, keys[0]):
                self.place(group, keys[1:])
        else:
            for part in self._parts(pieces[0]):
                self._fill(self._basket(part.tokens) or self._new(), [part], part.tokens)

    def _basket(self, size: int) -> _Basket | None:
        """Where so much fits; ``None`` where it fits into no portion at all."""
        found = next((basket for basket in reversed(self._open) if basket.room >= size), None)
        return found or (self._new() if size <= self._tokens else None)

    def _new(self) -> _Basket:
        basket = _Basket(self._tokens)
        self.shelf.append(basket)
        self._open = [*self._open[1 - OPEN_PORTIONS :], basket]
        return basket

    def _fill(self, basket: _Basket, pieces: Sequence[_Piece], size: int) -> None:
        basket.pieces += pieces
        basket.room -= size
        self._open.remove(basket)
        if basket.room > 0:
            self._open.append(basket)

    def _parts(self, piece: _Piece) -> Iterator[_Piece]:
        for number, part in enumerate(cut(piece.passages[0], self._tokens, parse=self._parse)):
            yield replace(piece, passages=part, tokens=portion_tokens(part), part=number)


def _grouped(pieces: Sequence[_Piece], key: _Key) -> list[list[_Piece]]:
    """The riskiest group first, then in the order of the change."""
    groups: dict[object, list[_Piece]] = {}
    for piece in pieces:
        groups.setdefault(key(piece), []).append(piece)
    return sorted(groups.values(), key=lambda group: (min(piece.tier for piece in group), group[0].order))


def _keys(paths: Iterable[str]) -> tuple[_Key, ...]:
    """By what pieces are grouped, coarse to fine: directory, module with its tests, file, passage."""
    homes = _homes(tuple(dict.fromkeys(paths)))
    return (
        lambda piece: homes[piece.path].rpartition("/")[0],
        lambda piece: homes[piece.path],
        lambda piece: piece.path,
        lambda piece: piece.order,
    )


def _homes(paths: tuple[str, ...]) -> dict[str, str]:
    """For each path the module it belongs to: for a test the module of that name in the change, else itself."""
    near: dict[tuple[str, str], str] = {}
    anywhere: dict[str, str] = {}
    for path in paths:
        if not is_test_path(path):
            near.setdefault(_likeness(path), path)
            anywhere.setdefault(_likeness(path)[1], path)

    def home(path: str) -> str:
        likeness = _likeness(path)
        return near.get(likeness) or anywhere.get(likeness[1], path)

    return {path: home(path) if is_test_path(path) else path for path in paths}


def _likeness(path: str) -> tuple[str, str]:
    """Folder and name without what makes a test of it."""
    *folders, name = path.split("/")
    stem = name.split(".", 1)[0]
    return "/".join(folder for folder in folders if folder.lower() not in _TEST_FOLDERS), _TEST_NAME.sub("", stem) or stem
