"""What a candidate changes, as those see it who judge it: numbered lines in hunks, screened, that can be cited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from reviewbot.debate import prompt_change
from reviewbot.debate.making.splices import unchanged_ends
from reviewbot.debate.making.tree import Tree
from reviewbot.ports import Passage, Removed
from reviewbot.screen import shown

CONTEXT = 3
"""Unchanged lines around what changed."""

MOST_COMPARED = 4_000
"""Lines of both sides between the first and the last that differ, above which they are shown as replaced altogether."""

_Span = tuple[int, int, int, int]
"""Lines ``a``–``b`` before became ``c``–``d``; from 0, ends excluded."""


@dataclass(frozen=True, slots=True)
class Delta:
    """The hunks of a candidate, in order: hunk ``H1`` is the first."""

    passages: tuple[Passage, ...]

    @classmethod
    def between(cls, before: Tree, after: Tree) -> Delta:
        """What leads from one tree to another."""
        hunks = [hunk for edit in before.changes(after) for hunk in _hunks(edit.path, before.content(edit.path), edit.content)]
        return cls(tuple(_named(hunk, number) for number, hunk in enumerate(hunks, 1)))

    @property
    def text(self) -> str:
        """All of it as shown."""
        return prompt_change.code(self.passages)

    def has(self, cite: str) -> bool:
        """It is a hunk of this candidate."""
        return cite in {f"H{number}" for number in range(1, len(self.passages) + 1)}


def _named(hunk: Passage, number: int) -> Passage:
    return Passage(hunk.path, hunk.start, hunk.lines, hunk.changed, f"hunk H{number}", hunk.removed)


def _hunks(path: str, old: bytes | None, new: bytes | None) -> Iterator[Passage]:
    was, now = _lines(old), _lines(new)
    before, after = shown.whole(old or b""), shown.whole(new or b"")
    for group in _groups(_spans(was, now)):
        start = max(group[0][2] - CONTEXT, 0)
        end = min(group[-1][3] + CONTEXT, len(now))
        changed = frozenset(line for span in group for line in range(span[2] + 1, span[3] + 1))
        removed = tuple(Removed(span[2] + 1, before[line]) for span in group for line in range(span[0], span[1]))
        yield Passage(path, start + 1, after[start:end], changed, "", removed)


def _lines(content: bytes | None) -> list[bytes]:
    """As ``shown.whole`` counts them. That a file does not end with a line feed belongs to its last line."""
    if not content:
        return []
    lines = content.split(b"\n")
    return lines[:-1] if content.endswith(b"\n") else [*lines[:-1], lines[-1] + b"\n"]


def _spans(old: list[bytes], new: list[bytes]) -> Iterator[_Span]:
    """What differs, in order."""
    before, after = unchanged_ends(old, new)
    was, now = old[before : len(old) - after], new[before : len(new) - after]
    if len(was) + len(now) > MOST_COMPARED:
        yield before, before + len(was), before, before + len(now)
        return
    for tag, a, b, c, d in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag != "equal":
            yield before + a, before + b, before + c, before + d


def _groups(spans: Iterable[_Span]) -> Iterator[list[_Span]]:
    """Spans whose contexts meet stand in one hunk."""
    group: list[_Span] = []
    for span in spans:
        if group and span[2] - group[-1][3] > 2 * CONTEXT:
            yield group
            group = []
        group.append(span)
    if group:
        yield group
