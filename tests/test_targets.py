"""Which change a target names, and that uncommitted work is read without touching it."""

from __future__ import annotations

import asyncio
import copy
import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Project

from reviewbot.errors import GitError, UsageError
from reviewbot.git.change import Change
from reviewbot.git.repository import Repository
from reviewbot.state import find_state

Target = dict[str, Any]  # arguments of load_change
AUTO: Target = {}
STAGED: Target = {"kind": "staged"}
WORK_TREE: Target = {"kind": "worktree"}
HEAD: Target = {"revision": "HEAD"}
BASE: Target = {"kind": "base", "revision": "HEAD~2"}


def load(folder: Path, target: Target = AUTO, index_file: Path | None = None) -> Change:
    with Repository(folder, index_file=index_file) as repository:
        return asyncio.run(repository.load_change(**target))


def paths(folder: Path, target: Target = AUTO) -> list[str]:
    return [file.path for file in load(folder, target).files]


def added(change: Change) -> dict[str, list[str]]:
    return {
        file.path: [line.text for hunk in file.hunks for line in hunk.lines if line.base is None]
        for file in change.files
    }


def read_all(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Times and contents of every file, the repository included.

    git touches an object that it would write, but that is there already, so that it is not pruned.
    """
    return {
        str(path.relative_to(folder)): (
            0 if folder / ".git/objects" in path.parents else path.lstat().st_mtime_ns,
            bytes(path.readlink()) if path.is_symlink() else path.read_bytes(),
        )
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two commits on main, and a branch from the first one with two commits, merged at last."""
    project = Project(tmp_path_factory.mktemp("template"))
    project.commit("First", {"a.py": "a = 1\n", "sub/s.py": "s = 1\n"})
    project.git("checkout", "--quiet", "-b", "side")
    project.commit("Add b\n\nBecause of b.", {"b.py": "b = 1\n"})
    project.commit("Add c\n\nBecause of c.", {"c.py": "c = 1\n"})
    project.git("checkout", "--quiet", "main")
    project.commit("Change a", {"a.py": "a = 2\n"})
    project.git("merge", "--quiet", "--no-edit", "side")
    return project


@pytest.fixture
def history(template: Project, tmp_path: Path) -> Project:
    """A copy."""
    project = copy.copy(template)
    project.folder = tmp_path
    shutil.copytree(template.folder, tmp_path, dirs_exist_ok=True)
    project.git("update-index", "-q", "--refresh")
    return project


def revision(name: str, *pathspecs: str) -> Target:
    return {"revision": name, "kind": "revision", "paths": pathspecs}


def test_kinds_of_targets(history: Project) -> None:
    for target, expected in (
        (HEAD, ["b.py", "c.py"]),
        (revision("HEAD~1"), ["a.py"]),
        (revision("side~1..side"), ["c.py"]),
        (revision("main~1..side"), ["a.py", "b.py", "c.py"]),
        (revision("main~1...side"), ["b.py", "c.py"]),
        (revision("side.."), ["a.py"]),
        ({"kind": "base", "revision": "main~1"}, ["b.py", "c.py"]),
        (AUTO, ["b.py", "c.py"]),
        (STAGED, []),
        (WORK_TREE, []),
    ):
        assert paths(history.folder, target) == expected, target


def test_commits_and_names_of_a_change(history: Project) -> None:
    change = load(history.folder, {"kind": "base", "revision": "main~1"})
    assert change.target == "--base main~1"
    assert change.head_commit == history.git("rev-parse", "HEAD")
    assert change.base_commit == history.git("rev-parse", "HEAD~1")
    assert load(history.folder).target == "HEAD"
    (history.folder / "new.py").write_text("n = 1\n")
    change = load(history.folder)
    assert (change.target, change.title) == ("--worktree", "Uncommitted changes")
    assert (change.base_commit, change.head_commit) == (history.git("rev-parse", "HEAD"), "")
    assert load(history.folder, STAGED).title == "Staged changes"


def test_the_messages_of_a_range(history: Project) -> None:
    change = load(history.folder, revision("main~1...side"))
    assert change.title == "Add c"
    assert change.description == "Add b\n\nBecause of b.\n\nAdd c\n\nBecause of c."
    alone = load(history.folder, revision("side"))
    assert (alone.title, alone.description) == ("Add c", "Because of c.")
    history.commit("Long\n\n" + "x" * 20_000)  # of what is this long, the beginning counts
    assert load(history.folder, HEAD).description == "x" * 4_000 + "…"
    history.commit("Remove d()\n\nBecause of d.")
    last_two = load(history.folder, revision("HEAD~2..HEAD"))
    assert last_two.description == f"Long\n\n{'x' * 4_000}…\n\nRemove d()\n\n…"
    history.git("reset", "--quiet", "--hard", "HEAD~1")
    merge = load(history.folder, revision("HEAD~1"))
    assert (merge.title, merge.description) == ("Merge branch 'side'", "")


def test_pathspecs_are_relative_to_where_the_user_stands(history: Project) -> None:
    history.commit("Both", {"sub/s.py": "s = 2\n", "top.py": "t = 1\n"})
    for pathspecs, expected in (
        (("a.py",), []),
        (("..",), ["sub/s.py", "top.py"]),
        ((".",), ["sub/s.py"]),
        ((":/", ":(exclude)*.py"), ["top.py"]),
        (("*.py", "../t*"), ["sub/s.py", "top.py"]),
    ):
        assert paths(history.folder / "sub", revision("HEAD", *pathspecs)) == expected, pathspecs
    with pytest.raises(UsageError, match="is outside repository"):
        load(history.folder, revision("HEAD", "../.."))


def test_a_renamed_file_matches_by_either_name(history: Project) -> None:
    history.git("mv", "a.py", "z.py")
    for name in ("a.py", "z.py"):
        (file,) = load(history.folder, {"paths": (name,)}).files
        assert (file.status, file.old_path, file.path) == ("renamed", "a.py", "z.py")


def test_the_index_is_reviewed_apart_from_the_work_tree(history: Project) -> None:
    file = history.folder / "a.py"
    file.write_text("a = 2\nstaged = 1\n")
    history.git("add", "a.py")
    file.write_text("a = 2\nstaged = 1\nlater = 1\n")
    (history.folder / "intended.py").write_text("i = 1\n")
    history.git("add", "--intent-to-add", "intended.py")
    assert added(load(history.folder, STAGED)) == {"a.py": ["staged = 1"]}
    assert added(load(history.folder)) == {
        "a.py": ["staged = 1", "later = 1"],
        "intended.py": ["i = 1"],
    }


def test_every_kind_of_change_of_a_work_tree(project: Project) -> None:
    names = ("changed", "gone", "mode", "becomes_link", "becomes_folder")
    project.commit("First", {name: f"{name}\n" * 5 for name in names} | {".gitignore": "ignored\n"})
    folder = project.folder
    (folder / "changed").write_text("other\n")
    (folder / "gone").unlink()
    (folder / "mode").chmod(0o755)
    (folder / "becomes_link").unlink()
    (folder / "becomes_link").symlink_to("changed")
    (folder / "becomes_folder").unlink()
    (folder / "becomes_folder").mkdir()
    for name in ("becomes_folder/inside", "ignored", "untracked", "line\nfeed"):
        (folder / name).write_text("new\n")
    Path(folder, os.fsdecode(b"\xfc")).write_text("x\n")
    assert {file.path: file.status for file in load(folder).files} == {
        "changed": "modified",
        "gone": "deleted",
        "mode": "modified",
        "becomes_link": "type_changed",
        "becomes_folder": "deleted",
        "becomes_folder/inside": "added",
        "untracked": "added",
        "line\nfeed": "added",
        "\\xfc": "added",
    }


def test_untracked_files_that_are_left_out_are_named(
    history: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reviewbot.git.place.MAX_UNTRACKED_FILES", 2)
    folder = history.folder
    packages = (".venv/pyvenv.cfg", "web/node_modules/a/node_modules/b.js")
    for name in (*packages, "small", "x", "z"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x" * (1 << 20))
    (folder / "large").write_bytes(b"x" * (1 << 20) + b"x")
    os.mkfifo(folder / "pipe")
    subprocess.run(("git", "init", "--quiet", folder / "nested"), check=True)
    change = load(folder)
    assert [file.path for file in change.files] == ["small", "x"]
    said = "Untracked files that are {} were left out: {}."
    assert change.notes == (
        said.format("installed packages", ", ".join(packages)),
        said.format("larger than 1 MiB", "large"),
        said.format("repositories of their own", "nested/"),
    )
    beyond = "untracked files beyond the first 2 were left out: z; add or ignore some, or"
    assert [gap for gap in history.review(target="").gaps if gap.startswith(beyond)]


def test_files_that_the_user_ignores_everywhere_are_left_out(
    history: Project, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path_factory.mktemp("home")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.secret\n")
    (home / ".config/git/attributes").write_text("*.py -diff\n")
    entry = pwd.struct_passwd(("u", "x", os.getuid(), 0, "", str(home), ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda _: entry)
    (history.folder / ".git/info/exclude").write_text("*.private\n")
    for name in ("a.secret", "a.private", "n.py"):
        (history.folder / name).write_text("x\n")
    assert added(load(history.folder)) == {"n.py": ["x"]}
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/other\n")
    (home / "other").write_text("n.py\n")
    assert paths(history.folder, WORK_TREE) == ["a.secret"]


def test_a_user_without_an_entry_has_no_rules(
    history: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", dict[int, object]().__getitem__)
    (history.folder / "n.py").write_text("x\n")
    assert paths(history.folder) == ["n.py"]


def test_nothing_of_the_repository_changes(
    history: Project, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = history.folder
    (folder / "a.py").write_text("a = 3\n")
    history.git("stash", "--quiet")
    (folder / "a.py").write_text("a = 4\n")
    history.git("add", "a.py")
    (folder / "a.py").write_text("a = 5\n")
    os.utime(folder / "b.py", (1, 1))
    (folder / "new.py").write_text("n = 1\n")
    before = read_all(folder)
    for number, target in enumerate((AUTO, STAGED, WORK_TREE, HEAD)):
        tree = tmp_path_factory.mktemp("tree") / str(number)
        with Repository(folder) as repository:
            change = asyncio.run(repository.load_change(**target))
            assert change.files
            asyncio.run(repository.lay_out(change.head_tree, tree))
        assert read_all(folder) == before
        if target in (AUTO, WORK_TREE):
            assert (tree / "a.py").read_text() == "a = 5\n"
            assert (tree / "new.py").read_text() == "n = 1\n"


def test_a_temporary_folder_in_the_work_tree_is_no_work(
    history: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(history.folder)
    for folder in (str(history.folder), "."):
        monkeypatch.setattr("tempfile.tempdir", folder)
        assert load(history.folder).target == "HEAD"


def test_a_change_in_the_second_of_its_staging_is_seen(history: Project) -> None:
    """git would miss it if the copy of the index were younger than the index."""
    time.sleep(1 - time.time() % 1)
    (history.folder / "a.py").write_text("a = 7\n")
    history.git("add", "a.py")
    (history.folder / "a.py").write_text("a = 8\n")
    time.sleep(1.05)
    assert added(load(history.folder, WORK_TREE)) == {"a.py": ["a = 8"]}


def test_a_split_index(history: Project) -> None:
    history.git("update-index", "--split-index")
    (history.folder / "n.py").write_text("n = 1\n")
    history.git("add", "n.py")
    assert paths(history.folder, STAGED) == ["n.py"]


def test_a_sparse_checkout_deletes_nothing(history: Project) -> None:
    history.git("sparse-checkout", "set", "--cone", "--sparse-index", "sub")
    (history.folder / "sub/s.py").write_text("s = 3\n")
    assert paths(history.folder, WORK_TREE) == ["sub/s.py"]


def test_attributes_say_what_would_be_committed(history: Project) -> None:
    history.git("config", "core.attributesFile", str(history.folder / ".git/more"))
    for where in (".gitattributes", ".git/info/attributes", ".git/more"):
        (history.folder / where).write_text("*.py text eol=crlf\n")
        history.git("add", "a.py")
        (history.folder / "a.py").write_bytes(b"a = 2\r\nb = 2\r\n")
        assert added(load(history.folder)).pop("a.py") == ["b = 2"]
        (history.folder / where).unlink()


def test_what_only_a_filter_can_tell_is_left_out(history: Project) -> None:
    """Its program does not run, and there may be none here."""
    history.git("config", "filter.crypt.clean", f"tee -a {mark(history)} | tr a-z n-za-m")
    (history.folder / ".git/info/attributes").write_text(
        "*.env filter=crypt\n*.nb filter=unknown\n"
    )
    names = ("a.env", "b.env", "gone.env", "link.env")
    history.commit("Secrets", dict.fromkeys(names, "word\n"))
    for name in names:
        os.utime(history.folder / name, (1, 1))
    mark(history).unlink()
    change = load(history.folder)
    assert (change.target, mark(history).exists()) == ("HEAD", False)
    said = "Uncommitted work in {}, if any, was left out: only a filter knows what git would commit"
    assert change.notes == (f"{said.format('a.env, b.env, gone.env and 1 more')}.",)
    for name in ("b.env", "c.env", "d.env", "e.nb"):
        (history.folder / name).write_text("other\n")
    for name in names[2:]:
        (history.folder / name).unlink()
    (history.folder / "link.env").symlink_to("a.env")
    change = load(history.folder)
    assert [file.path for file in change.files] == ["gone.env", "link.env"]
    assert change.notes == (f"{said.format('a.env, b.env, c.env and 2 more')}.",)
    assert not mark(history).exists()


def test_unresolved_conflicts_are_an_error(history: Project) -> None:
    history.git("checkout", "--quiet", "-B", "other", "HEAD~1")
    history.commit("Other", {"a.py": "a = 9\n"})
    history.git("checkout", "--quiet", "-B", "another", "HEAD~1")
    history.commit("Another", {"a.py": "a = 8\n"})
    with pytest.raises(subprocess.CalledProcessError):
        history.git("merge", "other")
    for target in (AUTO, STAGED, WORK_TREE):
        with pytest.raises(GitError, match=r"unresolved conflicts, for example in a\.py"):
            load(history.folder, target)
    assert paths(history.folder, HEAD) == ["a.py"]


def test_before_the_first_commit(project: Project) -> None:
    with pytest.raises(GitError, match="this branch has no commit yet"):
        load(project.folder)
    (project.folder / "a.py").write_text("a = 1\n")
    assert load(project.folder).base_commit == ""
    assert paths(project.folder) == ["a.py"]
    assert paths(project.folder, STAGED) == []
    project.git("add", "a.py")
    assert paths(project.folder, STAGED) == ["a.py"]


def test_a_repository_that_lost_its_commits_is_not_taken_for_a_new_one(history: Project) -> None:
    shutil.rmtree(history.folder / ".git/objects")
    (history.folder / ".git/objects").mkdir()
    for target in (AUTO, STAGED, WORK_TREE):
        with pytest.raises(GitError, match="the commit that HEAD names is not here"):
            load(history.folder, target)


def test_a_linked_work_tree_shares_its_state(history: Project, tmp_path: Path) -> None:
    linked = tmp_path.parent / "linked"
    history.git("worktree", "add", "--quiet", str(linked), "side")
    (linked / "n.py").write_text("n = 1\n")
    with Repository(linked / "sub") as repository:
        assert asyncio.run(repository.root()) == linked
        place = asyncio.run(repository.place())
        assert place.git_directory == tmp_path / ".git/worktrees/linked"
        assert asyncio.run(find_state(repository, {})).folder == tmp_path / ".git/reviewbot"
    assert paths(linked / "sub") == ["n.py"]
    assert paths(tmp_path) == ["b.py", "c.py"]


def test_a_submodule_is_its_commit(history: Project, tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    inner = Project(tmp_path / "inner")
    inner.commit("Inner", {"i.py": "i = 1\n"})
    history.git("add", "inner")
    history.git("commit", "--quiet", "--message=Submodule")
    (inner.folder / "i.py").write_text("i = 2\n")
    assert paths(history.folder, WORK_TREE) == []
    assert paths(inner.folder) == ["i.py"]
    inner.commit("More")
    (module,) = load(history.folder, WORK_TREE).files
    assert (module.path, module.mode) == ("inner", "160000")


def test_a_folder_with_quotes_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / 'a folder, "quoted"'
    folder.mkdir()
    project = Project(folder)
    project.commit("First", {"a.py": "a = 1\n"})
    (folder / "b.py").write_text("b = 1\n")
    assert paths(folder) == ["b.py"]


def test_a_shallow_clone_says_what_to_fetch(history: Project, tmp_path: Path) -> None:
    clone = tmp_path.parent / "shallow"
    source = f"file://{history.folder}"
    command = ("git", "clone", "--quiet", "--depth=1", "--no-single-branch", source, clone)
    subprocess.run(command, check=True)
    for name in ("HEAD", "HEAD~1..HEAD", "origin/side...HEAD"):
        with pytest.raises(GitError, match=f"cannot review {name}|no such commit") as caught:
            load(clone, revision(name))
        assert caught.value.hint is not None
        assert "git fetch --unshallow, or fetch-depth: 0" in caught.value.hint
    (clone / "n.py").write_text("n = 1\n")
    assert paths(clone) == ["n.py"]
    subprocess.run(("git", "fetch", "--quiet", "--deepen=1"), cwd=clone, check=True)
    assert paths(clone, revision("HEAD~1...HEAD")) == ["b.py", "c.py"]


@pytest.mark.parametrize("which", ["blob:none", "tree:0"])
def test_a_partial_clone_says_what_to_fetch(history: Project, tmp_path: Path, which: str) -> None:
    history.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    source = f"file://{history.folder}"
    filtered = ("git", "clone", "--quiet", f"--filter={which}", "--no-checkout", source, clone)
    subprocess.run(filtered, check=True)
    with pytest.raises(GitError) as caught:
        load(clone, HEAD)
    assert caught.value.hint is not None
    command = caught.value.hint.partition(": ")[2].split()
    subprocess.run((*command, "--quiet"), cwd=clone, check=True, capture_output=True)
    assert paths(clone, HEAD) == ["b.py", "c.py"]


HOOKS = ("post-index-change", "pre-commit", "fsmonitor-watchman", "reference-transaction")
COMMANDS = [
    *("alias.diff-tree", "alias.rev-parse", "core.alternateRefsCommand", "core.askPass"),
    *("core.editor", "core.fsmonitor", "core.gitProxy", "core.pager", "core.sshCommand"),
    *("credential.helper", "diff.evil.command", "diff.evil.textconv", "diff.external"),
    *("filter.evil.clean", "filter.evil.process", "filter.evil.smudge", "gpg.program"),
    *("interactive.diffFilter", "merge.evil.driver", "pager.diff-tree", "pager.log"),
    *("sequence.editor", "tar.zip.command", "trailer.x.command", "uploadpack.packObjectsHook"),
]


@pytest.fixture
def hostile(project: Project) -> Project:
    """A repository in which everything that names a program names one that leaves a mark."""
    project.commit("First", {"a.py": "a = 1\n", "data.txt": "1\n"})
    attributes = "*.py diff=evil filter=evil merge=evil\n*.txt filter=evil -diff\n"
    project.commit("Second", {".gitattributes": attributes, "a.py": "a = 2\n"})
    program = project.folder / ".git/evil"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {project.folder}.mark\ncat\n")
    program.chmod(0o755)
    for hook in HOOKS:
        shutil.copy(program, project.folder / ".git/hooks" / hook)
    shutil.copy(program, project.folder / "git")
    config = {name: str(program) for name in COMMANDS} | {
        "core.hooksPath": str(project.folder / ".git/hooks"),
        "core.untrackedCache": "true",
        "extensions.partialClone": "origin",
        "filter.evil.required": "true",
        "log.showSignature": "true",
        "protocol.ext.allow": "always",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{program}",
        "submodule.recurse": "true",
    }
    for name, value in config.items():
        project.git("config", name, value)
    attributes_file = project.folder / ".git/attributes"
    attributes_file.write_text("*.py binary filter=evil\n")
    shutil.copy(attributes_file, project.folder / ".git/info/attributes")
    project.git("config", "core.attributesFile", str(attributes_file))
    (project.folder / "data.txt").write_text("2\n")
    (project.folder / "new.py").write_text("n = 1\n")
    (project.folder / "new.md").write_text("# New\n")
    mark(project).unlink(missing_ok=True)
    return project


def mark(project: Project) -> Path:
    return Path(f"{project.folder}.mark")


def test_a_hostile_repository_runs_nothing(
    hostile: Project, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("PATH", f"{hostile.folder}:.:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(hostile.folder / "git"))
    monkeypatch.chdir(hostile.folder)
    before = read_all(hostile.folder)
    changes = {}
    for number, target in enumerate((AUTO, STAGED, WORK_TREE, HEAD)):
        with Repository(Path()) as repository:
            change = asyncio.run(repository.load_change(**target))
            folder = tmp_path_factory.mktemp("tree") / str(number)
            asyncio.run(repository.lay_out(change.head_tree, folder))
        changes[target.get("kind", "")] = added(change)
    assert not mark(hostile).exists(), mark(hostile).read_text()
    assert read_all(hostile.folder) == before
    assert changes["worktree"].keys() == {"git", "new.md"}  # for others a filter is wanted
    assert changes["staged"] == {}
    assert changes[""]["a.py"] == ["a = 2"]
    subprocess.run(("git", "status"), capture_output=True, check=False)
    assert mark(hostile).exists(), "the traps work"


def test_history_cannot_be_forged(history: Project) -> None:
    history.commit("One", {"d.py": "d = 1\n"})
    history.commit("Two", {"e.py": "e = 1\n"})
    expected = load(history.folder, HEAD), load(history.folder, BASE)
    history.git("replace", "HEAD~1", "HEAD~2")
    assert (load(history.folder, HEAD), load(history.folder, BASE)) == expected
    history.git("replace", "--delete", "HEAD~1")
    history.git("commit-graph", "write", "--reachable")
    graph = history.folder / ".git/objects/info/commit-graph"
    content = graph.read_bytes()
    tree = bytes.fromhex(history.git("rev-parse", "HEAD~1^{tree}"))
    at = content.rindex(tree) + len(tree)
    graph.chmod(0o644)
    graph.write_bytes(content[:at] + b"\x70\0\0\0" * 2 + content[at + 8 :])  # HEAD~1: no parents
    assert (load(history.folder, HEAD), load(history.folder, BASE)) == expected
    commits = history.git("rev-parse", "HEAD", "side").split()
    (history.folder / ".git/info/grafts").write_text(" ".join(commits) + "\n")
    assert (load(history.folder, HEAD), load(history.folder, BASE)) == expected


def test_a_bare_repository_is_refused(history: Project) -> None:
    """A change may add one."""
    embedded = history.folder / "docs"
    subprocess.run(("git", "clone", "--quiet", "--bare", history.folder, embedded), check=True)
    for _ in range(2):
        with pytest.raises(GitError, match=r"^this is no work tree$") as caught:
            load(embedded, HEAD)
        assert caught.value.hint == "go to a work tree, or review in a clone"
        with (embedded / "config").open("a") as config:
            config.write("[core]\n\tbare = false\n\tworktree = ..\n")


def test_a_work_tree_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    project = Project(tmp_path / "inner")
    project.git("config", "core.worktree", str(tmp_path))
    with pytest.raises(GitError, match="says that its work tree is") as caught:
        load(project.folder, WORK_TREE)
    assert caught.value.hint == "remove core.worktree from its configuration"


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a folder"):
        load(tmp_path / "absent")
