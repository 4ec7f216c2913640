"""Sandboxes for tests, over one small tree."""

from __future__ import annotations

import os
import subprocess
import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.ports import Job, Outcome
from tests.containers import engine_host


def need_bubblewrap() -> None:
    """Skip the test where the kernel forbids what bubblewrap needs. Asked of bwrap itself: our own use of it may be what broke."""
    try:
        done = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true"], capture_output=True, check=False)
    except OSError as exc:
        pytest.skip(f"bubblewrap is not installed: {exc}")
    if done.returncode:
        pytest.skip(f"bubblewrap cannot run here: {done.stderr.decode(errors='replace')}")


def container_host() -> sandbox.Host:
    """A host that runs containers; the test is skipped where no engine runs."""
    host = engine_host()
    if isinstance(host, str):
        pytest.skip(f"no container engine runs here: {host}")
    return host


def open_room(
    level: str,
    tree: Path,
    *,
    limits: sandbox.Limits | None = None,
    toplevel: Path | None = None,
    base: Path | None = None,
    host: sandbox.Host | None = None,
) -> sandbox.ClosableSandbox:
    """A sandbox whose trees are both ``tree``, or ``base`` and ``tree``; skipped where bubblewrap or containers cannot run."""
    if level == "bubblewrap":
        need_bubblewrap()
    if level == "container":
        engine = container_host()
        host = replace(host or engine, path=engine.path, container=engine.container, engine_variables=engine.engine_variables)
    return sandbox.choose(
        level,
        trees={Side.HEAD: tree, Side.BASE: base or tree}.__getitem__,
        interpreters=sandbox.discover(None),
        limits=limits or sandbox.Limits(),
        toplevel=toplevel,
        host=host or sandbox.Host(),
    )


def shell(room: sandbox.ClosableSandbox, script: str, *, seconds: float = 20.0, **fields: object) -> Outcome:
    """Run a shell script of the change in a copy of the tree."""
    job = Job("script", ("/bin/sh", "-c", script), seconds, executes=True, tree=Side.HEAD)
    return room.run(_with(job, fields))


def python(room: sandbox.ClosableSandbox, program: str, *, seconds: float = 20.0, **fields: object) -> Outcome:
    """Run a Python program of the change in a copy of the tree."""
    job = Job("program", ("{python}", "-c", program), seconds, executes=True, tree=Side.HEAD)
    return room.run(_with(job, fields))


def running(mark: str) -> list[int]:
    """Processes whose command line or environment holds ``mark``, the tests' own left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in words and state != "Z":
                found.append(int(entry.name))
    return found


def wait_until_gone(mark: str) -> list[int]:
    """Who is still running with this mark after a few seconds of grace."""
    deadline = time.monotonic() + 5
    while running(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    return running(mark)


def a_mark() -> str:
    """A number of seconds to sleep that no other test uses."""
    return f"36{uuid.uuid4().int % 10**12:012}.5"


def _with(job: Job, fields: dict[str, object]) -> Job:
    return replace(job, **fields)  # type: ignore[arg-type]
