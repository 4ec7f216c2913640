"""Sandboxes for tests, over one small tree."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.ports import Job, Outcome


def need_bubblewrap() -> None:
    """Skip the test where the kernel forbids what bubblewrap needs. Asked of bwrap itself: our own use of it may be what broke."""
    try:
        done = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "/bin/true"], capture_output=True, check=False)
    except OSError as exc:
        pytest.skip(f"bubblewrap is not installed: {exc}")
    if done.returncode:
        pytest.skip(f"bubblewrap cannot run here: {done.stderr.decode(errors='replace')}")


def open_room(
    level: str, tree: Path, *, limits: sandbox.Limits | None = None, toplevel: Path | None = None
) -> sandbox.ClosableSandbox:
    """A sandbox whose trees are both ``tree``; the test is skipped where bubblewrap cannot run."""
    if level == "bubblewrap":
        need_bubblewrap()
    return sandbox.choose(
        level,
        trees=lambda _: tree,
        interpreters=sandbox.discover(None),
        limits=limits or sandbox.Limits(),
        toplevel=toplevel,
    )


def shell(room: sandbox.ClosableSandbox, script: str, *, seconds: float = 20.0, **fields: object) -> Outcome:
    """Run a shell script of the change in a copy of the tree."""
    job = Job("script", ("/bin/sh", "-c", script), seconds, executes=True, tree=Side.HEAD)
    return room.run(_with(job, fields))


def python(room: sandbox.ClosableSandbox, program: str, *, seconds: float = 20.0, **fields: object) -> Outcome:
    """Run a Python program of the change in a copy of the tree."""
    job = Job("program", ("{python}", "-c", program), seconds, executes=True, tree=Side.HEAD)
    return room.run(_with(job, fields))


def _with(job: Job, fields: dict[str, object]) -> Job:
    return replace(job, **fields)  # type: ignore[arg-type]
