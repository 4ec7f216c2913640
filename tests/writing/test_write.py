"""What is written, in each kind of review, and what is left alone."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from reviewbot.ports.writing import Written
from tests.repo import AUTHOR, EMAIL, Repo
from tests.writing.stage import Stage, contents, files, unnamed

pytestmark = pytest.mark.matrix(parts=1)

WORKTREE, STAGED, COMMIT = TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT


def entry(stage: Stage, path: str) -> str:
    return stage.repo.git("ls-files", "--stage", "--", path)


def untouched(stage: Stage, before: dict[str, tuple[bytes, int, int]], *paths: str) -> None:
    """Everything but these files is as it was, to the nanosecond."""
    now = files(stage.repo.path)
    assert {path: now.get(path) for path in {*before, *now} - set(paths)} == {
        path: before.get(path) for path in {*before, *now} - set(paths)
    }


def test_a_review_of_the_work_tree_is_written_to_its_files_only(stage: Stage) -> None:
    stage.repo.write("a.py", "uno\n")
    before = stage.state()
    plan = stage.plan(WORKTREE, {"a.py": "eins\n", "notes.txt": "noted\n"}, {"new/deep/c.py": "drei\n", "gone.py": None})
    written = stage.writer().write(plan)
    after = stage.state()
    assert written.paths == ("a.py", "gone.py", "new/deep/c.py", "notes.txt")
    assert (after.index, after.index_age, after.head, after.logs) == (before.index, before.index_age, before.head, before.logs)
    assert after.files["a.py"][:2] == (b"eins\n", before.files["a.py"][1])
    assert after.files["new/deep/c.py"][:2] == (b"drei\n", 0o100644)
    assert "gone.py" not in after.files
    untouched(stage, before.files, *written.paths)
    stage.is_sound()


def test_what_a_review_of_the_index_makes_is_staged_too(stage: Stage) -> None:
    before = files(stage.repo.path)
    written = stage.writer().write(stage.plan(STAGED, {"staged.py": "better\n", "run.sh": "echo hi\n", "new.py": "new\n"}))
    assert written.paths == ("new.py", "run.sh", "staged.py")
    assert stage.repo.git("diff", "--name-only") == "meant.py\nother.py"
    assert stage.repo.git("diff", "--cached", "--name-only") == "new.py\nrun.sh\nstaged.py"
    assert entry(stage, "run.sh").startswith("100755")
    untouched(stage, before, *written.paths)
    stage.is_sound()


def test_after_the_index_was_written_git_need_not_read_any_file_again(stage: Stage) -> None:
    stage.writer().write(stage.plan(STAGED, {"staged.py": "better\n"}))
    # `diff-files` believes the index; where that knows a file's state it says nothing of it.
    assert stage.repo.git("diff-files", "--name-only") == "meant.py\nother.py"


def test_a_review_of_commits_is_written_to_files_and_not_staged(stage: Stage) -> None:
    before = stage.state()
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}))
    after = stage.state()
    assert (after.index, after.logs) == (before.index, before.logs)
    assert stage.repo.git("diff", "--name-only") == "a.py\nmeant.py\nother.py"
    untouched(stage, before.files, "a.py")


def test_each_step_is_a_commit_and_the_users_own_work_is_in_none(stage: Stage) -> None:
    stage.repo.git("config", "commit.gpgSign", "true")
    stage.repo.git("config", "gpg.program", "false")
    before = stage.state()
    head = stage.repo.git("rev-parse", "HEAD")
    plan = stage.plan(COMMIT, {"a.py": "eins\n"}, {"a.py": "EINS\n", "gone.py": None}, {"new/c.py": "drei\n"}, commit=True)
    written = stage.writer().write(plan)
    ids = [commit for _, commit in written.commits]
    assert [subject for subject, _ in written.commits] == ["F1", "F2", "F3"]
    assert stage.repo.git("rev-list", "--reverse", f"{head}..HEAD").split() == ids
    assert stage.repo.git("show", "-s", "--format=%an %ae %cn %ce", "HEAD") == " ".join([AUTHOR, EMAIL] * 2)
    assert stage.repo.git("show", "-s", "--format=%(trailers)", ids[0]) == "Reviewbot-Finding: F1"
    changed = [stage.repo.git("diff-tree", "--no-commit-id", "--name-status", "-r", one) for one in ids]
    assert changed == ["M\ta.py", "M\ta.py\nD\tgone.py", "A\tnew/c.py"]
    assert stage.repo.git("diff", "--cached", "--name-only") == "staged.py"
    assert stage.repo.git("diff", "--name-only") == "meant.py\nother.py"
    assert "not signed" in written.notes[0]
    untouched(stage, before.files, *written.paths)
    stage.is_sound()


def test_no_hook_and_no_filter_is_run(stage: Stage) -> None:
    repo = stage.repo
    for hook in ("pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-checkout"):
        path = repo.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {stage.folder}/ran\n")
        path.chmod(0o755)
    repo.git("config", "filter.evil.clean", f"touch {stage.folder}/ran; cat")
    repo.git("config", "core.fsmonitor", f"touch {stage.folder}/ran")
    repo.git("config", "filter.evil.smudge", f"touch {stage.folder}/ran; cat")
    repo.write(".git/info/attributes", "other.py filter=evil\nlib/b.py filter=evil\n")
    os.utime(repo.path / "other.py")
    # Git looks into a file that is as new as the index, when it writes that.
    os.utime(stage.git_dir / "index", ns=(0, (repo.path / "lib/b.py").stat().st_mtime_ns))
    (stage.folder / "ran").unlink(missing_ok=True)
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True))
    stage.writer().undo()
    assert not (stage.folder / "ran").exists()
    repo.run("diff", check=False)
    assert (stage.folder / "ran").exists(), "and with git as it is something is run"


def test_a_step_without_a_change_is_no_commit_and_nothing_at_all_no_backup(stage: Stage) -> None:
    before = stage.state()
    assert stage.writer().write(stage.plan(COMMIT, {"a.py": "one\n"}, commit=True)) == Written(
        notes=("F1: nothing was left to change, and there is no commit for it",)
    )
    assert stage.writer().write(stage.plan(COMMIT, {"a.py": "one\n"})) == Written()
    assert stage.writer().write(stage.plan(COMMIT)) == stage.writer().write(stage.plan(COMMIT, commit=True)) == Written()
    assert stage.state() == before
    written = stage.writer().write(stage.plan(COMMIT, {"a.py": "x\n"}, {"a.py": "x\n"}, {"a.py": "one\n"}, commit=True))
    assert [subject for subject, _ in written.commits] == ["F1", "F3"]
    assert written.paths == ()
    assert stage.state().files == before.files
    assert stage.state().index == before.index


def test_a_backup_is_like_a_stash_and_says_what_became_of_what(stage: Stage) -> None:
    repo = stage.repo
    repo.write("a.py", "uno\n")
    repo.git("add", "a.py")
    repo.write("a.py", "ein\n")
    backup = stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n", "notes.txt": None})).backup
    assert backup is not None
    assert backup.startswith("refs/reviewbot/backup/20")
    assert repo.git("show", f"{backup}:a.py") == "ein"
    assert repo.git("show", f"{backup}:notes.txt") == "not tracked"
    assert repo.git("rev-parse", f"{backup}^1") == repo.git("rev-parse", "HEAD")
    assert repo.git("show", f"{backup}^2:a.py") == "uno"
    assert repo.git("show", f"{backup}^2:staged.py") == "staged anew"
    assert '"path": "a.py"' in repo.git("show", "-s", "--format=%(trailers:key=Reviewbot-Wrote)", backup)
    stage.is_sound()


@pytest.mark.ci
def test_only_the_newest_twenty_backups_are_kept(stage: Stage) -> None:
    made = []
    for number in range(22):
        made.append(stage.writer().write(stage.plan(WORKTREE, {"a.py": f"{number}\n"})).backup)
    assert stage.backups() == made[2:]


def test_a_commit_may_leave_nothing(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("a.py", "one\n")
    git_repo.commit()
    stage = Stage(git_repo, tmp_path)
    stage.writer().write(stage.plan(COMMIT, {"a.py": None}, commit=True))
    assert git_repo.git("status", "--short") == ""
    stage.is_sound()
    stage.writer().undo()
    assert git_repo.git("status", "--short") == ""


def test_the_permissions_of_a_file_stay(stage: Stage) -> None:
    (stage.repo.path / "run.sh").chmod(0o750)
    (stage.repo.path / "a.py").chmod(0o600)
    stage.writer().write(stage.plan(WORKTREE, {"run.sh": "echo hi\n", "a.py": "eins\n"}))
    assert [(stage.repo.path / name).stat().st_mode & 0o7777 for name in ("run.sh", "a.py")] == [0o750, 0o600]


def test_another_name_of_the_same_file_keeps_the_old_bytes(stage: Stage) -> None:
    os.link(stage.repo.path / "a.py", stage.folder / "elsewhere")
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    assert (stage.folder / "elsewhere").read_bytes() == b"one\n"


@pytest.mark.parametrize("commit", [False, True])
@pytest.mark.parametrize(
    "name", ["with space.py", "line\nfeed.py", "tab\t\"quote'.py", "bytes-\udcff.py", "*?[a].py", "-rf", ":(top)x", "ünï/ç.py"]
)
def test_unusual_names_are_names_like_others(git_repo: Repo, tmp_path: Path, name: str, commit: bool) -> None:
    stage = Stage(git_repo, tmp_path)
    git_repo.write(name, "one\n")
    git_repo.write("a.py", "other\n")
    git_repo.commit()
    before = stage.state()
    written = stage.writer().write(stage.plan(COMMIT, {name: "eins\n", f"new/{name}": "neu\n"}, commit=commit))
    assert set(written.paths) == {name, f"new/{name}"}
    assert files(git_repo.path)[name][0] == b"eins\n"
    stage.is_sound()
    stage.writer().undo()
    assert {path: one[:2] for path, one in stage.state().files.items()} == {path: one[:2] for path, one in before.files.items()}
    assert (stage.state().refs, git_repo.git("status", "--short")) == (before.refs, "")


def test_a_repository_with_long_ids_is_written_to(tmp_path: Path) -> None:
    repo = Repo(tmp_path, "--object-format=sha256")
    repo.write("a.py", "one\n")
    repo.write("b.py", "two\n")
    repo.commit()
    stage = Stage(repo, tmp_path)
    before = stage.state()
    written = stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n", "b.py": None, "c.py": "drei\n"}, commit=True))
    assert len(written.commits[0][1]) == 64
    stage.is_sound()
    assert repo.git("status", "--short") == ""
    stage.writer().undo()
    assert (stage.state().refs, repo.git("status", "--short")) == (before.refs, "")


def test_a_linked_work_tree_has_writes_of_its_own(stage: Stage) -> None:
    stage.repo.git("worktree", "add", "-q", "-b", "side", "../side")
    side = Stage(stage.repo, stage.folder)
    side.repo = Repo.__new__(Repo)
    side.repo.path, side.repo.home = stage.folder / "side", stage.repo.home
    before, main = side.state(), stage.state()
    written = side.writer().write(side.plan(COMMIT, {"a.py": "eins\n"}, commit=True))
    assert stage.state().files == main.files
    assert stage.state().index == main.index
    assert side.repo.git("log", "-1", "--format=%H") == written.commits[0][1]
    with pytest.raises(WriteError, match="nothing to take back"):
        stage.writer().undo()
    side.writer().undo()
    assert side.state().refs == before.refs
    side.is_sound()


def test_a_submodule_is_a_repository_like_others(git_repo: Repo, tmp_path: Path) -> None:
    inner = Repo(tmp_path, name="inner")
    inner.write("a.py", "one\n")
    inner.commit()
    git_repo.git("submodule", "add", "-q", str(inner.path), "sub")
    git_repo.commit()
    outer = Stage(git_repo, tmp_path)
    with pytest.raises(WriteError, match="repository of its own"):
        outer.writer().write(outer.plan(COMMIT, {"sub/new.py": "x\n"}))
    inner.path = git_repo.path / "sub"
    stage = Stage(inner, tmp_path)
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True))
    stage.is_sound()
    assert inner.git("status", "--short") == ""
    stage.writer().undo()
    assert git_repo.git("status", "--short") == ""


def test_before_the_first_commit_files_are_written_and_no_commit_is_made(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("a.py", "one\n")
    stage = Stage(git_repo, tmp_path)
    tree = stage.reviewed(WORKTREE)
    with pytest.raises(WriteError, match="no commit yet"):
        stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}, commit=True))
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n", "b.py": "zwei\n"}, tree=tree))
    stage.is_sound()
    stage.writer().undo()
    assert {path: one[0] for path, one in files(git_repo.path).items()} == {"a.py": b"one\n"}
    git_repo.git("add", "a.py")
    stage.writer().write(stage.plan(STAGED, {"a.py": "eins\n"}))
    stage.is_sound()
    assert git_repo.git("status", "--short") == "A  a.py"


def test_who_commits_is_who_git_says(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("a.py", "one\n")
    git_repo.commit()
    git_repo.git("config", "user.name", "Grace Hopper")
    git_repo.git("config", "user.email", "grace@example.org")
    stage = Stage(git_repo, tmp_path)
    stage.writer(environment=unnamed(git_repo)).write(stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True))
    assert git_repo.git("show", "-s", "--format=%an %ae %cn %ce") == " ".join(["Grace Hopper grace@example.org"] * 2)


def test_a_tree_that_was_reviewed_in_another_run_is_known_again_if_nothing_changed(stage: Stage) -> None:
    plan = stage.plan(WORKTREE, {"notes.txt": "noted\n"})
    stage.repo.write("other.py", "meanwhile\n")
    before = stage.state()
    with pytest.raises(WriteError, match="something changed since the review"):
        stage.writer().write(plan)
    assert stage.state() == before
    stage.repo.write("other.py", "being worked on\n")
    assert stage.writer().write(plan).paths == ("notes.txt",)


@pytest.mark.parametrize(("kind", "commit"), [(WORKTREE, False), (STAGED, False), (COMMIT, True)])
def test_a_file_system_without_hard_links_does_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, kind: TargetKind, commit: bool
) -> None:
    def none(*_words: object, **_options: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    before = stage.state()
    plan = stage.plan(kind, {"a.py": "eins\n", "new.py": "neu\n", "gone.py": None}, commit=commit)
    monkeypatch.setattr(os, "link", none)
    stage.writer().write(plan)
    stage.is_sound()
    assert files(stage.repo.path)["new.py"][0] == b"neu\n"
    stage.writer().undo()
    stage.is_sound()
    assert contents(stage.repo.path) == {path: one[:2] for path, one in before.files.items()}
    for step in ("placed a.py", "sure", "index locked", "index", "refs"):
        before = stage.state()

        def fail(now: str, step: str = step) -> None:
            if now == step:
                raise OSError(errno.EIO, "Input/output error")

        if step in ("index locked", "index", "refs") and (kind is WORKTREE or (step == "refs" and not commit)):
            continue
        with pytest.raises(WriteError, match="Input/output error"):
            stage.writer(fail).write(plan)
        assert replace(stage.state(), logs={}) == replace(before, logs={})
        stage.is_sound()


def test_a_split_index_is_written_whole(stage: Stage) -> None:
    stage.repo.git("config", "core.splitIndex", "true")
    stage.repo.git("update-index", "--split-index")
    assert list(stage.git_dir.glob("sharedindex.*"))
    stage.writer().write(stage.plan(STAGED, {"staged.py": "better\n"}))
    assert stage.repo.git("diff", "--cached", "--name-only") == "staged.py"
    assert stage.repo.git("diff", "--name-only") == "meant.py\nother.py"
    stage.writer().undo()
    assert stage.repo.git("show", ":staged.py") == "staged anew"
