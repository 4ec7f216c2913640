"""Who is let through to a provider, and when: caps, breaker, limits, and one call that warms the cache before its siblings."""

from __future__ import annotations

import asyncio

import pytest

from reviewbot.adapters.till import prices
from reviewbot.adapters.till.limits import MOST_IN_FLIGHT, Limits
from reviewbot.domain.money import Usage
from reviewbot.ports import CallState, Fault, ProviderError
from tests.till.paying import ANSWER, CALL, LONG, Model, Shop, run, wanted

KEY = wanted(CALL).key
COST = (1_500 * 1.0 + 500 * 0.1 + 100 * 10.0) / 1e6
"""Of ANSWER at PRICE."""


def shut(fault: Fault = Fault.DENIED) -> ProviderError:
    return ProviderError(fault, "the provider says no")


def test_a_provider_that_is_out_is_not_asked_and_the_refusal_is_kept() -> None:
    async def main() -> None:
        shop = Shop(Model(shut(Fault.SPENT)), cost_usd=0.05)
        await shop.serve(suffix="first")
        refused = await shop.serve()
        assert len(shop.model.calls) == 1
        assert refused.error is not None
        assert refused.error.fault is Fault.SPENT
        assert refused.usage == Usage()
        assert shop.ledger.kept[KEY].state is CallState.FAILED
        assert not shop.ledger.held

    run(main())


def test_the_breaker_is_asked_before_the_budget() -> None:
    async def main() -> None:
        shop = Shop(Model(shut(Fault.SPENT)), cost_usd=0.03)
        await shop.serve(suffix="first")
        shop.budget.charge(0.03, 0)
        refused = await shop.serve()
        assert refused.error is not None
        assert refused.error.fault is Fault.SPENT

    run(main())


def test_a_second_attempt_gets_the_time_that_is_left_and_is_one_call_on_the_bill() -> None:
    async def main() -> None:
        shop = Shop(Model(shut(Fault.SERVER), seconds=30.0), attempts=3)
        served = await shop.serve()
        assert served.completion == ANSWER
        assert [call.timeout_seconds for call in shop.model.calls] == [100.0, 70.0]
        assert served.usage.calls == 1
        assert served.seconds == pytest.approx(60.0)
        assert shop.ledger.deeds == ["claim", "settle end"]

    run(main())


def test_tokens_per_minute_are_corrected_by_what_a_call_really_took() -> None:
    async def main() -> None:
        shop = Shop(limits=Limits(tpm=5_000))
        await shop.serve()
        await shop.serve(suffix="another")
        assert shop.model.started == [0.0, 1.0], "2,100 and not the 2,700 that were booked"
        await shop.serve(suffix="a third one")
        assert shop.model.started[2] >= 60.0

    run(main())


def test_an_attempt_that_failed_stays_booked_as_it_was() -> None:
    async def main() -> None:
        booked = prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix) + CALL.max_output_tokens
        shop = Shop(Model(shut(Fault.SERVER)), attempts=2, limits=Limits(tpm=2 * booked + 2_100 - 1))
        await shop.serve()
        await shop.serve(suffix="What is wrong!")
        assert shop.model.started[:2] == [0.0, 1.0]
        assert shop.model.started[2] >= 60.0

    run(main())


def test_no_more_than_twelve_calls_are_under_way_over_all_providers() -> None:
    async def main() -> None:
        shop = Shop(cost_usd=None)
        models = [Model(seconds=5.0) for _ in range(3)]
        counters = [shop.another(f"provider{number}", model) for number, model in enumerate(models)]
        asks = [shop.serve(counters[number % 3], suffix=f"question {number}") for number in range(40)]
        most: list[int] = []

        async def watch() -> None:
            while len(shop.ledger.kept) < 40:
                most.append(sum(model.inside for model in models))
                await asyncio.sleep(0.5)

        await asyncio.gather(watch(), *asks)
        assert max(most) == MOST_IN_FLIGHT

    run(main())


def test_the_first_call_of_a_prefix_goes_alone_until_it_begins_to_answer() -> None:
    async def main() -> None:
        shop = Shop(Model(seconds=5.0, begins=2.0), warms=True)
        await asyncio.gather(*(shop.serve(suffix=f"question {number}") for number in range(4)))
        assert shop.model.started == [0.0, 2.0, 2.0, 2.0]
        await asyncio.gather(*(shop.serve(suffix=f"later question {number}") for number in range(2)))
        assert shop.model.started[4:] == [5.0 + 2.0] * 2, "warm is warm"

    run(main())


def test_prefixes_are_warmed_side_by_side() -> None:
    async def main() -> None:
        shop = Shop(Model(seconds=5.0, begins=2.0), warms=True)
        asks = [shop.serve(suffix=f"question {number}", cache_key=f"P{number % 2}") for number in range(4)]
        await asyncio.gather(*asks)
        assert shop.model.started == [0.0, 0.0, 2.0, 2.0]

    run(main())


@pytest.mark.parametrize(
    ("warms", "prefix"), [(True, "short"), (False, LONG)], ids=["a short prompt", "a provider whose cache needs no warming"]
)
def test_nobody_waits_where_it_is_not_worth_it(warms: bool, prefix: str) -> None:
    async def main() -> None:
        shop = Shop(Model(seconds=5.0, begins=2.0), warms=warms)
        await asyncio.gather(*(shop.serve(suffix=f"question {number}", prefix=prefix) for number in range(3)))
        assert shop.model.started == [0.0, 0.0, 0.0]

    run(main())


def test_who_waits_for_a_warm_prefix_takes_no_place_from_others() -> None:
    async def main() -> None:
        shop = Shop(Model(seconds=5.0, begins=2.0), warms=True, limits=Limits(concurrency=2))
        same = [shop.serve(suffix=f"question {number}") for number in range(3)]
        other = shop.serve(suffix="another", cache_key="P2")
        await asyncio.gather(*same, other)
        assert [call.cache_key for call in shop.model.calls] == ["P1", "P2", "P1", "P1"]
        assert shop.model.started[:2] == [0.0, 0.0]

    run(main())


def test_a_first_call_that_fails_lets_the_others_go() -> None:
    async def main() -> None:
        shop = Shop(Model(shut(Fault.INVALID), seconds=3.0), warms=True)
        await asyncio.gather(*(shop.serve(suffix=f"question {number}") for number in range(3)))
        assert shop.model.started == [0.0, 3.0, 3.0]

    run(main())
