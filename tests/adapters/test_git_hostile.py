"""A repository that wants to run something, or to be read where it should not be. Every command it plants leaves a mark."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reviewbot.adapters.git import GitRepo
from reviewbot.changeset import diff
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import RepositoryError
from tests.repo import Repo

pytestmark = pytest.mark.matrix(parts=1)

HOOKS = ("post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman", "reference-transaction", "post-rewrite")
COMMANDS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.gitProxy",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "merge.evil.driver",
    "gpg.program",
    "gpg.ssh.program",
    "credential.helper",
    "interactive.diffFilter",
    "sequence.editor",
    "uploadpack.packObjectsHook",
    "alias.diff-tree",
    "alias.rev-parse",
    "trailer.x.command",
    "tar.zip.command",
    "pager.diff-tree",
    "pager.rev-parse",
)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Exists once something planted has run."""
    return tmp_path / "it-ran"


@pytest.fixture
def hostile(git_repo: Repo, mark: Path) -> Repo:
    program = git_repo.write(".git/evil", f"#!/bin/sh\necho $0 $* >> {mark}\ncat\n")
    program.chmod(0o755)
    git_repo.write(".gitattributes", "*.py diff=evil filter=evil merge=evil\n*.txt filter=evil\n")
    git_repo.write("a.py", "print(1)\n")
    git_repo.write("dirty.txt", "1\n")
    git_repo.commit()
    git_repo.write("a.py", "print(2)\n")
    git_repo.commit()
    git_repo.write("dirty.txt", "2\n")
    git_repo.write("new.py", "print(3)\n")
    for hook in HOOKS:
        git_repo.write(f".git/hooks/{hook}", f"#!/bin/sh\necho {hook} >> {mark}\n").chmod(0o755)
    for key in COMMANDS:
        git_repo.git("config", key, str(program))
    for key, value in (
        ("filter.evil.required", "true"),
        ("log.showSignature", "true"),
        ("core.hooksPath", str(git_repo.path / ".git" / "hooks")),
        ("submodule.recurse", "true"),
        ("core.untrackedCache", "true"),
        ("core.splitIndex", "false"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{program}"),
        ("protocol.ext.allow", "always"),
    ):
        git_repo.git("config", key, value)
    mark.unlink(missing_ok=True)
    return git_repo


@pytest.fixture
def opened(hostile: Repo, tmp_path: Path) -> Iterator[GitRepo]:
    (tmp_path / "scratch").mkdir()
    git = GitRepo.open(hostile.path, tmp_path / "scratch", environment=hostile.environment)
    yield git
    git.close()


@pytest.mark.parametrize("kind", [TargetKind.AUTO, TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT, TargetKind.RANGE])
def test_a_hostile_configuration_runs_nothing_and_is_reviewed_all_the_same(
    hostile: Repo, opened: GitRepo, mark: Path, tmp_path: Path, kind: TargetKind
) -> None:
    before = hostile.snapshot()
    revisions = opened.resolve(Target(kind, base="HEAD~1" if kind is TargetKind.RANGE else None))
    change = diff.read(opened.diff(revisions), revisions)
    for file in change.files:
        assert file.new_id is not None
        opened.blob(file.new_id)
    assert revisions.head_tree is not None
    opened.export(revisions.head_tree, tmp_path / "out")
    opened.head_config("a.py")
    opened.remote_name()
    assert not mark.exists(), mark.read_text()
    assert hostile.snapshot() == before
    if kind is TargetKind.WORKTREE:
        assert {file.path for file in change.files} == {"dirty.txt", "new.py"}


def test_the_trap_is_live(hostile: Repo, mark: Path) -> None:
    """The plain command runs what was planted, so its absence above means something."""
    hostile.run("status", check=False)
    hostile.run("diff", check=False)
    assert mark.exists()


def test_a_signature_is_not_verified(hostile: Repo, opened: GitRepo, mark: Path) -> None:
    raw = hostile.run("cat-file", "commit", "HEAD")
    head, body = raw.split(b"\n\n", 1)
    signed = head + b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n" + body
    commit = hostile.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed).decode().strip()
    mark.unlink(missing_ok=True)
    revisions = opened.resolve(Target(TargetKind.COMMIT, head=commit))
    assert diff.read(opened.diff(revisions), revisions).files
    assert not mark.exists()


