"""What a tool says of a place, and how it would mend it: read off its own report, in its own way to name places."""

from __future__ import annotations

from dataclasses import dataclass

from reviewbot.evidence.fixers.text import Measure, Spot


@dataclass(frozen=True, slots=True)
class Change:
    """A range of a file, its end exclusive, and what shall stand there instead. ``path`` is as the tool wrote it."""

    path: str
    start: Spot
    end: Spot
    text: str


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing said of one place, as a ``Remark`` of the parsers, and the changes that mend it: none where the tool offers none,
    or none that is safe. Line 0 is every line of the file. ``whole``: the changes are one, from the first
    place to the last."""

    path: str
    line: int
    rule: str
    changes: tuple[Change, ...] = ()
    measure: Measure = Measure()
    explanation: str = ""
    whole: bool = False
