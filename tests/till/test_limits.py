"""How many calls at once and per minute."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.till.limits import MOST_IN_FLIGHT, WINDOW_SECONDS, Gate, Limits, in_flight
from reviewbot.ports import Fault, ProviderError
from tests.rings import examples
from tests.till.virtual_time import LoopClock, run

LITTLE = 0.01


class Street:
    """Cars that pass a gate: when each went in, in which order, and how many were inside at once."""

    def __init__(self, limits: Limits, *, most: int = MOST_IN_FLIGHT) -> None:
        self.shared = in_flight(most)
        self.gate = self.another(limits)
        self.came: list[int] = []
        self.entered: list[tuple[int, float, int]] = []
        self.inside = 0
        self.most_inside = 0

    def another(self, limits: Limits) -> Gate:
        return Gate(limits, clock=LoopClock(), sleep=asyncio.sleep, shared=self.shared)

    async def drive(
        self, number: int, *, takes: float = 0.0, tokens: int = 0, really: int | None = None, gate: Gate | None = None
    ) -> None:
        self.came.append(number)
        async with (gate or self.gate).slot(tokens) as slot:
            self.entered.append((number, LoopClock().seconds() - 1_000, tokens))
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            try:
                await asyncio.sleep(takes)
                if really is not None:
                    slot.used(really)
            finally:
                self.inside -= 1

    @property
    def order(self) -> list[int]:
        return [number for number, _, _ in self.entered]

    @property
    def times(self) -> list[float]:
        return [round(when, 1) for _, when, _ in self.entered]


def on_street(limits: Limits, drive: Callable[[Street], Awaitable[object]], *, most: int = MOST_IN_FLIGHT) -> Street:
    async def main() -> Street:
        street = Street(limits, most=most)
        await drive(street)
        return street

    return run(main())


def test_no_more_than_twelve_are_under_way_whatever_the_providers_allow() -> None:
    async def drive(street: Street) -> None:
        gates = [street.another(Limits()) for _ in range(3)]
        await asyncio.gather(*(street.drive(n, takes=1.0, gate=gates[n % 3]) for n in range(40)))

    street = on_street(Limits(), drive)
    assert street.most_inside == 12
    assert street.times == [0.0] * 12 + [1.0] * 12 + [2.0] * 12 + [3.0] * 4


def test_a_provider_that_takes_one_at_a_time_gets_one_at_a_time_in_order() -> None:
    street = on_street(Limits(concurrency=1), lambda s: asyncio.gather(*(s.drive(n, takes=2.0) for n in range(5))))
    assert street.most_inside == 1
    assert street.order == [0, 1, 2, 3, 4]
    assert street.times == [0, 2, 4, 6, 8]


def test_who_waits_for_a_slow_provider_does_not_keep_others_from_working() -> None:
    async def drive(street: Street) -> None:
        slow = street.another(Limits(rpm=1))
        crowd = [asyncio.ensure_future(street.drive(n, gate=slow)) for n in range(5)]
        await asyncio.sleep(1)
        await street.drive(99)
        assert street.times == [0.0, 1.0]
        await asyncio.gather(*crowd)

    on_street(Limits(), drive, most=2)


def test_requests_per_minute_are_counted_in_a_sliding_window() -> None:
    async def drive(street: Street) -> None:
        await street.drive(0)
        await asyncio.sleep(40)
        await asyncio.gather(*(street.drive(n) for n in range(1, 6)))

    street = on_street(Limits(rpm=2), drive)
    assert street.order == [0, 1, 2, 3, 4, 5]
    assert street.times == [0, 40, 60, 100, 120, 160]


def test_tokens_per_minute_are_booked_before_the_call() -> None:
    sizes = [600, 300, 200, 900]
    street = on_street(Limits(tpm=1_000), lambda s: asyncio.gather(*(s.drive(n, tokens=t) for n, t in enumerate(sizes))))
    assert street.order == [0, 1, 2, 3], "a small one does not overtake a large one"
    assert street.times == [0, 0, 60, 120]


def test_a_call_larger_than_a_whole_minute_goes_alone() -> None:
    sizes = [10, 5_000, 10]
    street = on_street(Limits(tpm=1_000), lambda s: asyncio.gather(*(s.drive(n, tokens=t) for n, t in enumerate(sizes))))
    assert street.times == [0, 60, 120]


def test_tokens_that_were_not_used_are_given_back_to_those_who_wait() -> None:
    async def drive(street: Street) -> None:
        await asyncio.gather(
            street.drive(0, tokens=1_000, really=100, takes=3.0),
            street.drive(1, tokens=800),
        )

    assert on_street(Limits(tpm=1_000), drive).times == [0, 3]


def test_tokens_that_were_used_beyond_the_estimate_are_counted() -> None:
    async def drive(street: Street) -> None:
        await street.drive(0, tokens=10, really=900)
        await street.drive(1, tokens=200)

    assert on_street(Limits(tpm=1_000), drive).times == [0, 60]


def test_a_place_among_all_is_not_kept_where_the_minute_filled_up_meanwhile() -> None:
    async def drive(street: Street) -> None:
        other = street.another(Limits())
        held = asyncio.ensure_future(street.drive(0, tokens=10, really=1_000, takes=5.0))
        long = asyncio.ensure_future(street.drive(1, takes=10.0, gate=other))
        waiting = asyncio.ensure_future(street.drive(2, tokens=200))
        await asyncio.sleep(20)
        await asyncio.gather(street.drive(3, takes=1.0, gate=other), street.drive(4, takes=1.0, gate=other))
        await asyncio.gather(held, long, waiting)

    street = on_street(Limits(tpm=1_000), drive, most=2)
    assert [(number, round(when)) for number, when, _ in street.entered] == [(0, 0), (1, 0), (3, 20), (4, 20), (2, 60)]


async def refused(gate: Gate, error: ProviderError) -> None:
    with pytest.raises(ProviderError):
        async with gate.slot(0):
            raise error


@pytest.mark.parametrize("fault", [Fault.RATE_LIMITED, Fault.OVERLOADED])
def test_a_provider_that_says_when_to_come_back_is_left_alone_until_then(fault: Fault) -> None:
    async def drive(street: Street) -> None:
        await refused(street.gate, ProviderError(fault, "slow down", retry_after=25.0))
        await refused(street.another(Limits()), ProviderError(fault, "another provider", retry_after=99.0))
        await street.drive(0)

    assert on_street(Limits(), drive).times == [25]


def test_a_fault_alone_holds_up_nobody() -> None:
    async def drive(street: Street) -> None:
        await refused(street.gate, ProviderError(Fault.RATE_LIMITED, "no"))
        await street.drive(0)

    assert on_street(Limits(concurrency=1), drive, most=1).times == [0]


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_wait_that_ended_leaves_no_sleeper(cancelled: bool) -> None:
    async def drive(street: Street) -> None:
        first = asyncio.ensure_future(street.drive(0, tokens=1_000, really=100, takes=3.0))
        waits = asyncio.ensure_future(street.drive(1, tokens=800))
        await asyncio.sleep(1)
        assert street.order == [0]
        if cancelled:
            waits.cancel()
        await asyncio.wait({first, waits})
        await asyncio.sleep(0.1)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    assert on_street(Limits(tpm=1_000), drive).order == ([0] if cancelled else [0, 1])


def slept_with(sleep: Callable[[float], Awaitable[None]]) -> None:
    async def main() -> None:
        gate = Gate(Limits(rpm=1), clock=LoopClock(), sleep=sleep, shared=in_flight())
        for _ in range(2):
            async with gate.slot(0):
                pass

    run(main())


def test_a_sleep_that_ends_a_little_early_is_not_slept_again() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(seconds - 1e-6)

    slept_with(sleep)
    assert len(slept) == 1


def test_a_sleep_that_fails_ends_the_wait() -> None:
    async def sleep(seconds: float) -> None:
        if slept.append(seconds) or len(slept) > 3:
            raise AssertionError("it went on")
        raise OSError("no clock")

    slept: list[float] = []
    with pytest.raises(OSError, match="no clock"):
        slept_with(sleep)


@given(
    st.lists(st.tuples(st.floats(0, 90), st.floats(0, 20), st.one_of(st.none(), st.floats(0, 100))), min_size=1, max_size=12),
    st.sampled_from([Limits(concurrency=2), Limits(rpm=3), Limits(tpm=500), Limits(2, 3, 500), Limits()]),
)
@settings(max_examples=examples(60), derandomize=True)
def test_a_wait_that_is_cancelled_leaves_nothing_behind(
    cars: Sequence[tuple[float, float, float | None]], limits: Limits
) -> None:
    """Whenever calls come and whenever they are cancelled: afterwards all places are free, and one more gets in."""

    async def one(street: Street, number: int, car: tuple[float, float, float | None]) -> None:
        comes, takes, leaves = car
        await asyncio.sleep(comes)
        task = asyncio.ensure_future(street.drive(number, takes=takes, tokens=200))
        if leaves is not None:
            await asyncio.wait({task}, timeout=leaves)
            task.cancel()
        await asyncio.wait({task})

    async def drive(street: Street) -> None:
        await asyncio.gather(*(one(street, n, car) for n, car in enumerate(cars)))
        assert street.shared._value == 3
        await asyncio.sleep(WINDOW_SECONDS)
        before = LoopClock().seconds() - 1_000
        await asyncio.gather(*(street.drive(100 + n, takes=1.0, tokens=1) for n in range(limits.concurrency or 3)))
        assert [when for number, when, _ in street.entered if number >= 100] == pytest.approx(
            [before] * (limits.concurrency or 3)
        )

    on_street(limits, drive, most=3)


@given(st.lists(st.tuples(st.floats(0, 200), st.floats(0, 30), st.integers(1, 400)), min_size=1, max_size=15))
@settings(max_examples=examples(60), derandomize=True)
def test_no_minute_ever_holds_more_than_is_allowed_and_nobody_overtakes(cars: Sequence[tuple[float, float, int]]) -> None:
    limits = Limits(concurrency=3, rpm=4, tpm=1_000)
    cars = sorted(cars)

    async def one(street: Street, number: int) -> None:
        comes, takes, tokens = cars[number]
        await asyncio.sleep(comes)
        await street.drive(number, takes=takes, tokens=tokens)

    street = on_street(limits, lambda s: asyncio.gather(*(one(s, n) for n in range(len(cars)))), most=2)
    assert street.most_inside <= 2
    assert street.order == street.came
    for _, begin, _ in street.entered:
        minute = [tokens for _, when, tokens in street.entered if begin <= when < begin + WINDOW_SECONDS - LITTLE]
        assert len(minute) <= 4
        assert sum(minute) <= 1_000
