"""Which papers lie before whom: the dossiers of the change, whole ones for strong panelists, smaller ones for local models."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from reviewbot.domain.debate import Claim, Seat, Unread
from reviewbot.ports import Dossier, Packet, Passage


@dataclass(frozen=True, slots=True)
class Papers:
    """``dossiers`` divide the change for panelists who take much at a time, ``small`` for those who do not."""

    dossiers: tuple[Dossier, ...]
    small: tuple[Dossier, ...] = ()

    def piles(self, seat: Seat) -> tuple[Dossier, ...]:
        """The dossiers in the size that a seat takes."""
        return self.small if seat.local and self.small else self.dossiers

    def about(self, claim: Claim | Packet, seat: Seat) -> Dossier:
        """The dossier in which a claim's line stands; where none shows it, one about its file, or the first."""
        pile = self.piles(seat)
        same_file = [dossier for dossier in pile if any(passage.path == claim.path for passage in dossier.passages)]
        for dossier in same_file:
            if any(p.path == claim.path and p.text(claim.line) is not None for p in dossier.passages):
                return dossier
        return (same_file or list(pile))[0]


def lines(passage: Passage) -> Collection[int]:
    """What of a passage counts as read: its changed lines, or (where lines were only removed) its first."""
    return passage.changed or (passage.start,)


@dataclass(slots=True)
class Reading:
    """Who read what in the first pass, counted by path and line."""

    readers: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, dossier: Dossier, unread: tuple[Passage, ...]) -> None:
        """One panelist gave a valid answer about a dossier, of which ``unread`` was not shown to it."""
        missed: defaultdict[str, set[int]] = defaultdict(set)
        for passage in unread:
            missed[passage.path].update(lines(passage))
        for passage in dossier.passages:
            seen = lines(passage)
            gone = missed.get(passage.path)
            self.readers[passage.path].update([line for line in seen if line not in gone] if gone else seen)

    def of(self, claim: Claim) -> int:
        """How many read the place of a claim; 0 where it is on no changed line."""
        readers = self.readers.get(claim.path, Counter())
        return max((readers[line] for line in range(claim.start_line, claim.line + 1)), default=0)

    def missing(self, passages: Iterable[Passage], needed: int, invited: int) -> tuple[Unread, ...]:
        """The files of which some changed line was read by fewer than ``needed`` of those who were ``invited``."""
        total: Counter[str] = Counter()
        unread: Counter[str] = Counter()
        most: Counter[str] = Counter()
        for passage in passages:
            path, asked = passage.path, lines(passage)
            readers = self.readers.get(path, Counter())
            few = [count for line in asked if (count := readers[line]) < needed]
            total[path] += len(asked)
            if few:
                unread[path] += len(few)
                most[path] = max(most[path], *few)
        return tuple(
            Unread(path, count, count == total[path], _reason(count, total[path], readers=most[path], invited=invited))
            for path, count in unread.items()
        )


def _reason(count: int, total: int, *, readers: int, invited: int) -> str:
    what = "it was" if count == total else f"{count} of {total} changed lines were"
    return f"{what} read by {readers} of {invited} panelists"
