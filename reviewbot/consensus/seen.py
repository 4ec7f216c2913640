"""What was reviewed before, known by its content: lines move and commits are rewritten, and a hunk's rows stay what they are."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from reviewbot.consensus import identity
from reviewbot.domain.change import FileChange, FileKind, FileStatus, Hunk
from reviewbot.domain.evidence import EvidenceStatus, Ledger, Result

MOST_MARKS = 1_000
"""More than that is not remembered: the next review looks at everything [design]."""

NEIGHBOURHOOD = 3
"""Lines around what changed that belong to it: no more than git shows beside a change."""

_MARK_BYTES, _PLACE_BYTES = 12, 3
"""Of what stands there, so many that nobody makes two texts of one mark; of what stands before it."""
_CONTENT = _MARK_BYTES // 3 * 4
"""Characters of a part's mark that tell its content."""
_PLAIN = (0, 0o100644)
"""Modes of a file that is nothing else than its rows; 0 where only a patch is known."""
_NUMBER = re.compile(r"\d+")


def marks(files: Iterable[FileChange]) -> frozenset[str]:
    """The marks of a change: of every part of a hunk, else (where those are too many) of every hunk, else none."""
    known = tuple(files)
    for read in (_parts, _hunks):
        found = frozenset(mark for file in known for mark in (*_of_file(file), *(part.mark for part in read(file))))
        if len(found) <= MOST_MARKS:
            return found
    return frozenset()


def whole(files: Iterable[FileChange]) -> str:
    """The mark of a whole change: equal where two changes are, but for line numbers and the files around them."""
    every = sorted(mark for file in files for mark in (*_of_file(file), *(part.mark for part in _hunks(file))))
    return _mark("change", *every) if every else ""


def unseen(
    files: Iterable[FileChange], seen: Collection[str], *, again: Collection[tuple[str, int]] = ()
) -> tuple[FileChange, ...]:
    """Of each file the parts of its hunks that are not seen, and those that show a place in ``again``: a path, a line at head."""
    found: list[FileChange] = []
    for file in files:
        places = [line for path, line in again if path == file.path]
        shown = [part for part in _parts(file) if not part.is_in(seen) or any(line in part.hunk.new_span for line in places)]
        if shown or any(mark not in seen for mark in _of_file(file)):
            found.append(replace(file, hunks=tuple(part.hunk for part in shown)))
    return tuple(found)


def altered(files: Iterable[FileChange], seen: Collection[str]) -> tuple[FileChange, ...]:
    """Like ``unseen``, without what only has another neighbour."""
    known = {mark[:_CONTENT] for mark in seen}
    parts = (
        (file, [part for part in _parts(file) if not (part.mark[:_CONTENT] in known or part.above in seen)]) for file in files
    )
    return tuple(replace(file, hunks=tuple(part.hunk for part in left)) for file, left in parts if left)


def touches(file: FileChange, start: int, line: int) -> bool:
    """The lines stand in or beside what the file's hunks change; 0 is the file as a whole."""
    return not line or any(first - NEIGHBOURHOOD <= line and start <= last + NEIGHBOURHOOD for first, last in spans(file))


def spans(file: FileChange) -> Iterator[tuple[int, int]]:
    """The first and last line at head that each hunk adds, or beside which it removed one."""
    for hunk in file.hunks:
        number = hunk.new_start + (0 if hunk.new_count else 1)
        touched: list[int] = []
        for row in hunk.rows:
            if row[:1] in b"+-":
                touched.append(number)
            number += row[:1] != b"-"
        if touched:
            yield touched[0], touched[-1]


def of_result(result: Result, names: Mapping[str, str]) -> str:
    """The mark of what a tool said: of its rule and the text of its line, wherever that stands. ``names``: base path by path."""
    text = identity.normalised(result.anchor) or _NUMBER.sub("#", result.message)
    where = names.get(result.path, result.path)
    return _mark("result", result.kind.value, result.tool, result.rule or "", where, result.subject, text)


def results(ledger: Ledger, names: Mapping[str, str]) -> Mapping[str, str]:
    """The marks of what is new in a ledger, by the ids of its items."""
    return {item.id: of_result(item.result, names) for item in ledger.items if item.status is EvidenceStatus.NEW}


@dataclass(frozen=True, slots=True)
class _Part:
    """Some rows of a hunk as a hunk of their own, with its mark and that of the hunk it was cut from. ``others`` are marks of a
    part that says as much."""

    hunk: Hunk
    mark: str
    above: str
    others: tuple[str, ...] = ()

    def is_in(self, seen: Collection[str]) -> bool:
        return any(mark in seen for mark in (self.mark, self.above, *self.others))


