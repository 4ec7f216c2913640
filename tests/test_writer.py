"""What is written into a work tree: all or nothing, whoever kills it or writes meanwhile."""

from __future__ import annotations

import asyncio
import copy
import errno
import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import warnings
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conftest import Project

from reviewbot.errors import ReviewbotError, WriteError
from reviewbot.git import writer
from reviewbot.git.repository import Repository
from reviewbot.git.writer import Write, Written, open_writer, recover

T = TypeVar("T")
Files = Mapping[str, bytes | None]
FIRST: dict[str, bytes] = {
    **{"a.py": b"one\n", "gone.py": b"two\n2\n", "lib/run.sh": b"three\n"},
    **{"staged.py": b"four\n", "other.py": b"five\n"},
}
FIX: Files = {"a.py": b"1\n", "gone.py": None, "new/b.py": b"6\n"}
A, LIB, NEW = {"a.py": b"1\n"}, {"lib/run.sh": b"3\n"}, {"new.py": b"6\n"}
SUB, GONE = {"sub/a.py": b"7\n"}, {"gone.py": None}
CONFLICT = "printf '100644 %s 1\\ta.py\\n' $(git rev-parse :a.py) | git update-index --index-info"
DONE = ("taken back", "completed")


class Stage:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.folder = project.folder
        self.git = project.git
        self.state = self.folder.parent / "state"

    def write(
        self, *fixes: Files, message: str = "", step: Callable[[str], None] | None = None
    ) -> Written:
        return self.write_all([Write(files=fix, message=message) for fix in fixes], FIRST, step)

    def write_all(
        self,
        writes: list[Write],
        reviewed: Mapping[str, bytes],
        step: Callable[[str], None] | None = None,
    ) -> Written:
        async def work(repository: Repository) -> Written:
            async with open_writer(repository, self.state) as opened:
                return await opened.write(writes, reviewed)

        return self.run(work, step)

    def undo(self, id: str = "", step: Callable[[str], None] | None = None) -> tuple[str, ...]:
        async def work(repository: Repository) -> tuple[str, ...]:
            async with open_writer(repository, self.state) as opened:
                return await opened.undo(id)

        return self.run(work, step)

    def recover(self, step: Callable[[str], None] | None = None) -> str:
        return self.run(lambda repository: recover(repository, self.state), step)

    def run(
        self,
        work: Callable[[Repository], Coroutine[None, None, T]],
        step: Callable[[str], None] | None,
    ) -> T:
        with pytest.MonkeyPatch.context() as patch, Repository(self.folder) as repository:
            if step:
                self.watch(patch, step)
            return asyncio.run(work(repository))

    def watch(self, patch: pytest.MonkeyPatch, tell: Callable[[str], None]) -> None:
        """Tell each call that changed a file, by what has its name now, or what had it."""

        def after(call: str, real: Callable[..., None]) -> Callable[..., None]:
            def calling(path: object, *more: object, **options: object) -> None:
                real(path, *more, **options)
                file = Path(f"/proc/self/fd/{path}").readlink() if call == "fsync" else path
                file = more[0] if call in ("rename", "replace") else file
                name = os.path.relpath(str(file), self.folder)
                if not name.startswith((".git/", "../../")):
                    name = re.sub(r"\.reviewbot-[\d-]+-", "", name)
                    tell(f"{call} {'journal' if 'writing-' in name else name}")

            return calling

        async def run_git(git: writer.UserGit, *words: str, **options: Any) -> bytes:
            is_write = words[0] in ("update-ref", "update-index")
            if is_write:
                tell(f"before {words[0]}")
            output = await real_git(git, *words, **options)
            if is_write:
                tell(words[0])
            return output

        real_git = writer.UserGit.__call__
        patch.setattr(writer.UserGit, "__call__", run_git)
        for call in ("fsync", "link", "mkdir", "rename", "replace", "rmdir", "unlink"):
            patch.setattr(os, call, after(call, getattr(os, call)))

    def put(self, path: str, content: bytes) -> None:
        (self.folder / path).write_bytes(content)

    def read(self, path: str) -> bytes:
        return (self.folder / path).read_bytes()

    def files(self) -> dict[str, tuple[bytes, int]]:
        paths = (path for path in self.folder.rglob("*") if ".git" not in path.parts)
        files = {str(path.relative_to(self.folder)): path for path in paths if path.is_file()}
        return {name: (path.read_bytes(), path.stat().st_mode) for name, path in files.items()}

    def everything(self) -> tuple[object, ...]:
        """What somebody could miss. Nothing else lies about."""
        folders = [path for path in self.folder.iterdir() if path.is_dir()]
        git = [path.name for path in self.folder.glob(".git/*.lock") if "review" not in path.name]
        said = [self.git(*words.split()) for words in ("for-each-ref", "status --porcelain=v2")]
        return self.files(), folders, said, git, list(self.state.glob("*.json"))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("template"))
    (project.folder / "lib").mkdir()
    (project.folder / "lib/run.sh").touch(mode=0o755)
    project.commit("First", FIRST)
    with (project.folder / ".git/config").open("a") as config:
        config.write("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    (project.folder / "staged.py").write_bytes(b"four, staged\n")
    project.git("add", "staged.py")
    (project.folder / "other.py").write_bytes(b"five, in work\n")
    return project


@pytest.fixture
def stage(tmp_path: Path, template: Project) -> Stage:
    project = copy.copy(template)
    project.folder = tmp_path / "project"
    shutil.copytree(template.folder, project.folder)
    project.git(
        "update-index", "-q", "--refresh", "--", "a.py", "gone.py", "lib/run.sh", "staged.py"
    )
    return Stage(project)


def run_child(work: Callable[[], object]) -> int:
    """How a process that does this ends."""
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
    return os.waitpid(child, 0)[1]


def at(step: int | str, act: Callable[[], object]) -> Callable[[str], None]:
    """Somebody who does something once, at a step of this name or number."""
    said: list[str] = []

    def tell(name: str) -> None:
        said.append(name)
        if step == len(said) - 1 or (step == name and said.count(name) == 1):
            act()

    return tell


def kill_at(step: int | str) -> Callable[[str], None]:
    return at(step, lambda: os.kill(os.getpid(), signal.SIGKILL))


@pytest.mark.parametrize("message", ["", "Fix it"])
def test_fixes_are_written_and_taken_back(stage: Stage, message: str) -> None:
    before = stage.everything()
    written = stage.write({**FIX, **LIB}, message=message)
    assert written.paths == ("a.py", "gone.py", "new/b.py", "lib/run.sh")
    files = stage.files()
    assert [files[path][0] for path in ("a.py", "new/b.py")] == [b"1\n", b"6\n"]
    assert files["lib/run.sh"] == (b"3\n", 0o100755)
    changed = "" if message else "M a.py D gone.py M lib/run.sh "
    said = f"{changed}M other.py M staged.py{'' if message else ' ?? new/'}"
    assert " ".join(stage.git("status", "-s").split()) == said
    assert stage.git("show", f"refs/reviewbot/backup/{written.id}:gone.py") == "two\n2"
    assert stage.undo(written.id) == written.paths
    assert stage.everything() == before


def test_a_write_that_is_killed_at_any_step_is_complete_or_never_was(stage: Stage) -> None:
    before, outcomes, ended = stage.everything(), [], 1
    while ended:
        step = kill_at(len(outcomes))
        ended = run_child(partial(stage.write, FIX, message="Fix it", step=step))
        said = stage.recover()
        if is_done := stage.git("for-each-ref", "refs/reviewbot") != "":
            stage.undo()
        assert said in ("", f"a write that was interrupted is {DONE[is_done]}")
        assert stage.everything() == before, outcomes
        outcomes.append(is_done)
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) >= 10
    assert outcomes.count(True) > 5


