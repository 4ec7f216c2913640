"""A sandbox that knows who is inside: closing it waits until everybody has left, so that their folders can be removed."""

from __future__ import annotations

import threading
from typing import Protocol

from reviewbot.ports import Ended, Job, Outcome, Sandbox

LEAVE_SECONDS = 10.0
"""How long is waited for. A job that is told to end does so at once; a tree that is being exported takes this long at most."""


class ClosableSandbox(Sandbox, Protocol):
    """A sandbox that can be told to end everything, which an interrupted review must."""

    def close(self) -> None:
        """End what runs, in whatever thread, and start nothing more."""
        ...


class Attended:
    """Lets jobs into the sandbox within until it is closed."""

    def __init__(self, within: ClosableSandbox, notes: tuple[str, ...] = ()) -> None:
        self._within = within
        self._door = threading.Condition()
        self._inside = 0
        self._closed = False
        self.level, self.notes = within.level, (*within.notes, *notes)

    def run(self, job: Job) -> Outcome:
        """One job, refused after the door was closed."""
        with self._door:
            if self._closed:
                return Outcome(Ended.REFUSED, reason="the review was interrupted")
            self._inside += 1
        try:
            return self._within.run(job)
        finally:
            with self._door:
                self._inside -= 1
                self._door.notify_all()

    def close(self) -> None:
        """Let nobody in any more, end what runs, and wait until all have left."""
        with self._door:
            self._closed = True
        self._within.close()
        with self._door:
            self._door.wait_for(lambda: not self._inside, LEAVE_SECONDS)
