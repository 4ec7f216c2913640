"""A till with everything around it, in virtual time: a ledger in memory, a model that answers as told, limits as configured."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from reviewbot.adapters.till import record
from reviewbot.adapters.till.breaker import Breaker
from reviewbot.adapters.till.budget import Budget
from reviewbot.adapters.till.limits import Gate, Limits, in_flight
from reviewbot.adapters.till.prices import Meter, Price
from reviewbot.adapters.till.retry import Retries, RetryPolicy
from reviewbot.adapters.till.till import Counter, Opened, Served, Till
from reviewbot.adapters.till.warmth import Warmth
from reviewbot.domain.money import Usage
from reviewbot.ports import CallState, Completion, ModelCall, ProviderError, Recorded, Stop, Tokens, Wanted
from tests.till.virtual_time import LoopClock, VirtualLoop

T = TypeVar("T")
LONG = "the change\n" * 500
"""A prefix that is worth a cache."""

CALL = ModelCall(
    model="m",
    system="You review code.",
    prefix=LONG,
    suffix="What is wrong?",
    schema={"type": "object"},
    schema_name="claims",
    max_output_tokens=1_000,
    timeout_seconds=100.0,
    cache_key="P1",
)
PRICE = Price("one:m", 1.0, 0.1, 1.25, 10.0)
"""Dollars per million tokens."""

ANSWER = Completion(Stop.END, text='{"claims":[]}', tokens=Tokens(input=2_000, cached=500, output=100))


class Ledger:
    """Calls, kept in memory. ``deeds`` tells what was done, in order; ``deaf`` cannot write an outcome."""

    def __init__(self, kept: dict[str, Recorded] | None = None, *, deaf: bool = False) -> None:
        self.kept = dict(kept or {})
        self.held: set[str] = set()
        self.deeds: list[str] = []
        self.wanted: list[Wanted] = []
        self._deaf = deaf

    def claim(self, wanted: Wanted) -> Recorded | None:
        self.deeds.append("claim")
        self.wanted.append(wanted)
        if wanted.key in self.kept:
            return self.kept[wanted.key]
        assert wanted.key not in self.held, "another thread would wait"
        self.held.add(wanted.key)
        return None

    def settle(self, wanted: Wanted, recorded: Recorded) -> None:
        self.deeds.append(f"settle {recorded.outcome}")
        if self._deaf:
            raise OSError("the disk is full")
        assert wanted.key in self.held, "only what is claimed"
        self.held.discard(wanted.key)
        self.kept[wanted.key] = recorded

    def release(self, wanted: Wanted) -> None:
        self.deeds.append("release")
        self.held.discard(wanted.key)


Said = Completion | ProviderError | Callable[[ModelCall], Completion]


class Model:
    """A provider. It answers after ``seconds``, and begins to after ``begins``; ``script`` holds what it says first."""

    def __init__(self, *script: Said, seconds: float = 1.0, begins: float | None = None) -> None:
        self.script = list(script)
        self.seconds = seconds
        self.begins = seconds if begins is None else begins
        self.calls: list[ModelCall] = []
        self.started: list[float] = []
        self.inside = self.most_inside = 0
        self.closed = 0

    async def complete(self, call: ModelCall, begun: Callable[[], None]) -> Completion:
        self.calls.append(call)
        self.started.append(round(LoopClock().seconds() - 1_000, 3))
        said: Said = self.script.pop(0) if self.script else ANSWER
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            await asyncio.sleep(self.begins)
            if not isinstance(said, ProviderError):
                begun()
            await asyncio.sleep(self.seconds - self.begins)
        finally:
            self.inside -= 1
        if isinstance(said, ProviderError):
            raise said
        return said if isinstance(said, Completion) else said(call)

    async def models(self) -> tuple[str, ...]:
        return ()

    async def close(self) -> None:
        self.closed += 1


@dataclass
class Shop:
    """Everything that a call passes. Made inside the loop that it works in."""

    model: Model = field(default_factory=Model)
    ledger: Ledger = field(default_factory=Ledger)
    limits: Limits = Limits()
    warms: bool = False
    usd_per_hour: float | None = None
    local: bool = False
    price: Price = PRICE
    attempts: int = 1
    cost_usd: float | None = 10.0
    tokens: int | None = None

    def __post_init__(self) -> None:
        clock = LoopClock()
        self.shared = in_flight()
        self.budget = Budget(cost_usd=self.cost_usd, tokens=self.tokens)
        self.till = Till(self.ledger, self.budget, clock)
        self.counter = self.another("one", self.model)

    def another(self, name: str, model: Model) -> Counter:
        """The counter of another provider in the same run."""
        clock = LoopClock()
        opened = Opened(lambda: model)
        opened.begin().result(timeout=10)
        return Counter(
            name=name,
            opened=opened,
            gate=Gate(self.limits, clock=clock, sleep=asyncio.sleep, shared=self.shared),
            breaker=Breaker(name, clock=clock),
            retries=Retries(RetryPolicy(attempts=self.attempts), clock=clock, sleep=asyncio.sleep, random=lambda: 0.0),
            warmth=Warmth() if self.warms else None,
            local=self.local,
            meter=Meter(self.usd_per_hour, clock) if self.usd_per_hour else None,
            price=lambda model: self.price,
        )

    async def serve(self, counter: Counter | None = None, **changes: Any) -> Served:
        """One call, ``CALL`` but for ``changes``."""
        call = replace(CALL, **changes)
        return await self.till.serve(counter or self.counter, call, wanted(call))


def wanted(call: ModelCall, seat: str = "critic") -> Wanted:
    """The call as the ledger knows it."""
    return Wanted(
        key=record.key(call, model=f"one:{call.model}", seat=seat, attempt=1),
        model=f"one:{call.model}",
        seat=seat,
        phase="S1",
        subject="P1",
        round=1,
        attempt=1,
        step=0,
        system=call.system,
        prefix=call.prefix,
        suffix=call.suffix,
        exchanges="",
        parameters="{}",
    )


def answered(usd: float = 0.5, *, tokens: int = 300, seconds: float = 3.0, completion: Completion = ANSWER) -> Recorded:
    """What an earlier run paid for."""
    usage = Usage(calls=1, input_tokens=tokens - 100, output_tokens=100, cost_usd=usd, paid_usd=usd, seconds=seconds)
    return Recorded(CallState.ANSWERED, record.completion(completion), usage, seconds, completion.stop.value)


class _Threadless(VirtualLoop):
    """What is given to a thread is done at once: virtual time does not wait for threads."""

    def run_in_executor(self, executor: object, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]  # a plain Future will do
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except OSError as exc:
            done.set_exception(exc)
        return done


def run(awaitable: Awaitable[T]) -> T:
    """Run to the end in virtual time, without threads."""

    async def main() -> T:
        return await awaitable

    with asyncio.Runner(loop_factory=_Threadless) as runner:
        return runner.run(main())
