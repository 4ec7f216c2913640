"""One call of one model, paid for once: ledger, budget, limits and retries around a provider, in this order.

``claim`` (was it made before?) → ``reserve`` (may it be made?) → warm prefix → slot → attempts → ``settle`` (kept before anyone
uses it).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Thread

from reviewbot.adapters.till import prices, record
from reviewbot.adapters.till.breaker import Breaker
from reviewbot.adapters.till.budget import Budget, Capped, Reservation
from reviewbot.adapters.till.limits import Gate, Slot
from reviewbot.adapters.till.prices import Meter, Price
from reviewbot.adapters.till.retry import Retries
from reviewbot.adapters.till.warmth import WORTH_TOKENS, Warmth
from reviewbot.domain.money import Usage
from reviewbot.errors import ReviewbotError
from reviewbot.ports import (
    Calls,
    CallState,
    Clock,
    Completion,
    Fault,
    ModelCall,
    Provider,
    ProviderError,
    Recorded,
    Tokens,
    Wanted,
)

THREADS = 64
"""Threads that wait for the ledger. A claim may wait for another process, and nobody else must wait behind it."""


class Opened:
    """A provider that is made once, from ``begin`` on in a thread of its own: importing a vendor's library takes its time."""

    def __init__(self, make: Callable[[], Provider]) -> None:
        self._make = make
        self._made: Future[Provider] | None = None

    def begin(self) -> Future[Provider]:
        """Make it, if nobody did. A daemon: who leaves early does not wait for an import."""
        if self._made is None:
            made: Future[Provider] = Future()
            # From now on it cannot be cancelled: who stops waiting does not take it from the others.
            made.set_running_or_notify_cancel()
            self._made = made
            Thread(target=self._work, args=(made,), name="provider", daemon=True).start()
        return self._made

    async def provider(self) -> Provider:
        """The provider. Raises what making it raised."""
        return await asyncio.wrap_future(self.begin())

    async def close(self) -> None:
        """Close it, if it was made."""
        if self._made is not None and self._made.done() and self._made.exception() is None:
            await self._made.result().close()

    def _work(self, made: Future[Provider]) -> None:
        try:
            made.set_result(self._make())
        except (ReviewbotError, ProviderError, ImportError, OSError, ValueError) as exc:
            made.set_exception(exc)
        finally:
            if not made.done():
                # A bug, which this thread shows; but nobody shall wait for ever.
                made.set_exception(RuntimeError("the provider could not be made"))


@dataclass(frozen=True, slots=True)
class Counter:
    """One account of a provider, with everything that stands before it in one run."""

    name: str
    opened: Opened
    gate: Gate
    breaker: Breaker
    retries: Retries
    warmth: Warmth | None
    local: bool
    meter: Meter | None
    price: Callable[[str], Price]


@dataclass(frozen=True, slots=True)
class Served:
    """What a call gave: a completion, or the error it ended with; and what it took."""

    completion: Completion | None
    error: ProviderError | None
    usage: Usage
    seconds: float


