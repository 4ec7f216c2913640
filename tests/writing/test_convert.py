"""Files that git converts between what it keeps and what stands in the work tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.domain.target import TargetKind
from reviewbot.errors import WriteError
from tests.repo import Repo
from tests.writing.stage import Stage

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

WORKTREE, STAGED, COMMIT = TargetKind.WORKTREE, TargetKind.STAGED, TargetKind.COMMIT
KINDS = [(WORKTREE, False), (STAGED, False), (COMMIT, False), (COMMIT, True)]


def of_windows(folder: Path, *settings: str, attributes: str = "", content: str = "one\ntwo\n") -> Stage:
    """A repository whose files were checked out with these settings."""
    repo = Repo(folder)
    repo.write("a.py", content)
    if attributes:
        repo.write(".gitattributes", attributes)
    repo.commit()
    for setting in settings:
        repo.git("config", *setting.split("="))
    repo.remove("a.py")
    repo.git("checkout", "-q", "--", "a.py")
    return Stage(repo, folder)


def read(stage: Stage, name: str = "a.py") -> bytes:
    return (stage.repo.path / name).read_bytes()


@pytest.mark.parametrize(("kind", "commit"), KINDS)
@pytest.mark.parametrize(
    ("settings", "attributes"),
    [(("core.autocrlf=true",), ""), ((), "*.py text eol=crlf\n"), (("core.eol=crlf",), "* text=auto\n")],
)
def test_lines_end_as_they_do_in_the_work_tree(
    tmp_path: Path, kind: TargetKind, commit: bool, settings: tuple[str, ...], attributes: str
) -> None:
    stage = of_windows(tmp_path, *settings, attributes=attributes)
    assert read(stage) == b"one\r\ntwo\r\n"
    before = stage.state()
    stage.writer().write(stage.plan(kind, {"a.py": "eins\nzwei\n", "b.py": "neu\n"}, commit=commit))
    assert read(stage) == b"eins\r\nzwei\r\n"
    assert read(stage, "b.py") == b"neu\r\n"
    stage.repo.git("add", "--all")
    assert stage.repo.run("show", ":a.py") == b"eins\nzwei\n"
    assert stage.repo.run("show", ":b.py") == b"neu\n"
    if not commit:
        stage.repo.git("reset", "-q", "--mixed")
        if kind is STAGED:
            return
    stage.writer().undo()
    assert {path: one[:2] for path, one in stage.state().files.items()} == {path: one[:2] for path, one in before.files.items()}
    assert stage.repo.git("status", "--short") == ""


def test_lines_that_end_otherwise_than_the_settings_say_stay_so(tmp_path: Path) -> None:
    stage = of_windows(tmp_path, "core.autocrlf=true")
    stage.repo.write("a.py", "one\ntwo\n")
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\nzwei\n"}, commit=True))
    assert read(stage) == b"eins\nzwei\n"
    assert stage.repo.git("status", "--short") == ""


@pytest.mark.parametrize(("kind", "commit"), KINDS)
def test_lines_that_git_itself_keeps_with_crlf(tmp_path: Path, kind: TargetKind, commit: bool) -> None:
    stage = of_windows(tmp_path, "core.autocrlf=true", content="one\r\ntwo\r\n")
    stage.writer().write(stage.plan(kind, {"a.py": "eins\r\nzwei\r\n"}, commit=commit))
    assert read(stage) == b"eins\r\nzwei\r\n"
    if commit:
        assert stage.repo.git("status", "--short") == ""


@pytest.mark.smoke
def test_mixed_lines_cannot_be_told(tmp_path: Path) -> None:
    stage = of_windows(tmp_path, "core.autocrlf=true")
    stage.repo.write("a.py", "one\r\ntwo\n")
    before = stage.state()
    with pytest.raises(WriteError, match="converted in a way"):
        stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}))
    assert stage.state() == before


def test_crlf_that_nobody_asked_for_is_an_unstaged_change(tmp_path: Path) -> None:
    stage = of_windows(tmp_path)
    stage.repo.write("a.py", "one\r\ntwo\r\n")
    with pytest.raises(WriteError, match="unstaged changes"):
        stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}))


@pytest.mark.parametrize(("kind", "commit"), KINDS)
def test_what_git_would_not_keep_as_it_was_proven_is_taken_back(tmp_path: Path, kind: TargetKind, commit: bool) -> None:
    """The repair has CR LF where git would keep LF."""
    stage = of_windows(tmp_path, attributes="*.py text\n")
    before = stage.state()
    with pytest.raises(WriteError, match=r"git would not keep a\.py as it was proven"):
        stage.writer().write(stage.plan(kind, {"a.py": "eins\r\n", "c.txt": "x\n"}, commit=commit))
    assert stage.state() == before
    stage.is_sound()


@pytest.mark.parametrize("attribute", ["filter=lfs", "filter=unknown", "working-tree-encoding=UTF-16LE"])
@pytest.mark.parametrize("where", [".gitattributes", ".git/info/attributes"])
def test_what_a_program_makes_is_not_written(git_repo: Repo, tmp_path: Path, attribute: str, where: str) -> None:
    git_repo.write("a.py", "one\n")
    git_repo.write("b.py", "two\n")
    git_repo.commit()
    git_repo.write(where, f"a.py {attribute}\n")
    stage = Stage(git_repo, tmp_path)
    tree = git_repo.git("rev-parse", "HEAD^{tree}")
    before = stage.state()
    with pytest.raises(WriteError, match=f"a.py has the attribute {attribute}"):
        stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n", "b.py": "zwei\n"}, tree=tree))
    assert stage.state() == before
    assert stage.writer().write(stage.plan(COMMIT, {"b.py": "zwei\n"}, tree=tree)).paths == ("b.py",)


def test_a_name_with_ident_is_written_as_it_stands(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("a.py", "$Id$\n")
    git_repo.write(".gitattributes", "*.py ident\n")
    git_repo.commit()
    git_repo.remove("a.py")
    git_repo.git("checkout", "-q", "--", "a.py")
    stage = Stage(git_repo, tmp_path)
    assert read(stage).startswith(b"$Id: ")
    with pytest.raises(WriteError, match="converted in a way"):
        stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\n"}))


def test_a_file_system_without_the_executable_bit(git_repo: Repo, tmp_path: Path) -> None:
    git_repo.write("run.sh", "one\n").chmod(0o755)
    git_repo.commit()
    git_repo.git("config", "core.fileMode", "false")
    (git_repo.path / "run.sh").chmod(0o644)
    stage = Stage(git_repo, tmp_path)
    stage.writer().write(stage.plan(COMMIT, {"run.sh": "eins\n"}, commit=True))
    assert git_repo.git("ls-tree", "HEAD", "run.sh").startswith("100755")
    assert git_repo.git("status", "--short") == ""


def test_a_file_without_a_line_gets_the_ends_that_git_gives(tmp_path: Path) -> None:
    stage = of_windows(tmp_path, "core.autocrlf=true", content="one")
    stage.writer().write(stage.plan(COMMIT, {"a.py": "eins\nzwei\n"}))
    assert read(stage) == b"eins\r\nzwei\r\n"


def test_bytes_that_are_no_text_are_never_converted(tmp_path: Path) -> None:
    stage = of_windows(tmp_path, "core.autocrlf=true", content="\0one\n")
    stage.writer().write(stage.plan(COMMIT, {"a.py": b"\0eins\n\xff", "b.bin": b"\0\n"}, commit=True))
    assert (read(stage), read(stage, "b.bin")) == (b"\0eins\n\xff", b"\0\n")
    assert stage.repo.git("status", "--short") == ""
