"""ruff over a few files in a folder of their own. It only parses, and reads no configuration: no wall is needed for that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from reviewbot.ports import Ended, Job, Outcome

MOST_SECONDS = 20.0


def program() -> str:
    """The ruff that is run: as ``adapters.sandbox.interpreters`` finds it."""
    places = (sysconfig.get_path("scripts"), str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin")
    found = (path for place in places if (path := Path(place) / "ruff").is_file())
    return str(next(found, Path("ruff")))


def outcomes(jobs: Sequence[Job]) -> Mapping[str, Outcome]:
    """What came of each job, by its name; all are run at once. Jobs that execute something of a change are none for this."""
    ruff, until = program(), time.monotonic() + MOST_SECONDS
    with ExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory(prefix="reviewbot-")) for _ in jobs]
        running = {job.name: _start(job, Path(folder), ruff) for job, folder in zip(jobs, folders, strict=True)}
        try:
            return {name: _end(process, until) for name, process in running.items()}
        finally:
            for process in running.values():
                _stop(process)


def _start(job: Job, folder: Path, ruff: str) -> subprocess.Popen[bytes] | None:
    """The process; ``None`` where it cannot be one."""
    if job.executes or job.tree is not None:
        return None
    for name, data in job.files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    argv = [ruff if word == "{ruff}" else word for word in job.argv]
    environment = {"PATH": os.defpath, "HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}
    try:
        return subprocess.Popen(
            argv,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError:
        return None


def _end(process: subprocess.Popen[bytes] | None, until: float) -> Outcome:
    if process is None:
        return Outcome(Ended.REFUSED, reason="ruff cannot be started")
    try:
        stdout, stderr = process.communicate(timeout=max(until - time.monotonic(), 0.0))
    except subprocess.TimeoutExpired:
        return Outcome(Ended.TIMEOUT, reason="ruff took too long")
    return Outcome(Ended.EXITED, process.returncode, stdout, stderr)


def _stop(process: subprocess.Popen[bytes] | None) -> None:
    if process is None or process.poll() is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
