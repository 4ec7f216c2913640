"""The review at a terminal: narrow, wide, coloured, dumb."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from rich.cells import cell_len

from reviewbot.publish import terminal
from tests.publish import samples
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples

SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 80, 140])
@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("name", ["clean", "full", "not_reviewed", "hostile"])
def test_no_line_is_wider_than_the_terminal_or_does_anything(name: str, *, color: bool, width: int) -> None:
    written = terminal.render(samples.REVIEWS[name], width=width, color=color, verbose=True)
    bare = SGR.sub("", written) if color else written
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", bare)
    for line in bare.split("\n"):
        assert cell_len(line) <= width + 1  # one more where a workflow command was defused
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


@settings(max_examples=examples(60))
@given(ANYTHING)
def test_no_words_become_style_or_command(text: str) -> None:
    finding = replace(samples.OFF_BY_ONE, title=f"[red]{text}", body=text, path=text, raised_by=(text,))
    written = terminal.render(replace(samples.FULL, findings=(finding,), notes=(text,)), width=60, color=False, verbose=True)
    assert "[red]" in written
    assert "\x1b" not in written
    assert not any(line.lstrip().startswith("::") for line in written.split("\n"))


def test_a_command_made_by_wrapping_is_defused_too() -> None:
    for length in range(20, 45):
        note = "x" * length + "::error file=a.py::pwned"
        written = terminal.render(replace(samples.CLEAN, notes=(note,)), width=40, color=False)
        assert not any(line.lstrip().startswith("::") for line in written.split("\n"))


def test_a_person_sees_the_whole_at_a_glance() -> None:
    written = terminal.render(samples.FULL, width=100, color=False)
    assert written.startswith("✗ Changes requested  2 findings · 1 question  partial\n")
    for words in (
        "static panel, no language model · sandbox: bubblewrap",
        "F1  HIGH  shop/cart.py:41-42  correctness · 97%",
        "▶ 41 │ +     for index in range(len(items) - 1):",
        "  43 │       return total",
        "pytest tests/test_cart.py::test_total (fails at head, passes at base)",
        "critic ● raised  reviewer ○ 50%  optimizer ✗ 20%",
        "dissent   Optimizer: The note is quoted by the form",
        "NOT REVIEWED  shop/data/rates.csv: partial: only the first 2,000 lines fit the budget",
        "not told      F4 shop/cart.py:12 A name shadows a builtin · 21% · all stances are equal",
        "ruff ✗ 0.1 s · pytest ✗ 7.9 s · mypy not run",
        "$0.0432 for 7 model calls",
        "41.3 s",
    ):
        assert words in written


def test_the_debate_is_told_when_asked_for() -> None:
    brief = terminal.render(samples.FULL, width=100, color=False)
    whole = terminal.render(samples.FULL, width=100, color=False, verbose=True)
    for words in (
        "against it: None left.",
        "[timeout] no answer in 120 s",
        "round 2: rounds used (F2 52%)",
    ):
        assert words not in brief
        assert words in whole


def test_colour_changes_no_word() -> None:
    coloured = terminal.render(samples.FULL, width=80, color=True, verbose=True)
    bare = terminal.render(samples.FULL, width=80, color=False, verbose=True)
    assert "\x1b[" in coloured
    assert [line.rstrip() for line in SGR.sub("", coloured).split("\n")] == bare.split("\n")


def test_a_review_that_did_not_happen_is_no_pass() -> None:
    written = terminal.render(samples.NOT_REVIEWED, width=80, color=False)
    assert written.startswith("✗ NOT REVIEWED\n")
    assert "no panel" in written
