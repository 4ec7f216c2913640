"""What one audit of a repository leaves to the next: the findings that it told, and when each file was read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from reviewbot.domain.history import History
from reviewbot.domain.review import Finding, Lifecycle, Review

FINDING_MARK, FILE_MARK = 8, 4
"""Characters of six bits each. Where two of 5,000 files have one mark (as likely as not), one of them waits a turn longer."""

_ALPHABET = b"._"
"""In place of ``+/``: nothing that could end a comment, no Markdown."""


def file_mark(path: str, object_id: str) -> str:
    """What stands for a file as it is, where room is short."""
    return _mark(f"{path}\0{object_id}", FILE_MARK)


def finding_mark(fingerprint: str) -> str:
    """What stands for a finding, where room is short."""
    return _mark(fingerprint, FINDING_MARK)


def _mark(words: str, characters: int) -> str:
    digest = hashlib.sha256(words.encode("utf-8", "surrogateescape")).digest()
    return base64.b64encode(digest[: characters * 3 // 4], _ALPHABET).decode("ascii")


@dataclass(frozen=True, slots=True)
class Rotation:
    """When the files of a tree were read by models in audits: ``(mark, seconds since 1970)``, a mark once each. A file that
    changed since has another mark, and was not read as it stands."""

    read: tuple[tuple[str, int], ...] = ()

    def times(self) -> Mapping[str, int]:
        """The seconds by mark."""
        return dict(self.read)

    def after(self, marks: Iterable[str], now: int, *, standing: Iterable[str]) -> Rotation:
        """The same when the files with these ``marks`` were read ``now``. What is no longer ``standing`` is forgotten."""
        known = {**self.times(), **dict.fromkeys(marks, now)}
        return Rotation(tuple((name, known[name]) for name in sorted(set(standing) & known.keys())))

    def newest(self, most: int) -> Rotation:
        """At most so many, those that were read last: what is forgotten counts as never read, and was soon to be read again."""
        kept = sorted(self.read, key=lambda pair: (-pair[1], pair[0]))[:most]
        return Rotation(tuple(sorted(kept)))


@dataclass(frozen=True, slots=True)
class AuditMemory:
    """What is remembered of the last audit. ``told`` are marks of the fingerprints of all findings that it told, also of those
    that ``history`` has no room for. ``at`` is when it was made (seconds since 1970)."""

    history: History = History()
    rotation: Rotation = Rotation()
    told: frozenset[str] = frozenset()
    at: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs from the last audit, each worst first. ``since`` is its commit, empty where this is the first."""

    since: str
    new: tuple[Finding, ...]
    standing: tuple[Finding, ...]
    gone: tuple[Finding, ...]

    @classmethod
    def of(cls, review: Review, since: str) -> Comparison:
        """Read off what became of each finding."""
        told = review.posted()
        gone = [one for one in review.findings if one.lifecycle is Lifecycle.FIXED and not one.is_posted]
        return cls(
            since,
            tuple(one for one in told if one.lifecycle is not Lifecycle.CARRIED),
            tuple(one for one in told if one.lifecycle is Lifecycle.CARRIED),
            tuple(sorted(gone, key=lambda one: (-one.severity, one.path, one.line))),
        )
