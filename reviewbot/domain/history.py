"""What earlier reviews of one pull request left behind: findings with their numbers, what was dismissed, what was seen."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.evidence import Category, Severity
from reviewbot.domain.review import Conclusion, Verdict


class Fate(StrEnum):
    """What became of a finding so far."""

    OPEN = "open"
    FIXED = "fixed"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Known:
    """A finding of an earlier review. ``text`` is its normalised anchored line, shortened; ``rule`` a tool's rule where it has
    one; ``reason`` why somebody dismissed it, and ``by`` who."""

    id: str
    fingerprint: str
    path: str
    start_line: int
    line: int
    severity: Severity
    category: Category
    title: str
    text: str = ""
    rule: str | None = None
    fate: Fate = Fate.OPEN
    reason: str = ""
    by: str = ""
    is_question: bool = False
    is_proven: bool = False


@dataclass(frozen=True, slots=True)
class History:
    """What is known when a pull request is reviewed again.

    ``head`` is the commit that was reviewed last, empty where none was. ``seen`` are the marks of the hunks that were reviewed
    (``consensus.seen``); it is empty where the next review must look at everything. ``course`` is a hash of all that decides
    what a review says besides the change; where it differs, everything is looked at again. ``next_number`` is the first ``F``
    number that was never given.
    """

    head: str = ""
    base: str = ""
    course: str = ""
    seen: frozenset[str] = frozenset()
    conclusion: Conclusion | None = None
    verdict: Verdict | None = None
    findings: tuple[Known, ...] = ()
    next_number: int = 1