def _of_file(file: FileChange) -> Iterator[str]:
    """What no row shows: another name, mode or type; of what has no rows, which bytes."""
    is_modified = file.status is FileStatus.MODIFIED and file.old_mode == file.new_mode
    if file.hunks and (is_modified or (file.status is FileStatus.ADDED and file.new_mode in _PLAIN)):
        return
    blobs = () if file.hunks else (file.old_id or "", file.new_id or "")
    modes = (oct(file.old_mode), oct(file.new_mode))
    yield _mark("file", _name(file), file.path, file.status.value, file.kind.value, *modes, *blobs)


def _hunks(file: FileChange) -> list[_Part]:
    """Every hunk as one part."""
    found = [(hunk, _content(hunk)) for hunk in file.hunks]
    counts = Counter(content for _, content in found)
    named = ((hunk, _mark("hunk", _name(file), str(counts[content]), content)) for hunk, content in found)
    return [_Part(hunk, mark, mark) for hunk, mark in named]


def _parts(file: FileChange) -> list[_Part]:
    """Every hunk, cut where paragraphs of added lines end. A part is known by its rows, by the row that began the part before
    it, and by how many like it there are in the file: a copy of what was seen is not seen. What ends a hunk is not seen either
    where something stood after it: else nobody would look where the end of a new file was cut off."""
    cut = [(part, part_of.mark, before) for part_of in _hunks(file) for part, before in _cut(part_of.hunk)]
    keys = [(before, _content(part)) for part, _, before in cut]
    counts = Counter(keys)
    ends = [following[1] != above for (_, above, _), following in pairwise((*cut, (None, "", "")))]
    found = []
    for (part, above, before), key, is_end in zip(cut, keys, ends, strict=True):
        content = _mark("part", _name(file), str(counts[key]), key[1])
        inner, last = (content + _mark("place", *where, size=_PLACE_BYTES) for where in ((before,), (before, "end")))
        found.append(_Part(part, last, above) if is_end else _Part(part, inner, above, (last,)))
    return found


def _cut(hunk: Hunk) -> Iterator[tuple[Hunk, str]]:
    """The parts of a hunk, each with the row that began the one before it."""
    starts = [0, *_borders(hunk.rows), len(hunk.rows)]
    before, old, new = "", hunk.old_start, hunk.new_start
    for first, end in pairwise(starts):
        part = _section(hunk, hunk.rows[first:end], old=old, new=new, last=end == len(hunk.rows))
        yield part, before
        before = _text(next((row for row in part.rows if row[1:].strip()), b""))
        old, new = old + part.old_count, new + part.new_count


def _borders(rows: tuple[bytes, ...]) -> Iterator[int]:
    """Where an added blank line follows an added one that is not, in a run of rows that removes nothing: what is appended leaves
    what stands before it as it was."""
    removes = _beside_removals(rows)
    for index in range(1, len(rows)):
        before, row = rows[index - 1], rows[index]
        if before[:1] == row[:1] == b"+" and before[1:].strip() and not row[1:].strip() and not removes[index]:
            yield index


def _beside_removals(rows: tuple[bytes, ...]) -> list[bool]:
    """For each row, whether the run of changed rows that it belongs to removes one."""
    found = [False] * len(rows)
    start = 0
    for index in range(len(rows) + 1):
        if index == len(rows) or rows[index][:1] not in b"+-":
            found[start:index] = [any(row[:1] == b"-" for row in rows[start:index])] * (index - start)
            start = index + 1
    return found


def _section(hunk: Hunk, rows: tuple[bytes, ...], *, old: int, new: int, last: bool) -> Hunk:
    """Some of the rows as a hunk that begins at these lines."""
    return replace(
        hunk,
        old_start=old,
        old_count=sum(row[:1] != b"+" for row in rows),
        new_start=new,
        new_count=sum(row[:1] != b"-" for row in rows),
        rows=rows,
        old_ends_without_newline=hunk.old_ends_without_newline and last,
        new_ends_without_newline=hunk.new_ends_without_newline and last,
    )


def _content(hunk: Hunk) -> str:
    """All that is to be read in a hunk, without where it stands."""
    ends = f"{hunk.old_ends_without_newline:d}{hunk.new_ends_without_newline:d}"
    return "\n".join((ends, _text(hunk.section), *map(_text, hunk.rows)))


def _name(file: FileChange) -> str:
    """The name under which its rows are known: those of a link are no text."""
    name = file.base_path or file.path
    return f"{name}\0{file.kind.value}" if file.kind is FileKind.SYMLINK else name


def _text(row: bytes) -> str:
    return row.decode("utf-8", "surrogateescape")


def _mark(*words: str, size: int = _MARK_BYTES) -> str:
    data = "\0".join(f"{len(word)}:{word}" for word in words).encode("utf-8", "surrogateescape")
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()[:size]).decode("ascii")
