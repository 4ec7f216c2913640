"""Every way to name a change, on real repositories."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import diff
from reviewbot.domain.change import ChangeSet, Revisions
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import RepositoryError, RevisionError
from tests.adapters.opener import Opener
from tests.repo import Repo


def changed(git: GitRepo, target: Target) -> tuple[ChangeSet, Revisions]:
    revisions = git.resolve(target)
    return diff.read(git.diff(revisions), revisions), revisions


def paths(git: GitRepo, kind: TargetKind, base: str | None = None, head: str | None = None) -> list[str]:
    return [file.path for file in changed(git, Target(kind, base, head))[0].files]


def history(repo: Repo) -> list[str]:
    """Three commits on main, one on a branch that forked from the first, and a merge of it."""
    commits = []
    for name in ("one", "two", "three"):
        repo.write(f"{name}.py", f"{name}\n")
        commits.append(repo.commit(name))
    repo.git("checkout", "-q", "-b", "side", commits[0])
    repo.write("side.py", "side\n")
    commits.append(repo.commit("side"))
    repo.git("checkout", "-q", "main")
    repo.git("merge", "-q", "--no-edit", "side")
    return [*commits, repo.git("rev-parse", "HEAD")]


def test_a_range_compares_its_ends(git_repo: Repo, opened: Opener) -> None:
    one, _, three, *_ = history(git_repo)
    assert paths(opened(git_repo), TargetKind.RANGE, one, three) == ["three.py", "two.py"]


def test_three_dots_compare_with_the_fork(git_repo: Repo, opened: Opener) -> None:
    history(git_repo)
    assert paths(opened(git_repo), TargetKind.MERGE_BASE, "main~1", "side") == ["side.py"]
    git_repo.git("checkout", "-q", "side")
    assert paths(opened(git_repo), TargetKind.MERGE_BASE, "main~1") == ["side.py"]


def test_a_commit_is_compared_with_its_first_parent(git_repo: Repo, opened: Opener) -> None:
    _, two, *_, merge = history(git_repo)
    git = opened(git_repo)
    assert paths(git, TargetKind.COMMIT, None, two) == ["two.py"]
    change, revisions = changed(git, Target(TargetKind.COMMIT, head=merge))
    assert [file.path for file in change.files] == ["side.py"]
    assert "first parent" in revisions.notes[0]


def test_the_first_commit_is_compared_with_nothing(git_repo: Repo, opened: Opener) -> None:
    one, *_ = history(git_repo)
    assert paths(opened(git_repo), TargetKind.COMMIT, None, one) == ["one.py"]


def test_a_tag_and_a_detached_head_are_commits(git_repo: Repo, opened: Opener) -> None:
    _, two, *_ = history(git_repo)
    git_repo.git("tag", "-a", "-m", "x", "v1", two)
    git_repo.git("checkout", "-q", "--detach", two)
    assert paths(opened(git_repo), TargetKind.COMMIT, None, "v1") == ["two.py"]
    assert paths(opened(git_repo), TargetKind.AUTO) == ["two.py"]


def test_staged_is_the_index_and_nothing_else(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a.py", "1\n")
    git_repo.commit()
    git_repo.write("a.py", "staged\n")
    git_repo.git("add", "a.py")
    git_repo.write("a.py", "not staged\n")
    git_repo.write("new.py", "untracked\n")
    change, revisions = changed(opened(git_repo), Target(TargetKind.STAGED))
    assert [(f.path, [t for _, t in f.added_lines()]) for f in change.files] == [("a.py", [b"staged"])]
    assert (revisions.head, revisions.base) == ("index", git_repo.git("rev-parse", "HEAD"))


def test_a_hook_may_name_another_index(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a.py", "1\n")
    git_repo.commit()
    git_repo.write("b.py", "2\n")
    other = git_repo.path / ".git" / "next-index"
    other.write_bytes((git_repo.path / ".git" / "index").read_bytes())
    environment = {**git_repo.environment, "GIT_INDEX_FILE": str(other)}
    subprocess.run(["git", "add", "b.py"], cwd=git_repo.path, env=environment, check=True)
    assert paths(opened(git_repo, index=other), TargetKind.STAGED) == ["b.py"]
    assert paths(opened(git_repo), TargetKind.STAGED) == []


def test_the_work_tree_has_every_kind_of_change(git_repo: Repo, opened: Opener) -> None:
    for name in ("changed", "gone", "mode", "becomes_link", "becomes_folder"):
        git_repo.write(name, f"{name}\n" * 5)
    git_repo.write(".gitignore", "ignored\n")
    git_repo.commit()
    git_repo.write("changed", "other\n")
    git_repo.remove("gone")
    (git_repo.path / "mode").chmod(0o755)
    git_repo.link("becomes_link", "changed")
    git_repo.remove("becomes_folder")
    git_repo.write("becomes_folder/inside", "new\n")
    git_repo.write("ignored", "x\n")
    git_repo.write("untracked", "x\n")
    git_repo.write("intended", "x\n")
    git_repo.git("add", "--intent-to-add", "intended")
    git_repo.write("bytes\udcff", "x\n")
    change, revisions = changed(opened(git_repo), Target(TargetKind.WORKTREE))
    assert {f.path: f.status.value for f in change.files} == {
        "changed": "modified",
        "gone": "deleted",
        "mode": "modified",
        "becomes_link": "type_changed",
        "becomes_folder": "deleted",
        "becomes_folder/inside": "added",
        "untracked": "added",
        "intended": "added",
        "bytes\udcff": "added",
    }
    assert revisions.notes == ()


def test_large_untracked_files_and_nested_repositories_are_named(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a", "1\n")
    git_repo.commit()
    git_repo.write("huge", b"x" * (1 << 20) + b"x")
    nested = git_repo.path / "nested"
    subprocess.run(["git", "init", "-q", nested], env=git_repo.environment, check=True)
    (nested / "f").write_text("x")
    os.mkfifo(git_repo.path / "pipe")
    change, revisions = changed(opened(git_repo), Target(TargetKind.WORKTREE))
    assert change.files == ()
    assert any("huge" in note and "1 MiB" in note for note in revisions.notes)
    assert any("nested" in note for note in revisions.notes)


def test_auto_prefers_uncommitted_work(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a", "1\n")
    git_repo.commit()
    git = opened(git_repo)
    assert git.resolve(Target(TargetKind.AUTO)).kind == "commit"
    git_repo.write("b", "2\n")
    assert git.resolve(Target(TargetKind.AUTO)).kind == "worktree"


def test_before_the_first_commit_everything_is_new(git_repo: Repo, opened: Opener) -> None:
    with pytest.raises(RevisionError, match="nothing to review"):
        opened(git_repo).resolve(Target(TargetKind.AUTO))
    with pytest.raises(RevisionError, match="no commit yet"):
        opened(git_repo).resolve(Target(TargetKind.COMMIT))
    git_repo.write("a", "1\n")
    assert paths(opened(git_repo), TargetKind.AUTO) == ["a"]
    git_repo.git("add", "a")
    assert paths(opened(git_repo), TargetKind.STAGED) == ["a"]


def test_conflicts_are_refused_with_advice(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a", "1\n")
    first = git_repo.commit()
    git_repo.write("a", "2\n")
    git_repo.commit()
    git_repo.git("checkout", "-q", "-b", "other", first)
    git_repo.write("a", "3\n")
    git_repo.commit()
    git_repo.run("merge", "main", check=False)
    with pytest.raises(RepositoryError, match="conflicts; resolve them"):
        opened(git_repo).resolve(Target(TargetKind.WORKTREE))


def test_a_shallow_clone_says_what_to_fetch(git_repo: Repo, opened: Opener, tmp_path: Path) -> None:
    history(git_repo)
    git_repo.git("checkout", "-q", "-B", "line", "main~1")
    git_repo.git("clone", "-q", "--depth=1", f"file://{git_repo.path}", str(tmp_path / "shallow"))
    git = opened(git_repo, tmp_path / "shallow")
    with pytest.raises(RevisionError, match=r"shallow.*git fetch --deepen"):
        git.resolve(Target(TargetKind.COMMIT))
    with pytest.raises(RevisionError, match="git fetch --deepen"):
        git.resolve(Target(TargetKind.RANGE, base="HEAD~1"))


def test_unrelated_histories_have_no_common_commit(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a", "1\n")
    git_repo.commit()
    git_repo.git("checkout", "-q", "--orphan", "other")
    git_repo.commit("another beginning")
    with pytest.raises(RevisionError, match="no commit in common"):
        opened(git_repo).resolve(Target(TargetKind.MERGE_BASE, base="main"))


@pytest.mark.parametrize("name", ["nothing", "--output=x", "", "a\0b", "HEAD~99", "-", "0" * 40])
def test_an_unknown_revision_is_one_clear_error(git_repo: Repo, opened: Opener, name: str) -> None:
    git_repo.write("a", "1\n")
    git_repo.commit()
    with pytest.raises(RevisionError):
        opened(git_repo).resolve(Target(TargetKind.RANGE, base=name, head="HEAD") if name else Target(TargetKind.RANGE, " "))


def test_a_linked_work_tree_and_a_sub_folder_are_found(git_repo: Repo, opened: Opener, tmp_path: Path) -> None:
    git_repo.write("sub/a", "1\n")
    git_repo.commit()
    git_repo.git("worktree", "add", "-q", "-b", "linked", str(tmp_path / "linked"))
    (tmp_path / "linked" / "new").write_text("x\n")
    git = opened(git_repo, tmp_path / "linked" / "sub")
    assert git.toplevel == tmp_path / "linked"
    assert paths(git, TargetKind.AUTO) == ["new"]
    assert paths(opened(git_repo, git_repo.path / "sub"), TargetKind.AUTO) == ["sub/a"]


def test_a_submodule_is_a_repository_and_its_dirt_is_ignored(git_repo: Repo, opened: Opener, tmp_path: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.write("i", "1\n")
    inner.commit()
    git_repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    git_repo.commit()
    (git_repo.path / "sub" / "i").write_text("dirty\n")
    assert paths(opened(git_repo), TargetKind.WORKTREE) == []
    assert paths(opened(git_repo, git_repo.path / "sub"), TargetKind.AUTO) == ["i"]
    inside = Repo.__new__(Repo)
    inside.path, inside.home = git_repo.path / "sub", git_repo.home
    inside.commit()
    assert paths(opened(git_repo), TargetKind.WORKTREE) == ["sub"]


def test_sha256_repositories_work(tmp_path: Path, opened: Opener) -> None:
    repo = Repo(tmp_path / "long", "--object-format=sha256")
    repo.write("a", "1\n")
    repo.commit()
    git = opened(repo)
    change, _ = changed(git, Target(TargetKind.AUTO))
    assert change.files[0].new_id is not None
    assert git.blob(change.files[0].new_id) == b"1\n"
    repo.write("b", "2\n")
    assert paths(git, TargetKind.AUTO) == ["b"]


def test_a_split_index_is_read(git_repo: Repo, opened: Opener) -> None:
    git_repo.write("a", "1\n")
    git_repo.commit()
    git_repo.git("update-index", "--split-index")
    git_repo.write("b", "2\n")
    git_repo.git("add", "b")
    assert paths(opened(git_repo), TargetKind.STAGED) == ["b"]


def test_a_change_in_the_second_of_its_staging_is_seen(git_repo: Repo, opened: Opener) -> None:
    """git itself would miss it if the copy of the index were younger than the index (racy-git)."""
    time.sleep(1 - time.time() % 1)
    git_repo.write("a", "1\n")
    git_repo.git("add", "a")
    git_repo.write("a", "2\n")
    time.sleep(1.1)
    change, _ = changed(opened(git_repo), Target(TargetKind.WORKTREE))
    assert [text for _, text in change.files[0].added_lines()] == [b"2"]


def test_a_folder_with_a_line_feed_in_its_name_is_read(tmp_path: Path, opened: Opener) -> None:
    repo = Repo(tmp_path, name='line\nfeed "quoted"')
    repo.write("a", "1\n")
    repo.commit()
    repo.write("b", "2\n")
    git = opened(repo)
    assert git.toplevel == repo.path
    assert paths(git, TargetKind.AUTO) == ["b"]


def test_line_ends_of_the_work_tree_are_what_would_be_committed(git_repo: Repo, opened: Opener) -> None:
    git_repo.git("config", "core.autocrlf", "input")
    git_repo.write("a", "one\ntwo\n")
    git_repo.commit()
    git_repo.write("a", "one\r\ntwo\r\nthree\r\n")
    change, _ = changed(opened(git_repo), Target(TargetKind.WORKTREE))
    assert [text for _, text in change.files[0].added_lines()] == [b"three"]


@pytest.mark.parametrize("kind", [TargetKind.STAGED, TargetKind.WORKTREE, TargetKind.AUTO, TargetKind.COMMIT])
def test_nothing_of_the_repository_changes_by_a_byte(git_repo: Repo, opened: Opener, kind: TargetKind, tmp_path: Path) -> None:
    git_repo.write("a", "1\n")
    git_repo.write("touched", "same\n")
    git_repo.commit()
    git_repo.write("a", "2\n")
    git_repo.git("add", "a")
    git_repo.write("a", "3\n")
    os.utime(git_repo.path / "touched", (1, 1))
    git_repo.write("new", "x\n")
    before = git_repo.snapshot()
    git = opened(git_repo)
    change, revisions = changed(git, Target(kind))
    assert change.files
    assert revisions.head_tree is not None
    git.export(revisions.head_tree, tmp_path / "out")
    assert git_repo.snapshot() == before


def test_folders_that_are_no_work_tree_are_refused_with_advice(git_repo: Repo, opened: Opener, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    git_repo.git("init", "-q", "--bare", str(tmp_path / "bare"))
    for folder, complaint in (
        (plain, "not in a git repository"),
        (tmp_path / "absent", "not a folder"),
        (tmp_path / "bare", "bare repository"),
        (git_repo.path / ".git", "bare repository or in a .git folder"),
    ):
        with pytest.raises(RepositoryError, match=complaint) as raised:
            opened(git_repo, folder)
        assert raised.value.hint


def test_a_corrupt_repository_is_one_clear_error(git_repo: Repo, opened: Opener) -> None:
    (git_repo.path / ".git" / "config").write_text("[broken\n")
    with pytest.raises(RepositoryError, match="cannot be read"):
        opened(git_repo)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_somebody_else_is_refused_with_advice(git_repo: Repo, opened: Opener) -> None:
    git_repo.commit()
    os.chown(git_repo.path, 12345, 12345)
    os.chown(git_repo.path / ".git", 12345, 12345)
    with pytest.raises(RepositoryError, match=r"belongs to another user.*safe\.directory"):
        opened(git_repo)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/owner/name.git", "owner/name"),
        ("https://user:secret@github.com/owner/name", "owner/name"),
        ("git@github.com:owner/name.git", "owner/name"),
        ("ssh://git@host:22/owner/name/", "owner/name"),
        ("/srv/git/name.git", None),
        ("file:///srv/git/name.git", None),
        ("", None),
    ],
)
def test_the_remote_has_a_name_where_its_address_says_one(git_repo: Repo, opened: Opener, url: str, expected: str | None) -> None:
    git_repo.git("config", "remote.origin.url", url)
    assert opened(git_repo).remote_name() == expected


def test_files_of_a_revision_are_read_without_following_links(git_repo: Repo, opened: Opener) -> None:
    assert opened(git_repo).head_config("a") is None
    git_repo.write("conf.yml", "x: 1\n")
    git_repo.link("link.yml", "/etc/passwd")
    git_repo.commit()
    git_repo.write("conf.yml", "x: 2\n")
    git = opened(git_repo)
    assert git.head_config("conf.yml") == b"x: 1\n"
    assert git.head_config("link.yml") is None
    assert git.head_config("absent.yml") is None
    assert git.file_at("HEAD", "conf.yml") is None or git.head_config("conf.yml") == b"x: 1\n"
