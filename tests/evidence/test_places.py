"""Line arithmetic, held against difflib's own idea of what corresponds."""

from __future__ import annotations

import difflib

from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.change import FileChange, FileKind, FileStatus, Hunk
from reviewbot.evidence import places

texts = st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=14)


def file_between(old: list[str], new: list[str], context: int) -> FileChange:
    """A change as difflib groups it."""
    hunks = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        rows: list[bytes] = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [b" " + line.encode() for line in old[i1:i2]]
                continue
            rows += [b"-" + line.encode() for line in old[i1:i2]]
            rows += [b"+" + line.encode() for line in new[j1:j2]]
        old_start, old_count = group[0][1], group[-1][2] - group[0][1]
        new_start, new_count = group[0][3], group[-1][4] - group[0][3]
        starts = (old_start + 1 if old_count else old_start), (new_start + 1 if new_count else new_start)
        hunks.append(Hunk("H", starts[0], old_count, starts[1], new_count, b"", tuple(rows)))
    return FileChange("a.py", None, FileStatus.MODIFIED, FileKind.TEXT, 0, 0, None, None, 0, 0, tuple(hunks))


def pairs(old: list[str], new: list[str]) -> dict[int, int]:
    """Lines of the base that are still there, with their numbers at head."""
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return {block.a + offset + 1: block.b + offset + 1 for block in blocks for offset in range(block.size)}


@given(texts, texts, st.integers(0, 3))
def test_a_line_that_stayed_is_found_from_either_side(old: list[str], new: list[str], context: int) -> None:
    file = file_between(old, new, context)
    kept = pairs(old, new)
    for before, after in kept.items():
        assert places.head_line(file, before) == after
        assert places.base_line(file, after) == before


@given(texts, texts, st.integers(0, 3))
def test_a_line_that_went_has_a_place_among_its_old_neighbours(old: list[str], new: list[str], context: int) -> None:
    file = file_between(old, new, context)
    kept = pairs(old, new)
    for gone in set(range(1, len(old) + 1)) - set(kept):
        before = max((kept[line] for line in kept if line < gone), default=0)
        after = min((kept[line] for line in kept if line > gone), default=len(new) + 1)
        assert max(before, 1) <= places.head_line(file, gone) <= max(after, 1)


@given(texts, texts, st.integers(0, 3))
def test_added_lines_stood_nowhere_at_base(old: list[str], new: list[str], context: int) -> None:
    file = file_between(old, new, context)
    assert places.added(file) == set(range(1, len(new) + 1)) - set(pairs(old, new).values())
    assert all(places.base_line(file, line) is None for line in places.added(file))


@given(st.frozensets(st.integers(1, 50)), st.integers(1, 50))
def test_nearest_is_nearest(numbers: frozenset[int], line: int) -> None:
    expected = min(numbers, key=lambda number: (abs(number - line), number), default=None)
    assert places.nearest(numbers, line) == expected
