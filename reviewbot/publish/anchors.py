"""The places of a finished review, held against the change itself: what does not stand there is told without a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from reviewbot.domain.change import ChangeSet, FileChange
from reviewbot.domain.review import Finding, Review, Suggestion
from reviewbot.publish import plain
from reviewbot.screen import shown

LONG_QUOTE = 400
"""Characters of a line that stand for the whole of it, as where claims are admitted."""

LEFT = "LEFT"


def held(review: Review, change: ChangeSet, heads: Mapping[str, bytes]) -> Review:
    """The review with every place looked up: ``heads`` are the contents at head by path, as far as they are known.

    A finding whose file is not in the change, or whose quote does not stand on its lines, loses its lines; a replacement of lines
    that are not there is dropped. Each is said in a note.
    """
    files = {plain.storable(file.path): file for file in change.files}
    texts: dict[str, Mapping[int, str]] = {}
    found = []
    for finding in review.findings:
        file = files.get(finding.path)
        if finding.path not in texts and file is not None:
            texts[finding.path] = _texts(file, heads.get(file.path))
        found.append(_looked_up(finding, file, texts.get(finding.path, {})))
    notes = tuple(note for one in found for note in one.notes)
    return replace(review, findings=tuple(one.finding for one in found), notes=tuple(dict.fromkeys((*review.notes, *notes))))


@dataclass(frozen=True, slots=True)
class _LookedUp:
    """A finding as it may be told, and what had to be changed of it."""

    finding: Finding
    notes: tuple[str, ...] = ()


def _looked_up(finding: Finding, file: FileChange | None, texts: Mapping[int, str]) -> _LookedUp:
    if file is None:
        return _without_place(finding, f"{finding.path} is not in the change")
    there = _removed(file) if finding.side == LEFT else texts
    if finding.line and not _stands(finding, there):
        return _without_place(finding, "its quote does not stand on its lines")
    offered = finding.suggestion
    if offered is None or _fits(offered, texts):
        return _LookedUp(finding)
    note = f"{finding.id}: its suggestion does not fit the lines that it replaces: dropped"
    return _LookedUp(replace(finding, suggestion=None), (note,))


def _without_place(finding: Finding, why: str) -> _LookedUp:
    note = f"{finding.id}: {why}: told without a line"
    return _LookedUp(replace(finding, start_line=0, line=0, suggestion=None, code=()), (note,))


def _stands(finding: Finding, texts: Mapping[int, str]) -> bool:
    """The lines are there, and say what is quoted; white space at their ends does not count."""
    said = _lines(texts, finding.start_line, finding.line)
    if said is None or not finding.quote.strip():
        return said is not None
    wanted = [line.strip() for line in finding.quote.strip("\n").split("\n")]
    return len(wanted) == len(said) and all(
        one == other or (len(one) >= LONG_QUOTE and other.startswith(one))
        for one, other in zip(wanted, map(str.strip, said), strict=True)
    )


def _fits(offered: Suggestion, texts: Mapping[int, str]) -> bool:
    """Lines of the head are replaced, by something else."""
    old = _lines(texts, offered.start_line, offered.line)
    return old is not None and "\n".join(old) != offered.replacement.removesuffix("\n")


def _lines(texts: Mapping[int, str], first: int, last: int) -> list[str] | None:
    """The lines from ``first`` to ``last``, ``None`` where one of them is not there."""
    if not first <= last or last - first >= len(texts):
        return None
    found = [texts[number] for number in range(first, last + 1) if number in texts]
    return found if len(found) == last - first + 1 else None


def _texts(file: FileChange, head: bytes | None) -> Mapping[int, str]:
    """The lines at head by number, as panelists were shown them: all of them, or those of the hunks."""
    if head is not None:
        return {number: plain.storable(text) for number, text in enumerate(shown.whole(head), 1)}
    found: dict[int, str] = {}
    for hunk in file.hunks:
        rows = [row[1:] for row in hunk.rows if row[:1] != b"-"]
        found |= {hunk.new_start + index: plain.storable(text) for index, text in enumerate(shown.lines(rows) if rows else [])}
    return found


def _removed(file: FileChange) -> Mapping[int, str]:
    """The removed lines by their number at base."""
    lines = [line for hunk in file.hunks for line in hunk.removed()]
    texts = shown.lines([text for _, text in lines]) if lines else []
    return {number: plain.storable(text) for (number, _), text in zip(lines, texts, strict=True)}
