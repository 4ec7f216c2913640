"""A fix as a button: pressing it makes of the head exactly what was tried, or there is none."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.publish import runs
from reviewbot.publish.fixes import Run
from reviewbot.publish.runs import Span
from tests.rings import examples

HEAD = b"".join(b"line %d\n" % n for n in range(1, 11))


def edited(text: bytes, at: int, gone: int, *lines: bytes) -> bytes:
    every = text.splitlines(keepends=True)
    return b"".join((*every[:at], *lines, *every[at + gone :]))


def pressed(head: bytes, run: Run) -> bytes:
    """As GitHub commits a suggestion: the lines of the comment are replaced by those of the block."""
    return edited(
        head, run.start_line - 1, run.line - run.start_line + 1, *(f"{line}\n".encode() for line in run.text.split("\n"))
    )


def test_one_line_of_a_file_that_nothing_else_touches() -> None:
    after = edited(HEAD, 4, 1, b"five\n")
    made = runs.span(HEAD, after)
    assert made == Span(4, 1, 1)
    assert runs.run("a.py", HEAD, after, made=made, earlier=(), around=(5, 5)) == Run("a.py", 5, 5, "five")
    assert runs.run("a.py", HEAD, after, made=made, earlier=(), around=(4, 6)) == Run("a.py", 4, 6, "line 4\nfive\nline 6")


def test_lines_that_only_come_take_the_finding_s_line_with_them() -> None:
    after = edited(HEAD, 4, 0, b"new\n")
    assert runs.run("a.py", HEAD, after, made=runs.span(HEAD, after), earlier=(), around=(5, 5)) == Run(
        "a.py", 5, 5, "new\nline 5"
    )


def test_lines_that_only_go_leave_the_next_one_that_says_something() -> None:
    head = b"import os\n\n\ndef f():\n    pass\n"
    after = edited(head, 0, 1)
    assert runs.run("a.py", head, after, made=runs.span(head, after), earlier=(), around=(1, 1)) == Run(
        "a.py", 1, 4, "\n\ndef f():"
    )
    last = edited(head, 4, 1)
    found = runs.run("a.py", head, last, made=runs.span(head, last), earlier=(), around=(5, 5))
    assert found is not None
    assert not found.text


def test_numbers_are_those_of_the_head_whatever_came_before() -> None:
    first = edited(HEAD, 1, 1, b"a\n", b"b\n", b"c\n")
    after = edited(first, 8, 1, b"changed\n")
    one, two = runs.span(HEAD, first), runs.span(first, after)
    assert runs.run("a.py", HEAD, after, made=two, earlier=(one,), around=(7, 7)) == Run("a.py", 7, 7, "changed")


@pytest.mark.parametrize("at", [1, 2, 3])
def test_what_an_earlier_fix_touches_too_has_no_button(at: int) -> None:
    first = edited(HEAD, 1, 1, b"a\n", b"b\n", b"c\n")
    after = edited(first, at, 1, b"again\n")
    one, two = runs.span(HEAD, first), runs.span(first, after)
    assert runs.run("a.py", HEAD, after, made=two, earlier=(one,), around=(2, 2)) is None


@pytest.mark.parametrize(
    ("head", "after"),
    [
        (b"a\r\nb\r\n", b"a\r\nc\r\n"),
        (b"a\nb", b"a\nc"),
        (b"a\nb\n", b"a\nc"),
        (b"a\nb\n", b"a\n\xff\n"),
    ],
)
def test_what_no_button_would_do_exactly_has_none(head: bytes, after: bytes) -> None:
    assert runs.run("a.py", head, after, made=runs.span(head, after), earlier=(), around=(2, 2)) is None


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"  d\n"]), min_size=1, max_size=12)


@settings(max_examples=examples(400))
@given(LINES, st.data())
def test_pressing_the_button_does_what_was_tried(head: list[bytes], data: st.DataObject) -> None:
    """Two fixes in a row; the second one's button is pressed on the head, and the first one is then laid over it."""
    text = b"".join(head)

    def an_edit(of: bytes) -> bytes:
        count = len(of.splitlines())
        at = data.draw(st.integers(0, count))
        gone = data.draw(st.integers(0, count - at))
        return edited(of, at, gone, *data.draw(st.lists(st.sampled_from([b"x\n", b"y\n"]), max_size=3)))

    before = an_edit(text)
    after = an_edit(before)
    one, two = runs.span(text, before), runs.span(before, after)
    line = data.draw(st.integers(1, len(head)))
    alone = runs.run("a.py", text, before, made=one, earlier=(), around=(line, line))
    if alone is not None and before:
        shown = pressed(text, alone)
        assert shown == before or not alone.text
    found = runs.run("a.py", text, after, made=two, earlier=(one,), around=(line, line))
    if found is None or not found.text:
        return
    stands = pressed(text, found)
    start, stop = one.at, one.at + one.gone
    if found.line <= start or found.start_line > stop:
        shift = len(stands.splitlines()) - len(text.splitlines()) if found.line <= start else 0
        lines = before.splitlines(keepends=True)[one.at : one.at + one.come]
        assert edited(stands, start + shift, one.gone, *lines) == after
