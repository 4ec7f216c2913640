"""A limit on what does not end by itself."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TimeUp(KeyboardInterrupt):
    """So much time has passed: leave as an interrupt does, so that nothing is left behind. asyncio, too, passes on a
    KeyboardInterrupt wherever it strikes, and nothing else that is no Exception."""


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raises TimeUp inside, when so much time has passed. For the main thread."""

    def strike(_number: int, _frame: FrameType | None) -> None:
        raise TimeUp

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