def test_an_undo_that_is_killed_at_any_step_is_complete_or_never_was(stage: Stage) -> None:
    before, outcomes, ended = stage.everything(), [], 1
    stage.write(FIX, message="Fix it")
    fixed = stage.everything()
    while ended:
        ended = run_child(partial(stage.undo, step=kill_at(len(outcomes))))
        stage.recover()
        outcomes.append(stage.git("for-each-ref", "refs/reviewbot") == "")
        assert stage.everything() == (before if outcomes[-1] else fixed), outcomes
        if ended and outcomes[-1]:
            stage.write(FIX, message="Fix it")
            fixed = stage.everything()
    assert outcomes == sorted(outcomes)
    assert outcomes.count(False) >= 8
    assert outcomes.count(True) > 5


def test_twenty_writes_that_are_killed_at_random_are_complete_or_never_were(stage: Stage) -> None:
    """Also within a step, and while git runs."""
    before, chance, killed = stage.everything(), random.Random(20), 0
    started = time.monotonic()
    run_child(partial(stage.write, FIX, message="Fix it"))
    seconds = time.monotonic() - started
    stage.undo()

    def write_until(delay: float) -> None:
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
        stage.write(FIX, message="Fix it")

    while killed < 20:
        if os.WIFSIGNALED(run_child(partial(write_until, chance.random() * seconds))):
            killed += 1
        else:  # it was quicker
            seconds *= 0.9
        said = stage.recover()
        if is_done := stage.git("for-each-ref", "refs/reviewbot") != "":
            stage.undo()
        assert said in ("", f"a write that was interrupted is {DONE[is_done]}")
        assert stage.everything() == before, killed


