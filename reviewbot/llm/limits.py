"""What follows from a fault, and how much one provider is asked: not at all while it is down."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Literal

from msgspec import Struct

from reviewbot.llm.provider import Fault, ProviderError

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0  # seconds
MOST_RETRIES = 10  # of one provider in a review, so that one that is down is not asked for ever
WINDOW = 60.0  # seconds
FAULTS_TO_OPEN = 5  # in a row: the attempts of one call, and more of another
OPEN_SECONDS = 30.0


class Policy(Struct, frozen=True, kw_only=True):
    """What a fault leads to.

    Attributes:
        attempts: how often one request is made.
        ends: what is not asked again in this review.
        ails: it speaks of the provider and not of the call, so the circuit breaker counts it.
        charged: the vendor may have charged the call although it did not say what was used.
        kept: the vendor answered and charged it, so the same question has the same outcome.
        next_model: whether the fallback model is asked instead.
    """

    attempts: int = 1
    ends: Literal["nothing", "model", "provider"] = "nothing"
    ails: bool = False
    charged: bool = False
    kept: bool = False
    next_model: bool = False


POLICIES: Mapping[Fault, Policy] = {
    "unreachable": Policy(attempts=3, ails=True, next_model=True),
    "interrupted": Policy(attempts=2, ails=True, charged=True, next_model=True),
    "overloaded": Policy(attempts=3, ails=True, next_model=True),
    "rate_limited": Policy(attempts=3, next_model=True),
    # What took too long once takes too long again.
    "timeout": Policy(ails=True, charged=True, next_model=True),
    # Asked again with less of the change, which is another request.
    "too_long": Policy(kept=True, next_model=True),
    "spent": Policy(ends="provider", next_model=True),
    "denied": Policy(ends="provider", next_model=True),
    "no_model": Policy(ends="model", next_model=True),
    "invalid": Policy(),
    "refused": Policy(charged=True, kept=True),
    "truncated": Policy(charged=True, kept=True),
    # Who answers nonsense twice always does.
    "malformed": Policy(attempts=2, charged=True, next_model=True),
}


def pause_before_next(error: ProviderError, attempt: int, chance: float) -> float | None:
    """Seconds to wait after attempt number `attempt` failed; None: it was the last.

    Args:
        chance: from 0 to 1. Waits are anything up to a bound that doubles, so that not all come
            back at once; a vendor that says when to come back is believed.
    """
    if attempt >= POLICIES[error.fault].attempts:
        return None
    if error.retry_after is not None:
        return max(0.0, error.retry_after) + chance * FIRST_PAUSE
    return float(chance * min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1)))


class Limits:
    """The state of one provider in a review.

    It takes so many calls at once, and so many requests and tokens, read and written, a minute;
    0 is any number.
    """

    def __init__(self, concurrency: int = 8, requests: int = 0, tokens: int = 0) -> None:
        self._places = asyncio.Semaphore(concurrency)
        self._requests = requests
        self._tokens = tokens
        self._turn = asyncio.Lock()  # first come, first served
        self._booked: deque[tuple[float, int]] = deque()
        self._closed_until = 0.0
        self._retries = MOST_RETRIES
        self._faults = 0
        self._open_until = 0.0
        self._last: ProviderError | None = None
        self._ended: dict[str, ProviderError] = {}  # by model; "" for all

    @asynccontextmanager
    async def place(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a place for one call of about so many tokens."""
        async with self._places:
            async with self._turn:
                while (wait := self._seconds_to_wait(tokens)) > 0:
                    await asyncio.sleep(wait)
                self._booked.append((time.monotonic(), tokens))
            yield

    def check(self, model: str) -> None:
        """Raises ProviderError, with the fault of an earlier call, where another is pointless."""
        ended = self._ended.get("") or self._ended.get(model)
        if ended is None and self._last and time.monotonic() < self._open_until:
            ended = self._last
        if ended:
            raise ProviderError(f"not asked again: {ended}", fault=ended.fault, hint=ended.hint)

    def succeeded(self) -> None:
        self._faults, self._open_until = 0, 0.0

    def failed(self, model: str, error: ProviderError) -> None:
        policy = POLICIES[error.fault]
        if policy.ends != "nothing":
            self._ended.setdefault(model if policy.ends == "model" else "", error)
        if error.retry_after is not None:
            until = time.monotonic() + error.retry_after
            self._closed_until = max(self._closed_until, until)
        self._faults = self._faults + 1 if policy.ails else 0
        if self._faults >= FAULTS_TO_OPEN:
            # The call after the pause is a probe: if it fails, the next pause begins.
            self._last, self._open_until = error, time.monotonic() + OPEN_SECONDS

    def may_retry(self) -> bool:
        self._retries -= 1
        return self._retries >= 0

    def _seconds_to_wait(self, tokens: int) -> float:
        now = time.monotonic()
        while self._booked and self._booked[0][0] + WINDOW <= now:
            self._booked.popleft()
        free = self._closed_until
        if self._requests and len(self._booked) >= self._requests:
            free = max(free, self._booked[-self._requests][0] + WINDOW)
        if self._tokens:
            excess = sum(count for _, count in self._booked) + tokens - self._tokens
            for at, count in self._booked:
                if excess <= 0:
                    break
                excess -= count
                free = max(free, at + WINDOW)
        return free - now
