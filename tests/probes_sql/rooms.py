"""The SQL probe in its sandbox, over files that a test lays out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers import migration
from reviewbot.ports import Job, Outcome
from tests.sandboxes import open_room

PROBE = ("{own_python}", "-I", "{probes}/reviewbot_postgres.py")
REPORT = "report.jsonl"
LOOK = """
import os, sys
def running():
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{name}/cmdline", "rb").read()
            state = open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if b"postgres" in words.split(b"\\0")[0] and state != "Z":
            found.append(words)
    return found
def left():
    return running(), [name for name in os.listdir("/tmp") if name.startswith("rb")]
"""
"""A program's beginning: ``left()`` are the processes and folders of clusters that are still there."""


def need_postgres() -> None:
    """Skip the test where PostgreSQL is not installed."""
    if not shutil.which("initdb") and not any(Path("/usr").glob("lib/postgresql/*/bin/initdb")):
        pytest.skip("PostgreSQL is not installed")


def room_over(tree: Path) -> sandbox.ClosableSandbox:
    """A sandbox over a tree; the test is skipped where it or PostgreSQL is not to be had."""
    need_postgres()
    return open_room("bubblewrap", tree)


def check(room: sandbox.ClosableSandbox, sql: str, *words: str, **files: str) -> Outcome:
    """Run SQL as a check; ``files`` are laid beside it, ``__`` in a name being a folder."""
    laid = {"check.sql": sql} | {name.replace("__", "/") + ".sql": text for name, text in files.items()}
    return run(room, (*PROBE, "check", "check.sql", *words), laid)


def migrate(
    room: sandbox.ClosableSandbox, old: Mapping[str, str], new: Mapping[str, str], **spec: Any
) -> tuple[Outcome, migration.MigrationReport]:
    """Examine the migrations of a base and a head, in the order of their names."""
    outcome = examine(room, old, new, **spec)
    assert outcome.exit_code in (0, 1), outcome.stderr.decode()
    return outcome, migration.read(outcome.file(REPORT) or b"")


def examine(room: sandbox.ClosableSandbox, old: Mapping[str, str], new: Mapping[str, str], **spec: Any) -> Outcome:
    """The same, whatever comes of it."""
    written = {"base": sorted(old), "head": sorted(new), "base_tree": "base", "head_tree": "head", "seconds": 20} | spec
    laid = {f"base/{name}": text for name, text in old.items()} | {f"head/{name}": text for name, text in new.items()}
    files = (("spec.json", json.dumps(written).encode()),)
    return run(room, (*PROBE, "migrations", "{scratch}/spec.json", f"report={{scratch}}/{REPORT}"), laid, files=files)


def run(
    room: sandbox.ClosableSandbox, argv: tuple[str, ...], laid: Mapping[str, str], *, files: tuple[tuple[str, bytes], ...] = ()
) -> Outcome:
    """One job in a copy of the tree with files laid over it."""
    overlay = tuple((name, text.encode()) for name, text in laid.items())
    return room.run(
        Job("sql", argv, 25.0, executes=True, tree=Side.HEAD, overlay=overlay, files=files, collect=(REPORT,) if files else ())
    )
