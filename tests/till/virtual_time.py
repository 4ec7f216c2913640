"""An event loop whose time passes only while everybody waits, and then at once. Hours take milliseconds.

Where nobody is left who could wake anybody, it fails instead of hanging.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


class Deadlock(AssertionError):
    """Everybody waits, and nothing will ever happen."""


class _Skipping(selectors.DefaultSelector):
    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise Deadlock
        self.loop.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop and a Clock in one."""

    def __init__(self) -> None:
        self.now = 1_000.0
        selector = _Skipping()
        super().__init__(selector)
        selector.loop = self

    def time(self) -> float:
        return self.now

    seconds = time


class LoopClock:
    """The clock of the loop that runs."""

    def seconds(self) -> float:
        return asyncio.get_running_loop().time()


def run(awaitable: Awaitable[T]) -> T:
    """Run to the end in virtual time."""

    async def main() -> T:
        return await awaitable

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())


async def main_in_real_time(main: Callable[[], Awaitable[None]]) -> None:
    """As it is: for what threads do. Twenty seconds at most."""
    async with asyncio.timeout(20):
        await main()
