"""Whose is a result? Base and head are matched by content, not by line number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.change import ChangeSet, FileChange
from reviewbot.domain.evidence import CheckRun, EvidenceKind, EvidenceStatus, Precision, Result, Side, TestRun
from reviewbot.evidence import places
from reviewbot.evidence.rules import AT_A_DISTANCE

NOQA = re.compile(r"#\s*(?:ruff:\s*)?noqa\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
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
    """What a check said at both ends. ``base_known`` is false where it did not run at base."""

    base: tuple[Result, ...] = ()
    head: tuple[Result, ...] = ()
    base_known: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """All that came of one check. ``sides`` are still to be compared, ``marks`` are settled."""

    sides: Sides = Sides()
    marks: tuple[Mark, ...] = ()
    runs: tuple[CheckRun, ...] = ()
    notes: tuple[str, ...] = ()
    tests: TestRun | None = None


def compare(change: ChangeSet, sides: Sides, base_texts: Mapping[str, tuple[str, ...]]) -> tuple[Mark, ...]:
    """Every result with its status. ``base_texts`` holds the lines of the base by head path."""
    newer_names = {file.base_path: file.path for file in change.files if file.base_path}
    files = {file.path: file for file in change.files}
    added = {path: places.added(file) for path, file in files.items()}
    old = _grouped(sides.base, newer_names)
    marks: list[Mark] = []
    unmatched: list[Result] = []
    untouched_first = sorted(sides.head, key=lambda result: result.line in added.get(result.path, ()))
    for result in untouched_first:
        if same := old.get(_key(result, result.path)):
            same.pop(0)
            marks.append(_existing(result))
        else:
            unmatched.append(result)
    left = [result for results in old.values() for result in results]
    for result in unmatched:
        file, base_text = files.get(result.path), base_texts.get(result.path, ())
        marks.append(_judge(result, left, file=file, base_text=base_text, base_known=sides.base_known))
    fixed = (Mark(EvidenceStatus.FIXED, Side.BASE, result) for result in left)
    return (*marks, *fixed)


def _judge(result: Result, left: list[Result], *, file: FileChange | None, base_text: tuple[str, ...], base_known: bool) -> Mark:
    """A result at head that nothing at base equals. The one it grew from is taken out of ``left``."""
    if file is None:
        return _existing(result)
    is_added = result.line in places.added(file)
    if origin := _origin(result, left, file):
        left.remove(origin)
        return _existing(result)
    if is_added or (result.line == 0 and base_known):
        return Mark(EvidenceStatus.NEW, Side.HEAD, _doubted(result))
    stood_there = result.anchor in {line.strip() for line in base_text} if base_text else True
    if stood_there and not (base_known and (result.rule in AT_A_DISTANCE or result.kind is not EvidenceKind.LINT)):
        return _existing(result)
    return Mark(EvidenceStatus.NEW, Side.HEAD, _doubted(result))


def _existing(result: Result) -> Mark:
    silenced = result.kind is EvidenceKind.LINT and NOQA.search(result.anchor) is not None
    return Mark(EvidenceStatus.EXISTING, Side.HEAD, result, suppressed=silenced)


def _doubted(result: Result) -> Result:
    """A silencing comment that came with the change is its author's opposition: it makes us doubt, no more."""
    if result.kind is not EvidenceKind.LINT or not NOQA.search(result.anchor):
        return result
    return replace(result, precision=Precision.HEURISTIC)


def _origin(result: Result, left: list[Result], file: FileChange) -> Result | None:
    """The same trouble on a line that the same hunk replaced."""
    hunk = file.hunk_at(result.line)
    if hunk is None or result.kind is EvidenceKind.SECRET:
        return None
    removed = {number for number, _ in hunk.removed()}
    alike = (
        other
        for other in left
        if other.line in removed and (other.tool, other.rule, other.path) == (result.tool, result.rule, file.base_path)
    )
    return next((other for other in alike if _normal(other.message) == _normal(result.message)), None)


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
