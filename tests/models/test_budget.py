"""Caps on money and tokens hold before a call is made, and what is told as the cost is what the server's usage says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.fakes import Models, Seen, Tokens
from tests.fakes.scripts import perform
from tests.models.stage import CALLS, Stage, one_vendor, panelist

pytestmark = pytest.mark.ci

PRICE = {"model": "gpu:fake-1", "input": 30.0, "cached_input": 3.0, "output": 90.0}
"""US dollars per million tokens."""

MOST_OUTPUT = 600


def priced(models: Models, **limits: float) -> dict[str, Any]:
    """A server on this machine that costs money all the same."""
    settings = one_vendor(models, prices=[PRICE], limits={"cost_usd": 100, "tokens": 10_000_000, **limits})
    settings["providers"]["gpu"] |= {"local": False, "max_output_tokens": MOST_OUTPUT}
    return settings


def billed(calls: Iterable[Seen]) -> float:
    """What the server would charge."""
    return sum(
        (
            (call.usage.input - call.usage.cached) * PRICE["input"]
            + call.usage.cached * PRICE["cached_input"]
            + call.usage.output * PRICE["output"]
        )
        / 1_000_000
        for call in calls
    )


def counted(calls: Iterable[Seen]) -> int:
    """Tokens read and written."""
    return sum(call.usage.input + call.usage.output for call in calls)


def check_capped(ran: Any, models: Models) -> None:
    """A review that a cap ended says so, and how much it took all the same."""
    made = ran.document
    assert ran.code == 3
    assert made["conclusion"] in ("partial", "not_reviewed")
    assert len(models.calls) < CALLS
    assert made["usage"]["cost_usd"] == pytest.approx(billed(models.calls))


@pytest.mark.ci
def test_the_cost_that_is_told_is_what_the_server_counted(stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(priced(models))
    made = stage.review().document
    usage = made["usage"]
    assert usage["cost_usd"] == usage["paid_usd"] == pytest.approx(billed(models.calls))
    assert usage["cost_usd"] == pytest.approx(sum(one["cost_usd"] for one in usage["by_panelist"].values()))
    assert usage["input_tokens"] + usage["output_tokens"] == counted(models.calls)
    assert usage["cached_input_tokens"] == sum(call.usage.cached for call in models.calls)
    assert (usage["estimated_usd"], usage["local_tokens"]) == (0, 0)
    again = stage.review().document["usage"]
    assert (again["cost_usd"], again["paid_usd"]) == (usage["cost_usd"], 0)


@pytest.mark.parametrize("share", [0.1, 0.7])
def test_a_cap_on_money_is_never_passed_and_the_review_says_why_it_is_partial(share: float, stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    cap = 0.7 * share
    stage.configure(priced(models, cost_usd=round(cap, 4)))
    ran = stage.review()
    check_capped(ran, models)
    assert billed(models.calls) <= cap
    assert any("limits.cost_usd" in note for note in ran.document["notes"])


@pytest.mark.smoke
def test_a_first_call_that_might_pass_the_cap_is_not_made(stage: Stage, models: Models) -> None:
    stage.configure(priced(models, cost_usd=0.01))
    ran = stage.review()
    assert models.calls == []
    assert ran.code == 3
    assert (ran.document["conclusion"], ran.document["verdict"]) == ("not_reviewed", None)
    assert any("limits.cost_usd" in note for note in ran.document["notes"])


@pytest.mark.ci
def test_a_cap_on_the_command_line_counts_and_cannot_be_resumed_past(stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(priced(models))
    first = stage.review("--max-cost-usd", "0.3")
    check_capped(first, models)
    again = stage.review("--max-cost-usd", "0.3")
    check_capped(again, models)  # what was paid counts again: a call that was refused beside open ones may fit now, and no more
    assert billed(models.calls) <= 0.3
    assert again.document["conclusion"] == first.document["conclusion"]
    whole = stage.review()
    assert whole.code == 0
    assert len(models.calls) == CALLS, "with more money only the rest is paid"


@pytest.mark.parametrize("tokens", [60_000])
def test_a_cap_on_tokens_is_never_passed(tokens: int, stage: Stage, models: Models) -> None:
    models.script = panelist(stage.claims)
    stage.configure(priced(models, tokens=tokens))
    ran = stage.review()
    check_capped(ran, models)
    assert counted(models.calls) <= tokens
    assert any("limits.tokens" in note for note in ran.document["notes"])


def test_a_server_that_tells_no_usage_is_charged_by_an_estimate(stage: Stage, models: Models) -> None:
    script = panelist(stage.claims)

    def silent(seen: Seen) -> Any:
        answer = perform(script, seen)
        return type(answer)(answer.text, shape="no_usage", usage=Tokens())

    models.script = silent
    stage.configure(priced(models))
    usage = stage.review().document["usage"]
    assert usage["estimated_usd"] == usage["cost_usd"] > 0
    least = sum(len(call.asked.cacheable) for call in models.calls) / 5 * PRICE["cached_input"] / 1_000_000
    assert usage["cost_usd"] >= least


def test_a_cap_on_time_ends_the_review_in_time(stage: Stage, models: Models) -> None:
    script = panelist(stage.claims)
    models.script = lambda seen: perform(script, seen)
    models.seconds = 1.0
    stage.configure(one_vendor(models, limits={"seconds": 3}))
    ran = stage.review(seconds=20)
    assert ran.code == 3
    assert ran.document["conclusion"] in ("partial", "not_reviewed")
    assert ran.document["timing"]["seconds"] < 15
    assert any("time" in note for note in ran.document["notes"])
