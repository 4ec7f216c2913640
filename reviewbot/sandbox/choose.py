"""Choose the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from reviewbot.config.settings import SandboxKind
from reviewbot.errors import SandboxError
from reviewbot.sandbox.bubblewrap import Bubblewrap
from reviewbot.sandbox.container import Container
from reviewbot.sandbox.environment import Environment
from reviewbot.sandbox.job import Completed, Job
from reviewbot.sandbox.start import Plain, Sandbox


def open_sandbox(kind: SandboxKind, image: str, environment: Environment) -> Sandbox:
    """The sandbox that settings ask for. It starts with the first job.

    "auto" is bubblewrap, else a container if there is an image, else none.
    """
    bubblewrap, container = Bubblewrap(environment), Container(image, environment)
    match kind:
        case "bubblewrap":
            return bubblewrap
        case "container":
            return container
        case "none":
            return Plain(environment, "no sandbox: --sandbox none")
        case "auto":
            both = [bubblewrap, container] if image else [bubblewrap]
            return FirstThatStarts(both, environment)


class FirstThatStarts(Sandbox):
    """The first sandbox of several that starts here, or else none, for the reason of each."""

    def __init__(self, sandboxes: Sequence[Sandbox], environment: Environment) -> None:
        super().__init__(environment)
        self._sandboxes = sandboxes

    async def tools(self) -> str:
        if len(self._sandboxes) == 1:  # the tools of this machine, whether it starts or not
            return self._environment.tools
        await self.check()
        return await self._chosen.tools()

    async def _run(self, job: Job, folder: Path) -> Completed:
        return await self._chosen.run(job, folder)

    async def _test(self) -> None:
        reasons = []
        for sandbox in self._sandboxes:
            try:
                await sandbox.check()
            except SandboxError as error:
                reasons.append(f"{error}: {error.hint}")
            else:
                self._chosen = sandbox
                return
        self.reason = "; ".join(reasons)
        self._chosen = Plain(self._environment, self.reason)
