"""Who computes while we do something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

Given = TypeVar("Given")
Made = TypeVar("Made")


class WorkerLost(Exception):
    """The worker ended, or its time did, before it had a result. The message says which, for people."""


class Worker(Protocol):
    """Computes one thing in a review: in another process where that pays, in this one where it does not."""

    def expect(self, size: int) -> None:
        """There will be work over so many bytes: who needs a while to get ready begins now."""
        ...

    def begin(self, work: Callable[[Given], Made], given: Given) -> Callable[[float], Made]:
        """Begin ``work(given)``, a function of a module and values that can be pickled. What is returned waits for the result,
        so many seconds at most. It raises WorkerLost."""
        ...
