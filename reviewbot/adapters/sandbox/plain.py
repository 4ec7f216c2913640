"""A process beside us, with an empty environment and limits, but without a wall."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from reviewbot.adapters.sandbox import words
from reviewbot.adapters.sandbox.interpreters import Interpreters
from reviewbot.adapters.sandbox.limits import Limits
from reviewbot.adapters.sandbox.process import Command, Supervisor
from reviewbot.adapters.sandbox.scratch import Unlayable, collected, scratch
from reviewbot.domain.evidence import Side
from reviewbot.ports import Ended, Job, Outcome

PROBES = Path(__file__).resolve().parents[2] / "probes"


class Plain:
    """Runs jobs as plain processes. Whoever calls decides which."""

    def __init__(self, *, trees: Callable[[Side], Path], interpreters: Interpreters, limits: Limits) -> None:
        self._trees = trees
        self._interpreters = interpreters
        self._limits = limits
        self._supervisor = Supervisor(limits)

    def run(self, job: Job) -> Outcome:
        """One job; it works on a copy of its tree."""
        try:
            with scratch(job) as folder:
                return self._run(job, folder)
        except Unlayable as exc:
            return Outcome(Ended.REFUSED, reason=str(exc))

    def close(self) -> None:
        """End what runs."""
        self._supervisor.close()

    def _run(self, job: Job, folder: Path) -> Outcome:
        home = folder / "home"
        home.mkdir()
        tree = self._copy(job, folder) if job.tree else None
        known = {
            "python": str(self._interpreters.for_tests),
            "own_python": str(self._interpreters.own),
            "ruff": str(self._interpreters.ruff),
            "scratch": str(folder / "files"),
            "tree": str(tree or folder / "files"),
            "probes": str(PROBES),
        }
        limits = self._limits.prlimit()
        prefix = limits if Path(limits[0]).exists() else ()
        mark = f"REVIEWBOT_JOB={folder.name}"
        command = Command(
            (*prefix, *words.argv(job, known)),
            words.environment(job, known, home=str(home)) | {"REVIEWBOT_JOB": folder.name},
            tree or folder / "files",
            job.stdin,
            job.timeout_seconds,
            mark,
        )
        outcome = self._supervisor.run(command)
        return replace(outcome, collected=collected(folder, job.collect, self._limits.output_bytes))

    def _copy(self, job: Job, folder: Path) -> Path:
        tree = folder / "tree"
        shutil.copytree(self._trees(job.tree or Side.HEAD), tree, symlinks=True)
        for name, data in job.overlay:
            target = tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_symlink():
                target.unlink()
            target.write_bytes(data)
        return tree
