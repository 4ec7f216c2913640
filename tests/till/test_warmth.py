"""Warm one, then fan out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reviewbot.adapters.till.warmth import PATIENCE_SECONDS, Warmth
from tests.till.virtual_time import LoopClock, run


async def call(warmth: Warmth, *, key: str = "P1", begins: float | None = 2.0, takes: float = 5.0) -> float:
    """When a call went out, in seconds; it begins to answer after ``begins``."""
    async with warmth.turn(key) as begun:
        went = LoopClock().seconds() - 1_000
        if begins is not None:
            await asyncio.sleep(begins)
            begun()
        await asyncio.sleep(takes - (begins or 0.0))
        return went


def times(*calls: Callable[[Warmth], asyncio.Future[float]] | dict[str, object]) -> list[float]:
    async def main() -> list[float]:
        warmth = Warmth()
        return list(await asyncio.gather(*(call(warmth, **one) for one in calls)))  # type: ignore[arg-type]  # mixed options

    return run(main())


def test_the_first_goes_at_once_and_the_others_when_it_begins() -> None:
    assert times({}, {"begins": 0.5}, {"begins": None}) == [0.0, 2.0, 2.0]


def test_other_prefixes_do_not_wait() -> None:
    assert times({}, {"key": "P2"}, {"key": "P2"}) == [0.0, 0.0, 2.0]


def test_an_end_is_as_good_as_a_beginning() -> None:
    assert times({"begins": None, "takes": 3.0}, {}) == [0.0, 3.0]


def test_nobody_waits_longer_than_patience() -> None:
    assert times({"begins": None, "takes": 100.0}, {}, {}) == [0.0, PATIENCE_SECONDS, PATIENCE_SECONDS]


def test_only_the_beginning_or_the_end_of_the_first_counts() -> None:
    """A second one that ends before the first began (it was out of patience) has warmed nothing."""

    async def main() -> list[float]:
        warmth = Warmth(patience_seconds=1.0)
        first = asyncio.ensure_future(call(warmth, begins=None, takes=10.0))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(call(warmth, begins=None, takes=1.0))
        await asyncio.sleep(5.0)
        third = asyncio.ensure_future(call(warmth, begins=None, takes=1.0))
        return list(await asyncio.gather(first, second, third))

    assert run(main()) == [0.0, 1.0, 6.0]


@pytest.mark.parametrize("how", ["fails", "is cancelled"])
def test_a_first_that_comes_to_nothing_lets_the_others_go(how: str) -> None:
    async def main() -> float:
        warmth = Warmth()

        async def first() -> None:
            async with warmth.turn("P1"):
                await asyncio.sleep(3.0)
                raise OSError("gone")

        leading = asyncio.ensure_future(first())
        await asyncio.sleep(0)
        following = asyncio.ensure_future(call(warmth))
        if how == "is cancelled":
            await asyncio.sleep(3.0)
            leading.cancel()
        went = await following
        await asyncio.gather(leading, return_exceptions=True)
        return went

    assert run(main()) == 3.0


def test_who_is_cancelled_while_waiting_leaves_the_others_in_place() -> None:
    async def main() -> list[float]:
        warmth = Warmth()
        first, second, third = (asyncio.ensure_future(call(warmth)) for _ in range(3))
        await asyncio.sleep(1.0)
        second.cancel()
        return [await first, await third]

    assert run(main()) == [0.0, 2.0]


def test_what_was_warmed_stays_warm() -> None:
    async def main() -> float:
        warmth = Warmth()
        await call(warmth)
        return await call(warmth, begins=None) - 5.0

    assert run(main()) == 0.0
