"""The terminal of the pictures: what it shows is what a terminal would, or it says that it does not know."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pictures import acting, window
from tests.pictures.screen import NotUnderstood, Screen, Style


def shown(written: str, columns: int = 10) -> str:
    screen = Screen(columns)
    screen.write(written)
    return screen.text()


def test_lines_begin_where_a_carriage_return_says():
    assert shown("one\r\ntwo\r\n") == "one\ntwo"
    assert shown("one\rtwo") == "two"
    assert shown("one\ntwo") == "one\n   two"[:3] + "\n   two"


def test_a_line_that_is_full_goes_on_below():
    assert shown("0123456789") == "0123456789"
    assert shown("0123456789abc") == "0123456789\nabc"


def test_a_wide_character_takes_two_columns_and_is_not_divided():
    assert shown("企業ab", 6) == "企業ab"
    assert shown("123企業", 4) == "123\n企業"
    assert shown("e\u0301x", 2) == "e\u0301x"


def test_a_live_view_is_gone_once_it_is_wiped():
    live = "\x1b[?25lworking\r\n  1 of 2\r\x1b[2K\x1b[1A\x1b[2Kdone\r\n\x1b[?25h"
    assert shown(live) == "done"


def test_looks_are_kept_for_each_character():
    screen = Screen(20)
    screen.write("\x1b[1;31mred\x1b[0m \x1b[2mdim\x1b[22m\x1b[97;44mblue")
    styles = [cell.style for cell in screen.rows[0]]
    assert styles[0] == Style(ink=1, bold=True)
    assert styles[3] == Style()
    assert styles[4] == Style(dim=True)
    assert styles[-1] == Style(ink=15, paper=4)


@pytest.mark.parametrize("written", ["\x1b[5;5H", "\x1b[38;5;1m", "\x1b(B", "\x07", "\x1b[1K"])
def test_what_is_not_known_is_no_picture(written: str):
    with pytest.raises(NotUnderstood):
        shown(f"a{written}")


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\x1b[0123456789;mKJA\r\n\t\b")), st.integers(2, 20))
def test_whatever_is_written_is_shown_within_the_columns_or_refused(written: str, columns: int):
    screen = Screen(columns)
    try:
        screen.write(written)
    except NotUnderstood:
        return
    assert all(sum(cell.columns for cell in row) <= columns for row in screen.rows)


def test_a_command_is_shown_as_wide_as_its_terminal(tmp_path: Path):
    code = "import os, sys; print(os.get_terminal_size().columns, sys.stdout.isatty(), sys.stderr.isatty())"
    said = acting.shown((sys.executable, "-c", code), columns=123, folder=tmp_path, environ={"PATH": os.environ["PATH"]})
    assert said == "123 True True\r\n"


def test_words_on_a_page_are_words_and_wide_ones_keep_their_columns():
    screen = Screen(20)
    screen.write("<b>&企\x1b[1mx")
    page = window.page(screen.rows, 20)
    assert "&lt;b&gt;&amp;</span>" in page
    assert '<span class="wide">企</span>' in page
    assert "font-weight: bold" in page
    assert "prefers-color-scheme: dark" in page
