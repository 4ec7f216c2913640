"""What a call costs: what was counted, what was paid in vain, what is set aside."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from reviewbot.adapters.till import prices
from reviewbot.adapters.till.budget import Capped
from reviewbot.domain.money import Usage
from reviewbot.ports import Completion, Fault, ModelCall, ProviderError, Stop, Tokens
from tests.till.paying import ANSWER, CALL, PRICE, Model, Shop, run, wanted

KEY = wanted(CALL).key
COST = (1_500 * 1.0 + 500 * 0.1 + 100 * 10.0) / 1e6
"""Of ANSWER at PRICE."""


def shut(fault: Fault = Fault.DENIED) -> ProviderError:
    return ProviderError(fault, "the provider says no")


def test_a_call_is_charged_what_its_provider_counted() -> None:
    async def main() -> None:
        shop = Shop()
        usage = (await shop.serve()).usage
        assert usage == Usage(
            calls=1,
            input_tokens=2_000,
            cached_input_tokens=500,
            output_tokens=100,
            cost_usd=pytest.approx(COST),  # type: ignore[arg-type]  # equals a float
            seconds=1.0,
            paid_usd=pytest.approx(COST),  # type: ignore[arg-type]  # equals a float
        )
        assert shop.budget.spent_usd == pytest.approx(COST)
        assert shop.budget.spent_tokens == 2_100

    run(main())


def test_what_nobody_counted_or_priced_is_marked_as_a_guess() -> None:
    async def main() -> None:
        silent = await Shop(Model(Completion(Stop.END, text="x" * 320, tokens=Tokens(known=False)))).serve()
        assert silent.usage.input_tokens == prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix)
        assert silent.usage.output_tokens > 100
        assert silent.usage.estimated_usd == silent.usage.cost_usd > 0
        unpriced = await Shop(price=replace(PRICE, estimated=True)).serve()
        assert unpriced.usage.estimated_usd == unpriced.usage.cost_usd > 0

    run(main())


@pytest.mark.parametrize("lie", [Tokens(input=5 * 10**18, output=1), Tokens(input=1, output=9_999_999_999_999_999_999)])
def test_a_count_that_no_call_can_have_is_not_believed_and_leaves_the_others_their_budget(lie: Tokens) -> None:
    async def main() -> None:
        shop = Shop(Model(replace(ANSWER, tokens=lie)), tokens=100_000)
        usage = (await shop.serve()).usage
        assert usage.input_tokens == prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix)
        assert usage.output_tokens == prices.tokens_in(ANSWER.text)
        assert usage.estimated_usd == usage.cost_usd > 0
        assert (await shop.serve(suffix="And what else?")).completion is not None

    run(main())


def test_tokens_of_a_local_model_are_told_apart() -> None:
    async def main() -> None:
        assert (await Shop(local=True).serve()).usage.local_tokens == 2_100
        assert (await Shop().serve()).usage.local_tokens == 0

    run(main())


def test_a_time_out_or_a_spoiled_answer_is_charged_what_was_read_and_any_other_failure_nothing() -> None:
    async def main() -> None:
        hung = await Shop(Model(seconds=500.0)).serve()
        assert hung.error is not None
        assert hung.error.fault is Fault.TIMEOUT
        assert hung.seconds == pytest.approx(100.0)
        assert hung.usage.input_tokens == prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix)
        assert hung.usage.cost_usd == hung.usage.estimated_usd > 0
        spoiled = await Shop(Model(ProviderError(Fault.UNREADABLE, "half of it"))).serve()
        assert spoiled.usage.input_tokens == hung.usage.input_tokens
        assert spoiled.usage.cost_usd == spoiled.usage.estimated_usd > 0
        denied = await Shop(Model(shut())).serve()
        assert denied.usage == Usage(calls=1, seconds=1.0)

    run(main())


def cut_off(_: ModelCall) -> Completion:
    """An answer that had begun."""
    raise ProviderError(Fault.NETWORK, "the connection was lost")


def test_what_is_paid_in_vain_is_on_the_bill_of_the_call() -> None:
    read = prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix)

    async def main() -> None:
        plain = (await Shop().serve()).usage
        for said, paid in (
            (ProviderError(Fault.UNREADABLE, "half of it"), 1),
            (cut_off, 1),
            (ProviderError(Fault.NETWORK, "nobody is there"), 0),
            (ProviderError(Fault.OVERLOADED, "come back later"), 0),
        ):
            shop = Shop(Model(said), attempts=2)
            served = await shop.serve()
            assert served.completion == ANSWER
            assert served.usage.calls == 1
            assert served.usage.input_tokens == plain.input_tokens + paid * read
            assert served.usage.cost_usd == pytest.approx(plain.cost_usd + paid * read / 1e6)
            assert served.usage.estimated_usd == pytest.approx(paid * read / 1e6)
            assert shop.budget.spent_usd == pytest.approx(served.usage.cost_usd)
            assert await shop.budget.reserve(10.0 - served.usage.cost_usd - 1e-6, 0), "nothing is left set aside"

    run(main())


def test_a_cap_forbids_to_try_again_what_was_paid_in_vain() -> None:
    read = prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix)
    worst = prices.worst_case(read, CALL.max_output_tokens, PRICE)

    async def main() -> None:
        enough = Shop(Model(cut_off), attempts=2, cost_usd=worst + read / 1e6 + 1e-8)
        assert (await enough.serve()).completion == ANSWER
        short = Shop(Model(cut_off), attempts=2, cost_usd=worst + read / 1e6 - 1e-8)
        served = await short.serve()
        assert len(short.model.calls) == 1
        assert served.error is not None
        assert served.error.fault is Fault.NETWORK
        assert "the connection was lost (not tried again: " in served.error.message
        assert served.usage.cost_usd == pytest.approx(read / 1e6)
        assert short.ledger.deeds == ["claim", "settle network"]

    run(main())


def test_the_rent_of_a_machine_is_split_between_the_calls_that_share_its_time() -> None:
    async def main() -> None:
        free = prices.free("one:m")
        shop = Shop(Model(seconds=10.0), usd_per_hour=3.6, price=free)
        alone = await shop.serve(suffix="alone")
        assert alone.usage.cost_usd == pytest.approx(0.01)
        two = await asyncio.gather(shop.serve(suffix="one"), shop.serve(suffix="two"))
        assert [served.usage.cost_usd for served in two] == pytest.approx([0.005, 0.005])
        shop.model.script.append(shut(Fault.INVALID))
        failed = await shop.serve(suffix="failed")
        assert failed.usage.cost_usd == pytest.approx(0.01), "a machine that fails is rented too"
        assert shop.budget.spent_usd == pytest.approx(0.03)

    run(main())


def test_the_rent_of_the_whole_time_out_is_set_aside() -> None:
    async def main() -> None:
        shop = Shop(usd_per_hour=3.6, price=prices.free("one:m"), cost_usd=0.099)
        with pytest.raises(Capped):
            await shop.serve()
        assert (await shop.serve(timeout_seconds=90.0)).completion is not None

    run(main())


def test_the_worst_case_is_set_aside_while_a_call_is_under_way_and_given_back_after() -> None:
    async def main() -> None:
        worst = prices.worst_case(prices.tokens_in(CALL.system + CALL.prefix + CALL.suffix), 1_000, PRICE)
        shop = Shop(cost_usd=worst * 1.5)
        both = await asyncio.gather(shop.serve(), shop.serve(suffix="What is wrong!"))
        assert all(served.completion for served in both)
        assert shop.model.started == [0.0, 1.0], "the second waits until the first turns out cheap"

    run(main())
