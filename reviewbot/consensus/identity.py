"""A finding's identity: it survives moved lines and other words, because models choose words freely and lines move."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SEPARATOR = b"\x00"


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a finding hangs: the path at base (renames do not change it), the shown text of its line, and which of the equal
    lines of the file it is, counted from 0."""

    path: str
    text: str
    occurrence: int


def anchor(path: str, line: int, texts: Sequence[str]) -> Anchor:
    """The anchor of ``line`` (1-based; 0 for the whole file) in a file's normalised lines."""
    if not 0 < line <= len(texts):
        return Anchor(path, "", 0)
    text = texts[line - 1]
    return Anchor(path, text, texts[: line - 1].count(text))


def normalised(text: str) -> str:
    """A line without what formatters change: white space folded, ends stripped."""
    return " ".join(text.split())


def fingerprints(anchors: Mapping[str, Anchor]) -> dict[str, str]:
    """A fingerprint for each finding id. Several findings on one line are told apart by their order."""
    seen: Counter[Anchor] = Counter()
    found = {}
    for finding_id, place in anchors.items():
        found[finding_id] = _hash(place, seen[place])
        seen[place] += 1
    return found


def _hash(place: Anchor, nth: int) -> str:
    parts = (place.path, place.text, str(place.occurrence), str(nth))
    return "sha256:" + hashlib.sha256(_SEPARATOR.join(part.encode("utf-8", "surrogateescape") for part in parts)).hexdigest()
