"""Trees made beside a repository by real git: grafted, applied, compared, and nothing of the user's changed by a byte."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reviewbot.adapters.git import GitRepo
from reviewbot.domain.repair import Edit
from reviewbot.errors import GitError, PatchError
from reviewbot.ports import Trees
from tests.repo import Repo
from tests.rings import examples


@pytest.fixture
def opened(git_repo: Repo, tmp_path: Path) -> Iterator[GitRepo]:
    (tmp_path / "scratch").mkdir()
    repo = GitRepo.open(git_repo.path, tmp_path / "scratch", environment=git_repo.environment)
    yield repo
    repo.close()


def head_tree(repo: Repo) -> str:
    return repo.git("rev-parse", "HEAD^{tree}")


def filled(repo: Repo) -> str:
    """A tree with a file of each kind."""
    repo.write("a/b.py", "x = 1\ny = 2\nz = 3\n" * 10)
    repo.write("run", "#!/bin/sh\n").chmod(0o755)
    repo.link("link", "run")
    repo.git("add", "--all")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    repo.git("commit", "-q", "-m", "All")
    return head_tree(repo)


def contents(repo: GitRepo, tree: str) -> dict[str, tuple[int, bytes]]:
    return {entry.path: (entry.mode, repo.blob(entry.object_id)) for entry in repo.entries(tree) if entry.mode != 0o160000}


def test_a_repository_is_a_maker_of_trees(opened: GitRepo):
    trees: Trees = opened
    assert trees is opened


def test_edits_keep_modes_and_bring_plain_files(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    made = opened.graft(tree, (Edit("run", b"#!/bin/sh\nls\n"), Edit("new/deep.bin", b"\0\xff\r\n"), Edit("a/b.py", b"")))
    assert contents(opened, made) == {
        "a/b.py": (0o100644, b""),
        "link": (0o120000, b"run"),
        "new/deep.bin": (0o100644, b"\0\xff\r\n"),
        "run": (0o100755, b"#!/bin/sh\nls\n"),
    }
    assert "sub" in {entry.path for entry in opened.entries(made)}


def test_what_shall_go_goes_and_what_is_not_there_need_not(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    made = opened.graft(tree, (Edit("a/b.py", None), Edit("never/was", None), Edit("link", None)))
    assert set(contents(opened, made)) == {"run"}
    assert opened.graft(tree, ()) == tree
    assert opened.graft(tree, (Edit("never/was", None),)) == tree


def test_a_file_may_take_the_place_of_a_folder_that_goes(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    made = opened.graft(tree, (Edit("a/b.py", None), Edit("a", b"now a file\n")))
    assert contents(opened, made)["a"] == (0o100644, b"now a file\n")
    back = opened.graft(made, (Edit("a", None), Edit("a/b.py", b"x\n")))
    assert contents(opened, back)["a/b.py"] == (0o100644, b"x\n")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("run/below", "'run' is a file"),
        ("link/below", "'link' is a file"),
        ("sub/below", "'sub' is a file"),
        ("a", "is a folder"),
        ("link", "no regular file"),
        ("sub", "no regular file"),
        ("", "no name"),
        ("/etc/passwd", "no name"),
        ("a//b", "no name"),
        ("a/../b", "no name"),
        ("./a", "no name"),
        ("x\0y", "no name"),
        ("\ud800", "no name"),
        (".git/config", "does not take"),
        ("a/.GIT/config", "does not take"),
        ("git~1/config", "does not take"),
        (".g\u200cit/config", "does not take"),
    ],
)
def test_an_edit_that_no_tree_can_hold_is_an_error(git_repo: Repo, opened: GitRepo, path: str, said: str):
    tree = filled(git_repo)
    with pytest.raises(GitError, match=said):
        opened.graft(tree, (Edit(path, b"x\n"),))


def test_two_edits_of_one_file_are_an_error(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    with pytest.raises(GitError, match="twice"):
        opened.graft(tree, (Edit("n", b"1"), Edit("n", None)))
    with pytest.raises(GitError, match="is a file"):
        opened.graft(tree, (Edit("n", b"1"), Edit("n/m", b"2")))


@pytest.mark.parametrize("name", ["HEAD", "--help", "", "a" * 39, "0" * 40, "main:a"])
def test_a_tree_is_named_by_its_id(git_repo: Repo, opened: GitRepo, name: str):
    tree = filled(git_repo)
    for ask in (
        lambda: opened.graft(name, ()),
        lambda: opened.apply(name, b""),
        lambda: opened.between(tree, name),
        lambda: opened.between(name, tree),
    ):
        with pytest.raises(GitError):
            ask()


def test_a_difference_is_told_whole(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    made = opened.graft(tree, (Edit("a/b.py", None), Edit("c.py", b"x = 1\ny = 2\nz = 3\n" * 10), Edit('q"\n', b"\0")))
    found = opened.between(tree, made)
    records = found.raw.split(b"\0")
    assert [record[-1:] for record in records[:-1:2]] == [b"D", b"A", b"A"], "a renaming is a removal and an addition"
    assert records[1:-1:2] == [b"a/b.py", b"c.py", b'q"\n']
    assert found.numstat == b'0\t30\ta/b.py\x0030\t0\tc.py\0-\t-\tq"\n\0'
    assert b"GIT binary patch" in found.patch
    assert found.patch.count(b"\nindex " + b"0" * 40) == 2, "ids are whole"
    assert opened.between(tree, tree) == type(found)(b"", b"", b"")


def test_attributes_and_drivers_of_the_repository_have_no_say(git_repo: Repo, opened: GitRepo, tmp_path: Path):
    mark = tmp_path / "it-ran"
    git_repo.write(".gitattributes", "* -diff filter=evil diff=evil text eol=crlf whitespace=trailing-space\n")
    git_repo.write("a.txt", "one\ntwo \n")
    git_repo.commit()
    for key in ("filter.evil.clean", "diff.evil.command", "diff.evil.textconv", "diff.external"):
        git_repo.git("config", key, f"touch {mark}")
    git_repo.git("config", "apply.whitespace", "fix")
    tree = head_tree(git_repo)
    made = opened.graft(tree, (Edit("a.txt", b"one \ntwo \n"),))
    patch = opened.between(tree, made).patch
    assert b"+one \n" in patch
    assert opened.apply(tree, patch) == made
    assert contents(opened, made)["a.txt"][1] == b"one \ntwo \n"
    assert not mark.exists()


def test_a_patch_for_other_text_or_other_lines_is_an_error(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    made = opened.graft(tree, (Edit("a/b.py", b"x = 1\ny = 2\nz = 3\n" * 5 + b"w = 0\n" + b"x = 1\ny = 2\nz = 3\n" * 5),))
    patch = opened.between(tree, made).patch
    assert b"@@ -13,6 +13,7 @@" in patch
    assert opened.apply(tree, patch) == made
    for numbers in (b"@@ -14,6 +14,7 @@", b"@@ -12,6 +12,7 @@"):
        with pytest.raises(PatchError, match="other lines"):
            opened.apply(tree, patch.replace(b"@@ -13,6 +13,7 @@", numbers))
    with pytest.raises(PatchError, match="does not apply"):
        opened.apply(tree, patch.replace(b" z = 3", b" z = 4", 1))
    with pytest.raises(PatchError, match="does not apply"):
        opened.apply(made, opened.between(made, tree).patch.replace(b"-w = 0", b"-w = 1"))


@pytest.mark.parametrize(
    "patch", [b"", b"\n", b"words\n", b"diff --git a/x b/x\n", b"\0\xff" * 100, b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n"]
)
def test_what_is_no_patch_is_an_error(git_repo: Repo, opened: GitRepo, patch: bytes):
    tree = filled(git_repo)
    with pytest.raises(PatchError):
        opened.apply(tree, patch)


@pytest.mark.ci
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_either_apply_or_are_one_error(git_repo: Repo, opened: GitRepo, data: st.DataObject):
    tree = head_tree(git_repo) if (git_repo.path / "run").exists() else filled(git_repo)
    good = opened.between(tree, opened.graft(tree, (Edit("a/b.py", b"x = 1\n"), Edit("run", b"new\n")))).patch
    at = data.draw(st.integers(0, len(good)))
    patch = good[:at] + data.draw(st.binary(max_size=20)) + good[at + data.draw(st.integers(0, 20)) :]
    try:
        made = opened.apply(tree, patch)
    except PatchError:
        return
    assert opened.entries(made) is not None


def test_nothing_of_the_repository_changes(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)
    git_repo.write("a/b.py", "not committed\n")
    before = git_repo.snapshot()
    made = opened.graft(tree, (Edit("a/b.py", b"x\n"), Edit("new", b"y\n")))
    opened.apply(tree, opened.between(tree, made).patch)
    with pytest.raises(PatchError):
        opened.apply(tree, b"no\n")
    assert git_repo.snapshot() == before
    assert git_repo.run("cat-file", "-t", made, check=False) == b""


def test_nothing_is_left_beside_but_objects(git_repo: Repo, opened: GitRepo, tmp_path: Path):
    tree = filled(git_repo)
    made = opened.graft(tree, (Edit("a/b.py", b"x\n"),))
    opened.apply(tree, opened.between(tree, made).patch)
    with pytest.raises(GitError):
        opened.graft(tree, (Edit("a/b.py", b"x\n"), Edit(".git/x", b"")))
    left = [path.name for path in (tmp_path / "scratch").rglob("*") if path.name.startswith(("graft-", "blobs-", "index"))]
    assert left == []


def test_many_threads_make_trees_at_once(git_repo: Repo, opened: GitRepo):
    tree = filled(git_repo)

    def made(number: int) -> tuple[int, str, str]:
        grafted = opened.graft(tree, (Edit("a/b.py", b"%d\n" % number), Edit(f"n{number}", b"same\n")))
        return number, grafted, opened.apply(tree, opened.between(tree, grafted).patch)

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(made, range(24)))
    for number, grafted, applied in found:
        assert grafted == applied
        assert contents(opened, grafted)["a/b.py"][1] == b"%d\n" % number
    assert len({grafted for _, grafted, _ in found}) == 24


def test_a_repository_with_the_longer_ids_is_served_too(tmp_path: Path):
    repo = Repo(tmp_path, "--object-format=sha256")
    tree = filled_plainly(repo)
    (tmp_path / "scratch").mkdir()
    git = GitRepo.open(repo.path, tmp_path / "scratch", environment=repo.environment)
    made = git.graft(tree, (Edit("a", None), Edit("b", b"new\n")))
    assert len(made) == 64
    assert git.apply(tree, git.between(tree, made).patch) == made
    git.close()


def filled_plainly(repo: Repo) -> str:
    repo.write("a", "1\n")
    repo.commit()
    return head_tree(repo)


# --- random trees ---------------------------------------------------------------------------------------------------

PARTS = st.one_of(
    st.sampled_from(
        ["a", "b", "A", "-x", ":(top)x", 'q"', "t\tab", "line\nfeed", "back\\slash", "\u00e9", "e\u0301", "\udcff", "\u200b"]
    ),
    st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=6),
)
CONTENTS = st.one_of(
    st.binary(max_size=40),
    st.lists(
        st.sampled_from([b"x", b"y", b" z ", b"\tt", b"\\ No newline at end of file", b"@@ -1 +1 @@", b"--- a"]), max_size=12
    ).map(b"\n".join),
    st.lists(st.sampled_from([b"x\r", b"y", b""]), max_size=8).map(lambda lines: b"\n".join((*lines, b""))),
)
TREES = st.dictionaries(st.lists(PARTS, min_size=1, max_size=3).map("/".join), CONTENTS, max_size=6)


def is_possible(files: dict[str, bytes]) -> bool:
    """No file lies below another, and git takes all names."""
    parts = [path.encode("utf-8", "surrogateescape").decode("utf-8", "replace").split("/") for path in files]
    odd = any(part in (".", "..") or part.lower().rstrip(". ").startswith((".git", "git~")) for path in parts for part in path)
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    return not odd and not folders & set(files)


@pytest.mark.ci
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(old=TREES.filter(is_possible), new=TREES.filter(is_possible))
def test_what_differs_between_two_trees_makes_one_of_the_other(opened: GitRepo, old: dict[str, bytes], new: dict[str, bytes]):
    empty = opened._place.empty_tree
    one = opened.graft(empty, tuple(Edit(path, content) for path, content in old.items()))
    edits = tuple(Edit(path, new.get(path)) for path in {**old, **new})
    other = opened.graft(one, edits)
    assert contents(opened, other) == {path: (0o100644, content) for path, content in new.items()}
    assert other == opened.graft(empty, tuple(Edit(path, content) for path, content in new.items()))
    patch = opened.between(one, other).patch
    assert bool(patch) == (one != other)
    if patch:
        assert opened.apply(one, patch) == other
        assert opened.between(one, opened.apply(one, patch)).patch == patch
