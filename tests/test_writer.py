"""What is written into a work tree: all or nothing, whoever kills it and whoever writes meanwhile."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from conftest import Project

from reviewbot.errors import GitError, WriteError
from reviewbot.git.repository import Repository
from reviewbot.git.writer import Write, Written, recover, undo_fixes, write_fixes

Files = Mapping[str, bytes | None]
FIRST: dict[str, bytes] = {
    "a.py": b"one\n",
    "gone.py": b"two\n",
    "lib/run.sh": b"three\n",
    "staged.py": b"four\n",
    "other.py": b"five\n",
}
FIX: Files = {"a.py": b"1\n", "gone.py": None, "lib/run.sh": b"3\n", "new/deep/b.py": b"6\n"}


class Stage:
    def __init__(self, project: Project) -> None:
        self.folder = project.folder
        self.git = project.git
        self.project = project
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.org")

    def write(self, *fixes: Files, message: str = "", step: Callable[[str], None] = str) -> Written:
        writes, now = [], dict[str, bytes | None](FIRST)
        for fix in fixes:
            before = {path: old for path in fix if (old := now.get(path)) is not None}
            writes.append(Write(files=fix, before=before, message=message))
            now |= fix
        with Repository(self.folder) as repository:
            return asyncio.run(write_fixes(repository, writes, self.state, step=step))

    def undo(self, id: str = "", step: Callable[[str], None] = str) -> tuple[str, ...]:
        with Repository(self.folder) as repository:
            return asyncio.run(undo_fixes(repository, id, self.state, step=step))

    def recover(self, step: Callable[[str], None] = str) -> str | None:
        with Repository(self.folder) as repository:
            return asyncio.run(recover(repository, self.state, step=step))

    @property
    def state(self) -> Path:
        return self.folder.parent / "state"

    def put(self, path: str, content: bytes) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_bytes(content)

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def files(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(path.relative_to(self.folder)): (path.read_bytes(), path.stat().st_mode)
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }

    def everything(self) -> tuple[object, ...]:
        """What somebody could miss."""
        folders = {path for path in self.folder.rglob("*") if path.is_dir() and path.name != ".git"}
        staged = self.git("ls-files", "--stage")
        visible = {path for path in folders if ".git" not in path.parts}
        return self.files(), visible, staged, self.git("for-each-ref"), self.git("status", "-s")

    def is_clean(self) -> bool:
        """Nothing lies about that could hold up git or the next write."""
        return not [
            *self.folder.rglob(".reviewbot*"),
            *(self.folder / ".git").glob("*.lock.*"),
            *(self.folder / ".git").glob("index.lock"),
            *self.state.glob("writing-*"),
        ]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    folder = tmp_path / "project"
    folder.mkdir()
    project = Project(folder)
    (folder / "lib").mkdir()
    (folder / "lib/run.sh").touch()
    (folder / "lib/run.sh").chmod(0o755)
    project.commit("First", FIRST)
    stage = Stage(project)
    stage.put("staged.py", b"four, staged\n")
    stage.git("add", "staged.py")
    stage.put("other.py", b"five, in work\n")
    return stage


def run_child(work: Callable[[], object], seconds: float | None = None) -> int:
    """How a process that does this ends; it is killed after some seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it uses no other thread
        child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def kill_at(number: int) -> Callable[[str], None]:
    left = iter(range(number))

    def step(_: str) -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def at(step: str, act: Callable[[], object]) -> Callable[[str], None]:
    """Somebody who does something at a step, once."""
    steps = [step]

    def tell(said: str) -> None:
        if said in steps:
            steps.clear()
            act()

    return tell


@pytest.mark.parametrize("message", ["", "Fix it"])
def test_fixes_are_written_and_taken_back(stage: Stage, message: str) -> None:
    before = stage.everything()
    written = stage.write(FIX, message=message)
    assert written.paths == ("a.py", "gone.py", "lib/run.sh", "new/deep/b.py")
    files = stage.files()
    assert {path: files[path][0] for path in files if path in FIX} == {
        path: content for path, content in FIX.items() if content is not None
    }
    assert files["lib/run.sh"][1] & 0o777 == 0o755
    left = "" if message else "M a.py\n D gone.py\n M lib/run.sh\n "
    assert (
        stage.git("status", "--short")
        == f"{left}M other.py\nM  staged.py{'' if message else chr(10) + '?? new/'}"
    )
    assert stage.git("show", f"refs/reviewbot/backup/{written.id}:gone.py") == "two"
    assert stage.undo(written.id) == written.paths
    assert stage.everything() == before
    assert stage.is_clean()


