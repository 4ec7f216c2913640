"""The hidden first lines by which our own words are known again. A marker counts only where it opens the body.

Whoever may write under a pull request can write such a line: it is believed only of an author who is us.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from reviewbot.domain.action import (
    ReviewEvent,
)

SUMMARY = "<!-- reviewbot:summary v1 -->"
STATUS = "<!-- reviewbot:status v1 -->"

_WORD = re.compile(r"[A-Za-z0-9:_.]{1,128}")
_FINDING = re.compile(r"<!-- reviewbot:finding fp=([A-Za-z0-9:_.]+) id=([A-Za-z0-9:_.]+) sha=([A-Za-z0-9:_.]+) -->")
_CLOSED = re.compile(r"<!-- reviewbot:closed fp=([A-Za-z0-9:_.]+) -->")
_REVIEW = re.compile(r"<!-- reviewbot:review sha=([A-Za-z0-9:_.]+) event=([A-Z_]+) told=([A-Za-z0-9:_.,]*) -->")


@dataclass(frozen=True, slots=True)
class FindingMark:
    """Which finding a comment is about, and at which head it was told."""

    fingerprint: str
    id: str
    sha: str


@dataclass(frozen=True, slots=True)
class ReviewMark:
    """At which head a review was posted, the event that was meant, and the findings that it tells."""

    sha: str
    event: ReviewEvent
    told: frozenset[str]


def token(words: str) -> str:
    """A fingerprint, id or commit as it stands in a marker: itself, or a hash of whatever else it is."""
    if _WORD.fullmatch(words):
        return words
    return "sha256:" + hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()


def finding(mark: FindingMark) -> str:
    """The line that opens a comment about a finding."""
    return f"<!-- reviewbot:finding fp={token(mark.fingerprint)} id={token(mark.id)} sha={token(mark.sha)} -->"


def closed(fingerprint: str) -> str:
    """The line that opens the answer under a finding that is gone, where its thread may not be resolved."""
    return f"<!-- reviewbot:closed fp={token(fingerprint)} -->"


def review(sha: str, event: ReviewEvent, told: Iterable[str]) -> str:
    """The line that opens a review."""
    return f"<!-- reviewbot:review sha={token(sha)} event={event.value} told={','.join(map(token, told))} -->"


def finding_of(body: str) -> FindingMark | None:
    """Which finding a body is about, if its first line says so."""
    match = _FINDING.fullmatch(first_line(body))
    return FindingMark(*match.groups()) if match else None


def is_closing(body: str) -> bool:
    """A body says that its thread's finding is gone."""
    return _CLOSED.fullmatch(first_line(body)) is not None


def review_of(body: str) -> ReviewMark | None:
    """Which head a review was posted for, if its first line says so."""
    match = _REVIEW.fullmatch(first_line(body))
    if match is None or match[2] not in set(ReviewEvent):
        return None
    return ReviewMark(match[1], ReviewEvent(match[2]), frozenset(word for word in match[3].split(",") if word))


def is_summary(body: str) -> bool:
    """A body is a summary."""
    return first_line(body) == SUMMARY


def first_line(body: str) -> str:
    """A forge may give line ends as it likes."""
    return body.split("\n", 1)[0].rstrip("\r")
