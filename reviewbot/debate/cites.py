"""Citations held against what exists: a line that was shown or could be looked up, an item of the ledger."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reviewbot.domain.evidence import Evidence, Ledger
from reviewbot.ports import Dossier, Passage

Length = Callable[[str], int]
"""How many lines a file has at head, 0 where there is none by that path: what panelists with tools may have looked up."""

MOST_CITES = 20
"""Of one answer or argument: more than that is a list, no ground."""

_PLACE = re.compile(r"(?P<path>.+):(?P<line>[1-9]\d{0,8})")
_WORD = re.compile(r"[^\s`'\"<>()\[\]{},;]+")
_ENDS = ".:!?*_"


def nowhere(path: str) -> int:
    """Nobody could look anything up."""
    del path
    return 0


@dataclass(frozen=True, slots=True)
class Kept:
    """Citations that exist, each once, and those that do not."""

    held: tuple[str, ...]
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """What can be cited."""

    passages: tuple[Passage, ...]
    ledger: Ledger
    length: Length = nowhere

    @classmethod
    def of(cls, dossiers: Iterable[Dossier], ledger: Ledger, length: Length = nowhere) -> Shown:
        """Everything that these dossiers show."""
        listed = tuple(dossiers)
        related = (item.passage for dossier in listed for item in dossier.related)
        return cls((*(passage for dossier in listed for passage in dossier.passages), *related), ledger, length)

    def checked(self, cites: Iterable[str], unread: tuple[Passage, ...] = ()) -> Kept:
        """The citations by whether they exist. ``unread`` was not shown to who cites."""
        said = [cite for cite in dict.fromkeys(cite.strip().strip("`") for cite in cites) if cite][:MOST_CITES]
        held = tuple(cite for cite in said if self.holds(cite, unread))
        return Kept(held, tuple(cite for cite in said if cite not in held))

    def holds(self, cite: str, unread: tuple[Passage, ...] = ()) -> bool:
        """It is the id of a ledger item, or ``path:line`` of a line that was shown or could be looked up."""
        if self.ledger.item(cite) is not None:
            return True
        place = _PLACE.fullmatch(cite)
        if place is None:
            return False
        path, line = place["path"], int(place["line"])
        if line <= self.length(path):
            return True
        return _is_in(self.passages, path, line) and not _is_in(unread, path, line)

    def named(self, words: str) -> tuple[str, ...]:
        """Everything in a person's words that can be cited, in their order."""
        found = (word.rstrip(_ENDS) for word in _WORD.findall(words))
        return tuple(dict.fromkeys(word for word in found if self.holds(word)))[:MOST_CITES]

    def items(self, cites: Iterable[str]) -> tuple[Evidence, ...]:
        """The ledger's items among some citations."""
        return tuple(item for cite in dict.fromkeys(cites) if (item := self.ledger.item(cite)))


def _is_in(passages: tuple[Passage, ...], path: str, line: int) -> bool:
    return any(passage.path == path and passage.text(line) is not None for passage in passages)
