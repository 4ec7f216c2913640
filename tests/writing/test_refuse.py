"""What is not written, and why: nothing of the repository is changed then."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from reviewbot.ports.writing import WritePlan
from tests.repo import Repo
from tests.writing.stage import Stage, unnamed

pytestmark = pytest.mark.matrix(parts=1)

WORKTREE, STAGED, COMMIT = TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT


def refused(stage: Stage, plan: WritePlan, why: str, **options: object) -> WriteError:
    """Nothing is changed, and it is said what to do."""
    before = stage.state()
    with pytest.raises(WriteError, match=why) as raised:
        stage.writer(**options).write(plan)  # type: ignore[arg-type]
    assert stage.state() == before
    stage.is_sound()
    assert raised.value.hint
    return raised.value


def test_a_file_that_changed_since_the_review(stage: Stage) -> None:
    plan = stage.plan(WORKTREE, {"a.py": "eins\n", "lib/b.py": "zwei\n"})
    stage.repo.write("a.py", "meanwhile\n")
    refused(stage, plan, "a.py is not as it was reviewed|something changed since")


def test_a_file_that_changed_since_the_review_is_named_where_the_tree_is_known(stage: Stage) -> None:
    git_tree = stage.repo.git("rev-parse", "HEAD^{tree}")
    plan = stage.plan(WORKTREE, {"a.py": "eins\n"}, tree=git_tree)
    stage.repo.write("a.py", "eno\n")  # as long as it was
    refused(stage, plan, "a.py is not as it was reviewed")


def test_a_change_that_hides_behind_the_same_size_and_time(stage: Stage) -> None:
    plan = stage.plan(COMMIT, {"a.py": "eins\n"})
    path = stage.repo.path / "a.py"
    status = path.stat()
    path.write_bytes(b"eno\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    refused(stage, plan, "a.py has unstaged changes")


def test_unstaged_changes_on_top_of_what_was_staged(stage: Stage) -> None:
    plan = stage.plan(STAGED, {"staged.py": "better\n"})
    stage.repo.write("staged.py", "unstaged\n")
    refused(stage, plan, "staged.py has unstaged changes")


def test_something_staged_since_the_review(stage: Stage) -> None:
    git_tree = stage.repo.git("rev-parse", "HEAD^{tree}")
    refused(stage, stage.plan(STAGED, {"staged.py": "better\n"}, tree=git_tree), "staged.py is not staged as it was reviewed")
    refused(stage, stage.plan(COMMIT, {"staged.py": "better\n"}), "staged.py is not staged as it was reviewed")


def test_another_head_than_the_reviewed_one(stage: Stage) -> None:
    plan = stage.plan(COMMIT, {"a.py": "eins\n"})
    stage.repo.git("commit", "-q", "-m", "Second")
    refused(stage, plan, "HEAD is not what was reviewed")


@pytest.mark.parametrize("kind", [WORKTREE, STAGED])
def test_a_commit_would_take_uncommitted_work_along(stage: Stage, kind: TargetKind) -> None:
    refused(stage, stage.plan(kind, {"staged.py": "better\n"}, commit=True), "staged.py has changes that are not committed")


def test_a_commit_of_an_untracked_file(stage: Stage) -> None:
    refused(stage, stage.plan(WORKTREE, {"notes.txt": "noted\n"}, commit=True), "notes.txt has changes that are not committed")


def test_a_new_file_where_one_stands(stage: Stage) -> None:
    refused(stage, stage.plan(STAGED, {"notes.txt": "noted\n"}), "notes.txt is there already")


def test_a_file_that_is_only_meant_to_be_added(stage: Stage) -> None:
    refused(stage, stage.plan(STAGED, {"meant.py": "x\n"}), "meant.py is there already")
    assert stage.writer().write(stage.plan(WORKTREE, {"meant.py": "x\n"})).paths == ("meant.py",)


def linked_parent(stage: Stage) -> None:
    (stage.repo.path / "lib").rename(stage.folder / "lib")
    stage.repo.link("lib", str(stage.folder / "lib"))


def linked_file(stage: Stage) -> None:
    (stage.repo.path / "lib/b.py").rename(stage.folder / "b.py")
    stage.repo.link("lib/b.py", str(stage.folder / "b.py"))


def file_as_folder(stage: Stage) -> None:
    stage.repo.remove("lib/b.py")
    (stage.repo.path / "lib").rmdir()
    stage.repo.write("lib", "a file\n")


def folder_as_file(stage: Stage) -> None:
    stage.repo.remove("lib/b.py")
    stage.repo.write("lib/b.py/c.py", "deep\n")


def named_pipe(stage: Stage) -> None:
    stage.repo.remove("lib/b.py")
    os.mkfifo(stage.repo.path / "lib/b.py")


def repository_inside(stage: Stage) -> None:
    stage.repo.git("init", "-q", "lib")


@pytest.mark.parametrize(
    ("done", "why"),
    [
        (linked_parent, "lib is a symbolic link"),
        (linked_file, "lib/b.py is a symbolic link"),
        (file_as_folder, "lib is a file"),
        (folder_as_file, "lib/b.py is a folder"),
        (named_pipe, "lib/b.py is no regular file"),
        (repository_inside, "lib is a repository of its own"),
    ],
    ids=lambda one: one.__name__ if callable(one) else "",
)
def test_what_is_no_plain_file_in_plain_folders(stage: Stage, done: Callable[[Stage], None], why: str) -> None:
    plan = stage.plan(COMMIT, {"lib/b.py": "zwei\n"})
    done(stage)
    before = stage.state()
    with pytest.raises(WriteError, match=why):
        stage.writer().write(plan)
    assert stage.state() == before


def test_a_link_of_the_tree_is_no_file(stage: Stage) -> None:
    stage.repo.link("way", "a.py")
    stage.repo.git("add", "way")
    stage.repo.git("commit", "-q", "-m", "A link")
    refused(stage, stage.plan(COMMIT, {"way": "x\n"}), "way is no regular file")


@pytest.mark.parametrize(
    "path",
    [
        "../out.py",
        "/abs.py",
        "a/../b.py",
        ".git/hooks/x",
        "lib/.GIT/config",
        "x/.git",
        "",
        "a//b",
        "lib/",
        "git~1/x",
        ".git /x",
        ".g\u200cit/x",
        "nul\0.py",
    ],
)
def test_a_path_that_leads_out_or_into_git(stage: Stage, path: str) -> None:
    refused(stage, stage.plan(COMMIT, {"a.py": "eins\n", path: "x\n"}, commit=True), "no path of a file in a work tree")


@pytest.mark.parametrize("who", ["file", "folder", "top"])
def test_what_is_read_only_was_meant_to_stay(stage: Stage, who: str) -> None:
    plan = stage.plan(COMMIT, {"lib/b.py": "zwei\n"} if who != "top" else {"new/c.py": "x\n"})
    path = stage.repo.path / {"file": "lib/b.py", "folder": "lib", "top": "."}[who]
    mode = path.stat().st_mode
    path.chmod(mode & ~0o222)
    try:
        refused(stage, plan, "read-only")
    finally:
        path.chmod(mode)


def test_files_at_which_git_does_not_look(stage: Stage) -> None:
    stage.repo.git("update-index", "--assume-unchanged", "a.py")
    stage.repo.git("update-index", "--skip-worktree", "lib/b.py")
    refused(stage, stage.plan(COMMIT, {"a.py": "eins\n"}), "a.py is marked as unchanged")
    refused(stage, stage.plan(COMMIT, {"lib/b.py": "zwei\n"}), "lib/b.py is left out of this sparse checkout")


def test_a_sparse_checkout_takes_what_is_in_it_and_nothing_new(git_repo: Repo, tmp_path: Path) -> None:
    for name in ("in/a.py", "out/b.py"):
        git_repo.write(name, "one\n")
    git_repo.commit()
    git_repo.git("sparse-checkout", "set", "--cone", "--sparse-index", "in")
    stage = Stage(git_repo, tmp_path)
    refused(stage, stage.plan(COMMIT, {"out/b.py": "zwei\n"}), "out/b.py is left out of this sparse checkout")
    refused(stage, stage.plan(COMMIT, {"in/c.py": "x\n"}), "in/c.py would be new in a sparse checkout")
    stage.writer().write(stage.plan(COMMIT, {"in/a.py": "eins\n"}, commit=True))
    assert git_repo.git("status", "--short") == ""
    assert not (git_repo.path / "out").exists()
    stage.writer().undo()
    assert git_repo.git("status", "--short") == ""


def test_an_unresolved_merge(stage: Stage) -> None:
    repo = stage.repo
    repo.git("stash", "drop", "-q")
    repo.git("reset", "-q", "--hard")
    repo.git("checkout", "-q", "-b", "side")
    repo.write("a.py", "theirs\n")
    repo.git("commit", "-q", "-a", "-m", "Theirs")
    repo.git("checkout", "-q", "main")
    repo.write("a.py", "ours\n")
    repo.git("commit", "-q", "-a", "-m", "Ours")
    plan = stage.plan(COMMIT, {"lib/b.py": "zwei\n"}, commit=True)
    repo.run("merge", "-q", "side", check=False)
    refused(stage, plan, "unresolved conflicts")
    repo.write("a.py", "both\n")
    repo.git("add", "a.py")
    refused(stage, plan, "a merge is in progress")


@pytest.mark.parametrize("name", ["CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge/x", "rebase-apply/x"])
def test_something_under_way(stage: Stage, name: str) -> None:
    plan = stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True)
    stage.repo.write(f".git/{name}", stage.repo.git("rev-parse", "HEAD"))
    refused(stage, plan, "in progress")
    assert stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"})).paths == ("a.py",)


def test_a_head_on_no_branch(stage: Stage) -> None:
    stage.repo.git("checkout", "-q", "--detach")
    refused(stage, stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True), "HEAD is on no branch")
    assert stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"})).paths == ("a.py",)


def test_nobody_to_commit(stage: Stage) -> None:
    nobody = unnamed(stage.repo)
    plan = stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True)
    refused(stage, plan, "git does not know who commits", environment=nobody)
    # A name that git would make up from that of the user's account is none.
    refused(stage, plan, "git does not know who commits", environment={**nobody, "EMAIL": "ada@example.org"})
    assert stage.writer(environment=nobody).write(stage.plan(COMMIT, {"a.py": "eins\n"})).paths == ("a.py",)


@pytest.mark.parametrize(("kind", "commit"), [(STAGED, False), (COMMIT, True)])
def test_an_index_that_another_git_holds(stage: Stage, kind: TargetKind, commit: bool) -> None:
    plan = stage.plan(kind, {"a.py": "eins\n"}, commit=commit)
    before = stage.state()
    lock = stage.repo.write(".git/index.lock", b"")
    with pytest.raises(WriteError, match="another git is at work"):
        stage.writer().write(plan)
    assert lock.read_bytes() == b""
    lock.unlink()
    assert stage.state() == before


def test_an_index_that_is_a_lock_itself(stage: Stage) -> None:
    """Within a hook of `git commit --all`."""
    lock = stage.repo.write(".git/index.lock", (stage.git_dir / "index").read_bytes())
    plan = stage.plan(STAGED, {"a.py": "eins\n"})
    with pytest.raises(WriteError, match="another git is at work"):
        stage.writer(index=lock).write(plan)
    assert stage.writer(index=lock).write(stage.plan(WORKTREE, {"a.py": "eins\n"})).paths == ("a.py",)


def test_a_ref_that_another_git_holds(stage: Stage) -> None:
    plan = stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True)
    lock = stage.repo.write(".git/refs/heads/main.lock", b"")
    before = stage.state()
    with pytest.raises(WriteError, match="cannot be moved"):
        stage.writer().write(plan)
    assert stage.state() == before
    lock.unlink()
    stage.is_sound()


def test_a_patch_or_nothing_resolved(stage: Stage) -> None:
    tree = stage.repo.git("rev-parse", "HEAD^{tree}")
    refused(stage, stage.plan(TargetKind.PATCH, {"a.py": "x\n"}, tree=tree), "no state of this repository")


def test_an_unknown_tree(stage: Stage) -> None:
    refused(stage, stage.plan(WORKTREE, {"a.py": "x\n"}, tree="0" * 39 + "1"), "something changed since the review")


def test_many_complaints_are_told_in_short(stage: Stage) -> None:
    for number in range(7):
        stage.repo.write(f"new{number}.py", "x\n")
    error = refused(stage, stage.plan(STAGED, {f"new{number}.py": "y\n" for number in range(7)}), "and 2 more")
    assert "new4.py" in error.message
    assert "new5.py" not in error.message


def test_a_git_folder_that_cannot_be_written(stage: Stage) -> None:
    stage.repo.write(".git/reviewbot", "in the way")
    with pytest.raises(WriteError, match="cannot be locked"):
        stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}))
