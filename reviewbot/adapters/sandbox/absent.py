"""No sandbox: nothing of the change is executed."""

from __future__ import annotations

from reviewbot.adapters.sandbox.plain import Plain
from reviewbot.ports import Ended, Job, Outcome


class Absent:
    """Refuses what would execute the change; programs that only parse it run as plain processes."""

    level = "none"

    def __init__(self, plain: Plain, notes: tuple[str, ...]) -> None:
        self._plain = plain
        self.notes = notes

    def run(self, job: Job) -> Outcome:
        """One job, or its refusal."""
        if job.executes:
            return Outcome(Ended.REFUSED, reason="there is no sandbox to run it in")
        return self._plain.run(job)

    def close(self) -> None:
        """End what runs."""
        self._plain.close()
