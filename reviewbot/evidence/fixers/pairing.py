"""From what tools offer to what is proposed for findings: each of a finding's places must be mended, or nothing is proposed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.evidence import shown
from reviewbot.evidence.fixers import emptied, splices
from reviewbot.evidence.fixers.offer import Change, Offer
from reviewbot.evidence.fixers.text import Text, Unplaced
from reviewbot.ports import Proposal, Splice

MOST_WORDS = 3
"""Explanations of one proposal that are told."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A place of a finding: the tool's ``rule`` is reported on the lines ``start_line``–``line`` of the head's file. A finding
    has as many as it has results."""

    finding: str
    path: str
    start_line: int
    line: int
    tool: str
    rule: str


@dataclass(frozen=True)
class Report:
    """What a run of a tool said. ``settle`` gives the path of a file as it is called at head, by a path as the tool wrote it."""

    tool: str
    offers: Mapping[tuple[str, str], tuple[Offer, ...]]
    settle: Callable[[str], str | None]

    @classmethod
    def of(cls, tool: str, offers: Iterable[Offer], settle: Callable[[str], str | None]) -> Report:
        """The offers by path and rule."""
        found: defaultdict[tuple[str, str], list[Offer]] = defaultdict(list)
        for offer in offers:
            if path := settle(offer.path):
                found[path, offer.rule].append(offer)
        return cls(tool, {key: tuple(said) for key, said in found.items()}, settle)

    def about(self, path: str) -> tuple[Offer, ...]:
        """All that it said of a file, in the order of lines."""
        found = (offer for (name, _), said in self.offers.items() if name == path for offer in said)
        return tuple(sorted(found, key=lambda offer: (offer.line, offer.rule)))

    def at(self, place: Wanted) -> tuple[Offer, ...]:
        """What it said of a place."""
        found = self.offers.get((place.path, place.rule), ()) if place.tool == self.tool else ()
        return tuple(offer for offer in found if offer.line == 0 or place.start_line <= offer.line <= place.line)


def proposals(
    wanted: Sequence[Wanted], reports: Sequence[Report], texts: Mapping[str, Text]
) -> Mapping[str, tuple[Proposal, ...]]:
    """What is proposed for each finding, one proposal of a tool. Of reports of one tool the first that mends a place counts;
    ``texts`` are the files that may be changed, by path."""
    groups: defaultdict[tuple[str, str], list[Wanted]] = defaultdict(list)
    for place in wanted:
        groups[place.finding, place.tool].append(place)
    found: defaultdict[str, list[Proposal]] = defaultdict(list)
    for (finding, tool), places in groups.items():
        if made := _proposal(tool, places, reports, texts=texts):
            found[finding].append(made)
    return {finding: tuple(made) for finding, made in found.items()}


def _proposal(tool: str, places: Iterable[Wanted], reports: Sequence[Report], *, texts: Mapping[str, Text]) -> Proposal | None:
    """One for every place, and nothing twice; ``None`` where there is none."""
    every: list[Splice] = []
    words: list[str] = []
    for place in places:
        mended = next((found for report in reports if (found := _mended(report, place, texts))), None)
        if mended is None:
            return None
        every += mended[0]
        words += mended[1]
    apart = splices.together(every)
    sound = _sound(apart, texts) if apart else None
    told = dict.fromkeys(shown.sentence(one) for one in words if one)
    return Proposal(tool, sound, "; ".join([*told][:MOST_WORDS])) if sound else None


def _sound(apart: tuple[Splice, ...], texts: Mapping[str, Text]) -> tuple[Splice, ...] | None:
    """What leaves every file of Python fit to be parsed."""
    found: list[Splice] = []
    for path, mine in splices.by_path(apart):
        left = emptied.sound(texts[path].data, mine) if path.endswith((".py", ".pyi")) else mine
        if left is None:
            return None
        found += left
    return tuple(found)


def _mended(report: Report, place: Wanted, texts: Mapping[str, Text]) -> tuple[list[Splice], list[str]] | None:
    """What a report offers for a place, and in words; ``None`` where it offers nothing that can be made."""
    offers = [offer for offer in report.at(place) if offer.changes]
    if not offers:
        return None
    try:
        found = [one for offer in offers for one in resolved(offer, report, texts)]
    except Unplaced:
        return None
    return found, [offer.explanation for offer in offers]


def resolved(offer: Offer, report: Report, texts: Mapping[str, Text]) -> Iterator[Splice]:
    """The changes as bytes of files. Raises Unplaced."""
    found = [_splice(change, offer, report, texts=texts) for change in offer.changes]
    if not offer.whole or len(found) == 1:
        yield from found
        return
    path, start, end = found[0].path, min(one.start for one in found), max(one.end for one in found)
    parts = [Splice(path, one.start - start, one.end - start, one.text) for one in found]
    apart = splices.together(parts)
    if apart is None or any(one.path != path for one in found):
        raise Unplaced("the parts of a fix do not go together")
    yield Splice(path, start, end, splices.applied(texts[path].data[start:end], apart))


def _splice(change: Change, offer: Offer, report: Report, *, texts: Mapping[str, Text]) -> Splice:
    path = report.settle(change.path)
    text = texts.get(path) if path else None
    if path is None or text is None:
        raise Unplaced(f"{change.path} is no file that may be changed")
    start, end = text.span(change.start, change.end, offer.measure)
    return Splice(path, start, end, change.text.encode("utf-8"))
