"""Choose the sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from reviewbot.config.settings import SandboxKind
from reviewbot.errors import SandboxError
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.container import Container
from reviewbot.sandbox.environment import Environment
from reviewbot.sandbox.job import Completed, Job, Limits, Sandbox
from reviewbot.sandbox.plain import Plain


def open_sandbox(
    kind: SandboxKind, image: str, environment: Environment, limits: Limits | None = None
) -> Sandbox:
    """The sandbox that settings ask for. It starts with the first job.

    Args:
        kind: "auto" is bubblewrap, else a container if there is an image, else none.
        image: a container image of this machine.
    """
    match kind:
        case "bubblewrap":
            return Bubblewrap(environment, limits)
        case "container":
            return Container(image, environment, limits)
        case "none":
            return Plain(environment, "no sandbox: --sandbox none", limits)
        case "auto":
            containers = [Container(image, environment, limits)] if image else []
            return FirstThatStarts([Bubblewrap(environment, limits), *containers], environment)


class FirstThatStarts:
    """The first sandbox of several that starts here, or else none, for the reason of each."""

    def __init__(self, sandboxes: Sequence[Sandbox], environment: Environment) -> None:
        self._sandboxes = sandboxes
        self._environment = environment
        self._chosen: Sandbox | None = None
        self._lock = asyncio.Lock()

    @property
    def reason(self) -> str:
        return self._chosen.reason if self._chosen else ""

    async def tools(self) -> str:
        if len(self._sandboxes) == 1:  # the tools of this machine, whether it starts or not
            return self._environment.tools
        return await (await self._choose()).tools()

    async def check(self) -> None:
        await (await self._choose()).check()

    async def run(self, job: Job, folder: Path) -> Completed:
        return await (await self._choose()).run(job, folder)

    async def _choose(self) -> Sandbox:
        reasons = []
        async with self._lock:
            for sandbox in () if self._chosen else self._sandboxes:
                try:
                    await sandbox.check()
                    self._chosen = sandbox
                    break
                except SandboxError as error:
                    reasons.append(f"{error}: {error.hint}" if error.hint else str(error))
            if self._chosen is None:
                self._chosen = Plain(self._environment, "; ".join(reasons))
            return self._chosen