def test_variables_of_the_caller_do_not_reach_git(hostile: Repo, tmp_path: Path, mark: Path) -> None:
    program = str(hostile.path / ".git" / "evil")
    environment = {
        **hostile.environment,
        "GIT_EXTERNAL_DIFF": program,
        "GIT_SSH_COMMAND": program,
        "GIT_DIR": "/nonexistent",
        "GIT_WORK_TREE": "/",
        "GIT_INDEX_FILE": "/nonexistent",
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={program}'",
        "GIT_PROXY_COMMAND": program,
        "GIT_EXEC_PATH": str(tmp_path),
        "LD_PRELOAD": "/nonexistent.so",
    }
    scratch = tmp_path / "s"
    scratch.mkdir()
    git = GitRepo.open(hostile.path, scratch, environment=environment)
    revisions = git.resolve(Target(TargetKind.WORKTREE))
    assert diff.read(git.diff(revisions), revisions).files
    git.close()
    assert not mark.exists()


def test_an_embedded_bare_repository_is_not_believed(git_repo: Repo, tmp_path: Path, mark: Path) -> None:
    """A folder of the work tree with HEAD, objects and refs would be taken for a repository, with its configuration."""
    for name, text in (("HEAD", "ref: refs/heads/main\n"), ("config", f"[core]\n\tbare = true\n\tfsmonitor = touch {mark}\n")):
        git_repo.write(f"embedded/{name}", text)
    for folder in ("objects", "refs"):
        (git_repo.path / "embedded" / folder).mkdir()
    git_repo.commit()
    scratch = tmp_path / "s"
    scratch.mkdir()
    with pytest.raises(RepositoryError, match="bare repository"):
        GitRepo.open(git_repo.path / "embedded", scratch, environment=git_repo.environment)
    assert not mark.exists()


