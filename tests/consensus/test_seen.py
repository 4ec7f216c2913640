"""What was seen is known by its content: it moves with its lines, and any row that differs is something else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reviewbot.consensus import seen
from reviewbot.domain.change import FileChange, FileKind, FileStatus, Hunk
from tests.rings import examples

ROWS = st.lists(
    st.tuples(st.sampled_from([b" ", b"+", b"-"]), st.sampled_from([b"", b"a = 1", b"b = 2", b"    c()", b"\xff"])).map(b"".join),
    min_size=1,
    max_size=14,
).map(tuple)


def hunk(*rows: bytes, at: int = 1, number: int = 1) -> Hunk:
    """A hunk whose lines begin at ``at`` on both sides."""
    old, new = (sum(row[:1] != mark for row in rows) for mark in (b"+", b"-"))
    return Hunk(f"H{number}", at, old, at, new, b"", rows)


def file(*hunks: Hunk, path: str = "a.py", **other: object) -> FileChange:
    """A modified file."""
    made = FileChange(path, path, FileStatus.MODIFIED, FileKind.TEXT, 0o100644, 0o100644, "1" * 40, "2" * 40, 1, 1, hunks)
    return replace(made, **other)  # type: ignore[arg-type]


PARAGRAPHS = (b"+def a():", b"+    pass", b"+", b"+def b():", b"+    pass", b"+", b"+def c():", b"+    pass")


def added(*rows: bytes) -> FileChange:
    """A file that is new, in one hunk."""
    return file(Hunk("H1", 0, 0, 1, len(rows), b"", rows), old_path=None, status=FileStatus.ADDED, old_mode=0, old_id=None)


@settings(derandomize=True, max_examples=examples(200))
@given(st.lists(ROWS, min_size=1, max_size=3), st.integers(1, 500), st.integers(0, 90))
def test_marks_are_the_same_wherever_the_lines_stand(hunks: list[tuple[bytes, ...]], at: int, apart: int) -> None:
    here = file(*(hunk(*rows, at=1 + 20 * number) for number, rows in enumerate(hunks)))
    there = file(*(hunk(*rows, at=at + (20 + apart) * number) for number, rows in enumerate(hunks)))
    assert seen.marks([here]) == seen.marks([there])
    assert seen.whole([here]) == seen.whole([there])
    assert seen.unseen([there], seen.marks([here])) == ()


@settings(derandomize=True, max_examples=examples(300))
@given(ROWS, st.data())
def test_any_row_that_differs_is_not_seen(rows: tuple[bytes, ...], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    other = data.draw(st.sampled_from([rows[at] + b" ", rows[at][:1] + b"other", b"+" + rows[at][1:], b"-" + rows[at][1:]]))
    assume(other != rows[at])
    before, after = file(hunk(*rows)), file(hunk(*rows[:at], other, *rows[at + 1 :]))
    assert seen.whole([before]) != seen.whole([after])
    (left,) = seen.unseen([after], seen.marks([before]))
    assert any(other in part.rows for part in left.hunks), "the row itself is looked at"


@settings(derandomize=True, max_examples=examples(200))
@given(st.lists(ROWS, min_size=1, max_size=3))
def test_the_parts_of_a_change_are_the_change(hunks: list[tuple[bytes, ...]]) -> None:
    whole = file(*(hunk(*rows, at=1 + 40 * number, number=number) for number, rows in enumerate(hunks)))
    (everything,) = seen.unseen([whole], ())
    assert [line for part in everything.hunks for line in part.lines()] == [line for part in whole.hunks for line in part.lines()]


def test_of_a_new_file_only_the_paragraph_that_differs_is_looked_at_again() -> None:
    before = added(*PARAGRAPHS)
    after = added(*(row.replace(b"def b", b"def other") for row in PARAGRAPHS))
    (left,) = seen.unseen([after], seen.marks([before]))
    assert [(part.new_start, part.rows[1]) for part in left.hunks] == [(3, b"+def other():"), (6, b"+def c():")]


def test_paragraphs_that_change_places_or_come_twice_are_not_seen() -> None:
    first, second, third = PARAGRAPHS[:2], PARAGRAPHS[2:5], PARAGRAPHS[5:]
    known = seen.marks([added(*PARAGRAPHS)])
    (both,) = seen.unseen([added(*first, *second, *third, *second, *third)], known)
    assert [part.new_start for part in both.hunks] == [6, 9, 12], "the copy, and both that are alike to their neighbours"
    assert seen.unseen([added(*second, *first, *third)], known)
    (left,) = seen.unseen([added(*first, *second, *first, *second, *third)], known)
    assert {part.new_start for part in left.hunks} == {3, 8}, "both copies"


def test_the_end_of_a_new_file_that_is_cut_off_is_looked_at_and_what_is_appended_leaves_the_rest() -> None:
    short, long = added(*PARAGRAPHS[:5]), added(*PARAGRAPHS)
    (left,) = seen.unseen([short], seen.marks([long]))
    assert [(part.new_start, part.rows[-2]) for part in left.hunks] == [(3, b"+def b():")]
    assert seen.altered([short], seen.marks([long])) == (), "what was said of it holds still"
    (left,) = seen.unseen([long], seen.marks([short]))
    assert [part.new_start for part in left.hunks] == [6]


def test_the_same_rows_in_another_function_are_not_seen() -> None:
    rows = (b"     x = 1", b"-    verify(user)", b"     go(user)")
    one, other = (file(replace(hunk(*rows, at=at), section=name)) for at, name in ((10, b"def a():"), (90, b"def b():")))
    assert seen.unseen([other], seen.marks([one])) == (other,)
    assert seen.whole([other]) != seen.whole([one])


def test_a_new_file_that_becomes_a_link_or_a_program_is_not_seen() -> None:
    text = added(b"+../../etc/passwd")
    link, program = replace(text, new_mode=0o120000, kind=FileKind.SYMLINK), replace(text, new_mode=0o100755)
    assert seen.unseen([link], seen.marks([text])) == (link,)
    assert seen.unseen([program], seen.marks([text])) == (replace(program, hunks=()),)
    assert len({seen.whole([one]) for one in (text, link, program)}) == 3


def test_lines_that_replace_others_stay_with_those_that_they_replace() -> None:
    rows = (b" x", b"-old", b"+new", b"+", b"+more", b" y")
    (left,) = seen.unseen([file(hunk(*rows))], ())
    assert [part.rows for part in left.hunks] == [rows]


@pytest.mark.parametrize(
    "other",
    [
        {"new_id": "3" * 40},
        {"new_mode": 0o100755},
        {"kind": FileKind.SUBMODULE},
        {"path": "c.bin", "status": FileStatus.RENAMED},
        {"status": FileStatus.DELETED, "new_mode": 0},
    ],
    ids=str,
)
def test_what_has_no_rows_is_known_by_its_bytes_its_mode_and_its_names(other: dict[str, object]) -> None:
    before = file(path="a.bin", kind=FileKind.BINARY)
    assert seen.unseen([before], seen.marks([before])) == ()
    after = replace(before, **other)  # type: ignore[arg-type]
    assert seen.unseen([after], seen.marks([before])) == (after,)
    assert seen.whole([after]) != seen.whole([before])


def test_a_mode_that_changes_beside_seen_rows_is_told_without_them() -> None:
    before = file(hunk(b"+a"))
    after = replace(before, new_mode=0o100755)
    assert seen.unseen([after], seen.marks([before])) == (replace(after, hunks=()),)


def test_a_file_that_moves_keeps_the_marks_of_its_rows() -> None:
    before = file(hunk(b"+a"))
    after = replace(before, path="b.py", old_path="a.py", status=FileStatus.RENAMED)
    assert seen.unseen([after], seen.marks([before])) == (replace(after, hunks=()),), "its new name is new"
    assert seen.unseen([file(hunk(b"+a"), path="other.py")], seen.marks([before])), "the same rows elsewhere are not"


def test_a_place_with_news_is_shown_again() -> None:
    change = file(hunk(b"+a"), hunk(b"+b", at=50, number=2))
    (left,) = seen.unseen([change], seen.marks([change]), again={("a.py", 50), ("b.py", 1)})
    assert [part.id for part in left.hunks] == ["H2"]


def test_too_many_parts_are_known_as_hunks_and_too_many_hunks_not_at_all() -> None:
    long = added(*(b"+x = %d" % (number // 2) if number % 2 else b"+" for number in range(4_000)))
    marks = seen.marks([long])
    assert len(marks) == 1
    assert seen.unseen([long], marks) == ()
    assert seen.unseen([added(*long.hunks[0].rows, b"+more")], marks)
    many = [file(hunk(b"+%d" % number), path=f"{number}.py") for number in range(seen.MOST_MARKS + 1)]
    assert len(seen.marks(many[1:])) == seen.MOST_MARKS
    assert seen.marks(many) == frozenset()


def test_lines_belong_to_what_changed_beside_them() -> None:
    change = file(hunk(b" 10", b"+11", b"+12", b" 13", at=10), hunk(b" 90", b"-91", b" 91", at=90))
    assert list(seen.spans(change)) == [(11, 12), (91, 91)]
    assert [line for line in range(1, 100) if seen.touches(change, line, line)] == [*range(8, 16), *range(88, 95)]
    assert seen.touches(change, 0, 0)
