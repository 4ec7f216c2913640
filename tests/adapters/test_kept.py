"""Outcomes that are kept: the same job on the same tree is not run again, and anything that decides it makes it another job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters import sandbox
from reviewbot.domain.evidence import Side
from reviewbot.ports import Ended, Job

COUNT = ("/bin/sh", "-c", "cat /proc/sys/kernel/random/uuid; cat file")
JOB = Job("count", COUNT, 20.0, executes=True, tree=Side.BASE, keep=(0,))
Room = Callable[..., sandbox.ClosableSandbox]


@pytest.fixture
def room(tmp_path: Path, bubblewrap: None) -> Room:
    """A sandbox with a memory of this test's, for trees with these ids."""
    del bubblewrap
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "file").write_text("x\n")

    def made(base: str = "a" * 40, level: str = "bubblewrap", limits: sandbox.Limits | None = None) -> sandbox.ClosableSandbox:
        return sandbox.choose(
            level,
            trees=lambda _: tree,
            interpreters=sandbox.discover(None),
            limits=limits or sandbox.Limits(),
            host=sandbox.Host(memory=sandbox.Memory(tmp_path / "kept", {Side.BASE: base, Side.HEAD: "b" * 40})),
        )

    return made


def test_the_same_job_is_not_run_twice(room: Room) -> None:
    first, second = room().run(JOB), room().run(JOB)
    assert first.stdout == second.stdout
    assert second.exit_code == 0
    assert second.seconds == 0


@pytest.mark.parametrize(
    "other",
    [
        replace(JOB, argv=(*COUNT, "more")),
        replace(JOB, files=(("name", b"x"),)),
        replace(JOB, overlay=(("file", b"y\n"),)),
        replace(JOB, without=("other",)),
        replace(JOB, environment=(("A", "1"),)),
        replace(JOB, stdin=b"x"),
        replace(JOB, tree=Side.HEAD),
        replace(JOB, keep=()),
    ],
)
def test_another_job_is_run_for_itself(room: Room, other: Job) -> None:
    assert room().run(JOB).stdout != room().run(other).stdout


def test_another_tree_another_level_and_other_limits_are_other_jobs(room: Room) -> None:
    known = room().run(JOB).stdout
    assert room(base="c" * 40).run(JOB).stdout != known
    assert room(level="unconfined").run(JOB).stdout != known
    assert room(limits=sandbox.Limits(processes=99)).run(JOB).stdout != known
    assert room().run(JOB).stdout == known


def test_a_job_that_a_limit_ended_is_run_again(room: Room, tmp_path: Path) -> None:
    slow = replace(JOB, argv=("/bin/sleep", "30"), timeout_seconds=0.2)
    assert room().run(slow).ended is Ended.TIMEOUT
    assert not list((tmp_path / "kept").glob("*")) if (tmp_path / "kept").exists() else True


def test_collected_files_come_back(room: Room) -> None:
    job = replace(JOB, argv=("/bin/sh", "-c", 'echo "$$" > "$1"', "sh", "{scratch}/out"), collect=("out",))
    assert room().run(job).file("out") == room().run(job).file("out") != b""


@pytest.mark.parametrize("spoilt", [b"", b"{}", b"\x78\x9cnothing", b"\0" * 100])
def test_a_spoilt_memory_costs_another_run_and_no_more(room: Room, tmp_path: Path, spoilt: bytes) -> None:
    known = room().run(JOB).stdout
    (kept,) = (tmp_path / "kept").glob("*.json")
    kept.write_bytes(spoilt)
    again = room().run(JOB)
    assert again.exit_code == 0
    assert again.stdout != known
