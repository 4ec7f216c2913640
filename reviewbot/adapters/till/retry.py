"""Who is asked again after a fault, when, and how often. The vendors' own retries are off: this is the only place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass

from reviewbot.adapters.till.breaker import Shut
from reviewbot.ports import Clock, Completion, Fault, ProviderError

PASSING = frozenset({Fault.OVERLOADED, Fault.RATE_LIMITED, Fault.SERVER, Fault.NETWORK, Fault.UNREADABLE})
"""Faults after which the same request may succeed."""

Sleep = Callable[[float], Awaitable[None]]
Attempt = Callable[[int, float], Awaitable[Completion]]
"""One request: (number of the attempt from 1, seconds left) -> completion. Raises ProviderError."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Seconds and counts. ``budget`` is how many second and third attempts a provider gets in a whole run, so that one that
    is down is not asked three times for every call."""

    attempts: int = 3
    first_pause: float = 0.5
    longest_pause: float = 8.0
    budget: int = 10


def pause_before_next(error: ProviderError, attempt: int, *, policy: RetryPolicy, chance: float) -> float | None:
    """Seconds to wait after attempt number ``attempt`` failed, ``None``: not again. ``chance`` is in [0, 1].

    Full jitter: anything from nothing to the exponential bound. A provider that says when to come back is believed, and
    jitter comes on top, so that not all come back at once. What cannot be read is asked for once more only: it was paid for,
    and who sends it twice sends it always.
    """
    most = min(2, policy.attempts) if error.fault is Fault.UNREADABLE else policy.attempts
    if isinstance(error, Shut) or error.fault not in PASSING or attempt >= most:
        return None
    if error.retry_after is not None:
        return max(0.0, error.retry_after) + chance * policy.first_pause
    return chance * min(policy.longest_pause, policy.first_pause * 2.0 ** (attempt - 1))


class Retries:
    """The retries of one provider in one run. ``random`` gives a number in [0, 1), ``sleep`` waits."""

    def __init__(self, policy: RetryPolicy, *, clock: Clock, sleep: Sleep, random: Callable[[], float]) -> None:
        self._policy = policy
        self._clock = clock
        self._sleep = sleep
        self._random = random
        self._left = policy.budget

    async def tried(
        self,
        call: Attempt,
        *,
        deadline_seconds: float,
        admit: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> Completion:
        """The first completion of at most ``policy.attempts`` attempts. Raises the last ProviderError.

        ``deadline_seconds`` spans all attempts and the pauses between them, but not the wait for ``admit``, which is entered
        before each attempt (a slot of the rate limits) and left before each pause. An attempt that outlasts the deadline is
        cancelled and raises Fault.TIMEOUT, which is not tried again.
        """
        left = deadline_seconds
        attempt = 1
        while True:
            try:
                async with admit():
                    begun = self._clock.seconds()
                    try:
                        return await _in_time(call(attempt, left), left)
                    finally:
                        left -= self._clock.seconds() - begun
            except ProviderError as error:
                pause = self._pause(error, attempt, left)
            await self._sleep(pause)
            left -= pause
            attempt += 1

    def _pause(self, error: ProviderError, attempt: int, left: float) -> float:
        """How long to wait before the next attempt. Raises the error where there is none, with the reason."""
        pause = pause_before_next(error, attempt, policy=self._policy, chance=self._random())
        if pause is None:
            raise error
        if pause >= left:
            raise _given_up(error, f"not tried again: it asks for {pause:.1f} s, and {max(0.0, left):.1f} s are left") from error
        if self._left <= 0:
            raise _given_up(error, f"not tried again: {self._policy.budget} retries were used up in this run") from error
        self._left -= 1
        return pause


def _given_up(error: ProviderError, why: str) -> ProviderError:
    return ProviderError(error.fault, f"{error.message} ({why})", retry_after=error.retry_after)


async def _in_time(answer: Awaitable[Completion], seconds: float) -> Completion:
    """The provider keeps its own time limit; this one is for a provider that does not."""
    limit = asyncio.timeout(max(0.0, seconds))
    try:
        async with limit:
            return await answer
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise ProviderError(Fault.TIMEOUT, f"no answer within {seconds:.0f} s") from error
