"""One call, paid for once: what is asked of the ledger, the budget and the limits, and in which order."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from reviewbot.adapters.till import record
from reviewbot.adapters.till.budget import Capped
from reviewbot.adapters.till.limits import Limits
from reviewbot.adapters.till.till import Opened, Till
from reviewbot.errors import ConfigError
from reviewbot.ports import CallState, Fault, ProviderError, Recorded, Stop, Wanted
from tests.till.paying import ANSWER, CALL, Ledger, Model, Shop, answered, run, wanted
from tests.till.virtual_time import LoopClock, main_in_real_time

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
