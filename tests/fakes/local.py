"""A machine of the user's that answers at its own pace: loading, reading the prompt, writing, one thing after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.fakes.seen import Pace, Seen, Speed
from tests.fakes.transport import Line

SLICE_SECONDS = 0.02


class Machine:
    """Knows what is loaded, and lets at most ``parallel`` answers be made at once."""

    def __init__(self, speed: Callable[[], Speed], parallel: int | None, counts: str) -> None:
        self._speed = speed
        self._counts = counts
        self._places = asyncio.Semaphore(parallel or 1_000_000)
        self.loaded: dict[str, int | None] = {}

    async def work(self, seen: Seen, line: Line) -> Pace:
        """Take as long as this answer takes; the speed may change in the midst. Raises Left."""
        while self._places.locked():
            line.check()
            await asyncio.sleep(0.002)
        async with self._places:
            load = 0.0
            if self.loaded.get(seen.model, -1) != seen.asked.context:
                load = self._speed().load
                await line.pause(load * self._speed().scale)
                self.loaded[seen.model] = seen.asked.context
            prompt = await self._pass(line, seen.usage.input - seen.usage.cached, lambda: self._speed().prompt)
            output = await self._pass(line, seen.usage.output, lambda: self._speed().output)
            return Pace(load, prompt, output, self._counts)

    async def _pass(self, line: Line, tokens: float, rate: Callable[[], float]) -> float:
        """The machine's seconds for so many tokens at the rate of each moment."""
        spent, due = 0.0, asyncio.get_running_loop().time()
        while tokens > 1e-9:
            now = rate()
            step = min(SLICE_SECONDS, tokens / now)
            tokens, spent, due = tokens - step * now, spent + step, due + step * self._speed().scale
            await line.until(due)
        return spent
