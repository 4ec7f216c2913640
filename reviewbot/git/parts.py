"""Parts of a change, known by their content: a rebase moves lines and leaves what they say.

A part is a hunk, or a paragraph of lines that the change adds. Whoever read a part need not read it
again, whatever commits it is in.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.git.change import Change, ChangedFile, Hunk, Line, Location

# An author can prepare two parts with one mark in 2^(4 * MARK_BYTES) attempts.
MARK_BYTES = 16


class Part(Struct, frozen=True):
    """Some lines of a hunk. Files without hunks have one part, with an empty one."""

    path: str
    mark: str
    hunk: Hunk

    def distance(self, location: Location) -> int:
        """How many lines a location of the same file is away; 0 inside."""
        numbers = [number for number, _ in self.hunk.at(location.side)]
        if not numbers:
            return 1_000_000
        return max(numbers[0] - location.end_line, location.line - numbers[-1], 0)


def parts_of(change: Change) -> tuple[Part, ...]:
    """All parts, in the order of the change."""
    return tuple(part for file in change.files for part in _parts_of_file(file))


def only_parts(change: Change, marks: Collection[str]) -> Change:
    """The change without other parts, and without files of which nothing is left."""
    files = []
    for file in change.files:
        parts = [part for part in _parts_of_file(file) if part.mark in marks]
        if parts:
            hunks = tuple(part.hunk for part in parts) if file.hunks else ()
            files.append(replace(file, hunks=hunks))
    return replace(change, files=tuple(files))


def part_at(location: Location, parts: Sequence[Part]) -> Part | None:
    """The part of the file that is nearest to a location."""
    own = [part for part in parts if part.path == location.path]
    return min(own, key=lambda part: part.distance(location), default=None)


def _parts_of_file(file: ChangedFile) -> Iterator[Part]:
    """What stands before a part, after it, and how often it stands in the file belongs to it.

    So a copy of a part that was read is another part, and so is the rest where an end was cut off.
    """
    pieces = [
        (lines, hunk, before, "last" if lines is cut[-1] else "")
        for hunk in file.hunks
        for cut in [_cut(hunk.lines)]
        for before, lines in pairwise([(), *cut])
    ] or [((), Hunk("", ()), (), "")]
    texts = [_text(lines) for lines, *_ in pieces]
    counts = Counter(texts)
    about = (file.old_path, file.path, file.old_mode, file.mode)
    for (lines, hunk, before, end), text in zip(pieces, texts, strict=True):
        first = next((line.text for line in before if line.text.strip()), "")
        known_by = json.dumps([*about, hunk.heading, counts[text], first, end, text])
        digest = hashlib.sha256(known_by.encode("utf-8", "surrogatepass")).digest()
        mark = base64.urlsafe_b64encode(digest[:MARK_BYTES]).decode("ascii").rstrip("=")
        yield Part(file.path, mark, Hunk(hunk.heading, tuple(lines)))


def _cut(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """Cut before blank lines among added ones, where the run of changed lines removes none."""
    starts = [0]
    run_start = 0
    for index, line in enumerate(lines):
        if not line.is_changed:
            run_start = index + 1
        elif index > run_start and not line.text.strip() and lines[index - 1].text.strip():
            end = next((i for i in range(index, len(lines)) if not lines[i].is_changed), len(lines))
            if all(line.base is None for line in lines[run_start:end]):
                starts.append(index)
    return [lines[start:end] for start, end in pairwise([*starts, len(lines)])]


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(
        f"{'+' if line.base is None else '-' if line.head is None else ' '}{line.text}"
        for line in lines
    )