@pytest.mark.parametrize("step", ["before update-ref", "update-ref"])
def test_a_recovery_that_is_killed_is_finished_by_the_next(stage: Stage, step: str) -> None:
    before, count, ended = stage.everything(), 0, 1
    while ended:
        run_child(partial(stage.write, FIX, message="Fix it", step=kill_at(step)))
        ended = run_child(partial(stage.recover, kill_at(count)))
        stage.recover()
        if step == "update-ref":
            stage.undo()
        assert stage.everything() == before, count
        count += 1
    assert count > 4


def test_what_somebody_saves_or_removes_after_a_kill_stays(stage: Stage) -> None:
    run_child(partial(stage.write, FIX, step=kill_at("before update-ref")))
    stage.put("a.py", b"mine\n")
    stage.git("clean", "--quiet", "--force", "--", *stage.folder.glob(".reviewbot-*-1.old"))
    said = stage.recover().split("; ")
    assert said[1:3] == [f"{path} was changed meanwhile and stays" for path in ("a.py", "gone.py")]
    assert stage.git(*said[3].replace("PATH", "gone.py").split()[1:3]) == "two\n2"
    assert stage.read("a.py") == b"mine\n"
    assert not list(stage.folder.glob("new")) + list(stage.folder.glob("*.old"))


def test_a_journal_that_cannot_be_read_is_named(stage: Stage) -> None:
    run_child(partial(stage.write, FIX, step=kill_at("before update-ref")))
    (journal,) = stage.state.glob("writing-*.json")
    for content in (b"", b'{"work_tree": "\xff"}'):
        journal.write_bytes(content)
        with pytest.raises(WriteError, match="nothing is changed: ") as caught:
            stage.recover()
        assert str(journal) in str(caught.value.hint)


def test_what_somebody_stages_after_a_kill_stays(stage: Stage) -> None:
    run_child(partial(stage.write, {**FIX, **LIB}, message="Fix it", step=kill_at("update-ref")))
    stage.git("update-index", "--chmod=-x", "lib/run.sh")
    assert stage.recover() == "a write that was interrupted is completed"
    assert stage.git("ls-files", "--stage", "lib/run.sh").startswith("100644")
    assert stage.git("diff", "--cached", "--name-only").split() == ["lib/run.sh", "staged.py"]


def test_ctrl_c_waits_until_everything_is_written(stage: Stage) -> None:
    before = stage.everything()
    with pytest.raises(KeyboardInterrupt):
        stage.write(FIX, step=at("rename 0.old", lambda: signal.raise_signal(signal.SIGINT)))
    assert stage.undo() == tuple(FIX)
    assert stage.everything() == before


