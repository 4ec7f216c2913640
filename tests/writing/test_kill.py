"""Whatever ends a write, wherever: after the next command, or at once, all is as it was, or all is written."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.adapters.git.writing import LocalWriter
from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from reviewbot.ports.writing import Recovered, WritePlan
from tests.writing.stage import Child, Stage, State, StopAt, contents, status_of

WORKTREE, STAGED, COMMIT = TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT
PLANS = [(WORKTREE, False), (STAGED, False), (COMMIT, False), (COMMIT, True)]
NAMES = ["worktree", "staged", "range", "commit"]
MOST = 200

Work = Callable[[LocalWriter], object]


def plan_of(stage: Stage, kind: TargetKind, commit: bool) -> WritePlan:
    """An edit, a deletion, a new file in new folders, an executable."""
    return stage.plan(
        kind, {"a.py": "eins\n", "gone.py": None}, {"new/deep/c.py": "drei\n", "run.sh": "echo hi\n"}, commit=commit
    )


def writing(plan: WritePlan) -> Work:
    return lambda writer: writer.write(plan)


def undoing(writer: LocalWriter) -> object:
    return writer.undo()


def recovering(writer: LocalWriter) -> object:
    return writer.recover()


def stopped(stage: Stage, work: Work, number: int, sign: signal.Signals = signal.SIGKILL) -> bool:
    """Whether the work was stopped at that step."""

    def run() -> None:
        if sign is signal.SIGTERM:
            signal.signal(sign, signal.SIG_DFL)
        work(stage.writer(StopAt(number, sign)))

    status = status_of(run)
    assert status in (0, sign, 130 << 8), f"step {number} ended with {status}"
    return status != 0


def left_by(stage: Stage, before: State) -> Recovered | None:
    """What the next command makes of it; nothing is between."""
    mended = stage.writer().recover()
    stage.is_sound()
    if mended is None or not mended.completed:
        return mended
    assert contents(stage.repo.path) != {path: one[:2] for path, one in before.files.items()}
    return mended


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize(("kind", "commit"), PLANS, ids=NAMES)
def test_killed_at_any_step_of_a_write(stage: Stage, kind: TargetKind, commit: bool) -> None:
    plan, before = plan_of(stage, kind, commit), stage.state()
    outcomes = []
    for number in range(MOST):
        if not stopped(stage, writing(plan), number):
            break
        mended = left_by(stage, before)
        is_written = bool(stage.backups())
        outcomes.append("written" if is_written else "as before")
        if is_written:
            assert contents(stage.repo.path)["new/deep/c.py"] == (b"drei\n", 0o100644)
            stage.writer().undo()
            stage.is_sound()
            assert contents(stage.repo.path) == {path: one[:2] for path, one in before.files.items()}
            assert stage.repo.git("for-each-ref") == before.refs
            before = stage.state()
            continue
        assert mended is None or (mended.left, mended.notes) == ((), ())
        assert stage.state() == before
    assert number < MOST - 1
    # Once everything is in its place it is not taken back any more.
    assert outcomes == sorted(outcomes)
    assert outcomes.count("as before") > 20
    assert "written" in outcomes


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize(("kind", "commit"), PLANS, ids=NAMES)
def test_killed_at_any_step_of_an_undo(stage: Stage, kind: TargetKind, commit: bool) -> None:
    plan, first = plan_of(stage, kind, commit), contents(stage.repo.path)
    refs = stage.repo.git("for-each-ref")
    stage.writer().write(plan)
    for number in range(MOST):
        before = stage.state()
        if not stopped(stage, undoing, number):
            break
        stage.writer().recover()
        stage.is_sound()
        if stage.backups():
            assert stage.state() == before
            continue
        assert contents(stage.repo.path) == first
        assert stage.repo.git("for-each-ref") == refs
        stage.writer().write(plan_of(stage, kind, commit))
    assert number < MOST - 1
    assert contents(stage.repo.path) == first
    assert not (stage.repo.path / "new").exists()


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize(("kind", "commit"), PLANS, ids=NAMES)
def test_killed_at_any_step_of_a_recovery(stage: Stage, kind: TargetKind, commit: bool) -> None:
    plan, before = plan_of(stage, kind, commit), stage.state()
    steps: list[str] = []
    writer = stage.writer(steps.append)
    writer.write(plan)
    stage.writer().undo()
    before = stage.state()
    for begun in (steps.index("aside run.sh"), steps.index("linked a.py"), steps.index("sure")):
        for number in range(MOST):
            assert stopped(stage, writing(plan), begun)
            again = stopped(stage, recovering, number)
            mended = left_by(stage, before)
            assert stage.state() == before
            assert mended is None or not mended.completed
            if not again:
                break
        assert number > 3


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "commit", "sign"),
    [*((kind, commit, signal.SIGINT) for kind, commit in PLANS), (COMMIT, True, signal.SIGTERM)],
    ids=[*NAMES, "commit-terminated"],
)
def test_interrupted_at_any_step(stage: Stage, kind: TargetKind, commit: bool, sign: signal.Signals) -> None:
    """All is as it was at once; only where all was done already it stays."""
    steps: list[str] = []
    plan, before = plan_of(stage, kind, commit), stage.state()
    stage.writer(steps.append).write(plan)
    stage.writer().undo()
    assert contents(stage.repo.path) == {path: one[:2] for path, one in before.files.items()}
    before = stage.state()
    for number, step in enumerate(steps):
        assert stopped(stage, writing(plan), number, sign)
        if sign is signal.SIGTERM and step in ("surveyed", "prepared"):
            stage.writer().recover()
            continue  # it ended at once, when nothing was changed
        stage.is_sound()
        if step in ("complete", "done"):
            stage.writer().undo()
            before = stage.state()
            continue
        assert replace(stage.state(), logs={}) == replace(before, logs={})
        if step != "refs":
            assert stage.state() == before
        before = stage.state()


@pytest.mark.matrix
@pytest.mark.ci
def test_killed_while_it_is_taken_back_after_an_interrupt(stage: Stage) -> None:
    """It is taken back then, and not completed, though the index and the branch were in their place."""
    steps: list[str] = []
    plan = plan_of(stage, COMMIT, commit=True)
    stage.writer(steps.append).write(plan)
    stage.writer().undo()
    before, begun = stage.state(), steps.index("refs")
    for number in range(1, MOST):

        def run(number: int = number) -> None:
            interrupt, kill = StopAt(begun, signal.SIGINT), StopAt(begun + number, signal.SIGKILL)
            stage.writer(lambda step: (interrupt(step), kill(step))).write(plan)  # type: ignore[func-returns-value]

        ended = status_of(run)
        stage.writer().recover()
        stage.is_sound()
        assert replace(stage.state(), logs={}) == replace(before, logs={})
        if ended != signal.SIGKILL:
            break
    assert number > 10


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize(("kind", "commit"), PLANS, ids=NAMES)
def test_killed_at_any_time(stage: Stage, kind: TargetKind, commit: bool) -> None:
    """Also between two steps, and while git is at work."""
    plan = plan_of(stage, kind, commit)
    began = time.monotonic()
    assert status_of(lambda: stage.writer().write(plan)) == 0
    lasts = time.monotonic() - began
    stage.writer().undo()
    for number in range(25):
        before = stage.state()
        with Child(lambda: stage.writer().write(plan)):
            time.sleep(lasts * number / 25)
        stage.writer().recover()
        stage.is_sound()
        if stage.backups():
            stage.writer().undo()
            assert contents(stage.repo.path) == {path: one[:2] for path, one in before.files.items()}
        else:
            assert stage.state() == before


def test_an_interrupt_within_the_hook_of_a_caller_is_one_too(stage: Stage) -> None:
    def interrupt(step: str) -> None:
        if step == "index":
            raise KeyboardInterrupt

    plan, before = plan_of(stage, STAGED, commit=False), stage.state()
    with pytest.raises(KeyboardInterrupt):
        stage.writer(interrupt).write(plan)
    assert stage.state() == before
    stage.is_sound()


def test_a_disk_that_is_full_leaves_all_as_it_was(stage: Stage) -> None:
    def full(step: str) -> None:
        if step == "laid run.sh":
            raise OSError(28, "No space left on device")

    plan, before = plan_of(stage, COMMIT, commit=True), stage.state()
    with pytest.raises(WriteError, match="No space left on device"):
        stage.writer(full).write(plan)
    assert stage.state() == before
    stage.is_sound()


def test_nothing_to_recover_costs_one_look(stage: Stage) -> None:
    assert stage.writer().recover() is None
    assert not (stage.git_dir / "reviewbot").exists()


def test_the_next_write_mends_first_and_says_so(stage: Stage) -> None:
    plan = plan_of(stage, WORKTREE, commit=False)
    assert stopped(stage, writing(plan), 15)
    written = stage.writer().write(plan)
    assert written.notes == ("a run that was killed before was taken back",)
    assert contents(stage.repo.path)["a.py"][0] == b"eins\n"
    stage.is_sound()


def step_number(stage: Stage, plan: WritePlan, step: str) -> int:
    """When that step comes. The files are as they were then, but newer."""
    steps: list[str] = []
    stage.writer(steps.append).write(plan)
    stage.writer().undo()
    return steps.index(step)


def test_what_somebody_changed_after_a_kill_stays_and_what_was_before_is_kept(stage: Stage) -> None:
    plan = plan_of(stage, WORKTREE, commit=False)
    assert stopped(stage, writing(plan), step_number(stage, plan, "sure"))
    stage.repo.write("a.py", "mine\n")
    mended = stage.writer().recover()
    assert mended is not None
    assert (mended.completed, mended.left) == (False, ("a.py",))
    assert set(mended.paths) == {"gone.py", "new/deep/c.py", "run.sh"}
    now = contents(stage.repo.path)
    assert (now["a.py"][0], now["gone.py"][0], now["run.sh"]) == (b"mine\n", b"three\n", (b"echo\n", 0o100755))
    assert stage.repo.git("show", f"{mended.backup}:a.py") == "one"
    stage.is_sound()


def test_who_commits_after_a_kill_keeps_what_was_committed(stage: Stage) -> None:
    plan = plan_of(stage, WORKTREE, commit=False)
    assert stopped(stage, writing(plan), step_number(stage, plan, "sure"))
    stage.repo.git("commit", "-q", "-m", "Mine", "a.py", "run.sh")
    mended = stage.writer().recover()
    assert mended is not None
    assert set(mended.left) == {"a.py", "gone.py", "new/deep/c.py", "run.sh"}
    assert stage.repo.git("diff", "--name-only", "HEAD", "--", "a.py", "run.sh") == ""
    assert stage.repo.git("show", f"{mended.backup}:gone.py") == "three"
    stage.is_sound()


def test_the_very_file_that_was_set_aside_comes_back(stage: Stage) -> None:
    plan = plan_of(stage, WORKTREE, commit=False)
    number, before = step_number(stage, plan, "aside a.py"), stage.state()
    assert stopped(stage, writing(plan), number)
    inode = next(stage.repo.path.glob(".reviewbot-*.old")).stat().st_ino
    stage.writer().recover()
    assert (stage.repo.path / "a.py").stat().st_ino == inode
    assert stage.state() == before


def test_cleaning_the_work_tree_after_a_kill_loses_nothing(stage: Stage) -> None:
    plan = plan_of(stage, WORKTREE, commit=False)
    number, before = step_number(stage, plan, "aside gone.py"), stage.state()
    assert stopped(stage, writing(plan), number)
    for path in stage.repo.path.glob(".reviewbot-*"):
        path.unlink()
    stage.writer().recover()
    assert stage.state() == before


def test_who_built_on_the_commits_after_a_kill_keeps_them(stage: Stage) -> None:
    plan = plan_of(stage, COMMIT, commit=True)
    assert stopped(stage, writing(plan), step_number(stage, plan, "refs"))
    stage.repo.git("commit", "-q", "-m", "On top")
    mended = stage.writer().recover()
    assert mended is not None
    assert mended.completed
    assert stage.repo.git("log", "--format=%s") == "On top\nFix F2\nFix F1\nFirst"
    stage.is_sound()


def test_a_look_at_the_status_between_does_not_matter(stage: Stage) -> None:
    """It writes the index anew."""
    plan = plan_of(stage, COMMIT, commit=True)
    assert stopped(stage, writing(plan), step_number(stage, plan, "index"))
    os.utime(stage.repo.path / "other.py")
    stage.repo.git("status")
    mended = stage.writer().recover()
    assert mended is not None
    assert mended.completed
    assert stage.repo.git("log", "--format=%s") == "Fix F2\nFix F1\nFirst"
    assert stage.repo.git("diff", "--cached", "--name-only") == "staged.py"
    stage.is_sound()


def test_a_write_that_went_on_in_git_after_the_kill_is_waited_for(stage: Stage, tmp_path: Path) -> None:
    """The process is gone, but the git that it started moves the branch: the lock is held by it as well."""
    slow = tmp_path / "slow"
    slow.mkdir()
    real = stage.repo.run("--exec-path").decode().strip()
    go, here = tmp_path / "go", tmp_path / "here"
    script = (
        f'#!/bin/sh\ncase " $* " in *" update-ref -m reviewbot fix "*) '
        f'if [ -e "{here}" ]; then touch "{here}2"; n=0; '
        f'while [ ! -e "{go}" ] && [ $n -lt 600 ]; do n=$((n+1)); sleep 0.1; done; fi; touch "{here}";; esac\n'
        f'exec "{real}/git" "$@"\n'
    )
    (slow / "git").write_text(script)
    (slow / "git").chmod(0o755)
    plan = plan_of(stage, COMMIT, commit=True)

    def work() -> None:
        os.environ["PATH"] = f"{slow}:{os.environ['PATH']}"
        stage.writer().write(plan)

    with Child(work):
        until = time.monotonic() + 30
        while not (tmp_path / "here2").exists() and time.monotonic() < until:
            time.sleep(0.01)
    try:
        with pytest.raises(WriteError, match="another reviewbot is writing"):
            stage.writer(wait=0.1).recover()
    finally:
        go.touch()
    mended = stage.writer().recover()
    assert mended is not None
    assert mended.completed
    assert stage.repo.git("log", "--format=%s") == "Fix F2\nFix F1\nFirst"
    stage.is_sound()
