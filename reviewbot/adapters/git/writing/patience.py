"""Signals that wait: while the repository is changed, Ctrl-C is heard between two steps and never inside of one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_HEARD = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """A signal arrived. What it means is decided by its own handler, when everything is as it was."""


@contextmanager
def patience() -> Iterator[Callable[[], None]]:
    """What is called between two steps raises Stopped where a signal arrived. At the end it is raised again, for whoever handled
    it before. In another thread than the main one there is nothing to do: no signal arrives there."""
    heard: list[int] = []

    def stop() -> None:
        if heard:
            raise Stopped

    def hear(number: int, _frame: object) -> None:
        heard.append(number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        taken = (number for number in _HEARD if signal.getsignal(number) not in (signal.SIG_IGN, None))
        before = {number: signal.signal(number, hear) for number in taken}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if heard:
            signal.raise_signal(heard[0])
