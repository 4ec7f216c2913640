"""A finding's identity: it survives moved lines and other words, because models choose words freely and lines move."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from types import MappingProxyType

from reviewbot.domain.evidence import Category
from reviewbot.domain.history import Fate, History, Known

MOST_TEXT = 120
"""Characters of an anchored line that are remembered."""

ALIKE = 0.8
"""From this ratio on two lines are one that was edited [design]; Ratcliff and Obershelp's, as difflib computes it."""

CLOSE = 20
"""Lines that such a line may have moved [design]."""

ALIKE_WORDS = 0.5
"""From this ratio on two titles may speak of one thing on equal lines that are further apart [design]."""

MOST_ON_A_LINE = 8
"""Findings on one line that are told apart."""

_SEPARATOR = b"\x00"
HALVES = 2
_NEAR = 4
"""Characters of a mark of one line that is near."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a finding hangs: the path at base (renames do not change it), the shown text of its line, and which of the equal
    lines of the file it is, counted from 0."""

    path: str
    text: str
    occurrence: int


@dataclass(frozen=True, slots=True)
class Spot:
    """Something that is raised: its anchor, its path and last line at head, a tool's rule where it has one, its title and
    what kind of thing it is."""

    anchor: Anchor
    path: str
    line: int
    rule: str | None
    title: str
    category: Category | None = None


def anchor(path: str, line: int, texts: Sequence[str]) -> Anchor:
    """The anchor of ``line`` (1-based; 0 for the whole file) in a file's normalised lines."""
    if not 0 < line <= len(texts):
        return Anchor(path, "", 0)
    text = texts[line - 1]
    return Anchor(path, text, texts[: line - 1].count(text))


def near(line: int, texts: Sequence[str]) -> str:
    """What stands around a line of a file's normalised lines: a mark of the nearest line above it that is not blank, and one of
    that below. Empty where there is no such line."""
    if not 0 < line <= len(texts):
        return ""
    above = next((texts[number] for number in range(line - 2, -1, -1) if texts[number]), "")
    below = next((texts[number] for number in range(line, len(texts)) if texts[number]), "")
    return _short(above) + _short(below)


def halves(one: str, other: str) -> tuple[bool, ...]:
    """Which of the two marks of ``near`` are equal: what is above, what is below."""
    return tuple(one[half] == other[half] for half in (slice(0, _NEAR), slice(_NEAR, None)))


def normalised(text: str) -> str:
    """A line without what formatters change: white space folded, ends stripped."""
    return " ".join(text.split())


def fingerprints(anchors: Mapping[str, Anchor]) -> dict[str, str]:
    """A fingerprint for each finding id. Several findings on one line are told apart by their order."""
    seen: Counter[Anchor] = Counter()
    found = {}
    for finding_id, place in anchors.items():
        found[finding_id] = fingerprint(place, seen[place])
        seen[place] += 1
    return found


def fingerprint(place: Anchor, nth: int = 0) -> str:
    """The fingerprint of the ``nth`` finding there, counted from 0."""
    parts = (place.path, place.text, str(place.occurrence), str(nth))
    return "sha256:" + hashlib.sha256(_SEPARATOR.join(part.encode("utf-8", "surrogateescape") for part in parts)).hexdigest()


def names(
    spots: Sequence[Spot],
    history: History,
    lines: Mapping[str, Sequence[str]],
    *,
    standing: Mapping[str, tuple[str, int]] = MappingProxyType({}),
) -> tuple[str, ...]:
    """An id for everything that is raised: that of the finding which it is, else the next number that was never given. ``lines``
    are the normalised lines at head, by path; ``standing`` are known findings, by id, that stand at a path and a line for sure:
    nothing anywhere else is one of them, however alike."""
    texts = {path: frozenset(line[:MOST_TEXT] for line in some) for path, some in lines.items()}
    alike = sorted(
        (known.id not in standing, far, index, place)
        for index, spot in enumerate(spots)
        for place, known in enumerate(history.findings)
        if standing.get(known.id, (spot.path, spot.line)) == (spot.path, spot.line)
        and (far := _apart(spot, known, texts.get(spot.path, frozenset()))) is not None
    )
    found: dict[int, str] = {}
    taken: set[int] = set()
    for *_, index, place in alike:
        if index not in found and place not in taken:
            found[index] = history.findings[place].id
            taken.add(place)
    free = iter(range(next_number(history), next_number(history) + len(spots)))
    return tuple(found[index] if index in found else f"F{next(free)}" for index in range(len(spots)))


def next_number(history: History) -> int:
    """The first number that no finding ever had."""
    return max((history.next_number, *(number(known.id) + 1 for known in history.findings)))


def number(name: str) -> int:
    """The number in a finding's id, 0 where there is none."""
    digits = name.removeprefix("F")
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def _short(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest[:3]).decode("ascii")


def _apart(spot: Spot, known: Known, texts: Collection[str]) -> tuple[float, ...] | None:
    """How far what is raised is from a known finding, nearest first; ``None`` where they are two things."""
    if spot.rule and known.rule and spot.rule != known.rule:
        return None
    rank, far = _rank(spot, known, texts), abs(spot.line - known.line)
    if rank is None:
        return None
    words = SequenceMatcher(None, spot.title[:MOST_TEXT], known.title[:MOST_TEXT], autojunk=False).ratio()
    return None if rank and far > CLOSE and words < ALIKE_WORDS else (rank, -words, far)


def _rank(spot: Spot, known: Known, texts: Collection[str]) -> int | None:
    """0: the same anchor. 1: the same text in the same file. 2: nearly the same text close by, of a line that is there no
    more; only what is open can have been edited so: what was dismissed was dismissed as it stood."""
    if any(fingerprint(spot.anchor, nth) == known.fingerprint for nth in range(MOST_ON_A_LINE)):
        return 0 if spot.anchor.text or _says_the_same(spot, known) else None
    if known.path not in (spot.path, spot.anchor.path):
        return None
    text = spot.anchor.text[:MOST_TEXT]
    if not text or not known.text:
        return 1 if text == known.text and _says_the_same(spot, known) else None
    if text == known.text:
        return 1
    close = abs(spot.line - known.line) <= CLOSE
    alike = close and SequenceMatcher(None, text, known.text, autojunk=False).ratio() >= ALIKE
    return 2 if alike and known.fate is Fate.OPEN and known.text not in texts else None


def _says_the_same(spot: Spot, known: Known) -> bool:
    """What is said of no line in particular is told apart by its rule, or its title where it has none."""
    return spot.rule == known.rule and (spot.rule is not None or spot.title == known.title)
