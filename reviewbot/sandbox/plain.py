"""No wall at all, for commands that execute nothing of the change."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from msgspec.structs import replace

from reviewbot.sandbox.environment import SYSTEM_PATH, Environment
from reviewbot.sandbox.job import Completed, Job, Limits
from reviewbot.sandbox.start import OWN_PROGRAMS, command_of, job_files, run_command, variables_of


class Plain:
    """Runs commands that only read, on a copy of their files, with an empty environment.

    Args:
        reason: why there is no sandbox, and what to do. Every other job says it.
    """

    def __init__(self, environment: Environment, reason: str, limits: Limits | None = None) -> None:
        self.reason = reason
        self._environment = environment
        self._limits = limits or Limits()

    async def tools(self) -> str:
        return self._environment.tools

    async def check(self) -> None:
        """Nothing can be missing."""

    async def run(self, job: Job, folder: Path) -> Completed:
        if job.executes or job.report:
            return Completed(outcome="not_run", reason=self.reason)
        with job_files(job, folder) as scratch:
            project = scratch.resolve() / "project"
            shutil.copytree(folder, project, symlinks=True)
            shutil.copytree(scratch / "overlay", project, dirs_exist_ok=True)
            words = command_of(job, OWN_PROGRAMS)
            completed = await run_command(
                [re.sub("^/reviewbot/", f"{scratch}/tools/", word) for word in words],
                environment=variables_of(job, SYSTEM_PATH, str(scratch), str(project), {}),
                seconds=job.seconds,
                limits=self._limits,
                folder=project,
            )
        return replace(completed, project=str(project))
