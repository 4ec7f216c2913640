"""How many calls at once and per minute: first come, first served, for one provider and for all of them together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass

from reviewbot.ports import Clock, ProviderError

MOST_IN_FLIGHT = 12
"""Requests under way at any moment, whatever the providers allow: the bound on sockets, memory and surprise."""

WINDOW_SECONDS = 60.0

A_LITTLE = 0.001
"""Slept longer than computed, so that a rounding error does not wake a waiter just before its time, again and again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider allows: calls at once, requests per minute, tokens (read and written) per minute. ``None``: any."""

    concurrency: int | None = None
    rpm: int | None = None
    tpm: int | None = None


@dataclass(slots=True)
class Slot:
    """A place among the calls under way. ``tokens`` is what was booked for it at ``at`` seconds."""

    at: float
    tokens: int
    _changed: Callable[[], None]

    def used(self, tokens: int) -> None:
        """What the call really took, in place of the estimate."""
        self.tokens = tokens
        self._changed()


def in_flight(most: int = MOST_IN_FLIGHT) -> asyncio.Semaphore:
    """The cap that the gates of one run share."""
    return asyncio.Semaphore(most)


class Gate:
    """The limits of one provider. ``shared`` is the run's cap over all providers."""

    def __init__(
        self,
        limits: Limits,
        *,
        clock: Clock,
        sleep: Callable[[float], Awaitable[None]],
        shared: asyncio.Semaphore,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._shared = shared
        self._own = asyncio.Semaphore(limits.concurrency) if limits.concurrency else None
        self._turn = asyncio.Lock()
        self._booked: deque[Slot] = deque()
        self._closed_until = 0.0
        self._news = asyncio.Event()

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[Slot]:
        """A place for one request that will take about ``tokens`` (read and written). Waits its turn; a wait that is
        cancelled leaves nothing behind. Where the provider says when to come back, those behind wait until then too."""
        async with self._own or nullcontext():
            slot = await self._booked_slot(tokens)
            try:
                yield slot
            except ProviderError as error:
                if error.retry_after is not None:
                    self._closed_until = max(self._closed_until, self._clock.seconds() + error.retry_after)
                raise
            finally:
                self._shared.release()

    async def _booked_slot(self, tokens: int) -> Slot:
        """Holds the turn while it waits, so that nobody overtakes. The shared place is taken last: whoever waits for a
        window does not keep other providers from working, and a booking carries the moment of its request."""
        async with self._turn:
            while True:
                await self._room(tokens)
                await self._shared.acquire()
                if self._seconds_to_wait(tokens) <= 0:
                    break
                self._shared.release()
            slot = Slot(self._clock.seconds(), tokens, self._news.set)
            self._booked.append(slot)
            return slot

    async def _room(self, tokens: int) -> None:
        self._news.clear()
        while (wait := self._seconds_to_wait(tokens)) > 0:
            await self._pause(wait + A_LITTLE)
            self._news.clear()

    async def _pause(self, seconds: float) -> None:
        """Until time has passed, or a call turned out to have taken something else than was booked."""
        waits = {asyncio.ensure_future(self._sleep(seconds)), asyncio.ensure_future(self._news.wait())}
        try:
            ended, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in ended:
                wait.result()
        finally:
            for wait in waits:
                wait.cancel()

    def _seconds_to_wait(self, tokens: int) -> float:
        now = self._clock.seconds()
        while self._booked and self._booked[0].at + WINDOW_SECONDS <= now:
            self._booked.popleft()
        free = max(self._closed_until, self._requests_free_at(), self._tokens_free_at(tokens))
        return max(0.0, free - now)

    def _requests_free_at(self) -> float:
        rpm = self._limits.rpm
        if rpm is None or len(self._booked) < rpm:
            return 0.0
        return self._booked[len(self._booked) - rpm].at + WINDOW_SECONDS

    def _tokens_free_at(self, tokens: int) -> float:
        """When so many booked tokens will have left the window that these fit. More than a window holds go alone."""
        tpm = self._limits.tpm
        if tpm is None:
            return 0.0
        too_many = sum(slot.tokens for slot in self._booked) + tokens - tpm
        free = 0.0
        for slot in self._booked:
            if too_many <= 0:
                break
            too_many -= slot.tokens
            free = slot.at + WINDOW_SECONDS
        return free
