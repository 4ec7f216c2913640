"""Taking back what was written: all of it, or nothing where somebody went on."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from tests.repo import Repo
from tests.rings import examples
from tests.writing.stage import Stage, State, contents

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

WORKTREE, STAGED, COMMIT = TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT
PLANS = [(WORKTREE, False), (STAGED, False), (COMMIT, False), (COMMIT, True)]


def same(before: State, after: State, stage: Stage, entries: str) -> None:
    """But for times, which are new, and what git remembers of files in its index."""
    assert {path: one[:2] for path, one in after.files.items()} == {path: one[:2] for path, one in before.files.items()}
    assert (after.refs, after.head, after.config) == (before.refs, before.head, before.config)
    assert entries_of(stage.repo) == entries
    stage.is_sound()


def entries_of(repo: Repo) -> str:
    return repo.git("ls-files", "--stage", "-v") + repo.git("diff", "--name-status")


@pytest.mark.smoke
@pytest.mark.parametrize(("kind", "commit"), PLANS)
def test_what_was_written_is_taken_back(stage: Stage, kind: TargetKind, commit: bool) -> None:
    before, entries = stage.state(), entries_of(stage.repo)
    plan = stage.plan(kind, {"a.py": "eins\n", "gone.py": None}, {"new/deep/c.py": "drei\n", "a.py": "EINS\n"}, commit=commit)
    written = stage.writer().write(plan)
    undone = stage.writer().undo()
    assert (undone.paths, undone.backup) == (written.paths, written.backup)
    assert undone.commits == tuple(one for _, one in written.commits)
    same(before, stage.state(), stage, entries)
    assert not (stage.repo.path / "new").exists()
    assert {path: one for path, one in stage.state().files.items() if path not in written.paths} == {
        path: one for path, one in before.files.items() if path not in written.paths
    }
    with pytest.raises(WriteError, match="nothing to take back"):
        stage.writer().undo()


def test_writes_are_taken_back_one_by_one(stage: Stage) -> None:
    states = [stage.state()]
    for number in range(3):
        stage.writer().write(stage.plan(WORKTREE, {"a.py": f"{number}\n"}))
        states.append(stage.state())
    for state in reversed(states[:-1]):
        stage.writer().undo()
        assert contents(stage.repo.path) == {path: one[:2] for path, one in state.files.items()}
        assert stage.state().refs == state.refs


def test_a_file_that_was_taken_back_is_newer_than_what_was_built_from_it(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    built = (stage.repo.path / "a.py").stat().st_mtime_ns
    stage.writer().undo()
    assert (stage.repo.path / "a.py").stat().st_mtime_ns >= built


def refused(stage: Stage, why: str) -> WriteError:
    before = stage.state()
    with pytest.raises(WriteError, match=why) as raised:
        stage.writer().undo()
    assert stage.state() == before
    assert raised.value.hint
    return raised.value


@pytest.mark.parametrize(("kind", "commit"), PLANS)
def test_a_file_that_was_worked_on_since_stays(stage: Stage, kind: TargetKind, commit: bool) -> None:
    backup = stage.writer().write(stage.plan(kind, {"a.py": "eins\n", "gone.py": None, "new.py": "x\n"}, commit=commit)).backup
    stage.repo.write("a.py", "eins\nmore\n")
    stage.repo.write("gone.py", "there again\n")
    stage.repo.remove("new.py")
    error = refused(stage, "a.py is not as the fix left it, gone.py is not as the fix left it, new.py is not as the fix left it")
    assert error.hint == f"see how it was: `git show {backup}:a.py`"


def test_a_file_that_became_a_link_stays(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    (stage.repo.path / "a.py").rename(stage.folder / "a.py")
    stage.repo.link("a.py", str(stage.folder / "a.py"))
    refused(stage, "a.py is a symbolic link")


def test_a_file_that_became_read_only_stays(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    (stage.repo.path / "a.py").chmod(0o444)
    refused(stage, "a.py is read-only")


def test_permissions_that_were_given_since_stay(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    (stage.repo.path / "a.py").chmod(0o755)
    stage.writer().undo()
    assert contents(stage.repo.path)["a.py"] == (b"one\n", 0o100755)


def test_something_else_that_was_staged_since_stays(stage: Stage) -> None:
    stage.writer().write(stage.plan(STAGED, {"a.py": "eins\n"}))
    stage.repo.git("update-index", "--chmod=+x", "a.py")
    refused(stage, "a.py is not staged as the fix left it")


def test_work_on_other_files_does_not_matter(stage: Stage) -> None:
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True))
    stage.repo.write("lib/b.py", "worked on\n")
    stage.repo.git("add", "other.py")
    stage.writer().undo()
    assert stage.repo.git("diff", "--cached", "--name-only") == "other.py\nstaged.py"
    assert stage.repo.git("diff", "--name-only") == "lib/b.py\nmeant.py"
    stage.is_sound()


def test_commits_on_which_somebody_built_are_reverted_instead(stage: Stage) -> None:
    written = stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}, {"lib/b.py": "zwei\n"}, commit=True))
    stage.repo.git("commit", "-q", "-m", "On top")
    error = refused(stage, "not the last ones any more")
    first, last = (one[:12] for _, one in written.commits)
    assert error.hint == f"revert them: `git revert --no-edit {first}^..{last}`"
    stage.repo.git("reset", "-q")
    stage.repo.git(*error.hint.partition("`git ")[2].rstrip("`").split())
    assert contents(stage.repo.path)["a.py"][0] == b"one\n"


def test_commits_that_were_published_are_reverted_instead(stage: Stage) -> None:
    stage.repo.git("init", "-q", "--bare", str(stage.folder / "remote"))
    stage.repo.git("remote", "add", "origin", str(stage.folder / "remote"))
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}, {"lib/b.py": "zwei\n"}, commit=True))
    stage.repo.git("push", "-q", "origin", "HEAD~1:refs/heads/main")
    assert "git revert" in refused(stage, "in origin/main already").hint


def test_commits_on_another_branch_stay(stage: Stage) -> None:
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}, commit=True))
    stage.repo.git("checkout", "-q", "-b", "side")
    refused(stage, "the commits are on main")
    stage.repo.git("checkout", "-q", "main")
    stage.writer().undo()
    assert stage.repo.git("log", "--format=%s", "side") == "Fix F1\nFirst"


def test_what_was_written_and_then_committed_is_taken_back_in_the_files(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    stage.repo.git("commit", "-q", "-m", "Mine", "a.py")
    stage.writer().undo()
    assert stage.repo.git("diff", "--name-only", "--", "a.py") == "a.py"
    assert stage.repo.git("log", "-1", "--format=%s") == "Mine"


def test_a_backup_that_cannot_be_read_is_named(stage: Stage) -> None:
    stage.repo.git("update-ref", "refs/reviewbot/backup/29990101T000000.000000Z-00000000", "HEAD")
    assert "git update-ref -d" in refused(stage, "is no backup that can be read").hint


def test_a_backup_that_points_elsewhere_writes_nothing_there(stage: Stage) -> None:
    """Somebody may have it fetched."""
    backup = stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"})).backup
    message = stage.repo.git("show", "-s", "--format=%B", str(backup)).replace('"a.py"', '".git/hooks/pre-commit"')
    tree = stage.repo.git("rev-parse", f"{backup}^{{tree}}")
    forged = stage.repo.git("commit-tree", tree, "-m", message)
    stage.repo.git("update-ref", "refs/reviewbot/backup/29990101T000000.000000Z-00000000", forged)
    refused(stage, "is no backup that can be read")
    assert not (stage.git_dir / "hooks" / "pre-commit").exists()


NAMES = st.sampled_from(["a.py", "lib/b.py", "lib/deep/c.py", "d e.py", "ü\udcff.py", "run.sh", "new/x.py", "new/y/z.py"])
CONTENT = st.one_of(st.none(), st.binary(max_size=30), st.sampled_from([b"", b"one\n", b"one\r\n", b"one\ntwo", b"\0\n"]))


@pytest.mark.ci
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.dictionaries(NAMES, CONTENT, min_size=1, max_size=4), min_size=1, max_size=3),
    present=st.sets(st.sampled_from(["a.py", "lib/b.py", "lib/deep/c.py", "d e.py", "ü\udcff.py", "run.sh"])),
    how=st.sampled_from(PLANS),
)
def test_whatever_was_written_is_taken_back(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[dict[str, bytes | str | None]],
    present: set[str],
    how: tuple[TargetKind, bool],
) -> None:
    folder = tmp_path_factory.mktemp("any")
    repo = Repo(folder)
    repo.write("kept.py", "kept\n")
    for name in present:
        repo.write(name, f"{name}\r\nlines\n").chmod(0o755 if name.endswith("sh") else 0o644)
    repo.commit()
    stage = Stage(repo, folder)
    kind, commit = how
    before, entries = stage.state(), entries_of(repo)
    wanted = {path: one[0] for path, one in contents(repo.path).items()}
    for step in steps:
        wanted.update(step)  # type: ignore[arg-type]
    written = stage.writer().write(stage.plan(kind, *steps, commit=commit))
    assert {path: one[0] for path, one in contents(repo.path).items()} == {p: one for p, one in wanted.items() if one is not None}
    if commit:
        assert repo.git("status", "--short") == ""
    stage.is_sound()
    if written.backup:
        stage.writer().undo()
    same(before, stage.state(), stage, entries)


def test_a_folder_in_which_somebody_else_put_something_stays(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"new/deep/c.py": "drei\n"}))
    stage.repo.write("new/mine.py", "mine\n")
    stage.writer().undo()
    assert [path.name for path in (stage.repo.path / "new").iterdir()] == ["mine.py"]


def test_a_folder_that_went_with_its_last_file_comes_back(stage: Stage) -> None:
    stage.writer().write(stage.plan(WORKTREE, {"lib/b.py": None}))
    (stage.repo.path / "lib").rmdir()
    stage.writer().undo()
    assert contents(stage.repo.path)["lib/b.py"][0] == b"two\n"


def test_a_repository_opened_anew_takes_back_too(stage: Stage, tmp_path: Path) -> None:
    from reviewbot.adapters.git.writing import LocalWriter

    stage.writer().write(stage.plan(WORKTREE, {"a.py": "eins\n"}))
    scratch = tmp_path / "another"
    scratch.mkdir()
    writer = LocalWriter.open(stage.repo.path / "lib", scratch, environment=stage.repo.environment)
    assert writer.recover() is None
    assert writer.undo().paths == ("a.py",)
