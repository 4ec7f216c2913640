"""A container of docker or podman: what bubblewrap offers, with the programs of an image."""

import json
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from reviewbot.errors import SandboxError
from reviewbot.journal import key_of
from reviewbot.process import run_process
from reviewbot.sandbox.environment import SYSTEM_PATH, Environment
from reviewbot.sandbox.job import PROJECT, Completed, Job, last_line
from reviewbot.sandbox.start import COPY_TREE, Plain, Sandbox, command_of, job_files, variables_of

WALLS = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges", "--user", "1000:1000", "--hostname", "sandbox"),
    *("--log-driver", "none", "--ulimit", "core=0:0", "--pull", "never", "--stop-timeout", "0"),
)
# It would bring in more of the machine than docker does.
PODMAN = ("--read-only-tmpfs=false", "--http-proxy=false", "--systemd=false")
TOOLS = {"{python}": "python3", "{own_python}": "python3", "{own_ruff}": "ruff", "{ruff}": "ruff"}
# The shell stays: signals have no effect on the first process, but on what it waits for.
RUN = f'{COPY_TREE} {{ "$@"; exit $?; }}'
ENGINE_SECONDS = 60.0


class Container(Sandbox):
    """Runs jobs in containers of an image of this machine, and our own ruff beside us."""

    _engine = _id = _path = ""
    _volumes: tuple[str, ...] = ()

    def __init__(self, image: str, environment: Environment) -> None:
        super().__init__(environment)
        self._image = image
        self._plain = Plain(environment, "")

    async def tools(self) -> str:
        await self.check()
        return key_of(self._environment.tools, self._id)

    async def _run(self, job: Job, folder: Path) -> Completed:
        if job.command[0] == "{own_ruff}" and not job.executes:
            return await self._plain.run(job, folder)
        name = f"reviewbot-{secrets.token_hex(8)}"
        with job_files(job, folder) as scratch:
            try:
                # Made before it is started, so that it can be removed whatever becomes of that.
                await self._ask("create", "--name", name, *self._options(job, folder, scratch))
                command = (self._engine, "start", "--attach", name)
                variables = self._environment.engine_variables
                return await self._start(job, command, variables, scratch=scratch)
            except SandboxError as error:
                return Completed(outcome="not_run", reason=f"the sandbox did not start: {error}")
            finally:
                with suppress(SandboxError):  # it was never made
                    await self._ask("rm", "--force", "--volumes", name)

    async def _test(self) -> None:
        """Find the image, and start it once. Raises SandboxError."""
        if not self._image:
            hint = "set sandbox.image to an image of this machine"
            raise SandboxError("no container image is named", hint=hint)
        reasons = []
        places = self._environment.engine_variables.get("PATH", os.defpath)
        for name in ("docker", "podman"):
            self._engine = shutil.which(name, path=places) or name
            try:
                (found,) = json.loads(await self._ask("image", "inspect", self._image))
                config = found.get("Config") or {}
                variables = dict(line.partition("=")[::2] for line in config.get("Env") or ())
                self._path = variables.get("PATH", ":".join(SYSTEM_PATH))
                self._volumes = tuple(config.get("Volumes") or ())
                self._id = found["Id"]
                break
            except (SandboxError, ValueError, KeyError) as error:
                reasons.append(f"{name}: {error}")
        else:
            message = f"there is no container image {self._image!r} here: {'; '.join(reasons)}"
            hint = "build or pull the image that sandbox.image names; reviewbot never pulls"
            raise SandboxError(message, hint=hint)
        job = Job(tree="", command=("true",), executes=True, seconds=20)
        if problem := await self._problem_of(job):
            raise SandboxError(f"{self._image} does not start as a container: {problem}")

    def _options(self, job: Job, folder: Path, scratch: Path) -> list[str]:
        """How a container is made."""
        limits = self._limits
        mounts = {"/tree": folder, "/overlay": scratch / "overlay", "/reviewbot": scratch / "tools"}
        mounts["/etc/hosts"] = scratch / "etc/hosts"
        binds = [f"source={mounts[place]},target={place},readonly" for place in mounts]
        if job.report:
            binds.append(f"source={scratch}/report,target=/out/{job.report}")
        sizes = {PROJECT: limits.tree, "/tmp": limits.temporary}
        sizes |= dict.fromkeys(self._volumes, limits.shared)
        flags = "rw,exec,nosuid,nodev,mode=1777"
        variables = variables_of(job, [self._path], "/tmp", PROJECT, {})
        return [
            *(*WALLS, *(PODMAN if Path(self._engine).name == "podman" else ())),
            *("--memory", str(limits.memory), "--memory-swap", str(limits.memory)),
            *("--pids-limit", str(limits.processes), "--shm-size", str(limits.shared)),
            *("--ulimit", f"fsize={limits.file}:{limits.file}", "--workdir", PROJECT),
            *(w for bind in binds for w in ("--mount", f"type=bind,{bind}")),
            *(w for at in sizes for w in ("--tmpfs", f"{at}:{flags},size={sizes[at]}")),
            # Neither variables of the image nor of the engine's configuration.
            *("--entrypoint", "env", self._image, "-i"),
            *(f"{variable}={value}" for variable, value in variables.items()),
            *("/bin/sh", "-c", RUN, "sh", job.folder or ".", *command_of(job, TOOLS)),
        ]

    async def _ask(self, *arguments: str) -> bytes:
        """Run the client of the engine. Raises SandboxError with what it says."""
        try:
            ended = await run_process(
                (self._engine, *arguments),
                environment=self._environment.engine_variables,
                seconds=ENGINE_SECONDS,
                max_output=self._limits.output,
            )
        except (TimeoutError, OSError) as error:
            reason = str(error) or f"no answer for {ENGINE_SECONDS:.0f} s"
            raise SandboxError(f"{self._engine} does not work: {reason}") from error
        if ended.exit_code:
            raise SandboxError(last_line(ended.stderr) or f"{arguments[0]} failed")
        return ended.stdout
