"""The changed lines as they are shown: numbered, with context or the whole small function, redacted, made visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reviewbot.changeset import outline
from reviewbot.changeset.outline import Outline
from reviewbot.domain.change import Contents, FileChange, FileKind, FileStatus, Hunk
from reviewbot.ports import Passage
from reviewbot.screen import hidden, secrets

SMALL_FUNCTION_LINES = 40


def passages(files: Sequence[FileChange], contents: Mapping[str, Contents], *, context: int = 6) -> tuple[Passage, ...]:
    """One passage per hunk, joined where they touch. Without a file's contents its hunks' own lines are shown."""
    found: list[Passage] = []
    for file in files:
        if file.head_path is not None and file.hunks and file.kind is FileKind.TEXT:
            whole = contents.get(file.path)
            head = None if whole is None else whole.head
            found += _from_hunks(file) if head is None else _from_contents(file, head, context)
    return tuple(found)


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
    lines = _shown(content.split(b"\n"))
    return tuple(lines[:-1] if content.endswith(b"\n") or not content else lines)


@dataclass(frozen=True, slots=True)
class _Range:
    """First and last line to show."""

    start: int
    end: int
    changed: frozenset[int]
    symbol: str


def _from_contents(file: FileChange, head: bytes, context: int) -> Iterator[Passage]:
    shown = shown_lines(head)
    known = Outline() if file.status is FileStatus.ADDED else outline.of(file.path, head)
    for part in _joined(_range(hunk, known, last=len(shown), context=context) for hunk in file.hunks):
        if part.start <= part.end:
            yield Passage(file.path, part.start, shown[part.start - 1 : part.end], part.changed, _screened(part.symbol))


def _range(hunk: Hunk, known: Outline, *, last: int, context: int) -> _Range:
    """What to show of a hunk: ``context`` lines around what changed, or the function where that is small."""
    changed = frozenset(number for number, _ in hunk.added())
    first_touched, last_touched = _touched(hunk)
    start, end = first_touched - context, last_touched + context
    symbol = known.around(first_touched)
    if symbol is not None and symbol.end - symbol.start < SMALL_FUNCTION_LINES:
        start, end = min(start, symbol.start), max(end, symbol.end)
    name = symbol.name if symbol else "" if known.symbols else outline.named(hunk.section)
    return _Range(max(1, min(start, last)), min(last, end), changed, name)


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
    )


def _from_hunks(file: FileChange) -> Iterator[Passage]:
    for hunk in file.hunks:
        rows = [row for row in hunk.rows if row[:1] != b"-"]
        if rows:
            changed = frozenset(number for number, _ in hunk.added())
            lines = tuple(_shown([row[1:] for row in rows]))
            yield Passage(file.path, hunk.new_start, lines, changed, _screened(outline.named(hunk.section)))


def _shown(lines: list[bytes]) -> list[str]:
    """Lines as text. Screened together, so that a key of several lines is known as one; none is won or lost by it."""
    return _screened(b"\n".join(line.removesuffix(b"\r") for line in lines).decode("utf-8", "replace")).split("\n")


def _screened(text: str) -> str:
    return hidden.visible(secrets.redact(text)[0])