def test_a_work_tree_that_is_configured_elsewhere_is_refused(git_repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("secret")
    git_repo.commit()
    git_repo.git("config", "core.worktree", str(tmp_path))
    scratch = tmp_path / "s"
    scratch.mkdir()
    with pytest.raises(RepositoryError, match=r"core\.worktree"):
        GitRepo.open(git_repo.path, scratch, environment=git_repo.environment)


def test_a_submodule_runs_nothing_of_its_own_configuration(git_repo: Repo, tmp_path: Path, mark: Path) -> None:
    inner = Repo(tmp_path / "inner")
    inner.write("i", "1\n")
    inner.commit()
    git_repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    git_repo.commit()
    (git_repo.path / "sub" / "i").write_text("dirty\n")
    program = git_repo.write(".git/evil", f"#!/bin/sh\necho $0 $* >> {mark}\n")
    program.chmod(0o755)
    git_repo.git("-C", "sub", "config", "core.fsmonitor", str(program))
    scratch = tmp_path / "s"
    scratch.mkdir()
    git = GitRepo.open(git_repo.path, scratch, environment=git_repo.environment)
    git.resolve(Target(TargetKind.WORKTREE))
    git.close()
    assert not mark.exists()
    git_repo.git("diff", "--stat")
    assert mark.exists()


# --- exports --------------------------------------------------------------------------------------------------------


def exported(repo: Repo, tmp_path: Path, tree: str) -> tuple[Path, tuple[str, ...]]:
    scratch, out = tmp_path / "scratch-export", tmp_path / "jail" / "out"
    scratch.mkdir()
    git = GitRepo.open(repo.path, scratch, environment=repo.environment)
    try:
        return out, git.export(tree, out)
    finally:
        git.close()


def made_tree(repo: Repo, *entries: tuple[str, str, bytes]) -> str:
    """A tree object of ``(mode, name, content)`` that no ordinary git command would write."""
    raw = b""
    for mode, name, content in entries:
        object_id = repo.run("hash-object", "-w", "--stdin", stdin=content).decode().strip()
        raw += f"{mode} {name}\0".encode() + bytes.fromhex(object_id)
    command = ("hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    return repo.run(*command, stdin=raw).decode().strip()


def test_an_export_has_every_file_byte_for_byte(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write(".gitattributes", "* text eol=crlf\n*.lfs filter=lfs\n")
    git_repo.git("config", "filter.lfs.smudge", "echo smudged")
    files = {"a/b/c.py": b"x\n", "run": b"#!/bin/sh\n", "bytes\udcff": b"\xff\0", "big.lfs": b"version https://git-lfs\n"}
    for name, content in files.items():
        git_repo.write(name, content)
    (git_repo.path / "run").chmod(0o755)
    git_repo.link("inside", "a/b/c.py")
    git_repo.commit()
    out, notes = exported(git_repo, tmp_path, git_repo.git("rev-parse", "HEAD^{tree}"))
    assert notes == ()
    assert {name: (out / name).read_bytes() for name in files} == files
    assert os.access(out / "run", os.X_OK)
    assert (out / "inside").readlink() == Path("a/b/c.py")


@pytest.mark.parametrize(
    "links",
    [
        {"x": "/etc/passwd"},
        {"x": "../../secret"},
        {"x": "sub/../../../secret"},
        {"x": "y", "y": "z", "z": "../../secret"},
        {"x": "folder/up/secret", "folder/up": "../../.."},
        {"x": "d/e", "d": ".."},
        {"x": "../out-sibling"},
        {"x": "{out}/folder/keep"},
    ],
)
def test_no_symbolic_link_leads_out(git_repo: Repo, tmp_path: Path, links: dict[str, str]) -> None:
    (tmp_path / "secret").write_text("canary")
    git_repo.write("folder/keep", "x\n")
    for name, target in links.items():
        git_repo.link(name, target.format(out=tmp_path / "jail" / "out"))
    git_repo.commit()
    out, notes = exported(git_repo, tmp_path, git_repo.git("rev-parse", "HEAD^{tree}"))
    root = os.path.realpath(out)
    left = [path for path in out.rglob("*") if path.is_symlink()]
    assert not any(path.readlink().is_absolute() for path in left)
    assert all(os.path.realpath(path).startswith(root + os.sep) or os.path.realpath(path) == root for path in left)
    assert any(name in note for note in notes for name in links)
    assert (out / "folder/keep").read_text() == "x\n"


def test_names_that_reach_outside_are_left_out(git_repo: Repo, tmp_path: Path) -> None:
    tree = made_tree(
        git_repo, ("100644", "..", b"up"), ("100644", ".git", b"git"), ("100644", ".GIT", b"git"), ("100644", "fine", b"ok")
    )
    out, notes = exported(git_repo, tmp_path, tree)
    assert [path.name for path in out.rglob("*")] == ["fine"]
    assert len(notes) == 3


def test_no_file_is_written_through_a_link(git_repo: Repo, tmp_path: Path) -> None:
    """A tree that has ``d`` twice: as a link to the outside, and as a folder."""
    inner = bytes.fromhex(made_tree(git_repo, ("100644", "owned", b"evil")))
    link = git_repo.run("hash-object", "-w", "--stdin", stdin=str(tmp_path / "target").encode()).decode().strip()
    (tmp_path / "target").mkdir()
    raw = b"120000 d\0" + bytes.fromhex(link) + b"40000 d\0" + inner
    tree = git_repo.run("hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=raw).decode().strip()
    _, notes = exported(git_repo, tmp_path, tree)
    assert not any((tmp_path / "target").iterdir())
    assert notes


def test_5_000_files_are_exported_quickly(git_repo: Repo, tmp_path: Path) -> None:
    stream = b"".join(b"blob\nmark :%d\ndata 8\nx = %04d\n" % (n + 1, n % 10_000) for n in range(5_000))
    stream += b"commit refs/heads/main\ncommitter A <a@example.org> 0 +0000\ndata 1\nx"
    stream += b"".join(b"\nM 100644 :%d d%d/f%d.py" % (n + 1, n % 50, n) for n in range(5_000)) + b"\n"
    subprocess.run(["git", "fast-import", "--quiet"], cwd=git_repo.path, env=git_repo.environment, input=stream, check=True)
    out, notes = exported(git_repo, tmp_path, git_repo.git("rev-parse", "main^{tree}"))
    assert notes == ()
    assert sum(len(files) for _, _, files in os.walk(out)) == 5_000