@pytest.mark.parametrize("message", ["", "Fix it"])
def test_a_write_that_is_killed_at_any_step_is_complete_or_never_was(
    stage: Stage, message: str
) -> None:
    before, outcomes = stage.everything(), []
    for number in range(99):
        ended = run_child(lambda: stage.write(FIX, message=message, step=kill_at(number)))
        said = stage.recover()
        assert stage.is_clean(), number
        outcomes.append(stage.git("for-each-ref", "refs/reviewbot") != "")
        if outcomes[-1]:
            assert said in (None, "a write that was interrupted is completed")
            stage.undo()
        else:
            assert said in (None, "a write that was interrupted is taken back")
        assert stage.everything() == before, number
        if ended == 0:
            break
    assert ended == 0
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) > 15


def test_an_undo_that_is_killed_at_any_step_is_complete_or_never_was(stage: Stage) -> None:
    before = stage.everything()
    stage.write(FIX, message="Fix it")
    fixed, outcomes = stage.everything(), []
    for number in range(99):
        ended = run_child(lambda: stage.undo(step=kill_at(number)))
        stage.recover()
        assert stage.is_clean(), number
        outcomes.append(stage.git("for-each-ref", "refs/reviewbot") == "")
        assert stage.everything() == (before if outcomes[-1] else fixed), number
        if ended == 0:
            break
        if outcomes[-1]:
            stage.write(FIX, message="Fix it")
            fixed = stage.everything()
    assert ended == 0
    assert outcomes.count(False) > 10


@pytest.mark.parametrize("begun", ["rename lib/run.sh", "link new/deep/b.py", "index locked"])
def test_a_recovery_that_is_killed_is_finished_by_the_next(stage: Stage, begun: str) -> None:
    before = stage.everything()
    for number in range(99):
        die = at(begun, lambda: os.kill(os.getpid(), signal.SIGKILL))
        assert run_child(lambda: stage.write(FIX, message="Fix it", step=die)) == signal.SIGKILL
        ended = run_child(lambda: stage.recover(step=kill_at(number)))
        stage.recover()
        assert stage.everything() == before, number
        assert stage.is_clean()
        if ended == 0:
            break
    assert number > 4


def test_a_write_that_is_killed_at_any_time_is_complete_or_never_was(stage: Stage) -> None:
    before = stage.everything()
    dice = random.Random(7)
    for _ in range(20):
        run_child(lambda: stage.write(FIX, message="Fix it"), dice.uniform(0.03, 0.2))
        stage.recover()
        if stage.git("for-each-ref", "refs/reviewbot"):
            stage.undo()
        assert stage.everything() == before
        assert stage.is_clean()


def test_old_files_that_are_cleaned_away_after_a_kill_come_back(stage: Stage) -> None:
    before = stage.everything()
    die = at("checked", lambda: os.kill(os.getpid(), signal.SIGKILL))
    run_child(lambda: stage.write(FIX, step=die))
    stage.git("clean", "--force", "-d")
    assert stage.recover() == "a write that was interrupted is taken back"
    assert stage.everything() == before


