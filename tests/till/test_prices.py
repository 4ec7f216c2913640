"""What calls cost, and what they may cost at worst."""

from __future__ import annotations

import datetime
import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reviewbot.adapters.till.prices import (
    BORROWED_FACTOR,
    WORST_FACTOR,
    Meter,
    Price,
    PriceTable,
    cost,
    counted,
    published,
    read_price,
    tokens_in,
    worst_case,
    worst_tokens,
)
from reviewbot.ports import Tokens
from reviewbot.testing import FakeClock
from tests.rings import examples

CLAUDE = Price("anthropic:claude", 2.0, 0.2, 2.5, 10.0)
TIERED = Price("acme:long", 1.0, 0.1, 1.25, 5.0, above_tokens=1_000, above=Price("acme:long", 3.0, 0.3, 3.75, 15.0))


def table(*prices: Price, overrides: tuple[Price, ...] = ()) -> PriceTable:
    return PriceTable(prices or published(), overrides=overrides)


def test_every_published_price_says_where_and_when_and_makes_sense() -> None:
    prices = published()
    assert len({price.model for price in prices}) == len(prices) > 40
    for price in prices:
        assert re.fullmatch(r"(anthropic|openai|gemini|bedrock):[a-z0-9.-]+", price.model)
        assert price.source.startswith("https://")
        assert datetime.date.fromisoformat(price.date) >= datetime.date(2026, 8, 1)
        for rate in (price, price.above or price):
            assert 0 < rate.cached_input <= rate.input <= rate.cache_write <= rate.input * 1.25 + 1e-9
            assert rate.input < rate.output
        if price.above is not None:
            assert price.above_tokens is not None
            assert price.above.input > price.input
            assert price.above.output > price.output


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini", "bedrock"])
def test_every_vendor_with_a_bill_has_prices(provider: str) -> None:
    assert any(price.model.startswith(f"{provider}:") for price in published())


def test_the_models_that_are_named_most_have_their_published_price() -> None:
    haiku = table().price("anthropic", "claude-haiku-5-5")
    assert (haiku.input, haiku.cached_input, haiku.cache_write, haiku.output) == (0.1, 0.01, 0.125, 0.5)
    assert haiku.at(100_000) is haiku
    assert (haiku.at(100_001).input, haiku.at(100_001).output) == (0.5, 2.5)
    opus = table().price("anthropic", "claude-opus-5-5")
    assert (opus.input, opus.cached_input, opus.cache_write, opus.output) == (4, 0.2, 5, 20)


def test_cached_written_and_plain_tokens_are_priced_apart() -> None:
    tokens = Tokens(input=1_000_000, cached=600_000, cache_written=300_000, output=50_000)
    assert cost(tokens, CLAUDE) == pytest.approx(0.1 * 2.0 + 0.6 * 0.2 + 0.3 * 2.5 + 0.05 * 10.0)


def test_a_long_prompt_costs_more_for_every_token_of_the_call() -> None:
    assert cost(Tokens(1_000, 0, 0, 100), TIERED) == pytest.approx((1_000 * 1.0 + 100 * 5.0) / 1e6)
    assert cost(Tokens(1_001, 0, 0, 100), TIERED) == pytest.approx((1_001 * 3.0 + 100 * 15.0) / 1e6)


@given(
    st.integers(0, 3_000),
    st.integers(0, 2_000),
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([CLAUDE, TIERED, *published()]),
)
@example(900, 100, 0.0, 0.0, 1.0, TIERED)
@example(500, 100, 0.0, 1.0, 1.0, CLAUDE)
@example(500, 100, 1.0, 0.0, 1.0, Price("acme:odd", 1.0, 3.0, 1.0, 5.0))
@settings(max_examples=examples(200), derandomize=True)
def test_no_call_costs_more_than_its_worst_case(
    estimate: int, most: int, cached: float, written: float, share: float, price: Price
) -> None:
    """However much of it the cache served or took, and up to the margin over the estimate."""
    size = int(estimate * WORST_FACTOR)
    served = int(size * cached)
    tokens = Tokens(size, served, int((size - served) * written), int(most * share))
    assert cost(tokens, price) <= worst_case(estimate, most, price)
    assert tokens.input + tokens.output <= worst_tokens(estimate, most)


@pytest.mark.parametrize(
    "dated",
    [
        "claude",
        "claude-20251001",
        "claude-2025-08-07",
        "claude@20251101",
        "claude-preview-06-05",
        "claude-preview-09-2025",
        "claude-preview",
        "claude-001",
        "claude-latest",
        "claude-20251001-v1:0",
        "claude-v1",
    ],
)
def test_a_date_or_a_snapshot_makes_no_other_model(dated: str) -> None:
    assert table(CLAUDE).price("anthropic", dated) is CLAUDE


@pytest.mark.parametrize("other", ["claude-5", "claude-5-5", "claude-pro", "claude-mini-20251001", "claud", "claude-5-20251001"])
def test_another_model_of_the_family_has_another_price(other: str) -> None:
    assert table(CLAUDE).price("anthropic", other).estimated


