"""No wall, by explicit choice: for code that its user trusts as much as their own."""

from __future__ import annotations

from reviewbot.adapters.sandbox.plain import Plain
from reviewbot.ports import Job, Outcome


class Unconfined:
    """Runs everything as plain processes: an empty environment, a home of their own and limits, but all files and the
    network within reach."""

    level = "unconfined"
    notes = ("the change was executed without a sandbox, as asked: it could read this user's files and reach the network",)

    def __init__(self, plain: Plain) -> None:
        self._plain = plain

    def run(self, job: Job) -> Outcome:
        """One job."""
        return self._plain.run(job)

    def close(self) -> None:
        """End what runs."""
        self._plain.close()
