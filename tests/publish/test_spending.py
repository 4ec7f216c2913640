"""What a review cost, in every format: in total and by whom, honestly."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.money import Usage
from reviewbot.publish import spending
from reviewbot.publish.formats import Rendering, render
from tests.publish import samples
from tests.rings import examples

VIEW = Rendering(width=140)
HUMAN = ("text", "markdown", "html")


def shown(kind: str, review: Any) -> str:
    """A format's words on one line, without markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", render(kind, review, VIEW)).replace("&gt;", ">").split())


@pytest.mark.parametrize("kind", [*HUMAN, "sarif"])
def test_every_format_says_what_was_spent_cached_local_replayed_and_estimated(kind: str) -> None:
    words = shown(kind, samples.MODELS)
    for part in (
        "$0.0540 for 9 model calls",
        "50,000 tokens in (42% cached), 4,000 out",
        "19% of all tokens local",
        "82.0 s of answers",
        "3 of 9 replayed, $0.0450 paid in this run",
        "$0.0100 of it estimated",
    ):
        assert part in words


def test_the_share_of_tokens_served_locally_is_told_also_where_there_is_none() -> None:
    assert "0% of all tokens local" in spending.words(Usage(calls=1, input_tokens=10))


@pytest.mark.parametrize("kind", HUMAN)
@pytest.mark.parametrize("who", ["critic", "reviewer", "optimizer", "moderator"])
def test_every_format_says_who_spent_it(kind: str, who: str) -> None:
    used = samples.SPENT[who]
    words = shown(kind, samples.MODELS)
    assert re.search(rf"{who}\W.{{0,200}}{used.input_tokens:,}", words)
    assert f"${used.cost_usd:.4f}" in words


@pytest.mark.parametrize("kind", [*HUMAN, "sarif"])
def test_a_replay_says_that_nothing_was_paid(kind: str) -> None:
    assert spending.REPLAYED in shown(kind, samples.REPLAYED)
    assert "paid in this run" not in shown(kind, samples.REPLAYED).replace(spending.REPLAYED, "")


@pytest.mark.parametrize("kind", HUMAN)
def test_a_panel_without_models_says_it_in_four_words(kind: str) -> None:
    words = shown(kind, samples.CLEAN)
    assert words.count(spending.NOTHING) == 1
    assert "cached" not in words.replace("--", "")
    assert "moderator" not in words.replace("moderator nothing to debate", "").replace("Moderator", "") or kind == "html"


def test_machines_read_the_same_numbers_in_json_and_sarif() -> None:
    written = json.loads(render("json", samples.MODELS, VIEW))["usage"]
    told = json.loads(render("sarif", samples.MODELS, VIEW))["runs"][0]["properties"]["usage"]
    assert (written["local_share"], written["cached_share"]) == (0.1852, 0.4198)
    assert (written["paid_usd"], written["replayed_calls"]) == (0.045, 3)
    assert {name: told[name] for name in written if name != "by_panelist"} == {
        name: value for name, value in written.items() if name != "by_panelist"
    }
    assert set(told["by_panelist"]) == {"critic", "reviewer", "optimizer", "moderator"}


def test_the_panel_is_told_by_seat_with_who_was_lost_and_who_stood_in() -> None:
    text, comment, page = (shown(kind, samples.MODELS) for kind in HUMAN)
    assert "panel critic: anthropic:claude-sonnet-5 ok" in text
    assert "reviewer: openai:gpt-5.6 ok: anthropic:claude-haiku-5 answered in its place" in text
    assert "seat lost guard: the provider said no: quota" in text
    assert "seat lost reviewer" not in text
    assert "guard (`gemini:gemini-3-pro`): lost, the provider said no: quota" in comment
    assert "lost the provider said no: quota" in page
    seats = json.loads(render("sarif", samples.MODELS, VIEW))["runs"][0]["properties"]["seats"]
    assert seats[3]["status"] == "lost: the provider said no: quota"


@pytest.mark.parametrize("kind", [*HUMAN, "sarif"])
def test_what_the_moderator_decided_is_told(kind: str) -> None:
    assert "upheld by the moderator in both orders" in shown(kind, samples.MODELS)


@pytest.mark.parametrize("kind", HUMAN)
def test_a_suggestion_is_labelled_as_what_it_is(kind: str) -> None:
    words = shown(kind, samples.MODELS)
    assert re.search(r"(?i)suggestion\W+not verified.{1,3}.{0,2}instead of line 41", words)
    assert re.search(r"\+ +for index in range\(len\(items\)\):", words)
    assert re.search(r"- +for index in range\(len\(items\) - 1\):", words)


def test_a_suggestion_is_a_diff_that_no_button_commits() -> None:
    comment = render("markdown", samples.MODELS, VIEW)
    assert "```diff\n-    for index in range(len(items) - 1):\n+    for index in range(len(items)):\n```" in comment
    assert "```suggestion" not in comment


def test_a_seat_without_a_call_is_not_billed_and_another_role_is_named() -> None:
    assert [share.name for share in spending.shares(samples.MODELS)] == ["critic", "reviewer", "optimizer", "moderator"]
    assert spending.Share("guard", "security", "", Usage()).title == "guard (security)"


@settings(derandomize=True, max_examples=examples(80))
@given(
    st.builds(
        Usage,
        *(st.integers(0, 10**7),) * 4,
        st.floats(0, 1e4),
        replayed_calls=st.integers(0, 10**7),
        estimated_usd=st.floats(0, 1e4),
    )
)
def test_no_share_is_rounded_to_nothing_or_to_all(used: Usage) -> None:
    words = spending.words(used)
    assert "-" not in words
    if 0 < used.cached_input_tokens < used.input_tokens and used.calls:
        assert "(0% cached)" not in words
        assert "(100% cached)" not in words
    assert (spending.REPLAYED in words) == (used.replayed_calls >= used.calls > 0)
    assert ("estimated" in words) == (used.estimated_usd > 0 < used.calls)


@pytest.mark.parametrize(("amount", "words"), [(0, "$0.0000"), (0.00004, "$0.0000"), (1.5, "$1.5000"), (1234.5, "$1,234.50")])
def test_money_has_the_digits_that_say_something(amount: float, words: str) -> None:
    assert spending.dollars(amount) == words
