"""Equal jobs of all tests of a run, those of another worker too, run once in the real sandbox."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from reviewbot.journal import Journal, key_of
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.job import Completed, Job
from reviewbot.sandbox.start import Plain, Sandbox

ROOMY = 2 << 30


def temporary_folder() -> str:
    """One in memory, if there is room and programs may run there, or else the usual one."""
    memory = "/dev/shm"
    try:
        found = os.statvfs(memory)
    except OSError:
        return tempfile.gettempdir()
    is_roomy = found.f_bavail * found.f_frsize >= ROOMY and not found.f_flag & os.ST_NOEXEC
    return memory if is_roomy and os.access(memory, os.W_OK) else tempfile.gettempdir()


def run_jobs_once(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Below everything that reviews decide: each has a journal of its own, as in earnest.

    Args:
        folder: where the results are, the same for all workers of a run.
    """
    results = Journal(folder)
    run, test = Sandbox.run, Bubblewrap._test

    async def run_once(self: Sandbox, job: Job, tree: Path) -> Completed:
        if not job.tree or type(self) not in (Bubblewrap, Plain):
            return await run(self, job, tree)
        # Each test has a folder of its own, and a result says which. What is lent of it differs.
        here = self._environment
        path = tuple(name.removeprefix(here.project) for name in here.path)
        environment = replace(here, project="", path=path, engine_variables={})
        timeless = replace(job, seconds=0)
        key = key_of(type(self).__name__, timeless, environment, self._limits, self.reason)
        found = results.get(key, Completed)
        if found is None or found.seconds >= job.seconds:
            await self.check()
            found = await run(self, job, tree)
            if found.outcome == "ended":
                results.put(key, found)
        return found

    patch.setattr(Sandbox, "run", run_once)
    patch.setattr(Bubblewrap, "_test", _tested_once(test))


@cache
def _tested_once(test: Callable[[Bubblewrap], Awaitable[None]]) -> object:
    """The sandbox tests itself before its first job: it works for all that a process makes."""
    found: list[tuple[str, bool]] = []

    async def test_once(self: Bubblewrap) -> None:
        if not found:
            await test(self)
            found.append((self._program, self._is_root))
        self._program, self._is_root = found[0]

    return test_once