def test_the_longest_name_wins() -> None:
    short, long = Price("acme:m", 1, 1, 1, 1), Price("acme:m-001", 2, 2, 2, 2)
    for order in itertools.permutations([short, long]):
        assert table(*order).price("acme", "m-001-v1").input == 2


def test_a_price_of_the_user_wins() -> None:
    mine = Price("anthropic:claude", 0.5, 0.5, 0.5, 0.5)
    assert table(CLAUDE, overrides=(mine,)).price("anthropic", "claude-20251001") is mine
    assert table(CLAUDE, overrides=(Price("ollama:q", 1, 1, 1, 1),)).price("ollama", "q", local=True).input == 1


@pytest.mark.parametrize(("provider", "local"), [("ollama", False), ("openai", True), ("mine", True)])
def test_what_is_served_locally_is_free(provider: str, local: bool) -> None:
    price = table().price(provider, "gpt-5", local=local)
    assert worst_case(10_000, 10_000, price) == 0
    assert not price.estimated


def test_an_unknown_model_costs_as_much_as_the_dearest_of_its_vendor() -> None:
    price = table().price("anthropic", "claude-unheard-of-7")
    assert price.estimated
    assert price.output == max(p.output for p in published() if p.model.startswith("anthropic:"))
    assert price.source.startswith("no published price; charged as anthropic:claude-fable-5")


@pytest.mark.parametrize("provider", ["somewhere", "bedrock"])
def test_an_unknown_seller_costs_as_much_as_the_dearest_of_all(provider: str) -> None:
    price = table().price(provider, "unheard-of")
    assert price.estimated
    assert price.output == max(p.output for p in published())


@pytest.mark.parametrize(
    "model",
    [
        "anthropic.claude-haiku-4-5-20251001-v1:0",
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
    ],
)
def test_a_claude_on_bedrock_costs_a_little_more_than_anthropic_asks_and_is_marked(model: str) -> None:
    price = table().price("bedrock", model)
    assert price.estimated
    assert price.output == pytest.approx(5.0 * BORROWED_FACTOR)


def test_a_model_of_bedrocks_own_is_found_behind_its_region() -> None:
    assert table().price("bedrock", "us.amazon.nova-pro-v1:0").output == 3.2


def test_an_estimated_price_keeps_its_tiers() -> None:
    price = table(TIERED).price("acme", "unknown")
    assert price.at(2_000).input == 3.0
    assert price.at(2_000).estimated


def test_a_record_without_cache_prices_charges_them_as_input() -> None:
    price = read_price({"model": "a:b", "input": 3, "output": 9, "above": {"tokens": 5, "input": 6, "output": 18}})
    assert (price.cached_input, price.cache_write) == (3, 3)


def test_a_count_of_the_provider_is_believed_and_a_missing_one_is_estimated_from_the_bytes() -> None:
    told = Tokens(10, 5, 0, 3)
    assert counted(told, "x" * 1_000, "y" * 1_000) is told
    guessed = counted(Tokens(known=False), "def f():\n    return 1\n" * 100, "the answer is no " * 10)
    assert not guessed.known
    assert guessed.input == tokens_in("def f():\n    return 1\n" * 100) > 600
    assert guessed.output > 50
    assert counted(Tokens(9_999, 0, 0, 1, known=False), "short", "").input == 9_999


def test_text_without_blanks_is_counted_as_dense() -> None:
    assert tokens_in("a1b2" * 100) > 1.5 * tokens_in("a b " * 100)
    assert tokens_in("語" * 100) >= 93
    assert tokens_in("") == 1


def test_a_machine_by_the_hour_costs_while_it_is_busy() -> None:
    clock = FakeClock(50.0)
    meter = Meter(3_600.0, clock)
    clock.now += 100
    first = meter.started()
    clock.now += 4
    second = meter.started()
    clock.now += 6
    assert meter.ended(first) == pytest.approx(4 + 3)
    clock.now += 2
    assert meter.ended(second) == pytest.approx(3 + 2)
    clock.now += 1_000
    third = meter.started()
    assert meter.ended(third) == 0.0
    assert meter.worst_case(10) == 10.0


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 50)), min_size=1, max_size=10))
@settings(max_examples=examples(100), derandomize=True)
def test_shares_add_up_to_the_busy_time_and_none_is_more_than_its_call(calls: list[tuple[float, float]]) -> None:
    clock = FakeClock(0.0)
    meter = Meter(3_600.0, clock)
    events = sorted([(begin, 0, n) for n, (begin, _) in enumerate(calls)] + [(b + t, 1, n) for n, (b, t) in enumerate(calls)])
    tickets: dict[int, int] = {}
    paid = 0.0
    for clock.now, ends, number in events:
        if not ends:
            tickets[number] = meter.started()
            continue
        share = meter.ended(tickets[number])
        assert share <= meter.worst_case(calls[number][1]) + 1e-6
        paid += share
    busy, reached = 0.0, 0.0
    for begin, takes in sorted(calls):
        busy += max(0.0, begin + takes - max(reached, begin))
        reached = max(reached, begin + takes)
    assert paid == pytest.approx(busy, abs=1e-6)
