"""The comment: read by people, posted by a bot, written by nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from reviewbot.domain.change import Coverage, CoverageStatus
from reviewbot.publish import markdown
from reviewbot.publish.sanitise import LINK_HOSTS
from tests.publish import github, samples
from tests.publish.test_sanitise import ANYTHING
from tests.rings import examples


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_a_comment_opens_with_our_marker_and_holds_it_once(name: str) -> None:
    written = markdown.render(samples.REVIEWS[name])
    assert written.startswith("<!-- reviewbot:summary v1 -->\n")
    assert sum(token.content.strip() == markdown.MARKER for token in github.parse(written) if token.type.startswith("html")) == 1


@pytest.mark.parametrize("name", samples.REVIEWS)
def test_a_comment_is_harmless_and_fits(name: str) -> None:
    written = markdown.render(samples.REVIEWS[name])
    assert github.dangers(written, LINK_HOSTS, own_html=True) == []
    assert len(written.encode()) <= markdown.BUDGET_BYTES


@settings(max_examples=examples(60))
@given(ANYTHING)
def test_no_field_is_a_way_in(text: str) -> None:
    finding = replace(
        samples.OFF_BY_ONE,
        id=text,
        path=text,
        title=text,
        body=text,
        failure_scenario=text,
        quote=text,
        dissent=text,
        raised_by=(text,),
        stop_reason=text,
        code=tuple(replace(line, text=text) for line in samples.OFF_BY_ONE.code),
    )
    review = replace(
        samples.FULL,
        findings=(finding,),
        notes=(text,),
        sandbox=text,
        tool_version=text,
        coverage=(Coverage(text, CoverageStatus.PARTIAL, text),),
    )
    written = markdown.render(review)
    assert github.dangers(written, LINK_HOSTS, own_html=True) == []
    rows = [token for token in github.parse(written) if token.type == "tr_open"]
    assert len(rows) == 2


def test_the_full_comment_says_everything_that_matters() -> None:
    written = markdown.render(samples.FULL)
    for words in (
        "## ✗ Changes requested",
        "**2 findings · 1 question** · partial · static panel, no language model",
        "| F1 | high | `shop/cart.py:41-42` | The last item of a cart is never summed | proven |",
        "> 41 +     for index in range(len(items) - 1):",
        "**Proof:** proven by a check: `pytest tests/test_cart.py::test_total` (fails at head, passes at base)",
        "**Votes:** critic ● raised, reviewer ○ 50%, optimizer ✗ 20%",
        "**Dissent:** Optimizer: The note is quoted by the form",
        "- `shop/data/rates.csv`: partial: only the first 2,000 lines fit the budget",
        "optimizer (`static:optimizer`): lost, timed out in round 2",
        "- mypy was not found: types were not checked",
        "$0.0432 for 7 model calls",
    ):
        assert words in written


def test_what_does_not_fit_is_said() -> None:
    written = markdown.render(samples.LONG)
    shown = written.count("\n### ")
    assert 0 < shown < 300
    assert f"the details of {300 - shown} of 300 findings" in written
    rows = written.count("\n| F")
    assert f"**and {300 - rows} more**" in written


def test_one_endless_finding_does_not_hide_the_others() -> None:
    positions = samples.OFF_BY_ONE.positions * 300
    review = replace(samples.FULL, findings=(replace(samples.OFF_BY_ONE, positions=positions), samples.QUESTION, samples.MINOR))
    written = markdown.render(review)
    assert "### F2" in written
    assert "the details of 1 of 3 findings" in written


def test_a_review_that_did_not_happen_is_never_shown_as_a_pass() -> None:
    written = markdown.render(samples.NOT_REVIEWED)
    assert "## ✗ NOT REVIEWED" in written
    assert "too few panelists answered" in written
    assert "Approved" not in written
    assert "0 findings" not in written
