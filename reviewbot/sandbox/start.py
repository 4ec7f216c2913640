"""What every sandbox does with a job: its files, its words, its end."""

import asyncio
import errno
import os
import re
import shutil
import stat
import sys
import sysconfig
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from msgspec.structs import asdict, replace
from ruff import find_ruff_bin

from reviewbot.errors import SandboxError
from reviewbot.process import LimitExceeded, run_process
from reviewbot.sandbox.environment import SYSTEM_PATH, Environment
from reviewbot.sandbox.job import COMMAND_NOT_FOUND, KILLED, Completed, Job, Limits, last_line

# Programs look up their own user and localhost, git also who commits, and who owns the folder.
ETC = {
    "gitconfig": "[user]\n\tname = user\n\temail = user@sandbox\n[safe]\n\tdirectory = *\n",
    "passwd": "user:x:1000:1000::/tmp:/bin/sh\nroot:x:0:0::/root:/bin/sh\n",
    "group": "user:x:1000:\nroot:x:0:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
}
OWN_PACKAGES = sysconfig.get_path("purelib")
# Those that are seen there: coverage, and pytest and hypothesis with what these import.
LENT_PACKAGES = (
    *("coverage", "pytest", "_pytest", "py.py", "iniconfig", "packaging", "pluggy", "pygments"),
    *("hypothesis", "_hypothesis_globals.py", "sortedcontainers"),
)
OWN_PROGRAMS = {
    **dict.fromkeys(("{python}", "{own_python}"), sys.executable),
    **dict.fromkeys(("{own_ruff}", "{ruff}"), find_ruff_bin()),
}
# Says on the way that the sandbox is ready; the rest is the command's own output.
STARTED = b"reviewbot: started\n"
# The first argument is the folder of the job, which one side of a change may not have.
COPY_TREE = (
    'cp -R /tree/. /overlay/. . && mkdir -p -- "$1" && cd -- "$1" && shift'
    ' && printf "reviewbot: started\\n" >&2 && '
)