@pytest.mark.parametrize(
    "step", ["fsync journal", "fsync 0.new", "rename 0.old", "link 0.new", "unlink new/2.new"]
)
def test_what_somebody_saves_meanwhile_stays(stage: Stage, step: str) -> None:
    before = stage.files()
    with pytest.raises(
        WriteError, match=r"nothing is changed: a\.py was (changed|saved) meanwhile"
    ):
        stage.write(FIX, message="Fix it", step=at(step, lambda: stage.put("a.py", b"mine\n")))
    assert stage.files() == {**before, "a.py": (b"mine\n", 0o100644)}
    assert stage.git("diff", "--cached", "--name-only") == "staged.py"
    assert stage.git("log", "--format=%s") == "First"


def test_both_versions_that_two_others_save_are_kept(stage: Stage) -> None:
    versions = {"fsync journal": b"mine\n", "rename 0.old": b"yours\n"}
    with pytest.raises(WriteError, match="another version is") as raised:
        stage.write(FIX, step=lambda step: step in versions and stage.put("a.py", versions[step]))
    (beside,) = stage.folder.glob(".reviewbot-*")
    assert f"another version is {beside.name} beside it" in str(raised.value)
    assert (stage.read("a.py"), beside.read_bytes()) == (b"yours\n", b"mine\n")


def test_what_a_program_writes_into_the_old_file_is_kept(stage: Stage) -> None:
    act = at("update-ref", lambda: next(stage.folder.glob(".*-0.old")).write_bytes(b"late\n"))
    with pytest.raises(WriteError, match=r"^a\.py was saved meanwhile: another version is"):
        stage.write(FIX, step=act)
    (beside,) = stage.folder.glob(".reviewbot-*")
    with pytest.raises(WriteError, match=f"{beside.name} is beside a.py"):
        stage.undo()
    assert beside.read_bytes() == b"late\n"
    beside.unlink()
    assert stage.undo() == tuple(FIX)


def test_what_is_saved_while_a_file_is_taken_back_stays(stage: Stage) -> None:
    def act(step: str) -> None:
        if step == "link new/2.new":
            raise OSError
        if step == "rename 0.out":
            next(stage.folder.glob(".reviewbot-*.out")).write_bytes(b"mine\n")

    with pytest.raises(WriteError, match=r"a\.py was changed meanwhile and stays"):
        stage.write(FIX, step=act)
    assert stage.read("a.py") == b"mine\n"
    assert stage.read("gone.py") == FIRST["gone.py"]


def test_what_is_saved_while_a_recovery_is_killed_stays(stage: Stage) -> None:
    run_child(partial(stage.write, FIX, step=kill_at("before update-ref")))
    run_child(partial(stage.recover, kill_at("rename 0.out")))
    (beside,) = stage.folder.glob(".reviewbot-*.out")
    beside.write_bytes(b"mine\n")
    stage.put("a.py", b"1\n")
    assert f"another version is {beside.name} beside it" in stage.recover()
    assert (stage.read("a.py"), beside.read_bytes()) == (b"1\n", b"mine\n")


def test_a_commit_that_somebody_makes_meanwhile_stays(stage: Stage) -> None:
    before = stage.files()
    other = stage.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Theirs")
    act = at("before update-ref", lambda: stage.git("update-ref", "refs/heads/main", other))
    with pytest.raises(WriteError, match="a branch cannot be moved"):
        stage.write(FIX, message="Fix it", step=act)
    assert stage.git("log", "--format=%s") == "Theirs\nFirst"
    assert stage.files() == before


def test_an_index_that_is_locked_meanwhile_can_be_reset(stage: Stage) -> None:
    lock = stage.folder / ".git/index.lock"
    with pytest.raises(WriteError, match=r"the branch is moved, but .*index\.lock") as raised:
        stage.write(FIX, message="Fix it", step=at("before update-ref", lock.touch))
    assert stage.git("log", "-1", "--format=%s") == "Fix it"
    lock.unlink()
    stage.git(*str(raised.value).split("run git ")[1].split())
    assert stage.git("status", "-s") == "M other.py\nM  staged.py"


