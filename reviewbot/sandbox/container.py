"""A container of docker or podman: what bubblewrap offers, with the programs of an image."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from reviewbot.errors import SandboxError
from reviewbot.journal import key_of
from reviewbot.process import run_process
from reviewbot.sandbox.environment import SYSTEM_PATH, Environment, is_in_tree
from reviewbot.sandbox.job import PROJECT, Completed, Job, Limits
from reviewbot.sandbox.plain import Plain
from reviewbot.sandbox.start import (
    COPY_TREE,
    after_start,
    command_of,
    job_files,
    let_others_read,
    read_report,
    run_command,
    variables_of,
)
from reviewbot.sandbox.watch import memory_reason

WALLS = (
    *("--network", "none", "--read-only", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges", "--user", "1000:1000", "--hostname", "sandbox"),
    *("--log-driver", "none", "--ulimit", "core=0:0", "--pull", "never"),
)
# It would bring in more of the machine than docker does.
PODMAN = ("--read-only-tmpfs=false", "--http-proxy=false", "--systemd=false")
# Writes a word when the command has ended: the kernel kills without one.
RUN = f'{COPY_TREE} {{ "$@"; code=$?; echo ended >/out/.status; exit $code; }}'
ENGINE_SECONDS = 60.0


class Container:
    """Runs jobs in containers of an image that is on this machine. It is never pulled.

    Commands of reviewbot's own ruff run beside us, without a container. Tested with a program that
    takes the place of docker, checks its arguments and runs the command; no engine was at hand.
    """

    reason = ""

    def __init__(self, image: str, environment: Environment, limits: Limits | None = None) -> None:
        self._image = image
        self._environment = environment
        self._limits = limits or Limits()
        self._plain = Plain(environment, "", limits)
        self._engine = ""
        self._id = ""
        self._path = ""
        self._volumes: tuple[str, ...] = ()
        self._error: SandboxError | None = None
        self._lock = asyncio.Lock()

    async def tools(self) -> str:
        await self.check()
        return key_of(self._environment.tools, self._id)

    async def check(self) -> None:
        async with self._lock:
            if not self._id and not self._error:
                try:
                    await self._find_image()
                except SandboxError as error:
                    self._error = error
        if self._error:
            raise self._error

    async def run(self, job: Job, folder: Path) -> Completed:
        await self.check()
        if job.command[0] == "{own_ruff}" and not job.executes:
            return await self._plain.run(job, folder)
        name = f"reviewbot-{secrets.token_hex(8)}"
        with job_files(job, folder.parent) as scratch:
            let_others_read(folder)
            (scratch / "status").touch()
            (scratch / "status").chmod(0o666)
            try:
                await self._ask("create", "--name", name, *self._options(job, folder, scratch))
                completed = await self._start(name, job)
                if completed.outcome == "ended" and completed.exit_code == 128 + 9:
                    completed = await self._explain(name, scratch, completed)
            except SandboxError as error:
                return Completed(outcome="not_run", reason=f"the sandbox did not start: {error}")
            finally:
                await self._remove(name)
            report = read_report(scratch / "report", self._limits.report)
        return replace(after_start(completed), report=report)

    async def _find_image(self) -> None:
        reasons = []
        places = f"{self._environment.engine_variables.get('PATH', '')}:{os.defpath}:/usr/local/bin"
        for name in ("docker", "podman") if self._image else ():
            self._engine = shutil.which(name, path=places) or ""
            if not self._engine:
                reasons.append(f"{name} is not installed")
                continue
            try:
                text = await self._ask("image", "inspect", self._image)
                (found,) = json.loads(text)
                config = found.get("Config") or {}
                variables = dict(line.partition("=")[::2] for line in config.get("Env") or ())
                self._path = variables.get("PATH", ":".join(SYSTEM_PATH))
                self._volumes = tuple(config.get("Volumes") or ())
                self._id = found["Id"]
            except SandboxError as error:
                reasons.append(f"{name}: {error}")
            except (ValueError, KeyError):
                reasons.append(f"{name} describes the image in a way that cannot be read")
            else:
                return
        message = f"there is no container image {self._image!r} here: {'; '.join(reasons)}"
        hint = "build or pull the image that sandbox.image names; reviewbot never pulls"
        raise SandboxError(message, hint=hint)

    async def _start(self, name: str, job: Job) -> Completed:
        """Run a container to its end. If that does not come, the container goes before its client.

        A client that is killed while it starts a container leaves it running.
        """
        client = asyncio.create_task(
            run_command(
                (self._engine, "start", "--attach", name),
                environment=self._environment.engine_variables,
                seconds=self._limits.seconds + ENGINE_SECONDS,
                limits=self._limits,
            )
        )
        seconds = min(job.seconds, self._limits.seconds)
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(client)
        except TimeoutError:
            reason = f"took longer than {seconds:.0f} s"
            return Completed(outcome="stopped", reason=reason, seconds=seconds)
        finally:
            if not client.done():
                await self._remove(name)
            client.cancel()
            await asyncio.gather(client, return_exceptions=True)

    async def _remove(self, name: str) -> None:
        with suppress(SandboxError):  # it is gone already, or was never made
            await self._ask("rm", "--force", "--volumes", name)

    async def _explain(self, name: str, scratch: Path, completed: Completed) -> Completed:
        """Why a command was killed: the engine counts what the kernel killed for want of memory."""
        has_ended = read_report(scratch / "status", 100) is not None
        answer = await self._ask("inspect", "--format", "{{.State.OOMKilled}}", name)
        if has_ended and answer.strip() != b"true":
            return completed
        reason = memory_reason(self._limits)
        return replace(completed, outcome="stopped", reason=reason, exit_code=None)

    def _options(self, job: Job, folder: Path, scratch: Path) -> list[str]:
        """How a container is made."""
        limits = self._limits
        mounts = {
            "/tree": (folder, "readonly"),
            "/overlay": (scratch / "overlay", "readonly"),
            "/reviewbot": (scratch / "tools", "readonly"),
            "/etc/hosts": (scratch / "etc/hosts", "readonly"),
            "/out/.status": (scratch / "status", ""),
        }
        if job.report:
            mounts[f"/out/{job.report}"] = (scratch / "report", "")
        sizes = {PROJECT: limits.tree, "/tmp": limits.temporary}
        sizes |= dict.fromkeys(self._volumes, limits.shared)
        for mount in self._environment.mounts:  # packages do not depend on this machine's programs
            is_packages = Path(mount.name_in_tree).name == "node_modules"
            if is_packages and mount.source and not is_in_tree(mount.name_in_tree, folder):
                mounts[f"{PROJECT}/{mount.name_in_tree}"] = (Path(mount.source), "readonly")
        path = (f"{PROJECT}/node_modules/.bin", self._path)
        variables = variables_of(job, path, "/tmp", PROJECT, {})
        return [
            *(*WALLS, *(PODMAN if Path(self._engine).name == "podman" else ())),
            *("--memory", str(limits.memory), "--memory-swap", str(limits.memory)),
            *("--pids-limit", str(limits.processes), "--shm-size", str(limits.shared)),
            *("--ulimit", f"fsize={limits.file}:{limits.file}", "--workdir", PROJECT),
            *(w for place, size in sizes.items() for w in ("--tmpfs", _tmpfs(place, size))),
            *(w for place, mount in mounts.items() for w in ("--mount", _bind(place, *mount))),
            # Neither variables of the image nor of the engine's configuration.
            *("--entrypoint", "env", self._image, "-i"),
            *(f"{variable}={value}" for variable, value in variables.items()),
            *("/bin/sh", "-c", RUN, "sh"),
            *command_of(job, python="python3", own_python="python3", own_ruff="ruff"),
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
        except TimeoutError:
            raise SandboxError(f"{self._engine} does not answer") from None
        except OSError as error:
            raise SandboxError(f"{self._engine} cannot start: {error.strerror}") from error
        if ended.exit_code:
            text = ended.stderr.decode(errors="replace").strip()
            raise SandboxError(text.rpartition("\n")[2] or f"{arguments[0]} failed")
        return ended.stdout


def _tmpfs(place: str, size: int) -> str:
    return f"{place}:rw,exec,nosuid,nodev,mode=1777,size={size}"


def _bind(place: str, source: Path, *flags: str) -> str:
    """Fields between commas, quoted as in a CSV file."""
    fields = ("type=bind", f"source={source}", f"target={place}", *filter(None, flags))
    return ",".join(
        '"' + field.replace('"', '""') + '"' if {",", '"'} & set(field) else field
        for field in fields
    )