class Sandbox(ABC):
    """A wall around commands, tested before the first job; `reason` says why there is none."""

    reason = ""

    def __init__(self, environment: Environment, limits: Limits | None = None) -> None:
        self._environment = environment
        self._limits = limits or Limits()
        self._tested: asyncio.Future[None] | None = None

    async def tools(self) -> str:
        """A hash that changes with the versions of the tools that jobs use."""
        return self._environment.tools

    async def check(self) -> None:
        """Raises SandboxError if it cannot start here."""
        if self._tested is None:
            self._tested = asyncio.ensure_future(self._test())
        await asyncio.shield(self._tested)

    async def run(self, job: Job, folder: Path) -> Completed:
        """Run a job on a laid out tree, which stays as it is. Raises SandboxError like `check`."""
        await self.check()
        return await self._run(job, folder)

    async def _problem_of(self, job: Job) -> str:
        """Why a job on an empty tree does not succeed; "" if it does."""
        with TemporaryDirectory(prefix="reviewbot-") as scratch:
            folder = Path(scratch, "tree")
            folder.mkdir()
            completed = await self._run(job, folder)
        return "" if completed.exit_code == 0 else completed.reason or last_line(completed.stderr)

    @abstractmethod
    async def _test(self) -> None:
        """Raises SandboxError if it cannot start here."""

    @abstractmethod
    async def _run(self, job: Job, folder: Path) -> Completed:
        """Run a job after the test."""

    async def _start(
        self,
        job: Job,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        scratch: Path | None = None,
        folder: Path | None = None,
        watch: Callable[[int], None] | None = None,
    ) -> Completed:
        """Run a command within the limits; behind a wall, `scratch` has its files and report."""
        started = time.monotonic()
        seconds = min(job.seconds, self._limits.seconds)
        try:
            ended = await run_process(
                command,
                environment=environment,
                seconds=seconds,
                max_output=self._limits.output,
                max_flood=16 * self._limits.output,
                folder=folder,
                watch=watch,
            )
            completed = Completed(outcome="ended", **asdict(ended))
        except (TimeoutError, LimitExceeded) as error:
            reason = str(error) or f"took longer than {seconds:.0f} s"
            completed = Completed(outcome="stopped", reason=reason)
        except OSError as error:
            hint = ": review a part at a time (-- FOLDER)" if error.errno == errno.E2BIG else ""
            reason = f"it did not start: {error.strerror}{hint}"
            completed = Completed(outcome="not_run", reason=reason)
        completed = replace(completed, seconds=round(time.monotonic() - started, 2))
        if scratch is None:
            return completed
        report, said, code = self._report_in(scratch), completed.stderr, completed.exit_code
        if completed.outcome == "ended" and not said.startswith(STARTED):
            reason = f"the sandbox did not start: {last_line(said) or f'exit code {code}'}"
            return Completed(outcome="not_run", reason=reason, report=report)
        if code == COMMAND_NOT_FOUND:
            reason = "not installed"
            return Completed(outcome="not_run", reason=reason, exit_code=code, report=report)
        completed = replace(completed, report=report, stderr=said.removeprefix(STARTED))
        if code in KILLED:
            reason = "was killed: perhaps memory ran out"
            return replace(completed, outcome="stopped", reason=reason, exit_code=None)
        return completed

    def _report_in(self, scratch: Path) -> bytes | None:
        """What a job wrote into its report, as much as it may; None if it is no regular file."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        with suppress(OSError), os.fdopen(os.open(scratch / "report", flags), "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return file.read(self._limits.report) or None
        return None


class Plain(Sandbox):
    """No wall: commands that only read, on a copy of their files. Other jobs say the `reason`."""

    def __init__(self, environment: Environment, reason: str) -> None:
        super().__init__(environment)
        self.reason = reason

    async def _test(self) -> None:
        """Nothing can be missing."""

    async def _run(self, job: Job, folder: Path) -> Completed:
        if job.executes or job.report:
            return Completed(outcome="not_run", reason=self.reason)
        with job_files(job, folder) as scratch:
            project = scratch.resolve() / "project"
            shutil.copytree(folder, project, symlinks=True)
            shutil.copytree(scratch / "overlay", project, dirs_exist_ok=True)
            words = command_of(job, OWN_PROGRAMS)
            completed = await self._start(
                job,
                [re.sub("^/reviewbot/", f"{scratch}/tools/", word) for word in words],
                variables_of(job, SYSTEM_PATH, str(scratch), str(project), {}),
                folder=project / job.folder,
            )
        return replace(completed, project=str(project))


@contextmanager
def job_files(job: Job, tree: Path) -> Iterator[Path]:
    """A folder with `overlay` for the extra files, `tools`, `etc`, and an empty file `report`.

    Other users may read them and the laid out tree, and write the report, if they may enter the
    folder of the tree. Raises SandboxError if the name of a file leads out of its folder.
    """
    _let_others_read(tree)
    with TemporaryDirectory(prefix="job-", dir=tree.parent) as name:
        scratch = Path(name)
        parts = {"overlay": job.extra_files, "tools": job.tool_files, "etc": ETC}
        for part, texts in parts.items():
            (scratch / part).mkdir()
            for path, text in texts.items():
                if path.startswith("/") or ".." in PurePosixPath(path).parts:
                    raise SandboxError(f"a job has a file outside of its tree: {path!r}")
                (scratch / part / path).parent.mkdir(parents=True, exist_ok=True)
                (scratch / part / path).write_bytes(text.encode(errors="replace"))
            _let_others_read(scratch / part)
        (scratch / "report").touch()
        (scratch / "report").chmod(0o666)
        yield scratch


def command_of(job: Job, programs: Mapping[str, str]) -> list[str]:
    return [programs.get(job.command[0], job.command[0]), *job.command[1:]]


def variables_of(
    job: Job, path: Sequence[str], home: str, project: str, others: Mapping[str, str]
) -> dict[str, str]:
    """All variables of a job; it inherits none."""
    folder = str(PurePosixPath(project, job.folder))
    return {
        "PATH": ":".join(path),
        "HOME": home,
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "REVIEWBOT_SECONDS": f"{job.seconds:.0f}",  # that it has
        **others,
        **{
            name: text.replace("{project}", folder).replace("{own_packages}", OWN_PACKAGES)
            for name, text in job.environment.items()
        },
    }


def _let_others_read(folder: Path) -> None:
    """Give other users access to a folder that was written under a strict umask."""
    if folder.stat().st_mode & 0o005 == 0o005:
        return
    for place, _, names in os.walk(folder):
        Path(place).chmod(0o755)
        for path in (Path(place, name) for name in names):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
