"""The mechanical gates: a claim enters the debate only if it can be anchored in what was shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.debate.numbers import NEIGHBOURHOOD
from reviewbot.domain.debate import Claim
from reviewbot.domain.evidence import EvidenceStatus, Ledger
from reviewbot.ports import Passage
from reviewbot.screen.storable import storable

LONG_QUOTE = 400
"""Characters of a line that stand for the whole of it: a reply has no room for a minified file."""


@dataclass(frozen=True, slots=True)
class Gate:
    """What is needed to judge claims: the passages that were shown, by path, the changed paths, and the ledger. ``names`` are
    the changed paths by what an answer can say of them: JSON has no word for a name that is not UTF-8."""

    passages: Mapping[str, tuple[Passage, ...]]
    paths: frozenset[str]
    ledger: Ledger
    names: Mapping[str, str]

    @classmethod
    def of(cls, passages: Iterable[Passage], paths: Iterable[str], ledger: Ledger) -> Gate:
        """A gate for everything that was shown."""
        shown: dict[str, list[Passage]] = {}
        for passage in passages:
            shown.setdefault(passage.path, []).append(passage)
        known = frozenset(paths)
        return cls({path: tuple(found) for path, found in shown.items()}, known, ledger, {storable(path): path for path in known})

    def admit(self, claim: Claim) -> Claim | str:
        """The claim, anchored where its quote stands, or the reason why it is dropped."""
        if claim.path not in self.paths:
            claim = replace(claim, path=self.names.get(claim.path, claim.path))
        if claim.path not in self.paths:
            return f"{claim.path} is not in the change"
        known = tuple(item for item in claim.evidence if self.ledger.item(item))
        claim = replace(claim, evidence=known)
        if not claim.quote.strip():
            return self._without_quote(claim)
        spots = [
            (abs(start - claim.start_line), start, end, passage)
            for passage in self.passages.get(claim.path, ())
            for start, end in _spots(passage, claim.quote)
        ]
        if not spots:
            return f"the quote is not in what was shown of {claim.path}"
        _, start, end, passage = min(spots, key=lambda spot: spot[:3])
        if not _near_change(passage, start, end):
            return f"{claim.path}:{start} is too far from what changed"
        return replace(claim, start_line=start, line=end)

    def _without_quote(self, claim: Claim) -> Claim | str:
        """A claim about a whole file, or about something that is gone, stands only on new evidence about just that place."""
        items = (self.ledger.item(item) for item in claim.evidence)
        same = (item for item in items if item and item.status is EvidenceStatus.NEW and item.result.path == claim.path)
        if any(item.result.line == claim.line for item in same):
            return claim
        return "nothing is quoted"


def _spots(passage: Passage, quote: str) -> Iterable[tuple[int, int]]:
    """Where the quoted lines stand in a passage, as first and last line number; white space at the ends does not count."""
    wanted = [line.strip() for line in quote.strip("\n").split("\n")]
    shown = [line.strip() for line in passage.lines]
    first = wanted[0]
    for index in range(len(shown) - len(wanted) + 1):
        if shown[index].startswith(first) and all(map(_stands, wanted, shown[index : index + len(wanted)])):
            yield passage.start + index, passage.start + index + len(wanted) - 1


def _stands(wanted: str, shown: str) -> bool:
    """The line is quoted, all of it or a beginning that is long enough to be no accident: few lines are so long to the end."""
    return wanted == shown or (len(wanted) >= LONG_QUOTE and shown.startswith(wanted))


def _near_change(passage: Passage, start: int, end: int) -> bool:
    """In or next to a changed line, or (where lines were only removed) anywhere in the passage around the cut."""
    if not passage.changed:
        return True
    return any(line in passage.changed for line in range(start - NEIGHBOURHOOD, end + NEIGHBOURHOOD + 1))
