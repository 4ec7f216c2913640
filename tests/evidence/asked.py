"""A change, its sandbox, and the jobs that a procedure asks it to run."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from reviewbot.adapters.sandbox import ClosableSandbox
from reviewbot.drive import Bench, Deadline
from reviewbot.evidence.view import View
from reviewbot.ports import Job, Outcome
from reviewbot.testing import FakeClock, Watching
from tests.evidence.lab import opened

Files = Mapping[str, str | bytes]
End = TypeVar("End")
Asked = Generator[tuple[Job, ...], tuple[Outcome, ...], End]


@dataclass
class Scene:
    """``jobs`` are those that were run, a list for each time that somebody asked."""

    view: View
    room: ClosableSandbox
    jobs: list[tuple[Job, ...]] = field(default_factory=list)

    def conduct(self, asked: Asked[End]) -> End:
        """What comes of a procedure."""
        bench = Bench(self.room, deadline=Deadline(FakeClock(), 600), observer=Watching(), cores=2)
        return bench.conduct(self._watched(asked))

    def _watched(self, asked: Asked[End]) -> Asked[End]:
        try:
            jobs = next(asked)
            while True:
                self.jobs.append(jobs)
                jobs = asked.send((yield jobs))
        except StopIteration as end:
            value: End = end.value
            return value


def scene(folder: Path, head: Files, base: Files | None = None, *, level: str = "auto") -> Scene:
    """Both versions committed, and nothing run yet."""
    return Scene(*opened(folder, base or {"README": "x"}, head, level=level))