def test_what_somebody_saves_after_a_kill_stays(stage: Stage) -> None:
    die = at("checked", lambda: os.kill(os.getpid(), signal.SIGKILL))
    run_child(lambda: stage.write(FIX, step=die))
    stage.put("a.py", b"mine\n")
    said = stage.recover()
    assert said is not None
    assert said.endswith("is taken back; a.py was changed meanwhile and stays as it is")
    assert stage.read("a.py") == b"mine\n"
    assert stage.read("lib/run.sh") == b"three\n"
    (kept,) = stage.git("for-each-ref", "--format=%(refname)", "refs/reviewbot/kept").split()
    assert stage.git("show", f"{kept}:a.py") == "one"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("prepared", "a.py was changed meanwhile"),
        ("create a.py", "a.py was changed meanwhile"),
        ("rename a.py", "a.py was written by somebody else meanwhile"),
        ("link a.py", "a.py was changed meanwhile and stays as it is"),
        ("checked", "a.py was changed meanwhile and stays as it is"),
        ("index locked", "a.py was changed meanwhile and stays as it is"),
    ],
)
def test_what_somebody_saves_meanwhile_stays(stage: Stage, step: str, said: str) -> None:
    before = stage.files()
    with pytest.raises(WriteError, match=said):
        stage.write(FIX, message="Fix it", step=at(step, lambda: stage.put("a.py", b"mine\n")))
    assert stage.files() == {**before, "a.py": (b"mine\n", before["a.py"][1])}
    assert stage.git("log", "--format=%s") == "First"
    assert stage.is_clean()


def test_both_versions_that_two_others_save_are_kept(stage: Stage) -> None:
    acts = {
        "prepared": lambda: stage.put("a.py", b"mine\n"),
        "rename a.py": lambda: stage.put("a.py", b"yours\n"),
    }
    with pytest.raises(WriteError, match=r"two others changed a\.py: one version is") as raised:
        stage.write(FIX, step=lambda step: acts.get(step, str)())
    beside = str(raised.value).split()[-3]
    assert (stage.read("a.py"), stage.read(beside)) == (b"yours\n", b"mine\n")


def test_a_new_file_of_somebody_else_is_not_overwritten(stage: Stage) -> None:
    def act() -> None:
        stage.put("new/deep/b.py", b"mine\n")

    with pytest.raises(WriteError, match=r"new/deep/b\.py was written by somebody else"):
        stage.write(FIX, step=at("create new/deep/b.py", act))
    assert stage.read("new/deep/b.py") == b"mine\n"
    assert stage.read("a.py") == b"one\n"


