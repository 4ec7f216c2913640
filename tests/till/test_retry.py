"""Who is asked again after a fault, and when a provider is left alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.till.breaker import FAULTS_TO_OPEN, PAUSE_SECONDS, Breaker, Shut
from reviewbot.adapters.till.retry import Retries, RetryPolicy, pause_before_next
from reviewbot.ports import Completion, Fault, ProviderError, Stop
from reviewbot.testing import FakeClock
from tests.rings import examples
from tests.till.virtual_time import LoopClock, run

ANSWER = Completion(Stop.END, "yes")
AGAIN = {Fault.OVERLOADED, Fault.RATE_LIMITED, Fault.SERVER, Fault.NETWORK, Fault.UNREADABLE}
POLICY = RetryPolicy()


class Script:
    """Fails with these faults in turn, then answers. Remembers when each attempt began and how long it had."""

    def __init__(self, *faults: Fault | ProviderError, takes: float = 0.0) -> None:
        self.faults = list(faults)
        self.takes = takes
        self.began: list[float] = []
        self.had: list[float] = []

    async def __call__(self, attempt: int, seconds: float) -> Completion:
        assert attempt == len(self.began) + 1
        self.began.append(LoopClock().seconds() - 1_000)
        self.had.append(seconds)
        await asyncio.sleep(self.takes)
        if self.faults:
            fault = self.faults.pop(0)
            raise fault if isinstance(fault, ProviderError) else ProviderError(fault, f"it is {fault}")
        return ANSWER


def retries(chance: float = 1.0, **policy: float) -> Retries:
    return Retries(RetryPolicy(**policy), clock=LoopClock(), sleep=asyncio.sleep, random=lambda: chance)


def asked(script: Script, deadline: float = 100.0, **kwargs: float) -> Completion:
    return run(retries(**kwargs).tried(script, deadline_seconds=deadline))


@pytest.mark.parametrize("fault", Fault)
def test_only_what_may_pass_is_tried_again(fault: Fault) -> None:
    pause = pause_before_next(ProviderError(fault, ""), 1, policy=POLICY, chance=0.5)
    assert (pause is not None) == (fault in AGAIN)


def test_what_cannot_be_read_is_tried_again_once() -> None:
    script = Script(Fault.UNREADABLE, Fault.UNREADABLE, Fault.UNREADABLE)
    with pytest.raises(ProviderError):
        asked(script)
    assert len(script.began) == 2


def test_an_answer_after_two_faults_is_an_answer() -> None:
    script = Script(Fault.OVERLOADED, Fault.SERVER)
    assert asked(script) == ANSWER
    assert script.began == [0.0, 0.5, 1.5]


def test_the_third_fault_is_the_last() -> None:
    script = Script(*[Fault.SERVER] * 5)
    with pytest.raises(ProviderError) as raised:
        asked(script)
    assert raised.value.fault is Fault.SERVER
    assert len(script.began) == 3


@given(st.integers(1, 30), st.floats(0, 1))
@settings(max_examples=examples(50), derandomize=True)
def test_pauses_grow_up_to_eight_seconds_and_are_jittered_from_nothing(attempt: int, chance: float) -> None:
    policy = RetryPolicy(attempts=31)
    pause = pause_before_next(ProviderError(Fault.SERVER, ""), attempt, policy=policy, chance=chance)
    longest = pause_before_next(ProviderError(Fault.SERVER, ""), attempt, policy=policy, chance=1.0)
    assert longest == min(8.0, 0.5 * 2 ** (attempt - 1))
    assert pause == pytest.approx(chance * longest)


def test_a_provider_that_says_when_to_come_back_is_believed() -> None:
    script = Script(ProviderError(Fault.RATE_LIMITED, "slow down", retry_after=30.0))
    assert asked(script, chance=0.0) == ANSWER
    assert script.began == [0.0, 30.0]
    assert script.had == [100.0, 70.0]


def test_a_provider_that_asks_to_come_back_after_the_deadline_is_given_up_at_once() -> None:
    script = Script(ProviderError(Fault.RATE_LIMITED, "slow down", retry_after=30.0))
    with pytest.raises(ProviderError, match=r"slow down \(not tried again: it asks for 30.0 s, and 20.0 s are left\)") as raised:
        asked(script, deadline=20.0, chance=0.0)
    assert len(script.began) == 1
    assert raised.value.retry_after == 30.0


def test_the_deadline_spans_all_attempts_and_pauses() -> None:
    script = Script(Fault.SERVER, Fault.SERVER, takes=4.0)
    with pytest.raises(ProviderError, match="no answer within 2 s") as raised:
        asked(script, deadline=11.0, chance=1.0)
    assert raised.value.fault is Fault.TIMEOUT
    assert script.had == [11.0, 6.5, 1.5]


def test_an_attempt_that_hangs_ends_at_the_deadline_and_is_not_tried_again() -> None:
    script = Script(takes=1e9)
    with pytest.raises(ProviderError) as raised:
        asked(script, deadline=7.0)
    assert raised.value.fault is Fault.TIMEOUT
    assert script.began == [0.0]


def test_a_time_out_of_the_providers_own_making_is_not_mistaken_for_the_deadline() -> None:
    async def call(attempt: int, seconds: float) -> Completion:
        raise TimeoutError("of something else")

    with pytest.raises(TimeoutError, match="of something else"):
        run(retries().tried(call, deadline_seconds=5.0))


def test_all_calls_of_a_run_share_one_budget_of_retries() -> None:
    async def main() -> list[int]:
        shared = retries(budget=3)
        counts = []
        for _ in range(4):
            script = Script(*[Fault.SERVER] * 3)
            with pytest.raises(ProviderError):
                await shared.tried(script, deadline_seconds=100.0)
            counts.append(len(script.began))
        return counts

    assert run(main()) == [3, 2, 1, 1]


def test_waiting_to_be_admitted_takes_no_time_and_a_pause_holds_no_place() -> None:
    events: list[str] = []

    @asynccontextmanager
    async def admit() -> AsyncIterator[None]:
        await asyncio.sleep(60)
        events.append("in")
        try:
            yield
        finally:
            events.append("out")

    async def sleep(seconds: float) -> None:
        events.append("pause")
        await asyncio.sleep(seconds)

    async def main() -> Completion:
        tries = Retries(POLICY, clock=LoopClock(), sleep=sleep, random=lambda: 1.0)
        return await tries.tried(Script(Fault.SERVER, takes=2.0), deadline_seconds=5.0, admit=admit)

    assert run(main()) == ANSWER
    assert events == ["in", "out", "pause", "in", "out"]


def test_a_cancelled_call_is_cancelled_and_not_tried_again() -> None:
    script = Script(takes=50.0)

    async def main() -> None:
        task = asyncio.ensure_future(retries().tried(script, deadline_seconds=100.0))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
    assert len(script.began) == 1


def failing(breaker: Breaker, fault: Fault, model: str = "m") -> None:
    error = ProviderError(fault, f"it is {fault}")
    with pytest.raises(ProviderError) as raised, breaker.guard(model):
        raise error
    assert raised.value is error, "it was asked"


def fallen(*, clock: FakeClock | None = None) -> tuple[Breaker, FakeClock]:
    clock = clock or FakeClock(100.0)
    breaker = Breaker("acme", clock=clock)
    for _ in range(FAULTS_TO_OPEN):
        failing(breaker, Fault.OVERLOADED)
    return breaker, clock


def shut(check: Callable[[], object]) -> Shut:
    with pytest.raises(Shut) as raised:
        check()
    return raised.value


def test_a_provider_that_fails_again_and_again_is_left_alone() -> None:
    breaker, _ = fallen()
    why = shut(lambda: breaker.check("m"))
    assert (why.fault, why.message) == (Fault.OVERLOADED, "acme is not asked for now: it is overloaded")


@pytest.mark.parametrize("fault", [Fault.OVERLOADED, Fault.SERVER, Fault.NETWORK, Fault.TIMEOUT])
def test_one_fault_less_does_not_shut_it(fault: Fault) -> None:
    breaker = Breaker("acme", clock=FakeClock())
    for _ in range(FAULTS_TO_OPEN - 1):
        failing(breaker, fault)
    breaker.check("m")
    failing(breaker, fault)
    shut(lambda: breaker.check("m"))


@pytest.mark.parametrize("fault", [None, Fault.RATE_LIMITED, Fault.INVALID, Fault.TOO_LONG])
def test_a_provider_that_answers_in_between_stays_open(fault: Fault | None) -> None:
    breaker = Breaker("acme", clock=FakeClock())
    for _ in range(3):
        for _ in range(FAULTS_TO_OPEN - 1):
            failing(breaker, Fault.SERVER)
        if fault is None:
            with breaker.guard("m"):
                pass
        else:
            failing(breaker, fault)
    breaker.check("m")


def test_after_a_pause_one_probe_goes_through() -> None:
    breaker, clock = fallen()
    clock.now += PAUSE_SECONDS - 1
    shut(lambda: breaker.check("m"))
    clock.now += 1
    with breaker.guard("m"):
        shut(lambda: breaker.check("m"))
    breaker.check("m")
    failing(breaker, Fault.SERVER)
    breaker.check("m")


def test_a_probe_that_fails_shuts_it_for_another_pause() -> None:
    breaker, clock = fallen()
    clock.now += PAUSE_SECONDS
    failing(breaker, Fault.NETWORK)
    assert shut(lambda: breaker.check("m")).fault is Fault.NETWORK
    clock.now += PAUSE_SECONDS
    breaker.check("m")


def test_a_probe_that_is_cancelled_leaves_its_place_to_the_next() -> None:
    breaker, clock = fallen()
    clock.now += PAUSE_SECONDS
    with pytest.raises(asyncio.CancelledError), breaker.guard("m"):
        raise asyncio.CancelledError
    with breaker.guard("m"):
        pass
    breaker.check("m")


@pytest.mark.parametrize("fault", [Fault.SPENT, Fault.DENIED])
def test_what_no_waiting_mends_shuts_a_provider_for_the_run(fault: Fault) -> None:
    clock = FakeClock()
    breaker = Breaker("acme", clock=clock)
    failing(breaker, fault)
    clock.now += 1e6
    assert shut(lambda: breaker.check("another")).message == f"it is {fault}"


def test_a_model_that_is_not_there_shuts_itself_only() -> None:
    breaker = Breaker("acme", clock=FakeClock())
    failing(breaker, Fault.NO_MODEL, "gone")
    assert shut(lambda: breaker.check("gone")).fault is Fault.NO_MODEL
    breaker.check("there")


def test_a_call_that_a_breaker_stopped_is_not_tried_again() -> None:
    breaker, _ = fallen(clock=FakeClock(1_000.0))

    async def call(attempt: int, seconds: float) -> Completion:
        assert attempt == 1
        with breaker.guard("m"):
            raise AssertionError("it was asked")

    with pytest.raises(Shut):
        run(retries().tried(call, deadline_seconds=100.0))
