"""Whose is a result? Base and head are matched by content, not by line number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.change import ChangeSet, FileChange
from reviewbot.domain.evidence import CheckRun, EvidenceKind, EvidenceStatus, Precision, Result, Severity, Side, TestRun
from reviewbot.evidence import places
from reviewbot.evidence.rules import AT_A_DISTANCE, SYNTAX

NOQA = re.compile(r"#\s*(?:ruff:\s*)?noqa\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
CLOSE_READERS = frozenset({"ruff"})
"""Tools that look at a line and little around it: what they say anew of an old line is their way of counting. Compilers and
type checkers say it of a line that the change made wrong from afar."""
_Key = tuple[str, str | None, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Mark:
    """A result with whose it is, before it has a number in the ledger."""

    status: EvidenceStatus
    revision: Side
    result: Result
    suppressed: bool = False


@dataclass(frozen=True, slots=True)
class Sides:
    """What a check said at both ends. ``base_known`` is false where it did not run at base; ``head_known`` where it did not at
    head, so that nobody knows what of the base is gone."""

    base: tuple[Result, ...] = ()
    head: tuple[Result, ...] = ()
    base_known: bool = True
    head_known: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """All that came of one check. ``sides`` are still to be compared, ``marks`` are settled."""

    sides: Sides = Sides()
    marks: tuple[Mark, ...] = ()
    runs: tuple[CheckRun, ...] = ()
    notes: tuple[str, ...] = ()
    tests: TestRun | None = None


def compare(change: ChangeSet, sides: Sides, base_texts: Mapping[str, tuple[str, ...]]) -> tuple[Mark, ...]:
    """Every result with its status. ``base_texts`` holds the lines of the base by head path. In an audit all are new but those
    that the project silenced."""
    newer_names = {file.base_path: file.path for file in change.files if file.base_path}
    spoken_of = {result.path for result in sides.head}
    files = {file.path: _Place.of(file, base_texts.get(file.path, ())) for file in change.files if file.path in spoken_of}
    old = _grouped(sides.base, newer_names)
    marks: list[Mark] = []
    unmatched: list[Result] = []
    untouched_first = sorted(sides.head, key=lambda result: result.path in files and result.line in files[result.path].added)
    for result in untouched_first:
        if same := old.get(_key(result, result.path)):
            same.pop(0)
            marks.append(_existing(result))
        else:
            unmatched.append(result)
    left = _Left.of(result for results in old.values() for result in results)
    if change.revisions.is_audit:
        return (*marks, *map(_audited, unmatched))
    marks += [_judge(result, left, place=files.get(result.path), base_known=sides.base_known) for result in unmatched]
    if not sides.head_known:
        return tuple(marks)
    return (*marks, *(Mark(EvidenceStatus.FIXED, Side.BASE, result) for result in left.rest()))


@dataclass(frozen=True, slots=True)
class _Place:
    """A changed file with what every result in it is held against: the added lines, the removed ones of each hunk, and the
    texts that stood at base."""

    file: FileChange
    added: frozenset[int]
    removed: Mapping[str, frozenset[int]]
    base_texts: frozenset[str]

    @classmethod
    def of(cls, file: FileChange, base_text: tuple[str, ...]) -> _Place:
        removed = {hunk.id: frozenset(number for number, _ in hunk.removed()) for hunk in file.hunks}
        return cls(file, places.added(file), removed, frozenset(map(str.strip, base_text)))


@dataclass(frozen=True, slots=True)
class _Left:
    """The results of the base that nothing at head equals, by tool, rule and path."""

    groups: dict[tuple[str, str | None, str], list[Result]]

    @classmethod
    def of(cls, results: Iterable[Result]) -> _Left:
        groups: defaultdict[tuple[str, str | None, str], list[Result]] = defaultdict(list)
        for result in results:
            groups[result.tool, result.rule, result.path].append(result)
        return cls(groups)

    def take_origin(self, result: Result, place: _Place) -> bool:
        """Take out the same trouble on a line that the same hunk replaced; false where there is none."""
        alike = self.groups.get((result.tool, result.rule, place.file.base_path or ""))
        hunk = place.file.hunk_at(result.line) if alike else None
        if not alike or hunk is None or result.kind is EvidenceKind.SECRET:
            return False
        removed = place.removed[hunk.id]
        same = (other for other in alike if other.line in removed and _normal(other.message) == _normal(result.message))
        origin = next(same, None)
        if origin is not None:
            alike.remove(origin)
        return origin is not None

    def take_moved(self, result: Result) -> bool:
        """Take out the same trouble on the same text that stood in another file; false where there is none."""
        if result.kind is not EvidenceKind.LINT or not result.anchor or result.line == 0:
            return False
        for (tool, rule, _), alike in self.groups.items():
            if (tool, rule) != (result.tool, result.rule):
                continue
            same = (one for one in alike if one.anchor == result.anchor and _normal(one.message) == _normal(result.message))
            if origin := next(same, None):
                alike.remove(origin)
                return True
        return False

    def rest(self) -> Iterable[Result]:
        """What is still there."""
        return (result for group in self.groups.values() for result in group)


def _judge(result: Result, left: _Left, *, place: _Place | None, base_known: bool) -> Mark:
    """A result at head that nothing at base equals. The one it grew from is taken out of ``left``."""
    if place is None or left.take_origin(result, place) or left.take_moved(result):
        return _existing(result)
    if result.line in place.added or (result.line == 0 and base_known):
        return Mark(EvidenceStatus.NEW, Side.HEAD, _doubted(result))
    if base_known and (result.rule == SYNTAX.code or result.tool not in CLOSE_READERS):
        line = places.nearest(place.added or places.beside_removals(place.file), result.line)
        return Mark(EvidenceStatus.NEW, Side.HEAD, replace(result, line=line or result.line, end_line=line or result.end_line))
    stood_there = not place.base_texts or result.anchor in place.base_texts
    could_come = base_known and (result.rule in AT_A_DISTANCE or result.kind is not EvidenceKind.LINT)
    return _existing(result) if stood_there and not could_come else Mark(EvidenceStatus.NEW, Side.HEAD, _doubted(result))


def _audited(result: Result) -> Mark:
    silenced = result.kind is EvidenceKind.LINT and NOQA.search(result.anchor) is not None
    return _existing(result) if silenced else Mark(EvidenceStatus.NEW, Side.HEAD, result)


def _existing(result: Result) -> Mark:
    silenced = result.kind is EvidenceKind.LINT and NOQA.search(result.anchor) is not None
    return Mark(EvidenceStatus.EXISTING, Side.HEAD, result, suppressed=silenced)


def _doubted(result: Result) -> Result:
    """A silencing comment that came with the change is its author's opposition: it makes us doubt, no more.

    What is grave stays as likely as its rule makes it, or a comment would be enough to have it approved."""
    silenced = result.kind is EvidenceKind.LINT and NOQA.search(result.anchor)
    if not silenced or result.severity >= Severity.HIGH:
        return result
    return replace(result, precision=Precision.HEURISTIC)


def _grouped(results: Iterable[Result], newer_names: Mapping[str, str]) -> dict[_Key, list[Result]]:
    found: defaultdict[_Key, list[Result]] = defaultdict(list)
    for result in results:
        found[_key(result, newer_names.get(result.path, result.path))].append(result)
    return found


def _key(result: Result, path: str) -> _Key:
    return (result.tool, result.rule, path, _normal(result.message), result.anchor, result.subject)


def _normal(message: str) -> str:
    return _NUMBER.sub("#", message)


def without_repeats(results: Iterable[Result]) -> tuple[Result, ...]:
    """One result of a rule on a line for each thing it says, the first: two runs of one tool overlap."""
    kept = {(result.tool, result.rule, result.path, result.line, result.message): result for result in reversed(tuple(results))}
    return tuple(reversed(kept.values()))