@pytest.mark.parametrize(
    ("call", "step", "times"),
    [("fsync", "replace journal", 1), ("mkdir", "rename 0.old", 9), ("link", "rename 1.old", 9)],
)
def test_a_full_disk_or_no_hard_links_leave_everything_as_it_was(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, call: str, step: str, times: int
) -> None:
    failures = list[OSError]()
    full = OSError(errno.ENOSPC, "No space left on device")
    real = getattr(os, call)

    def fail(*arguments: Any, **options: Any) -> None:
        if failures:
            raise failures.pop()
        real(*arguments, **options)

    monkeypatch.setattr(os, call, fail)
    before = stage.everything()
    with pytest.raises(WriteError, match=r"nothing is changed: .*No space left on device"):
        stage.write(FIX, step=at(step, lambda: failures.extend([full] * times)))
    assert stage.everything() == before


def test_two_writers_come_one_after_the_other(stage: Stage) -> None:
    paths = ("x.py", "y.py", "z.py")
    threads = [threading.Thread(target=stage.write, args=({path: b""},)) for path in paths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {path for _ in paths for path in stage.undo()} == set(paths)


def test_a_writer_does_not_wait_for_ever(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reviewbot.git.writer.LOCK_SECONDS", 0.1)
    before = stage.everything()
    with (stage.folder / ".git/reviewbot.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(WriteError, match="another reviewbot is writing"):
            stage.write(FIX)
    assert stage.everything() == before
    assert stage.write(FIX)
    lock_file = stage.folder / ".git/reviewbot.lock"
    lock_file.unlink()
    lock_file.mkdir()
    with pytest.raises(WriteError, match=rf"nothing is changed: Is a directory \({lock_file}\)"):
        stage.undo()


# What is done before, in a shell; the fix; the message of a commit; what is said.
REFUSALS: list[tuple[str, Files, str, str]] = [
    ("echo one! > a.py", A, "", "a.py is not what was reviewed"),
    ("rm a.py", A, "", "a.py is not what was reviewed"),
    ("printf 'one\\r\\n' > a.py", A, "", "a.py is not what was reviewed"),
    ("echo mine > new.py", NEW, "", "new.py exists already"),
    ("mv a.py real.py; ln -s real.py a.py", A, "", "a.py is not a regular file"),
    ("mv lib real; ln -s real lib", LIB, "", "lib is a symbolic link"),
    ("git init -q lib", LIB, "", "lib is a repository of its own"),
    ("", {"lib": b""}, "", "lib is not a regular file"),
    ("", {"../a.py": b""}, "", "'../a.py' is not the path of a file"),
    ("", {".git/config": b""}, "", "'.git/config' is not the path of a file"),
    ("chmod 444 a.py", A, "", "a.py or its folder is read-only"),
    ("git update-index --assume-unchanged a.py", A, "", "marked skip-worktree or assume-unchanged"),
    ("git update-index --skip-worktree a.py", A, "", "marked skip-worktree or assume-unchanged"),
    ("echo four > staged.py", {"staged.py": b"4\n"}, "Fix", "staged.py has changes that are not"),
    ("git rm -q --cached a.py", A, "Fix", "a.py has changes that are not committed"),
    ("touch n.py; git add -N n.py; rm n.py", {"n.py": b""}, "Fix", "n.py has changes that are not"),
    ("git update-index --chmod=+x a.py", A, "Fix", "a.py has changes that are not committed"),
    (CONFLICT, A, "", "a.py has conflicts"),
    ("git switch -q --detach", A, "Fix", "HEAD is detached"),
    ("git symbolic-ref HEAD refs/heads/none", NEW, "Fix", "there is no commit yet"),
    ("git config user.name ''", A, "Fix", "empty ident name"),
    ("touch .git/MERGE_HEAD", A, "Fix", "there is .git/MERGE_HEAD"),
    ("touch .git/refs/heads/main.lock", A, "Fix", "a branch cannot be moved"),
    ("", {"a.py": b"one\n"}, "", "the fixes change nothing"),
]


@pytest.mark.parametrize(("before", "fix", "message", "said"), REFUSALS)
def test_a_fix_is_refused(stage: Stage, before: str, fix: Files, message: str, said: str) -> None:
    subprocess.run(before, shell=True, cwd=stage.folder, check=True)
    files, refs = stage.files(), stage.git("for-each-ref")
    with pytest.raises(ReviewbotError, match=re.escape(said)) as raised:
        stage.write(fix, message=message)
    assert raised.value.hint
    assert (files, refs) == (stage.files(), stage.git("for-each-ref"))


def test_a_file_of_somebody_else_is_refused(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(WriteError, match=r"a\.py belongs to another user"):
        stage.write(A)


def test_only_commits_change_the_index(stage: Stage) -> None:
    stage.git("rm", "--quiet", "--cached", "gone.py")
    staged = stage.git("ls-files", "--stage")
    reviewed = {**FIRST, "staged.py": b"four, staged\n", "other.py": b"five, in work\n"}
    files: Files = {**FIX, "staged.py": b"4\n", "other.py": None}
    stage.write_all([Write(files=files)], reviewed)
    assert stage.git("ls-files", "--stage") == staged
    assert stage.git("status", "-s", "staged.py") == "MM staged.py"
    assert stage.undo() == tuple(files)
    assert stage.git("ls-files", "--stage") == staged


def test_work_that_is_not_committed_is_not_committed_with_a_fix(stage: Stage) -> None:
    write = Write(files={"other.py": b"5\n"}, message="Fix it")
    with pytest.raises(WriteError, match=r"other\.py has changes that are not committed"):
        stage.write_all([write], {"other.py": b"five, in work\n"})
    assert stage.read("other.py") == b"five, in work\n"


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


def test_nothing_is_taken_back_if_a_file_was_changed_since(stage: Stage) -> None:
    stage.write(FIX, message="Fix it")
    stage.put("a.py", b"mine\n")
    fixed = stage.everything()
    with pytest.raises(WriteError, match=r"nothing is taken back: a\.py changed since") as raised:
        stage.undo()
    assert stage.git(*(raised.value.hint or "").split()[1:3]) == "one"
    assert stage.everything() == fixed
    stage.put("a.py", b"1\n")
    assert stage.undo() == tuple(FIX)


def test_commits_that_are_not_the_last_or_are_pushed_are_not_taken_back(
    stage: Stage, tmp_path: Path
) -> None:
    stage.write(A, LIB, message="Fix it")
    stage.git("init", "--quiet", "--bare", str(tmp_path / "remote"))
    stage.git("remote", "add", "origin", str(tmp_path / "remote"))
    stage.git("push", "--quiet", "origin", "main")
    with pytest.raises(WriteError, match="refs/remotes/origin/main has them"):
        stage.undo()
    stage.git("update-ref", "-d", "refs/remotes/origin/main")
    stage.git("switch", "--quiet", "--create", "side")
    with pytest.raises(WriteError, match="the commits are on the branch main"):
        stage.undo()
    stage.git("switch", "--quiet", "main")
    stage.git("stash", "--quiet")
    stage.project.commit("On top")
    with pytest.raises(WriteError, match="there are newer ones") as raised:
        stage.undo()
    stage.git(*(raised.value.hint or "").split()[1:])
    assert (stage.read("a.py"), stage.read("lib/run.sh")) == (b"one\n", b"three\n")


def test_commits_are_taken_back_while_no_other_command_of_git_goes_on(stage: Stage) -> None:
    stage.write(A, message="Fix")
    names = "MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG rebase-merge rebase-apply sequencer"
    for name in (*names.split(), "index.lock"):
        (stage.folder / ".git" / name).touch()
        with pytest.raises(WriteError, match=f"there is .git/{name}"):
            stage.undo()
        (stage.folder / ".git" / name).unlink()
    assert stage.undo() == ("a.py",)


def test_linked_work_trees_have_writes_of_their_own(stage: Stage, tmp_path: Path) -> None:
    stage.write(A)
    stage.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "side")
    main, stage.folder = stage.folder, tmp_path / "linked"
    with pytest.raises(WriteError, match="there is nothing to take back"):
        stage.undo()
    written = stage.write(LIB, message="Fix it")
    stage.folder = main
    with pytest.raises(WriteError, match="there is no fix"):
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
