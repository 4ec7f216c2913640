"""A hook before a commit reviews the index, nothing else, and leaves everything as it was: each way to make a commit, with real
git that runs a real hook, which is watched: bytes, modes, times and numbers of every file before and after."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.hooks.lab import BROKEN, CLEAN, Lab, Watched, differing, snapshot, unwrapped
from tests.repo import Repo

pytestmark = pytest.mark.matrix(parts=1)

RUN = ("hook", "run", "pre-commit")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    made = Lab(tmp_path)
    made.hook(watched=True)
    return made


def only(lab: Lab) -> Watched:
    """The one run of the hook, which touched nothing."""
    (ran,) = lab.watched()
    assert ran.differ == ()
    assert ran.code == 0, ran.err
    return ran


def test_of_a_file_that_is_staged_in_part_only_that_part_is_reviewed(lab: Lab):
    lab.stage("a.py", BROKEN)
    lab.repo.write("a.py", CLEAN)
    lab.repo.write("b.py", BROKEN)
    lab.git("commit", "-m", "staged")
    assert "medium  a.py:1 " in (said := only(lab).err)
    assert "b.py" not in said
    assert (lab.path / "a.py").read_text() == CLEAN
    lab.stage("c.py", CLEAN)
    lab.repo.write("c.py", BROKEN)
    lab.git("commit", "-m", "clean in the index")
    assert only(lab).err == "reviewbot: nothing found in this commit (1 file)\n"
    assert (lab.path / "c.py").read_text() == BROKEN


@pytest.mark.ci
def test_commit_with_all_or_with_names_reviews_the_index_that_git_makes_for_it(lab: Lab):
    lab.repo.write("first.py", BROKEN)
    lab.git("commit", "-am", "all")
    ran = only(lab)
    assert "medium  first.py:1 " in ran.err
    assert ran.git["GIT_INDEX_FILE"].endswith("index.lock")
    lab.stage("staged.py", BROKEN)
    lab.repo.write("first.py", CLEAN)
    lab.git("commit", "-m", "one file", "first.py")
    ran = only(lab)
    assert ran.err == "reviewbot: nothing found in this commit (1 file)\n", "what is staged beside it is no part of it"
    assert "next-index" in ran.git["GIT_INDEX_FILE"]
    assert lab.repo.git("diff", "--cached", "--name-only") == "staged.py"


def test_what_is_only_intended_to_be_added_is_no_part_of_a_commit(lab: Lab):
    lab.repo.write("later.py", BROKEN)
    lab.git("add", "-N", "later.py")
    lab.git("commit", "--allow-empty", "-m", "nothing")
    assert only(lab).err == ""
    lab.stage("a.py", CLEAN)
    lab.git("commit", "-m", "something else")
    assert only(lab).err == "reviewbot: nothing found in this commit (1 file)\n"


def test_the_first_commit_is_compared_with_nothing(tmp_path: Path):
    lab = Lab(tmp_path)
    lab.git("checkout", "-q", "--orphan", "fresh")
    lab.git("rm", "-rfq", "--cached", ".")
    lab.hook(watched=True)
    lab.stage("a.py", BROKEN)
    lab.git("commit", "-m", "first")
    assert "medium  a.py:1 " in only(lab).err


def test_amending_reviews_what_is_new_in_the_index(lab: Lab):
    lab.stage("a.py", CLEAN)
    lab.git("commit", "--amend", "-m", "amended")
    assert only(lab).err == "reviewbot: nothing found in this commit (1 file)\n"
    lab.git("commit", "--amend", "-m", "only the words")
    assert only(lab).err == ""


@pytest.mark.ci
def test_a_merge_a_rebase_and_a_cherry_pick_find_their_way(lab: Lab):
    lab.git("checkout", "-qb", "other")
    lab.repo.write("theirs.py", BROKEN)
    lab.repo.write("first.py", CLEAN + "\n\nTHEIRS = 1\n")
    lab.repo.commit("theirs")
    lab.git("checkout", "-qb", "third", "main")
    lab.repo.write("third.py", CLEAN)
    lab.repo.commit("third")
    lab.git("checkout", "-q", "main")
    lab.repo.write("first.py", CLEAN + "\n\nOURS = 1\n")
    lab.repo.commit("ours")
    lab.watched()
    lab.git("merge", "-m", "clean", "third")
    assert lab.watched() == [], "git runs pre-merge-commit for a merge without conflicts"
    lab.git("merge", "other", check=False)
    lab.stage("first.py", CLEAN + "\n\nOURS = THEIRS = 1\n")
    lab.git("commit", "-m", "resolved")
    assert "medium  theirs.py:1 " in only(lab).err
    lab.git("checkout", "-qb", "picked", "main~2")
    lab.repo.write("first.py", CLEAN + "\n\nMINE = 1\n")
    lab.repo.commit("mine")
    lab.git("cherry-pick", "other", check=False)
    lab.stage("first.py", CLEAN + "\n\nMINE = THEIRS = 1\n")
    lab.git("cherry-pick", "--continue")
    assert all(ran.differ == () and ran.code == 0 for ran in lab.watched())
    lab.git("rebase", "-q", "third", check=False)
    assert all(ran.differ == () and ran.code == 0 for ran in lab.watched())


def test_a_linked_work_tree_is_reviewed_by_its_own_index(lab: Lab):
    linked = lab.folder / "linked"
    lab.git("worktree", "add", "-q", "-b", "side", str(linked))
    (linked / "a.py").write_text(BROKEN)
    lab.git("add", "a.py", cwd=linked)
    lab.stage("b.py", BROKEN)
    before = snapshot(linked)
    made = lab.git("commit", "-m", "in the linked tree", cwd=linked)
    assert "medium  a.py:1 " in made.err
    assert "b.py" not in made.err
    assert only(lab).git["GIT_DIR"].endswith("/.git/worktrees/linked")
    assert {name for name in differing(before, snapshot(linked)) if not name.startswith(".git")} == set()


@pytest.mark.ci
def test_a_submodule_is_a_repository_of_its_own(lab: Lab):
    library = Repo(lab.folder, name="library")
    library.write("lib.py", CLEAN)
    library.commit("lib")
    lab.git("submodule", "add", "-q", str(library.path), "lib")
    made = lab.git("commit", "-m", "with a submodule")
    assert "reviewbot" in made.err
    assert only(lab).code == 0
    inside = lab.path / "lib"
    git_dir = Path(lab.git("rev-parse", "--absolute-git-dir", cwd=inside).out.strip())
    lab.hook(watched=True, git_dir=git_dir)
    (inside / "lib.py").write_text(BROKEN)
    lab.git("commit", "-am", "in the submodule", cwd=inside)
    assert "medium  lib.py:1 " in only(lab).err
    lab.git("commit", "-am", "its new commit")
    assert only(lab).code == 0


@pytest.mark.ci
def test_names_may_be_anything_and_git_may_be_called_from_anywhere(lab: Lab):
    for name in ("with space/a.py", "sub/ünïcode.py", 'quo"te.py', "new\nline.py", "tab\t.py", "-dash.py"):
        lab.repo.write(name, CLEAN)
    lab.repo.run("add", "-A")
    lab.git("commit", "-m", "names", cwd=lab.path / "sub")
    assert only(lab).err == "reviewbot: nothing found in this commit (6 files)\n"
    for name in ("with space/a.py", "sub/ünïcode.py"):
        lab.repo.write(name, BROKEN)
    lab.git("commit", "-am", "from a folder", cwd=lab.path / "sub")
    said = only(lab).err
    assert "  medium  with space/a.py:1\n" in said
    assert "  medium  sub/ünïcode.py:1\n" in said


@pytest.mark.ci
def test_modes_deletions_links_and_binaries_are_passed_by(lab: Lab):
    lab.stage("tool.py", CLEAN)
    lab.git("commit", "-qm", "tool")
    (lab.path / "tool.py").chmod(0o755)
    lab.git("commit", "-am", "mode")
    lab.git("rm", "-q", "first.py")
    lab.git("commit", "-m", "gone")
    lab.repo.link("link.py", "tool.py")
    lab.stage("picture.png", b"\x89PNG\0\0" * 50)
    lab.git("add", "link.py")
    lab.git("commit", "-m", "others")
    for ran in lab.watched():
        assert (ran.code, ran.differ) == (0, ())
        assert ran.err.startswith("reviewbot: nothing found in this commit"), ran.err


@pytest.mark.ci
def test_filters_and_line_ends_are_those_of_the_index_and_no_filter_runs(lab: Lab):
    witness = lab.folder / "witness"
    lab.repo.write(".gitattributes", "*.py filter=spy diff=spy\n*.txt text eol=crlf\n")
    lab.repo.commit("attributes")
    lab.git("config", "filter.spy.clean", f"sh -c 'echo clean >>{witness}; cat'")
    lab.git("config", "filter.spy.smudge", f"sh -c 'echo smudge >>{witness}; cat'")
    lab.git("config", "diff.external", f"sh -c 'echo diff >>{witness}'")
    lab.git("config", "diff.spy.textconv", f"sh -c 'echo textconv >>{witness}; cat'")
    lab.git("config", "core.fsmonitor", f"sh -c 'echo monitor >>{witness}'")
    lab.stage("a.py", BROKEN.replace("\n", "\r\n"))
    witness.unlink(missing_ok=True)
    before = lab.snapshot()
    for _ in range(2):
        assert "medium  a.py:1 " in lab.reviewbot(*RUN).err
    assert not witness.exists()
    assert differing(before, lab.snapshot()) == []


@pytest.mark.parametrize(
    "prepare",
    [
        (("update-index", "--split-index"),),
        (("sparse-checkout", "set", "--cone", "inside"),),
        (("config", "index.sparse", "true"), ("sparse-checkout", "set", "--cone", "--sparse-index", "inside")),
        (("update-index", "--index-version", "4"),),
        (("update-index", "--assume-unchanged", "first.py"),),
    ],
    ids=["split", "sparse", "sparse index", "version 4", "assumed unchanged"],
)
def test_every_kind_of_index_is_read_and_none_is_written(lab: Lab, prepare: tuple[tuple[str, ...], ...]):
    lab.repo.write("inside/a.py", CLEAN)
    lab.repo.write("outside/b.py", CLEAN)
    lab.repo.commit("folders")
    for words in prepare:
        lab.git(*words)
    lab.stage("inside/a.py", BROKEN)
    before = lab.snapshot()
    said = lab.reviewbot(*RUN).err
    assert "medium  inside/a.py:1 " in said
    assert "outside" not in said
    assert lab.reviewbot(*RUN).err == said
    assert differing(before, lab.snapshot()) == []


def test_a_repository_that_lies_elsewhere_is_not_mistaken_for_this_one(lab: Lab, tmp_path: Path):
    lab.stage("a.py", BROKEN)
    elsewhere = lab.folder / "elsewhere"
    elsewhere.mkdir()
    made = lab.reviewbot(*RUN, cwd=elsewhere, env={"GIT_DIR": str(lab.git_dir), "GIT_WORK_TREE": str(lab.path)})
    assert made.code == 0
    assert made.err.startswith("NOT REVIEWED this commit:")
    other = Lab(tmp_path / "other")
    made = other.reviewbot(*RUN, env={"GIT_DIR": str(lab.git_dir)})
    assert unwrapped(made.err).startswith(f"NOT REVIEWED this commit: git calls this hook for {lab.git_dir}")


@pytest.mark.matrix
@pytest.mark.ci
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_whoever_stops_it_finds_everything_as_it_was(tmp_path: Path, number: int):
    """Stopped at many moments: each must leave the repository as it was, and the next run must say what it would have said."""
    lab = Lab(tmp_path)
    lab.stage("a.py", BROKEN)
    lab.stage("b.py", CLEAN)
    lab.repo.write("b.py", BROKEN)
    before = lab.snapshot()
    ended = set()
    for milliseconds in (5, 20, 50, 90, 140, 200, 280, 380, 500, 650):
        process = subprocess.Popen(
            [*lab.program, *RUN],
            cwd=lab.path,
            env=lab.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            process.wait(milliseconds / 1000)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, number)
        process.communicate(timeout=60)
        ended.add(process.returncode)
        assert differing(before, lab.snapshot()) == []
    # An interpreter that is interrupted before it is ready ends with 1.
    assert ended <= {0, 1, -number, 128 + number}
    assert ended & {-number, 128 + number}
    assert "medium  a.py:1 " in lab.reviewbot(*RUN).err
    assert differing(before, lab.snapshot()) == []


def test_two_at_once_say_the_same(lab: Lab):
    lab.stage("a.py", BROKEN)
    start = [
        subprocess.Popen([*lab.program, *RUN], cwd=lab.path, env=lab.environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    said = {process.communicate(timeout=120)[1] for process in start}
    assert len(said) == 1
    assert b"medium  a.py:1 " in said.pop()
