"""One finding explained to whoever asks why."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from reviewbot.domain.debate import Check, CheckOutcome
from reviewbot.publish import explain
from reviewbot.publish.document import document, dumps
from reviewbot.publish.load import load_review
from tests.publish import samples


def test_everything_that_was_said_of_it_is_told() -> None:
    told = explain.text(samples.MODELS, samples.OFF_BY_ONE, color=False)
    for words in (
        "F1  HIGH  shop/cart.py:41-42",
        "status       accepted, proven, new",
        "raised by    critic, reviewer",
        "raised critic: The last item of a cart is never summed",
        "round 1 optimizer oppose at 30%",
        "– The padding is gone [E1, shop/cart.py:12]",
        "against it: None left.",
        "assert Decimal('0') == Decimal('9.90')",
        "outcome   fails at head, passes at base",
        "output    1 failed in 0.3 s",
        "a suggestion, not verified, instead of line 41:",
        "round 1: F2 stays open: stances differ and new evidence was cited (95%)",
    ):
        assert words in told
    assert "F2  HIGH" not in told


def test_a_question_is_told_with_its_dissent_and_the_moderator() -> None:
    told = explain.text(samples.MODELS, samples.QUESTION, color=False)
    assert "status       question, single" in told
    assert "dissent   Optimizer: The note is quoted by the form" in told
    assert "round 2: F2: upheld by the moderator in both orders: the note is not quoted (71%)" in told
    assert "A check" not in told


def test_a_review_that_was_read_back_explains_as_much() -> None:
    read = load_review(dumps(document(samples.MODELS)))
    told = explain.text(read, read.findings[0], color=False)
    assert "for index in range(len(items) - 1):" in told, "the quote stands for the code"
    assert "output    1 failed in 0.3 s" in told
    assert "+     for index in range(len(items)):" in told


def test_a_check_that_a_panelist_offered_and_a_vote_that_does_not_count_are_told() -> None:
    offered = replace(
        samples.OFF_BY_ONE.positions[0], check=Check(("pytest", "-k", "pads"), outcome=CheckOutcome.NOT_RUN), counted=False
    )
    told = explain.text(samples.MODELS, replace(samples.OFF_BY_ONE, positions=(offered,)), color=False)
    assert "pytest -k pads" in told
    assert "was not run" in told
    assert "not counted: it cites nothing new" in told


@pytest.mark.parametrize("width", [40, 100])
def test_no_word_of_it_steers_the_terminal(width: int) -> None:
    told = explain.text(samples.HOSTILE, samples.HOSTILE.findings[0], color=False, width=width)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", told)
    assert all(cell_len(line) <= width + 1 and not line.lstrip().startswith("::") for line in told.split("\n"))
    assert "a1B2a1B2" not in told
