"""The caps of a review: never overrun, whatever the order in which calls end."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.till.budget import Budget, Capped, Reservation
from tests.rings import examples
from tests.till.virtual_time import run


def budget(cost_usd: float | None = 1.0, tokens: int | None = None) -> Budget:
    return Budget(cost_usd=cost_usd, tokens=tokens)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def test_what_fits_is_granted_at_once_and_up_to_the_last_cent() -> None:
    async def main() -> None:
        money = budget(0.3)
        held = [await money.reserve(0.1, 0) for _ in range(3)]
        for reservation in held:
            money.settle(reservation, 0.1, 10)
        assert (money.spent_usd, money.spent_tokens) == (pytest.approx(0.3), 30)

    run(main())


def test_what_can_never_fit_is_refused_at_once_and_says_why() -> None:
    async def main() -> None:
        with pytest.raises(Capped) as raised:
            await budget(0.5).reserve(0.75, 0)
        assert raised.value.reason == (
            "the next call may cost up to $0.7500, and $0.5000 of $0.50 are left; raise limits.cost_usd"
        )
        with pytest.raises(Capped, match=r"up to 900 tokens, and 800 of 800 are left; raise limits\.tokens"):
            await budget(tokens=800).reserve(0, 900)

    run(main())


def test_what_may_fit_later_waits_until_a_call_turns_out_cheaper() -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.9, 0)
        second = asyncio.ensure_future(money.reserve(0.5, 0))
        await turns()
        assert not second.done()
        money.settle(first, 0.2, 0)
        await second

    run(main())


def test_what_waited_in_vain_is_refused() -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.9, 0)
        second = asyncio.ensure_future(money.reserve(0.5, 0))
        await turns()
        money.settle(first, 0.8, 0)
        with pytest.raises(Capped, match=r"\$0.2000 of \$1.00 are left"):
            await second

    run(main())


def test_a_release_lets_the_next_one_in() -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.9, 0)
        second = asyncio.ensure_future(money.reserve(0.5, 0))
        await turns()
        money.release(first)
        money.settle(await second, 0.5, 0)
        assert money.spent_usd == 0.5

    run(main())


def test_a_settled_call_may_be_released_and_is_not_settled_twice() -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.9, 0)
        money.settle(first, 0.4, 0)
        money.release(first)
        with pytest.raises(ValueError, match="once"):
            money.settle(first, 0.4, 0)
        assert money.spent_usd == 0.4

    run(main())


def test_a_small_one_does_not_overtake() -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.6, 0)
        large = asyncio.ensure_future(money.reserve(0.8, 0))
        await turns()
        small = asyncio.ensure_future(money.reserve(0.1, 0))
        await turns()
        assert not small.done()
        money.settle(first, 0.1, 0)
        await asyncio.gather(large, small)

    run(main())


def test_one_that_can_never_fit_does_not_hold_up_those_behind() -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.6, 0)
        large = asyncio.ensure_future(money.reserve(0.7, 0))
        await turns()
        small = asyncio.ensure_future(money.reserve(0.1, 0))
        await turns()
        money.charge(0.35, 0)
        await turns()
        assert isinstance(large.exception(), Capped)
        assert not small.done()
        money.settle(first, 0.5, 0)
        await small

    run(main())


@pytest.mark.parametrize("moment", ["waiting", "granted", "refused"])
def test_who_is_cancelled_while_waiting_holds_nothing(moment: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        money = budget(1.0)
        first = await money.reserve(0.9, 0)
        second = asyncio.ensure_future(money.reserve(0.5, 0))
        third = asyncio.ensure_future(money.reserve(0.1 if moment == "waiting" else 1.0, 0))
        await turns()
        if moment == "granted":
            money.release(first)
        elif moment == "refused":
            money.settle(first, 0.9, 0)
        second.cancel()
        await asyncio.wait({second})
        assert second.cancelled()
        if moment == "refused":
            assert isinstance((await asyncio.gather(third, return_exceptions=True))[0], Capped)
        else:
            await third

    run(main())
    gc.collect()
    assert not caplog.records, "nothing was left that nobody looked at"


def test_a_call_of_the_ledger_counts_and_may_refuse_the_next() -> None:
    async def main() -> None:
        money = budget(1.0, tokens=100)
        money.charge(0.95, 40)
        with pytest.raises(Capped):
            await money.reserve(0.1, 0)
        with pytest.raises(Capped):
            await money.reserve(0.0, 61)
        await money.reserve(0.05, 60)

    run(main())


def test_a_local_model_goes_on_when_the_money_is_gone() -> None:
    async def main() -> None:
        money = budget(0.0)
        money.charge(0.01, 5)
        money.settle(await money.reserve(0.0, 100), 0.0, 100)

    run(main())


def test_without_caps_everything_is_granted() -> None:
    async def main() -> None:
        free = budget(None)
        for _ in range(100):
            await free.reserve(1e6, 10**12)

    run(main())


CALLS = st.lists(
    st.tuples(st.floats(0, 0.6), st.integers(0, 600), st.floats(0, 1), st.integers(0, 4), st.booleans()), min_size=1, max_size=25
)
"""Worst cost and tokens, the share of them that it really takes, how long it takes, whether it is released instead."""


async def _spend(money: Budget, calls: Sequence[tuple[float, int, float, int, bool]], delays: Sequence[int]) -> list[bool]:
    """Which calls were made."""

    async def one(number: int) -> bool:
        usd, tokens, share, _, released = calls[number]
        try:
            reservation = await money.reserve(usd, tokens)
        except Capped:
            return False
        await turns(delays[number])
        if released:
            money.release(reservation)
        else:
            money.settle(reservation, usd * share, int(tokens * share))
        return True

    return await asyncio.gather(*(one(number) for number in range(len(calls))))


@given(CALLS)
@settings(max_examples=examples(150), derandomize=True)
def test_the_caps_are_never_overrun_and_nobody_waits_for_ever(calls: list[tuple[float, int, float, int, bool]]) -> None:
    async def main() -> None:
        money = budget(1.0, tokens=1_000)
        made = await _spend(money, calls, [call[3] for call in calls])
        spent = sum(call[0] * call[2] for call, yes in zip(calls, made, strict=True) if yes and not call[4])
        assert spent <= 1.0 + 1e-9 * len(calls)
        assert money.spent_usd == pytest.approx(spent, abs=1e-7)
        assert money.spent_tokens <= 1_000
        await money.reserve(max(0.0, 1.0 - money.spent_usd - 1e-7), 1_000 - money.spent_tokens)

    run(main())


@given(CALLS, st.randoms(use_true_random=False))
@settings(max_examples=examples(100), derandomize=True)
def test_who_is_refused_does_not_depend_on_who_is_quick(calls: list[tuple[float, int, float, int, bool]], random: object) -> None:
    """As long as calls are billed: what a release gives back, others may have needed before."""
    billed = [(usd, tokens, share, delay, False) for usd, tokens, share, delay, _ in calls]
    shuffled = [call[3] for call in billed]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    first = run(_spend(budget(1.0, tokens=1_000), billed, [call[3] for call in billed]))
    assert run(_spend(budget(1.0, tokens=1_000), billed, shuffled)) == first


def test_two_reservations_of_one_size_are_two() -> None:
    assert Reservation(1, 1) != Reservation(1, 1)
