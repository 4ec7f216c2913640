"""One call, paid for once: what is asked of the ledger, the budget and the limits, and in which order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import replace

import pytest

from reviewbot.adapters.till import prices, record
from reviewbot.adapters.till.budget import Capped
from reviewbot.adapters.till.limits import MOST_IN_FLIGHT, Limits
from reviewbot.adapters.till.till import Opened, Till
from reviewbot.domain.money import Usage
from reviewbot.errors import ConfigError
from reviewbot.ports import CallState, Completion, Fault, ModelCall, ProviderError, Recorded, Stop, Tokens, Wanted
from tests.till.paying import ANSWER, CALL, LONG, PRICE, Ledger, Model, Shop, answered, run, wanted
from tests.till.virtual_time import LoopClock

KEY = wanted(CALL).key
COST = (1_500 * 1.0 + 500 * 0.1 + 100 * 10.0) / 1e6
"""Of ANSWER at PRICE."""


def shut(fault: Fault = Fault.DENIED) -> ProviderError:
    return ProviderError(fault, "the provider says no")


# Pay once


def test_a_call_is_claimed_made_and_kept_before_it_is_used() -> None:
    async def main() -> None:
        shop = Shop()
        served = await shop.serve()
        assert served.completion == ANSWER
        assert served.error is None
        assert shop.ledger.deeds == ["claim", "settle end"]
        kept = shop.ledger.kept[KEY]
        assert (kept.state, kept.outcome, kept.seconds, kept.usage) == (CallState.ANSWERED, "end", 1.0, served.usage)
        assert record.read_completion(kept.document) == ANSWER

    run(main())


def test_a_reply_that_could_not_be_kept_is_not_used() -> None:
    async def main() -> None:
        shop = Shop(ledger=Ledger(deaf=True))
        with pytest.raises(OSError, match="full"):
            await shop.serve()
        assert shop.ledger.deeds == ["claim", "settle end", "release"]
        assert shop.budget.spent_usd == pytest.approx(COST), "it was paid for all the same"

    run(main())


def test_what_the_ledger_knows_is_not_asked_again_and_counts_what_it_cost_then() -> None:
    async def main() -> None:
        shop = Shop(ledger=Ledger({KEY: answered(0.5, tokens=300, seconds=3.0)}))
        served = await shop.serve()
        assert served.completion == ANSWER
        assert shop.model.calls == []
        assert shop.ledger.deeds == ["claim"]
        assert (served.usage.cost_usd, served.usage.paid_usd) == (0.5, 0.0)
        assert (served.usage.calls, served.usage.replayed_calls, served.seconds) == (1, 1, 3.0)
        assert (shop.budget.spent_usd, shop.budget.spent_tokens) == (0.5, 300)

    run(main())


def test_a_replayed_cost_leaves_as_little_as_the_call_did() -> None:
    async def main() -> None:
        shop = Shop(ledger=Ledger({KEY: answered(0.999)}), cost_usd=1.0)
        await shop.serve()
        with pytest.raises(Capped):
            await shop.serve(suffix="another question")

    run(main())


def test_a_replay_asks_nobody_even_where_the_provider_is_out_or_the_budget_used_up() -> None:
    async def main() -> None:
        shop = Shop(ledger=Ledger({KEY: answered(0.5)}), cost_usd=0.0)
        shop.model.script.append(shut())
        with pytest.raises(Capped):
            await shop.serve(suffix="another question")
        assert (await shop.serve()).completion == ANSWER

    run(main())


@pytest.mark.parametrize("fault", list(Fault))
def test_a_failure_is_kept_and_replays_as_the_same_failure(fault: Fault) -> None:
    async def main() -> None:
        shop = Shop(Model(shut(fault)))
        served = await shop.serve()
        assert served.completion is None
        assert served.error is not None
        assert shop.ledger.deeds == ["claim", f"settle {fault.value}"]
        assert shop.ledger.kept[KEY].state is CallState.FAILED
        again = await Shop(ledger=shop.ledger).serve()
        assert again.error is not None
        assert (again.error.fault, again.error.message) == (fault, served.error.message)
        assert again.usage.replayed_calls == 1

    run(main())


@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.REFUSED, Stop.OTHER, Stop.TOOLS])
def test_an_answer_that_is_none_is_kept_as_it_came(stop: Stop) -> None:
    async def main() -> None:
        shop = Shop(Model(replace(ANSWER, stop=stop, reason="why")))
        served = await shop.serve()
        kept = shop.ledger.kept[KEY]
        assert (kept.state, kept.outcome) == (CallState.ANSWERED, stop.value)
        assert record.read_completion(kept.document) == served.completion

    run(main())


def test_offline_only_the_ledger_answers() -> None:
    async def main() -> None:
        shop = Shop(ledger=Ledger({KEY: answered()}))
        offline = Till(shop.ledger, shop.budget, LoopClock(), offline=True)
        assert (await offline.serve(shop.counter, CALL, wanted(CALL))).completion == ANSWER
        other = replace(CALL, suffix="another question")
        with pytest.raises(Capped, match="asks nobody"):
            await offline.serve(shop.counter, other, wanted(other))
        assert shop.model.calls == []
        assert not shop.ledger.held

    run(main())


# Giving back


def test_a_call_that_a_budget_forbids_is_given_back_unmade() -> None:
    async def main() -> None:
        shop = Shop(cost_usd=0.01)
        with pytest.raises(Capped, match=r"limits\.cost_usd"):
            await shop.serve()
        assert shop.model.calls == []
        assert shop.ledger.deeds == ["claim", "release"]
        assert not shop.ledger.kept

    run(main())


def test_calls_that_are_cancelled_under_way_or_in_the_queue_are_given_back_and_their_reservations_too() -> None:
    async def main() -> None:
        shop = Shop(Model(seconds=10.0), limits=Limits(concurrency=1), cost_usd=0.05)
        first = asyncio.ensure_future(shop.serve(suffix="first"))
        second = asyncio.ensure_future(shop.serve(suffix="second"))
        await asyncio.sleep(5.0)
        for task in (first, second):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert first.cancelled()
        assert second.cancelled()
        assert shop.ledger.deeds.count("release") == 2
        assert not shop.ledger.held
        assert not shop.ledger.kept
        whole = await shop.budget.reserve(0.05, 0)
        shop.budget.release(whole)

    run(main())


def test_a_provider_that_cannot_be_made_is_a_lost_call_that_costs_nothing() -> None:
    async def main() -> None:
        shop = Shop(cost_usd=0.05)

        def make() -> Model:
            raise ConfigError("one needs the package 'one'", hint="install it")

        served = await shop.serve(replace(shop.counter, opened=Opened(make)))
        assert served.error is not None
        assert served.error.fault is Fault.DENIED
        assert "install it" in served.error.message
        assert served.usage.calls == 0
        shop.budget.release(await shop.budget.reserve(0.05, 0))

    asyncio.run(main_in_real_time(main))


async def main_in_real_time(main: Callable[[], Awaitable[None]]) -> None:
    async with asyncio.timeout(20):
        await main()


class Slow(Ledger):
    """A ledger whose claims or outcomes take until they are let go."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self.begun, self.go = threading.Event(), threading.Event()
        self.done = threading.Event()

    def _pass(self, what: str) -> None:
        if what == self._what:
            self.begun.set()
            assert self.go.wait(20)

    def claim(self, wanted: Wanted) -> Recorded | None:
        self._pass("claim")
        return super().claim(wanted)

    def settle(self, wanted: Wanted, recorded: Recorded) -> None:
        self._pass("settle")
        super().settle(wanted, recorded)

    def release(self, wanted: Wanted) -> None:
        super().release(wanted)
        self.done.set()


