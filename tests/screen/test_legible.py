"""An edit of a file as it is shown changes just that of the file as it is."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewbot.screen import shown
from reviewbot.screen.legible import MARKS, NEW, Legible, Misplaced

KEY = "A" + "KIA" + "Q" * 16
PEM = "\n".join(["-----BEGIN PRIVATE " + "KEY-----", *["QUJD" * 12] * 3, "-----END PRIVATE " + "KEY-----"])
PLAIN = Legible.of(b"one\ntwo\nthree\n") or NEW

PARTS = st.sampled_from(
    ["a", "b ", "\n", "\r\n", "\r", KEY, PEM, "\u202e", "\ufeff", "é", "👩\u200d💻", "postgres://u:hunter2@h/x"]
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


def legible(content: bytes) -> Legible:
    found = Legible.of(content)
    assert found is not None
    return found


@given(TEXTS)
@example("a\r\r\nb\r")
def test_it_reads_as_everything_else_shows_it(text: str) -> None:
    content = text.encode()
    assert tuple(legible(content).text.split("\n")) == tuple(shown.lines(content.split(b"\n")))


@given(TEXTS, st.integers(0, 200), st.integers(1, 80))
def test_what_is_put_in_its_own_place_changes_nothing(text: str, start: int, length: int) -> None:
    content = re.sub("\r+\n", "\n", text).encode()
    file = legible(content)
    find = file.text[start : start + length]
    try:
        assert file.replaced(find, find) == content
    except Misplaced:
        once = bool(find) and file.text.find(find, file.text.find(find) + 1) < 0
        assert not once or MARKS.search(file.text), "a text that stands once and holds nothing hidden can be edited"


@given(TEXTS, st.integers(0, 200), st.integers(1, 80))
def test_what_stands_around_an_edit_stays_byte_for_byte(text: str, start: int, length: int) -> None:
    content = text.encode()
    file = legible(content)
    try:
        changed = file.replaced(file.text[start : start + length], "X")
    except Misplaced:
        return
    before, _, after = changed.decode().partition("X")
    assert text.startswith(before)
    assert text.endswith(after)
    shortened = text[len(before) : len(text) - len(after)]
    assert file.text[start : start + length].count("\n") == shortened.count("\n")


@pytest.mark.parametrize(
    ("find", "reason"),
    [("", "is empty"), ("four", "does not stand in the file"), ("t", "more than once"), ("two\nthree\n\n", "does not stand")],
)
def test_a_place_that_is_not_one_place_is_refused(find: str, reason: str) -> None:
    with pytest.raises(Misplaced, match=reason):
        PLAIN.replaced(find, "x")


def test_places_that_overlap_are_two() -> None:
    with pytest.raises(Misplaced, match="more than once"):
        legible(b"aaa").replaced("aa", "b")


def test_a_guess_at_a_secret_is_answered_as_a_text_that_is_not_there() -> None:
    file = legible(f"key = '{KEY}'\nother = 'Q'\n".encode())
    for guess in (KEY, KEY[:6], "QQ"):
        with pytest.raises(Misplaced, match="does not stand"):
            file.replaced(guess, "x")
    assert file.replaced("'Q'", "'R'") == f"key = '{KEY}'\nother = 'R'\n".encode(), "one place where it is shown is one place"


def test_a_line_with_a_secret_can_be_replaced_whole_and_not_by_half() -> None:
    file = legible(f"a = 1\nkey = '{KEY}'\nb = 2\n".encode())
    assert file.replaced("key = '«secret:aws-access-key»'", "key = environ['KEY']") == b"a = 1\nkey = environ['KEY']\nb = 2\n"
    for half in ("secret:aws", "key = '«secret:", "-access-key»'"):
        with pytest.raises(Misplaced, match="inside of a placeholder"):
            file.replaced(half, "x")


@pytest.mark.parametrize("mark", ["«secret:aws-access-key»", "⟨U+202E⟩", "⟨2600 more characters⟩"])
def test_what_is_only_shown_is_never_written(mark: str) -> None:
    for write in (lambda: PLAIN.replaced("two", f"x {mark}"), lambda: PLAIN.rewritten(mark), lambda: NEW.rewritten(mark)):
        with pytest.raises(Misplaced, match="not shown"):
            write()


def test_new_lines_end_as_those_around_them() -> None:
    windows = legible(b"one\r\ntwo\r\nthree\r\n")
    assert windows.text == "one\ntwo\nthree\n"
    assert windows.replaced("two\n", "2\n2.5\n") == b"one\r\n2\r\n2.5\r\nthree\r\n"
    assert windows.replaced("two", "2") == b"one\r\n2\r\nthree\r\n"
    assert windows.replaced("\nthree", "") == b"one\r\ntwo\r\n"
    assert windows.rewritten("a\nb\n") == windows.rewritten("a\r\nb\r\n") == b"a\r\nb\r\n"
    assert NEW.rewritten("a\nb\n") == b"a\nb\n"


def test_what_is_no_text_is_not_legible() -> None:
    assert Legible.of(b"\xff\xfe") is None
    assert Legible.of(b"a\0b") is None


def test_a_place_is_told_by_its_line() -> None:
    assert [PLAIN.line(find) for find in ("one", "two", "\nthree", "three")] == [1, 2, 2, 3]