class Till:
    """Where every call of a run is paid."""

    def __init__(self, calls: Calls, budget: Budget, clock: Clock, *, offline: bool = False) -> None:
        self.offline = offline
        self._calls = calls
        self._clock = clock
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="ledger")
        self.budget = budget

    async def serve(self, counter: Counter, call: ModelCall, wanted: Wanted) -> Served:
        """The call's outcome, from the ledger where it is there. Raises Capped."""
        recorded = await self._claimed(wanted)
        if recorded is not None:
            return self._replayed(recorded)
        settled = False
        try:
            if self.offline:
                raise Capped("it is not in the ledger, and a replay asks nobody")
            served = await self._made(counter, call, wanted)
            settled = True
            return served
        finally:
            if not settled:
                await self._in_thread(self._calls.release, wanted)

    def close(self) -> None:
        """No more calls."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _claimed(self, wanted: Wanted) -> Recorded | None:
        """The claim. Who is cancelled does not wait for it, which could take minutes; what comes of it then is given back."""
        claiming = asyncio.get_running_loop().run_in_executor(self._pool, self._calls.claim, wanted)
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            claiming.add_done_callback(lambda done: self._not_wanted(done, wanted))
            raise

    def _not_wanted(self, claiming: asyncio.Future[Recorded | None], wanted: Wanted) -> None:
        if not claiming.cancelled() and claiming.exception() is None and claiming.result() is None:
            self._calls.release(wanted)

    async def _in_thread(self, work: Callable[[Wanted], object], wanted: Wanted) -> None:
        """What the ledger does. A cancel waits for it: an outcome that is being written must not meet its own release."""
        working = asyncio.get_running_loop().run_in_executor(self._pool, work, wanted)
        try:
            await asyncio.shield(working)
        except asyncio.CancelledError:
            await asyncio.wait((working,))
            raise

    def _replayed(self, recorded: Recorded) -> Served:
        usage = replace(recorded.usage, replayed_calls=recorded.usage.calls, paid_usd=0.0)
        self.budget.charge(usage.cost_usd, usage.input_tokens + usage.output_tokens)
        if recorded.state is CallState.ANSWERED:
            return Served(record.read_completion(recorded.document), None, usage, recorded.seconds)
        return Served(None, record.read_failure(recorded.document), usage, recorded.seconds)

    async def _made(self, counter: Counter, call: ModelCall, wanted: Wanted) -> Served:
        prompt_tokens = prices.tokens_in(_words(call))
        price = counter.price(call.model)
        worst = prices.worst_case(prompt_tokens, call.max_output_tokens, price)
        if counter.meter is not None:
            worst += counter.meter.worst_case(call.timeout_seconds)
        try:
            counter.breaker.check(call.model)
        except ProviderError as error:
            return await self._kept(Served(None, error, Usage(), 0.0), wanted)
        held = [await self.budget.reserve(worst, prices.worst_tokens(prompt_tokens, call.max_output_tokens))]
        try:
            served = await self._tried(counter, call, held)
            usage = served.usage
            self.budget.settle(held[0], usage.cost_usd, usage.input_tokens + usage.output_tokens)
        finally:
            for reservation in held:
                self.budget.release(reservation)
        return await self._kept(served, wanted)

    async def _kept(self, served: Served, wanted: Wanted) -> Served:
        """Written to the ledger before anyone uses it."""
        recorded = _recorded(served)
        await self._in_thread(lambda one: self._calls.settle(one, recorded), wanted)
        return served

    async def _tried(self, counter: Counter, call: ModelCall, held: list[Reservation]) -> Served:
        """The attempts, and what they took. ``held`` grows by what was paid for nothing, or there is no further attempt."""
        attempts = _Attempts(counter.meter, self._clock)
        try:
            provider = await counter.opened.provider()
        except ReviewbotError as error:
            # A library that is missing, an address that may not be used: this seat's trouble, not the review's.
            return Served(None, ProviderError(Fault.DENIED, str(error)), Usage(), 0.0)
        prompt_tokens = prices.tokens_in(_words(call))
        in_vain = _usage(Tokens(input=prompt_tokens, known=False), counter, call)
        slots: list[Slot] = []

        async def attempt(_: int, left: float) -> Completion:
            if attempts.in_vain >= len(held):
                held.append(self.budget.set_aside(in_vain.cost_usd, in_vain.input_tokens))
            with counter.breaker.guard(call.model), attempts.one(begun) as begins:
                return await provider.complete(replace(call, timeout_seconds=left), begins)

        def admit() -> _Admission:
            return _Admission(counter.gate, prompt_tokens + call.max_output_tokens, slots)

        warmth = counter.warmth if prompt_tokens >= WORTH_TOKENS else None
        async with (warmth or Warmth()).turn(call.cache_key) as begun:
            try:
                made = await counter.retries.tried(attempt, deadline_seconds=call.timeout_seconds, admit=admit)
            except ProviderError as error:
                return Served(None, error, attempts.bill(Usage(calls=1), in_vain), attempts.seconds)
            except Capped as capped:
                return Served(None, attempts.given_up(capped), attempts.bill(Usage(calls=1), in_vain), attempts.seconds)
        tokens = prices.counted(made.tokens, _words(call), made.text)
        for slot in slots:
            slot.used(tokens.input + tokens.output)
        return Served(made, None, attempts.bill(_usage(tokens, counter, call), in_vain), attempts.seconds)


class _Admission:
    """A slot of the gate, kept so that its tokens can be corrected."""

    def __init__(self, gate: Gate, tokens: int, slots: list[Slot]) -> None:
        self._slot = gate.slot(tokens)
        self._slots = slots

    async def __aenter__(self) -> None:
        self._slots[:] = [await self._slot.__aenter__()]

    async def __aexit__(self, *failure: object) -> bool | None:
        return await self._slot.__aexit__(*failure)  # type: ignore[arg-type]


class _Attempts:
    """The attempts of one call: their time and rent, and how many were paid ``in_vain``."""

    def __init__(self, meter: Meter | None, clock: Clock) -> None:
        self._meter = meter
        self._clock = clock
        self._last = ProviderError(Fault.INVALID, "it was not asked")
        self.seconds = 0.0
        self.usd = 0.0
        self.in_vain = 0

    @contextmanager
    def one(self, begun: Callable[[], None]) -> Iterator[Callable[[], None]]:
        """One attempt; what is yielded is to be called when its answer begins, and calls ``begun``.

        Who was still at work when time was up bills what it read, and so does who began an answer that was cut off or that a
        proxy spoiled.
        """
        answers = False
        since, ticket = self._clock.seconds(), self._meter.started() if self._meter else 0

        def begins() -> None:
            nonlocal answers
            answers = True
            begun()

        try:
            yield begins
        except ProviderError as error:
            self._last = error
            self.in_vain += answers or error.fault in _BILLED
            raise
        except asyncio.CancelledError:
            self.in_vain += self._clock.seconds() > since
            raise
        finally:
            self.seconds += self._clock.seconds() - since
            if self._meter:
                self.usd += self._meter.ended(ticket)

    def given_up(self, capped: Capped) -> ProviderError:
        """The last error, where a cap forbids another attempt."""
        return ProviderError(self._last.fault, f"{self._last.message} (not tried again: {capped.reason})")

    def bill(self, usage: Usage, in_vain: Usage) -> Usage:
        """The usage of the call with everything that its attempts took: one call, however often it was tried."""
        for _ in range(self.in_vain):
            usage += replace(in_vain, calls=0)
        rent = Usage(seconds=self.seconds, cost_usd=self.usd, paid_usd=self.usd)
        return usage + (replace(rent, estimated_usd=self.usd) if usage.estimated_usd else rent)


_BILLED = frozenset({Fault.TIMEOUT, Fault.UNREADABLE})
"""Faults after which a provider has read the prompt, whatever came of it."""


def _usage(tokens: Tokens, counter: Counter, call: ModelCall) -> Usage:
    price = counter.price(call.model)
    cost = prices.cost(tokens, price)
    guessed = price.estimated or not tokens.known
    return Usage(
        calls=1,
        input_tokens=tokens.input,
        cached_input_tokens=tokens.cached,
        output_tokens=tokens.output,
        cost_usd=cost,
        local_tokens=tokens.input + tokens.output if counter.local else 0,
        paid_usd=cost,
        estimated_usd=cost if guessed else 0.0,
    )


def _recorded(served: Served) -> Recorded:
    if served.completion is not None:
        document, outcome = record.completion(served.completion), served.completion.stop.value
        return Recorded(CallState.ANSWERED, document, served.usage, served.seconds, outcome)
    assert served.error is not None
    return Recorded(CallState.FAILED, record.failure(served.error), served.usage, served.seconds, served.error.fault.value)


def _words(call: ModelCall) -> str:
    return "".join((call.system, call.prefix, call.suffix, record.exchanges(call.exchanges)))


__all__ = ["Capped", "Counter", "Served", "Till"]