async def cancelled_while(ledger: Slow) -> Shop:
    """A call whose task is cancelled while the ledger is at work."""
    shop = Shop(Model(seconds=0.0), ledger=ledger)
    task = asyncio.ensure_future(shop.serve())
    assert await asyncio.to_thread(ledger.begun.wait, 20)
    task.cancel()
    await asyncio.sleep(0.02)
    ledger.go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(ledger.done.wait, 20)
    shop.till.close()
    return shop


def test_a_claim_that_comes_too_late_is_given_back() -> None:
    """Claims wait for other processes, for minutes perhaps; nobody waits for a claim that nobody wants any more."""

    async def main() -> None:
        shop = await cancelled_while(Slow("claim"))
        assert shop.ledger.deeds == ["claim", "release"]
        assert not shop.ledger.held
        assert shop.model.calls == []

    asyncio.run(main_in_real_time(main))


def test_an_outcome_that_is_being_written_is_written_before_anything_is_given_back() -> None:
    async def main() -> None:
        shop = await cancelled_while(Slow("settle"))
        assert shop.ledger.deeds == ["claim", "settle end", "release"]
        assert KEY in shop.ledger.kept

    asyncio.run(main_in_real_time(main))


# What it costs


def test_a_call_is_charged_what_its_provider_counted() -> None:
    async def main() -> None:
        shop = Shop()
        usage = (await shop.serve()).usage
        assert usage == Usage(
            calls=1,
            input_tokens=2_000,
            cached_input_tokens=500,
            output_tokens=100,
            cost_usd=pytest.approx(COST),  # type: ignore[arg-type]
            seconds=1.0,
            paid_usd=pytest.approx(COST),  # type: ignore[arg-type]
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


# Limits


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


# Warm one, then fan out


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


# Opening a provider


def test_a_provider_is_made_once_and_closed_once() -> None:
    made: list[Model] = []

    def make() -> Model:
        made.append(Model())
        return made[-1]

    async def main() -> None:
        opened = Opened(make)
        await opened.close()
        assert made == []
        first, second = await asyncio.gather(opened.provider(), opened.provider())
        assert first is second is made[0]
        await opened.close()
        assert made[0].closed == 1

    asyncio.run(main_in_real_time(main))


@pytest.mark.parametrize("error", [ConfigError("no"), ImportError("no"), ValueError("no"), shut()])
def test_what_making_a_provider_raises_reaches_everyone_who_asks_for_it(error: Exception) -> None:
    def make() -> Model:
        raise error

    async def main() -> None:
        opened = Opened(make)
        for _ in range(2):
            with pytest.raises(type(error), match="no"):
                await opened.provider()
        await opened.close()

    asyncio.run(main_in_real_time(main))


def test_who_stops_waiting_for_a_provider_does_not_take_it_from_the_others() -> None:
    go = threading.Event()
    raised: list[BaseException | None] = []

    def make() -> Model:
        assert go.wait(20)
        return Model()

    async def main() -> None:
        opened = Opened(make)
        leaving, staying = (asyncio.ensure_future(opened.provider()) for _ in range(2))
        await asyncio.sleep(0.01)
        leaving.cancel()
        await asyncio.sleep(0.01)
        go.set()
        assert isinstance(await staying, Model)
        assert leaving.cancelled()

    hook = threading.excepthook
    threading.excepthook = lambda failure: raised.append(failure.exc_value)
    try:
        asyncio.run(main_in_real_time(main))
    finally:
        threading.excepthook = hook
    assert raised == []


def test_a_provider_that_arrives_when_the_review_is_over_disturbs_nobody() -> None:
    go = threading.Event()
    opened = Opened(lambda: go.wait(20) and Model())  # type: ignore[arg-type,return-value]

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await opened.provider()

    asyncio.run(main())
    late: Future[object] = opened.begin()  # type: ignore[assignment]
    go.set()
    assert isinstance(late.result(20), Model)


def test_nobody_waits_for_ever_for_a_provider_that_breaks_in_a_way_nobody_thought_of() -> None:
    shown: list[BaseException | None] = []

    def make() -> Model:
        raise KeyError("a bug")

    async def main() -> None:
        with pytest.raises(RuntimeError, match="could not be made"):
            await Opened(make).provider()

    hook = threading.excepthook
    threading.excepthook = lambda failure: shown.append(failure.exc_value)
    try:
        asyncio.run(main_in_real_time(main))
    finally:
        threading.excepthook = hook
    assert [repr(bug) for bug in shown] == ["KeyError('a bug')"]
