"""Others who work in the same folder at the same time: what they write stays, and nothing of it is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from tests.writing.stage import Child, Stage, contents, status_of

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

WORKTREE, STAGED, COMMIT = TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT


class At:
    """A step at which somebody else does something, once."""

    def __init__(self, step: str, deed: Callable[[], object]) -> None:
        self._step: str | None = step
        self._deed = deed

    def __call__(self, step: str) -> None:
        if step == self._step:
            self._step = None
            self._deed()


@pytest.mark.parametrize(
    "step",
    [
        "surveyed",
        "prepared",
        "journal",
        "backup",
        "file a.py",
        "laid lib/b.py",
        "aside lib/b.py",
        "linked lib/b.py",
        "placed lib/b.py",
    ],
)
def test_a_folder_that_becomes_a_link_is_not_followed(stage: Stage, step: str) -> None:
    outside = stage.folder / "outside"
    outside.mkdir()
    (outside / "b.py").write_bytes(b"two\n")
    inside = stage.repo.path / "lib"

    def attack() -> None:
        inside.rename(stage.folder / "moved")
        inside.symlink_to(outside)

    plan = stage.plan(WORKTREE, {"a.py": "eins\n", "lib/b.py": "zwei\n"})
    before = stage.state()
    with pytest.raises(WriteError):
        stage.writer(At(step, attack)).write(plan)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == {"b.py": b"two\n"}
    assert (stage.folder / "moved" / "b.py").read_bytes() == b"two\n"
    inside.unlink()
    (stage.folder / "moved").rename(inside)
    left = [path for path in inside.iterdir() if path.name.startswith(".reviewbot-")]
    assert [path.suffix for path in left] in ([], [".new"])
    for path in left:
        path.unlink()
    assert stage.state().files == before.files
    stage.is_sound()


def test_a_folder_that_becomes_a_link_after_all_was_written_is_noticed(stage: Stage) -> None:
    inside, moved = stage.repo.path / "lib", stage.folder / "moved"

    def attack() -> None:
        inside.rename(moved)
        inside.symlink_to(moved)

    with pytest.raises(WriteError, match="lib is a symbolic link") as raised:
        stage.writer(At("file lib/b.py", attack)).write(stage.plan(WORKTREE, {"a.py": "eins\n", "lib/b.py": "zwei\n"}))
    assert (stage.repo.path / "a.py").read_bytes() == b"one\n"
    assert stage.repo.git("show", f"{stage.backups()[0]}:lib/b.py") == "two"
    assert stage.backups()[0] in raised.value.hint


@pytest.mark.smoke
@pytest.mark.parametrize("step", ["surveyed", "journal", "backup", "laid a.py"])
def test_a_file_that_is_saved_before_it_is_replaced_stays_as_it_was_saved(stage: Stage, step: str) -> None:
    plan = stage.plan(WORKTREE, {"a.py": "eins\n", "lib/b.py": "zwei\n", "new.py": "neu\n"})
    before = contents(stage.repo.path)
    with pytest.raises(WriteError, match=r"a\.py was changed at the same time"):
        stage.writer(At(step, lambda: stage.repo.write("a.py", "saved\n"))).write(plan)
    assert contents(stage.repo.path) == {**before, "a.py": (b"saved\n", 0o100644)}
    assert not list(stage.repo.path.rglob(".reviewbot-*"))


@pytest.mark.parametrize("step", ["aside a.py", "linked a.py", "placed a.py", "file a.py", "file lib/b.py"])
def test_a_file_that_is_saved_while_or_after_it_is_replaced_stays_as_it_was_saved(stage: Stage, step: str) -> None:
    def save() -> None:
        fresh = stage.repo.write("saving", "saved\n")
        fresh.rename(stage.repo.path / "a.py")

    plan = stage.plan(WORKTREE, {"a.py": "eins\n", "lib/b.py": "zwei\n", "new.py": "neu\n"})
    before = contents(stage.repo.path)
    with pytest.raises(WriteError) as raised:
        stage.writer(At(step, save)).write(plan)
    assert contents(stage.repo.path) == {**before, "a.py": (b"saved\n", 0o100644)}
    assert not list(stage.repo.path.rglob(".reviewbot-*"))
    (backup,) = stage.backups()
    assert stage.repo.git("show", f"{backup}:a.py") == "one"
    assert backup in str(raised.value)


def test_both_versions_of_a_file_that_two_others_write_are_kept(stage: Stage) -> None:
    plan = stage.plan(WORKTREE, {"a.py": "eins\n"})
    writer = stage.writer(
        lambda step: {
            "laid a.py": lambda: stage.repo.write("a.py", "one of them\n"),
            "aside a.py": lambda: stage.repo.write("a.py", "the other\n"),
        }.get(step, lambda: None)()
    )
    with pytest.raises(WriteError, match=r"two others changed a\.py"):
        writer.write(plan)
    assert (stage.repo.path / "a.py").read_bytes() == b"the other\n"
    (aside,) = stage.repo.path.glob(".reviewbot-*")
    assert aside.read_bytes() == b"one of them\n"


def test_a_file_that_somebody_makes_where_a_new_one_shall_be_stays(stage: Stage) -> None:
    plan = stage.plan(WORKTREE, {"a.py": "eins\n", "new.py": "neu\n"})
    before = contents(stage.repo.path)
    with pytest.raises(WriteError, match=r"new\.py was made by somebody else"):
        stage.writer(At("laid new.py", lambda: stage.repo.write("new.py", "mine\n"))).write(plan)
    assert contents(stage.repo.path) == {**before, "new.py": (b"mine\n", 0o100644)}


def test_a_link_that_takes_the_place_of_a_file_stays(stage: Stage) -> None:
    plan = stage.plan(WORKTREE, {"a.py": "eins\n"})
    with pytest.raises(WriteError, match=r"a\.py is a symbolic link"):
        stage.writer(At("laid a.py", lambda: stage.repo.link("a.py", "other.py"))).write(plan)
    assert (stage.repo.path / "a.py").readlink() == Path("other.py")
    assert (stage.repo.path / "other.py").read_bytes() == b"being worked on\n"
    assert not list(stage.repo.path.glob(".reviewbot-*"))


@pytest.mark.parametrize(("kind", "commit"), [(STAGED, False), (COMMIT, True)])
@pytest.mark.parametrize("step", ["prepared", "sure", "index locked"])
def test_what_is_staged_meanwhile_stays_staged(stage: Stage, kind: TargetKind, commit: bool, step: str) -> None:
    plan = stage.plan(kind, {"a.py": "eins\n"}, commit=commit)
    before = contents(stage.repo.path)

    def stage_other() -> None:
        # While the index is locked, git itself would wait; who removes the lock does not.
        (stage.git_dir / "index.lock").unlink(missing_ok=True)
        stage.repo.git("add", "other.py")

    with pytest.raises(WriteError, match="the index was changed at the same time"):
        stage.writer(At(step, stage_other)).write(plan)
    assert stage.repo.git("diff", "--cached", "--name-only") == "other.py\nstaged.py"
    assert contents(stage.repo.path) == before
    stage.is_sound()


@pytest.mark.parametrize("step", ["prepared", "sure"])
def test_the_lock_of_another_git_is_left_to_it(stage: Stage, step: str) -> None:
    plan = stage.plan(STAGED, {"a.py": "eins\n"})
    before, lock = stage.state(), stage.git_dir / "index.lock"
    with pytest.raises(WriteError, match="another git is at work"):
        stage.writer(At(step, lambda: lock.write_bytes(b"of another"))).write(plan)
    assert lock.read_bytes() == b"of another"
    assert stage.writer().write(stage.plan(WORKTREE, {"lib/b.py": "zwei\n"})).paths == ("lib/b.py",)
    assert stage.writer().undo().paths == ("lib/b.py",)
    assert lock.read_bytes() == b"of another"
    assert (stage.state().index, stage.state().refs) == (before.index, before.refs)


def test_a_branch_that_moves_meanwhile_is_not_moved(stage: Stage) -> None:
    plan = stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True)
    before = stage.state()
    tree, head = stage.repo.git("rev-parse", "HEAD^{tree}"), stage.repo.git("rev-parse", "HEAD")
    other = stage.repo.git("commit-tree", tree, "-p", head, "-m", "Theirs")
    with pytest.raises(WriteError, match="cannot be moved"):
        stage.writer(At("index", lambda: stage.repo.git("update-ref", "refs/heads/main", other))).write(plan)
    assert stage.repo.git("rev-parse", "HEAD") == other
    assert (stage.state().index, stage.state().files) == (before.index, before.files)
    assert stage.backups() == []


@pytest.mark.smoke
def test_two_writers_do_not_work_at_once(stage: Stage) -> None:
    plan = stage.plan(WORKTREE, {"a.py": "eins\n"})
    told, tell = os.pipe()
    wait, go = os.pipe()

    def hold(step: str) -> None:
        if step == "file a.py":
            os.write(tell, b".")
            os.read(wait, 1)

    with Child(lambda: stage.writer(hold).write(plan)) as child:
        os.read(told, 1)
        for work in (lambda: stage.writer(wait=0.1).write(plan), stage.writer(wait=0.1).undo, stage.writer(wait=0.1).recover):
            with pytest.raises(WriteError, match=rf"another reviewbot is writing here \(process {child.id}, since"):
                work()
        os.write(go, b".")
        assert child.status() == 0
    with pytest.raises(WriteError, match="something changed since"):
        stage.writer().write(plan)
    assert contents(stage.repo.path)["a.py"][0] == b"eins\n"
    assert len(stage.backups()) == 1
    stage.is_sound()


def test_many_writers_come_one_after_the_other(stage: Stage, tmp_path: Path) -> None:
    """Each makes a file of its own; everyone gets a turn."""
    tree = stage.repo.git("rev-parse", "HEAD^{tree}")

    def write(number: int) -> None:
        stage.writer(wait=60).write(stage.plan(WORKTREE, {f"new{number}.py": "x\n"}, tree=tree))

    with ExitStack() as stack:
        children = [stack.enter_context(Child(partial(write, number))) for number in range(5)]
        assert [child.status() for child in children] == [0] * 5
    assert len(stage.backups()) == 5
    assert not (stage.git_dir / "reviewbot" / "lock").exists()
    stage.is_sound()


def test_a_lock_that_a_dead_process_left_holds_nobody_up(stage: Stage) -> None:
    def die() -> None:
        stage.writer(lambda _step: os._exit(9)).write(stage.plan(WORKTREE, {"a.py": "eins\n"}))

    assert status_of(die) == 9 << 8
    assert (stage.git_dir / "reviewbot" / "lock").exists()
    assert stage.writer(wait=0).write(stage.plan(WORKTREE, {"a.py": "eins\n"})).paths == ("a.py",)