def test_a_folder_that_becomes_a_link_is_not_followed(stage: Stage, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", stage.folder / "lib"
    outside.mkdir()
    (outside / "run.sh").write_bytes(b"three\n")

    def act() -> None:
        inside.rename(tmp_path / "moved")
        inside.symlink_to(outside)

    with pytest.raises(WriteError, match="the folder of lib/run.sh was moved meanwhile"):
        stage.write(FIX, step=at("create lib/run.sh", act))
    assert [path.read_bytes() for path in outside.iterdir()] == [b"three\n"]
    assert [path.read_bytes() for path in (tmp_path / "moved").iterdir()] == [b"three\n"]
    assert stage.read("a.py") == b"one\n"


def test_what_somebody_stages_meanwhile_stays_staged(stage: Stage) -> None:
    before = stage.files()
    with pytest.raises(WriteError, match="the index was changed meanwhile"):
        act = at("checked", lambda: stage.git("update-index", "--chmod=+x", "a.py"))
        stage.write(FIX, message="Fix it", step=act)
    assert stage.git("ls-files", "--stage", "a.py").startswith("100755")
    assert stage.files() == before


def test_a_branch_that_moves_meanwhile_is_not_moved(stage: Stage) -> None:
    before = stage.files()
    other = stage.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Theirs")
    act = at("index locked", lambda: stage.git("update-ref", "refs/heads/main", other))
    with pytest.raises(WriteError, match="a branch cannot be moved"):
        stage.write(FIX, message="Fix it", step=act)
    assert stage.git("log", "--format=%s") == "Theirs\nFirst"
    assert stage.files() == before
    assert stage.is_clean()


def test_a_thread_that_saves_all_the_time_loses_nothing(stage: Stage) -> None:
    stop, saved = threading.Event(), [b"one\n"]

    def save() -> None:
        while not stop.is_set():
            time.sleep(0.001)
            saved.append(b"%d saved\n" % len(saved))
            fresh = stage.folder / ".git/editing"
            fresh.write_bytes(saved[-1])
            fresh.replace(stage.folder / "a.py")

    for _ in range(5):
        stage.put("a.py", b"one\n")
        thread = threading.Thread(target=save)
        act = at("prepared", thread.start)
        with pytest.raises(WriteError):
            stage.write(FIX, step=act)
        stop.set()
        thread.join()
        stop.clear()
        assert stage.read("a.py") == saved[-1]
        assert stage.read("lib/run.sh") == b"three\n"


def test_two_writers_come_one_after_the_other(stage: Stage) -> None:
    results: list[object] = []

    def write(path: str) -> None:
        results.append(stage.write({path: b"new\n"}).paths)

    threads = [threading.Thread(target=write, args=(f"{name}.py",)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [("x.py",), ("y.py",), ("z.py",)]
    ids = stage.git("for-each-ref", "--format=%(refname)", "refs/reviewbot/backup").split()
    assert len(ids) == 3
    assert stage.is_clean()


def link_file(stage: Stage) -> None:
    (stage.folder / "a.py").rename(stage.folder / "real.py")
    (stage.folder / "a.py").symlink_to("real.py")


def link_folder(stage: Stage) -> None:
    (stage.folder / "lib").rename(stage.folder / "real")
    (stage.folder / "lib").symlink_to("real")


def attribute(text: str) -> Callable[[Stage], object]:
    return lambda stage: stage.put(".gitattributes", f"a.py {text}\n".encode())


def git(*arguments: str) -> Callable[[Stage], object]:
    return lambda stage: stage.git(*arguments)


def under_way(name: str) -> Callable[[Stage], object]:
    return lambda stage: stage.put(f".git/{name}", b"")


def mode(path: str, mode: int) -> Callable[[Stage], object]:
    return lambda stage: (stage.folder / path).chmod(mode)


def save(path: str, content: bytes) -> Callable[[Stage], object]:
    return lambda stage: stage.put(path, content)


def nested(stage: Stage) -> None:
    stage.git("init", "--quiet", "lib")


A, LIB, NEW = {"a.py": b"1\n"}, {"lib/run.sh": b"3\n"}, {"new.py": b"6\n"}
REFUSALS: list[tuple[Callable[[Stage], object], Files, str, str]] = [
    (save("a.py", b"one!\n"), A, "", "a.py was changed since the review"),
    (lambda stage: (stage.folder / "a.py").unlink(), A, "", "a.py was changed since the review"),
    (save("new.py", b"mine\n"), NEW, "", "new.py exists already"),
    (save("a.py", b"one\r\n"), A, "", "a.py was changed since the review"),
    (link_file, A, "", "a.py is a symbolic link"),
    (link_folder, LIB, "", "lib is a symbolic link"),
    (nested, LIB, "", "lib is a repository of its own"),
    (str, {"lib": b""}, "", "lib is a folder"),
    (str, {"../a.py": b""}, "", "'../a.py' is not the path of a file"),
    (str, {".git/config": b""}, "", "'.git/config' is not the path of a file"),
    (mode("a.py", 0o444), A, "", "a.py is read-only"),
    (mode("lib", 0o555), LIB, "", "the folder of lib/run.sh is read-only"),
    (git("update-index", "--assume-unchanged", "a.py"), A, "", "a.py is marked as unchanged"),
    (git("update-index", "--skip-worktree", "a.py"), A, "", "outside of the sparse checkout"),
    (git("config", "core.sparseCheckout", "true"), NEW, "", "outside of the sparse checkout"),
    (attribute("filter=lfs"), A, "", "a.py has the attribute filter"),
    (attribute("working-tree-encoding=UTF-16"), A, "", "the attribute working-tree-encoding"),
    (attribute("ident"), A, "", "a.py has the attribute ident"),
    (attribute("text"), {"a.py": b"1\r\n"}, "", "git would convert a.py to something else"),
    (git("config", "core.autocrlf", "input"), {"n.py": b"1\r\n"}, "", "git would convert n.py"),
    (str, {"other.py": b"5\n"}, "", "other.py was changed since the review"),
    (save("staged.py", b"four\n"), {"staged.py": b"4\n"}, "Fix", "staged.py has uncommitted"),
    (git("switch", "--detach", "--quiet"), A, "Fix", "HEAD is detached"),
    (git("symbolic-ref", "HEAD", "refs/heads/none"), NEW, "Fix", "there is no commit yet"),
    (git("config", "user.name", ""), A, "Fix", "git does not know who commits"),
    (under_way("MERGE_HEAD"), A, "Fix", "a merge is in progress"),
    (under_way("rebase-merge/done"), A, "Fix", "a rebase is in progress"),
    (under_way("CHERRY_PICK_HEAD"), A, "Fix", "a cherry-pick is in progress"),
    (under_way("BISECT_LOG"), A, "Fix", "a bisection is in progress"),
    (under_way("index.lock"), A, "Fix", "another git is at work: the index is locked"),
    (under_way("refs/heads/main.lock"), A, "Fix", "a branch cannot be moved"),
    (str, {"a.py": b"one\n"}, "", "the fixes change nothing"),
]


@pytest.mark.parametrize(("prepare", "fix", "message", "said"), REFUSALS)
def test_a_fix_is_refused(
    stage: Stage, prepare: Callable[[Stage], object], fix: Files, message: str, said: str
) -> None:
    prepare(stage)
    before = stage.files(), stage.git("for-each-ref"), stage.git("ls-files", "--stage")
    with pytest.raises(WriteError, match=said) as raised:
        stage.write(fix, message=message)
    assert raised.value.hint
    assert before == (stage.files(), stage.git("for-each-ref"), stage.git("ls-files", "--stage"))
    assert not [*stage.folder.rglob(".reviewbot*"), *stage.state.glob("writing*")]


def test_a_file_of_somebody_else_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(WriteError, match=r"a\.py belongs to another user"):
        stage.write(A)


def test_conflicts_are_refused(stage: Stage) -> None:
    blob = stage.git("hash-object", "-w", "--stdin", stdin=b"x")
    stage.git("update-index", "--index-info", stdin=f"100644 {blob} 1\tother.py\n".encode())
    with pytest.raises(WriteError, match="the index has unresolved conflicts"):
        stage.write(A)


def test_a_work_tree_elsewhere_is_refused(stage: Stage, tmp_path: Path) -> None:
    stage.git("config", "core.worktree", str(tmp_path))
    with pytest.raises(GitError, match="says that its work tree is"):
        stage.write(A)


@pytest.mark.parametrize("message", ["", "Fix it"])
def test_lines_end_as_they_do_in_the_work_tree(stage: Stage, message: str) -> None:
    stage.git("config", "core.autocrlf", "true")
    stage.put("a.py", b"one\r\n")
    stage.write({"a.py": b"1\n2\n", "new.py": b"6\n"}, message=message)
    assert stage.read("a.py") == b"1\r\n2\r\n"
    proven = stage.git("hash-object", "--stdin", "--no-filters", stdin=b"1\n2\n")
    assert stage.git("hash-object", "a.py") == proven
    stage.undo()
    assert stage.read("a.py") == b"one\r\n"


def test_mixed_line_endings_are_refused(stage: Stage) -> None:
    stage.git("config", "core.autocrlf", "true")
    stage.project.commit("Two lines", {"a.py": "one\ntwo\n"})
    stage.put("a.py", b"one\r\ntwo\n")
    with pytest.raises(WriteError, match=r"a\.py has mixed line endings"):
        write = Write(files=A, before={"a.py": b"one\ntwo\n"})
        asyncio.run(write_fixes(Repository(stage.folder), [write], stage.state))


def test_what_was_staged_as_it_was_reviewed_is_staged_again(stage: Stage) -> None:
    stage.put("a.py", b"one, staged\n")
    stage.git("add", "a.py")
    stage.put("other.py", b"five, staged\n")
    stage.git("add", "other.py")
    stage.put("other.py", b"five, in work\n")
    before = stage.everything()
    reviewed = {"a.py": b"one, staged\n", "other.py": b"five, in work\n"}
    write = Write(files={"a.py": b"1\n", "other.py": b"5\n"}, before=reviewed)
    asyncio.run(write_fixes(Repository(stage.folder), [write], stage.state))
    assert stage.git("show", ":a.py") == "1"
    assert stage.git("show", ":other.py") == "five, staged"
    stage.undo()
    assert stage.everything() == before


def test_each_fix_becomes_a_commit_of_the_user_without_hooks(stage: Stage) -> None:
    for name in ("pre-commit", "commit-msg", "post-commit", "reference-transaction"):
        hook = stage.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {stage.folder}/ran\n")
        hook.chmod(0o755)
    written = stage.write({"a.py": b"1\n"}, {"a.py": b"11\n", **LIB}, message="Fix it")
    assert not (stage.folder / "ran").exists()
    (stage.folder / ".git/hooks/reference-transaction").unlink()
    log = stage.git("log", "--format=%an %ce %s", "--name-only").split("\n\n")
    assert log[0] == "Ada ada@example.org Fix it"
    assert written.commits == tuple(stage.git("rev-list", "--reverse", "HEAD~2..").split())
    assert stage.git("show", "HEAD~1:a.py") == "1"
    assert stage.git("diff", "--cached", "--name-only") == "staged.py"


def test_files_that_were_changed_since_are_named_and_left(stage: Stage) -> None:
    stage.write(FIX)
    stage.put("a.py", b"mine\n")
    said = r"^a\.py was changed since the fix and stays; taken back: gone\.py, lib/run\.sh, new"
    with pytest.raises(WriteError, match=said) as raised:
        stage.undo()
    assert stage.git(*(raised.value.hint or "").split()[1:3]) == "one"
    assert (stage.read("a.py"), stage.read("gone.py")) == (b"mine\n", b"two\n")
    assert not (stage.folder / "new").exists()
    with pytest.raises(WriteError, match=r"^nothing is taken back: a\.py was changed since"):
        stage.undo()
    stage.put("a.py", b"1\n")
    assert stage.undo() == ("a.py",)
    assert stage.read("a.py") == b"one\n"


def test_nothing_is_taken_back_twice(stage: Stage) -> None:
    first, second = stage.write(A), stage.write(LIB)
    assert stage.undo(first.id) == ("a.py",)
    assert stage.undo() == ("lib/run.sh",)
    with pytest.raises(WriteError, match=f"there is no write {second.id}"):
        stage.undo(second.id)
    with pytest.raises(WriteError, match="there is nothing to take back"):
        stage.undo()


def test_commits_with_newer_ones_on_top_are_not_taken_back(stage: Stage) -> None:
    stage.write(A, LIB, message="Fix it")
    stage.git("stash", "--quiet")
    stage.project.commit("On top")
    with pytest.raises(WriteError, match="there are newer commits") as raised:
        stage.undo()
    stage.git(*(raised.value.hint or "").split()[1:])
    assert stage.read("a.py") == b"one\n"
    assert stage.read("lib/run.sh") == b"three\n"


def test_commits_that_are_pushed_are_not_taken_back(stage: Stage, tmp_path: Path) -> None:
    stage.git("init", "--quiet", "--bare", str(tmp_path / "remote"))
    stage.git("remote", "add", "origin", str(tmp_path / "remote"))
    stage.write(A, message="Fix it")
    stage.git("push", "--quiet", "origin", "main")
    with pytest.raises(WriteError, match="the commits are pushed: origin/main has them"):
        stage.undo()
    stage.git("switch", "--quiet", "--create", "side")
    with pytest.raises(WriteError, match="the commits are on the branch main"):
        stage.undo()


def test_linked_work_trees_have_writes_of_their_own(stage: Stage, tmp_path: Path) -> None:
    stage.write(A)
    stage.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "side")
    main, stage.folder = stage.folder, tmp_path / "linked"
    with pytest.raises(WriteError, match="there is nothing to take back"):
        stage.undo()
    written = stage.write(LIB, message="Fix it")
    stage.folder = main
    with pytest.raises(WriteError, match="was written into another work tree"):
        stage.undo(written.id)
    assert stage.undo() == ("a.py",)
    stage.folder = tmp_path / "linked"
    assert stage.undo() == ("lib/run.sh",)
    assert stage.git("log", "--format=%s", "side") == "First"


def test_the_newest_backups_are_kept(stage: Stage) -> None:
    for number in range(25):
        stage.git("update-ref", f"refs/reviewbot/backup/20200101-0000{number:02}", "HEAD")
    written = stage.write(A)
    refs = stage.git("for-each-ref", "--format=%(refname)", "refs/reviewbot/backup").split()
    assert len(refs) == 20
    assert refs[-1].endswith(written.id)
    assert refs[0].endswith("20200101-000006")
