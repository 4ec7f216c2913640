"""The changed lines as they are shown: numbered, with context or the whole small function and what was removed, redacted,
made visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from reviewbot.changeset import outline
from reviewbot.changeset.outline import Outline
from reviewbot.domain.change import Contents, FileChange, FileKind, FileStatus, Hunk
from reviewbot.ports import Passage, Removed
from reviewbot.screen import shown

SMALL_FUNCTION_LINES = 40
FIRST_REMOVED, LAST_REMOVED = 80, 20
"""Of a longer run of removed lines so many are shown of its beginning and its end."""


def passages(files: Sequence[FileChange], contents: Mapping[str, Contents], *, context: int = 6) -> tuple[Passage, ...]:
    """One passage per hunk, joined where they touch. Without a file's contents its hunks' own lines are shown.

    Of a file that is gone or empty now there is a passage that begins at line 1 and has removed lines only."""
    found: list[Passage] = []
    for file in files:
        if file.hunks and file.kind is FileKind.TEXT:
            whole = contents.get(file.path) or Contents(None, None)
            older = None if whole.base is None else shown_lines(whole.base)
            found += _from_hunks(file, older) if whole.head is None else _from_contents(file, whole.head, older, context=context)
    return tuple(found)


def unshown(files: Sequence[FileChange]) -> tuple[str, ...]:
    """What ``passages`` leaves out of long runs of removed lines, a remark a file: nothing is hidden there in silence."""
    return tuple(
        f"{file.path}: {count} of its removed lines were not shown to the panel"
        for file in files
        if file.kind is FileKind.TEXT and (count := sum(_left_out(length) for hunk in file.hunks for length in _runs(hunk)))
    )


def rebuilt(file: FileChange) -> bytes | None:
    """The whole contents of an added file from its hunks; ``None`` where they do not hold all of it."""
    if file.status is not FileStatus.ADDED or file.kind is not FileKind.TEXT:
        return None
    if not file.hunks:
        return b""
    hunk = file.hunks[0]
    if len(file.hunks) > 1 or hunk.old_count or hunk.new_start != 1:
        return None
    return b"\n".join(text for _, text in hunk.added()) + (b"" if hunk.new_ends_without_newline else b"\n")


def shown_lines(content: bytes) -> tuple[str, ...]:
    """A whole file as it is shown: the line with number ``n`` at index ``n - 1``."""
    return shown.whole(content)


@dataclass(frozen=True, slots=True)
class _Range:
    """First and last line to show."""

    start: int
    end: int
    changed: frozenset[int]
    symbol: str
    removed: tuple[Removed, ...]


def _from_contents(file: FileChange, head: bytes, older: Sequence[str] | None, *, context: int) -> Iterator[Passage]:
    newer = shown_lines(head)
    known = Outline() if file.status is FileStatus.ADDED else outline.of(file.path, head)
    for part in _joined(_range(hunk, known, older, last=len(newer), context=context) for hunk in file.hunks):
        lines = newer[part.start - 1 : part.end]
        if lines or part.removed:
            yield Passage(file.path, part.start, lines, part.changed, shown.text(part.symbol), part.removed)


def _range(hunk: Hunk, known: Outline, older: Sequence[str] | None, *, last: int, context: int) -> _Range:
    """What to show of a hunk: ``context`` lines around what changed, or the function where that is small."""
    changed = frozenset(number for number, _ in hunk.added())
    first_touched, last_touched = _touched(hunk)
    start, end = first_touched - context, last_touched + context
    symbol = known.around(first_touched)
    if symbol is not None and symbol.end - symbol.start < SMALL_FUNCTION_LINES:
        start, end = min(start, symbol.start), max(end, symbol.end)
    name = symbol.name if symbol else "" if known.symbols else outline.named(hunk.section)
    return _Range(max(1, min(start, last)), min(last, end), changed, name, tuple(_removed(hunk, older)))


def _removed(hunk: Hunk, older: Sequence[str] | None) -> Iterator[Removed]:
    """The hunk's removed lines, taken from the whole older file as shown where that is known: what is no more than a line of
    a key is known as one only there."""
    if not hunk.old_count:
        return
    if older is None or not 1 <= hunk.old_start <= len(older) - hunk.old_count + 1:
        older = shown.lines([row[1:] for row in hunk.rows if row[:1] != b"+"])
        old = 0
    else:
        old = hunk.old_start - 1
    new = hunk.new_start + (0 if hunk.new_count else 1)
    run: list[Removed] = []
    for row in hunk.rows:
        if row[:1] == b"-":
            run.append(Removed(new, older[old]))
        else:
            if run:
                yield from _shortened(run)
                run = []
            new += 1
        old += row[:1] != b"+"
    yield from _shortened(run)


def _shortened(run: list[Removed]) -> list[Removed]:
    left_out = _left_out(len(run))
    if not left_out:
        return run
    remark = Removed(run[0].before, f"⟨{left_out} more removed lines are not shown⟩")
    return [*run[:FIRST_REMOVED], remark, *run[-LAST_REMOVED:]]


def _left_out(length: int) -> int:
    """Of a run of so many removed lines."""
    more = length - FIRST_REMOVED - LAST_REMOVED
    return more if more > 1 else 0


def _runs(hunk: Hunk) -> Iterator[int]:
    """The lengths of the runs of removed lines."""
    return (sum(1 for _ in rows) for removed, rows in groupby(hunk.rows, lambda row: row[:1] == b"-") if removed)


def _touched(hunk: Hunk) -> tuple[int, int]:
    """The first and last newer line that is added, or beside which one was removed."""
    number = hunk.new_start + (0 if hunk.new_count else 1)
    first = last = 0
    for row in hunk.rows:
        mark = row[:1]
        if mark != b" ":
            first = first or number
            last = number
        if mark != b"-":
            number += 1
    return first or hunk.new_start, last or hunk.new_start


def _joined(ranges: Iterator[_Range]) -> Iterator[_Range]:
    """Ranges in order of their lines, those that touch made one."""
    group: list[_Range] = []
    end = 0
    for part in sorted(ranges, key=lambda part: part.start):
        if group and part.start > end + 1:
            yield _union(group)
            group, end = [], 0
        group.append(part)
        end = max(end, part.end)
    if group:
        yield _union(group)


def _union(group: list[_Range]) -> _Range:
    return _Range(
        group[0].start,
        max(part.end for part in group),
        frozenset().union(*(part.changed for part in group)),
        next((part.symbol for part in group if part.symbol), ""),
        tuple(sorted((line for part in group for line in part.removed), key=lambda line: line.before)),
    )


def _from_hunks(file: FileChange, older: Sequence[str] | None) -> Iterator[Passage]:
    for hunk in file.hunks:
        rows = [row[1:] for row in hunk.rows if row[:1] != b"-"]
        changed = frozenset(number for number, _ in hunk.added())
        start = hunk.new_start + (0 if hunk.new_count else 1)
        lines = tuple(shown.lines(rows)) if rows else ()
        yield Passage(file.path, start, lines, changed, shown.text(outline.named(hunk.section)), tuple(_removed(hunk, older)))
