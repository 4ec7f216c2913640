"""What a hook prints: compact, wrapped at words, and harmless whatever stands in it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from reviewbot.domain.review import Review
from reviewbot.publish import wrapped
from reviewbot.publish.terminal_hook import NOT_REVIEWED, Manner, not_reviewed, render, told
from tests.publish.samples import CLEAN, FULL, HOSTILE, LONG, MINOR, OFF_BY_ONE, REVIEWS

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
AT_80 = """\
reviewbot: 2 findings · 1 question in this commit (static panel, no language
  model)
  F1  high  shop/cart.py:41-42
      The last item of a cart is never summed · proven by a check
  F2  high  shop/api/orders.py:118
      User input may reach a shell · question
      dissent: Optimizer: The note is quoted by the form
  F3  low   shop/cart.py:12
      A list is built only to be measured · there before
NOT REVIEWED shop/data/rates.csv: partial: only the first 2,000 lines fit the
  budget
NOT REVIEWED shop/assets/logo.psd: skipped: binary
reviewbot: a warning (--fail-on high stops it, SKIP=reviewbot skips it)
  reviewbot explain F1               tells more
  reviewbot dismiss F1 --reason "…"  silences it
"""
AT_140 = """\
  F1  high  shop/cart.py:41-42      The last item of a cart is never summed · proven by a check
  F2  high  shop/api/orders.py:118  User input may reach a shell · question
                                    dissent: Optimizer: The note is quoted by the form
  F3  low   shop/cart.py:12         A list is built only to be measured · there before
"""


def at(columns: int, review: Review = FULL, *, color: bool = False, blocks: bool = False, fail_on: str = "none") -> str:
    return render(review, Manner("this commit", "reviewbot", blocks=blocks, fail_on=fail_on, color=color, columns=columns))


def test_the_number_comes_first_and_the_title_has_a_row_of_its_own_where_there_is_no_room():
    assert at(80) == AT_80


def test_where_there_is_room_a_finding_is_one_row():
    assert AT_140 in at(140)


def test_colours_change_no_word():
    assert COLOUR.sub("", at(80, color=True)) == at(80)
    assert "\x1b" not in at(80)


@pytest.mark.parametrize(
    ("blocks", "fail_on", "closing"),
    [
        (False, "none", "reviewbot: a warning (--fail-on high stops it, SKIP=reviewbot skips it)"),
        (False, "critical", "reviewbot: a warning (fail_on is critical, SKIP=reviewbot skips it)"),
        (True, "high", "reviewbot: stopped, because fail_on is high; SKIP=reviewbot lets it pass"),
    ],
)
def test_it_is_said_whether_it_stops_and_how_that_is_changed(blocks: bool, fail_on: str, closing: str):
    assert f"\n{closing}\n" in at(80, blocks=blocks, fail_on=fail_on)


def test_what_would_stop_is_what_the_worst_finding_is():
    assert "--fail-on low stops it" in at(80, replace(FULL, findings=(MINOR,)))
    assert "--fail-on" not in at(80, replace(FULL, findings=(FULL.findings[1],))), "a question stops nothing"


@pytest.mark.parametrize("columns", [1, 40, 53, 80, 140, 500])
@pytest.mark.parametrize("name", REVIEWS)
def test_no_row_is_wider_than_the_terminal_but_for_what_is_to_be_copied(name: str, columns: int):
    whole = [finding.path for finding in REVIEWS[name].findings]
    for row in at(columns, REVIEWS[name]).splitlines():
        copied = row.startswith(("  reviewbot ", "reviewbot: nothing")) or any(path in row for path in whole)
        assert copied or cell_len(row) <= max(40, min(columns, 140)) + 1, "one more where a workflow command was defused"


def test_words_of_a_change_do_nothing():
    said = at(80, HOSTILE)
    assert "\x1b" not in said
    assert "\u202e" not in said
    assert not any(row.lstrip().startswith("::") for row in said.splitlines())
    title = "::error::" * 30 + " \x1b[2J\ttab\rcolumn"
    said = at(80, replace(FULL, findings=(replace(OFF_BY_ONE, title=f"x {title}", dissent=f"y {title}"),)))
    assert not any(row.lstrip().startswith("::") for row in said.splitlines())
    assert not set("\x1b\t\r") & set(said)


def test_a_long_title_ends_after_two_rows_and_a_dissent_after_one():
    finding = replace(OFF_BY_ONE, title="many words " * 40, dissent="more words " * 40)
    first, second, third, fourth = at(80, replace(FULL, findings=(finding,))).splitlines()[2:6]
    assert first.startswith("      many words")
    assert second.endswith(" …")
    assert third.strip() == "proven by a check"
    assert fourth.startswith("      dissent: more words")
    assert fourth.endswith(" …")


def test_a_long_path_stays_in_one_piece():
    path = "deep/" * 30 + "file.py"
    assert f"  {path}:41-42\n" in at(80, replace(FULL, findings=(replace(OFF_BY_ONE, path=path),)))
    assert f"\n  {path};" in not_reviewed(f"there is no {path}; look", Manner("this commit", "x"))


def test_wide_characters_keep_the_columns():
    finding = replace(OFF_BY_ONE, path="店/カート.py", title="最後の品が合計されない" * 8)
    rows = at(80, replace(FULL, findings=(finding, MINOR))).splitlines()
    assert all(cell_len(row) <= 80 for row in rows)
    wide = at(140, replace(FULL, findings=(replace(finding, title="one"), replace(MINOR, title="two")))).splitlines()
    assert len({cell_len(row[: row.index(title)]) for row, title in zip(wide[1:3], ("one", "two"), strict=True)}) == 1


def test_what_was_not_reviewed_begins_its_row_and_a_command_stays_whole():
    said = not_reviewed(
        "the time was up; `reviewbot review 0123456789..abcdef0123` has the time of a review", Manner("main", "x")
    )
    assert said.startswith(f"{NOT_REVIEWED} main: the time was up;")
    assert "`reviewbot review 0123456789..abcdef0123`" in said
    assert at(80, replace(CLEAN, conclusion=REVIEWS["full"].conclusion)).startswith(NOT_REVIEWED)


def test_more_than_a_screen_is_counted():
    assert "\n  F20  high  " in at(80, LONG)
    assert "\n  and 280 more: reviewbot explain\n" in at(80, LONG)


def test_a_sentence_has_one_row_or_its_second_part_the_next():
    assert told("reviewbot: a", "b", 80, joint="; ") == "reviewbot: a; b"
    assert told("reviewbot: a", "b " * 39, 80, joint="; ") == "reviewbot: a\n  " + " ".join("b" * 39)
    assert told("reviewbot: a", "", 80) == "reviewbot: a"


@given(words=st.text(alphabet=st.sampled_from("ab `店é\u0301·"), max_size=60), width=st.integers(4, 30), hang=st.integers(0, 2))
def test_rows_keep_every_character_and_their_width(words: str, width: int, hang: int):
    rows = list(wrapped.rows(words, width, hang))
    assert all(wrapped.columns(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(words.split())


@pytest.mark.parametrize("words", ["plain", "カート", "e\u0301", "ünï", "…·", "😀", "한국"])
def test_columns_are_counted_as_a_terminal_does(words: str):
    assert wrapped.columns(words) == cell_len(words)
