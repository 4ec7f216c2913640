"""The scripts themselves, run by a shell: who is called, with what, in which order, and what is said where nobody is there."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.events import hook_text
from tests.hooks.stubs import FOREIGN, Stub, stub
from tests.repo import Repo

TOP = Path(__file__).parents[2]
SHIMS = ("pre-commit", "pre-push")
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]
ZERO = "0" * 40
REFS = f"refs/heads/main {'1' * 40} refs/heads/main {'2' * 40}\nrefs/heads/gone {ZERO} refs/heads/gone {'3' * 40}\n".encode()
MANY = b"".join(b"refs/heads/b%d %040d refs/heads/b%d %040d\n" % (n, n, n, n + 1) for n in range(2000))


class Place:
    """A folder of hooks, a folder of programs for PATH, and nothing else that could be called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hooks = folder / "hooks"
        self.programs = folder / "programs"
        self.hooks.mkdir()
        self.programs.mkdir()
        for name in ("cat", "grep", "git", "dash", "bash"):
            if found := shutil.which(name):
                (self.programs / name).symlink_to(found)

    def write(self, name: str, content: bytes) -> Path:
        path = self.hooks / name
        path.write_bytes(content)
        path.chmod(0o755)
        return path

    def run(
        self, path: Path, *words: str, stdin: bytes = b"", shell: str = "sh", **more: str
    ) -> subprocess.CompletedProcess[bytes]:
        line = [shell, "sh"] if shell == "busybox" else [shell]
        return subprocess.run(
            [*line, str(path), *words],
            cwd=self.folder,
            env={"PATH": str(self.programs), "HOME": str(self.folder), **more},
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
            executable=shutil.which(line[0]),
        )

    def reviewbot(self, *, code: int = 0, reads: bool = True) -> Stub:
        """A program of that name on PATH."""
        return stub(self.programs / "reviewbot", code=code, reads=reads)

    def before(self, name: str, *, code: int = 0, reads: bool = True) -> Stub:
        return stub(self.hooks / f"{name}.before-reviewbot", code=code, reads=reads, text=FOREIGN)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("name", SHIMS)
def test_a_hook_calls_the_interpreter_that_it_was_written_with(place: Place, name: str) -> None:
    python = stub(place.folder / "an environment" / "python's", code=1)
    on_path = place.reviewbot()
    path = place.write(name, hook_text.script(name, str(python.path), ("--fail-on", "high", "--strict")))
    ran = place.run(path, "origin", "file:///x y", stdin=REFS)
    assert ran.returncode == 1
    assert ran.stderr == b""
    called = "".join(python.calls)
    assert called.startswith("<-E><-P><-c><")
    more = "<--><origin><file:///x y>" if name == "pre-push" else ""
    assert called.endswith(f"<hook><run><{name}><--fail-on><high><--strict>{more}")
    assert on_path.calls == []


@pytest.mark.parametrize("name", SHIMS)
def test_what_was_there_before_runs_first_with_the_same_words_and_input(place: Place, name: str, shell: str) -> None:
    before, program = place.before(name), place.reviewbot(code=1)
    path = place.write(name, hook_text.script(name))
    ran = place.run(path, "origin", "a  url", stdin=REFS, shell=shell)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, b"", b"")
    assert before.calls == ["<origin><a  url>"]
    assert before.heard == REFS
    assert program.calls == [f"<hook><run><{name}>" + ("<--><origin><a  url>" if name == "pre-push" else "")]
    assert program.heard == (REFS if name == "pre-push" else b"")


@pytest.mark.parametrize("name", SHIMS)
def test_what_was_there_before_fails_the_hook_with_its_own_code(place: Place, name: str, shell: str) -> None:
    before, program = place.before(name, code=7), place.reviewbot()
    ran = place.run(place.write(name, hook_text.script(name)), "origin", "url", stdin=REFS, shell=shell)
    assert ran.returncode == 7
    assert len(before.calls) == 1
    assert program.calls == []


@pytest.mark.parametrize("stdin", [b"", REFS, MANY], ids=["nothing", "two", "many"])
@pytest.mark.parametrize("reads", [True, False])
def test_a_push_is_heard_whole_whether_or_not_the_earlier_hook_listens(
    place: Place, stdin: bytes, reads: bool, shell: str
) -> None:
    before, program = place.before("pre-push", reads=reads), place.reviewbot()
    ran = place.run(place.write("pre-push", hook_text.script("pre-push")), "origin", "url", stdin=stdin, shell=shell)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == b""
    assert before.heard == (stdin if reads else b"")
    assert program.heard == stdin


def test_an_earlier_hook_that_cannot_be_executed_is_passed_over_as_git_does(place: Place) -> None:
    before, program = place.before("pre-commit", code=1), place.reviewbot()
    before.path.chmod(0o644)
    ran = place.run(place.write("pre-commit", hook_text.script("pre-commit")))
    assert (ran.returncode, before.calls, len(program.calls)) == (0, [], 1)


@pytest.mark.parametrize("name", SHIMS)
@pytest.mark.parametrize("gone", ["no file", "no reviewbot", "no program"])
def test_an_environment_that_is_gone_is_stood_in_for_by_the_program_on_path(place: Place, name: str, gone: str) -> None:
    python, program = place.folder / "python", place.reviewbot(code=1)
    if gone == "no reviewbot":
        stub(python, code=127, reads=False)
    elif gone == "no program":
        python.write_bytes(b"\x7fELF and no more")
        python.chmod(0o755)
    path = place.write(name, hook_text.script(name, str(python), ("--fail-on", "low")))
    ran = place.run(path, "origin", "url", stdin=REFS)
    assert ran.returncode == 1
    assert len(program.calls) == 1
    assert program.calls[0].startswith(f"<hook><run><{name}><--fail-on><low>")


@pytest.mark.parametrize("name", SHIMS)
@pytest.mark.parametrize(("options", "code"), [((), 0), (("--fail-on", "high"), 0), (("--strict",), 3)])
def test_where_nobody_is_there_that_is_said_in_one_line(place: Place, name: str, options: tuple[str, ...], code: int) -> None:
    path = place.write(name, hook_text.script(name, "/nonexistent/python", options))
    ran = place.run(path, "origin", "url", stdin=REFS)
    assert ran.returncode == code
    assert ran.stdout == b""
    (line,) = ran.stderr.decode().splitlines()
    assert line.startswith("NOT REVIEWED: reviewbot cannot be run, neither by /nonexistent/python nor from PATH; install it")
    assert line.endswith(str(path))


@pytest.mark.parametrize("name", SHIMS)
def test_a_program_on_path_whose_interpreter_is_gone_stops_nobody(place: Place, name: str, shell: str) -> None:
    (place.programs / "reviewbot").write_text("#!/nonexistent/python\n")
    (place.programs / "reviewbot").chmod(0o755)
    for path in (place.write(name, hook_text.script(name)), TOP / "hooks" / name):
        ran = place.run(path, "origin", "url", stdin=REFS, shell=shell)
        assert ran.returncode == 0
        assert ran.stderr.splitlines()[-1].startswith(b"NOT REVIEWED: ")


@pytest.mark.ci
def test_nothing_of_the_work_tree_is_imported_whatever_the_shell_says_to_python(place: Place) -> None:
    for planted in ("reviewbot/__init__.py", "reviewbot/cli.py", "errno.py", "click.py"):
        file = place.folder / planted
        file.parent.mkdir(exist_ok=True)
        file.write_text("open('executed', 'w')\n")
    (place.programs / "reviewbot").symlink_to(Path(sys.executable).parent / "reviewbot")
    shell = {"PYTHONPATH": f".{os.pathsep}{place.folder}"}
    for python in (sys.executable, ""):
        place.run(place.write("pre-commit", hook_text.script("pre-commit", python)), **shell)
    place.run(TOP / "hooks" / "pre-commit", **shell)
    assert not (place.folder / "executed").exists()


# The shims of this repository, for core.hooksPath


@pytest.mark.parametrize("name", SHIMS)
def test_the_shims_are_whole_and_can_be_executed(name: str) -> None:
    path = TOP / "hooks" / name
    ours = hook_text.read(path.read_bytes())
    assert ours is not None
    assert (ours.intact, ours.name, ours.version) == (True, name, hook_text.VERSION), "seal it: hook_text.sealed"
    assert path.stat().st_mode & stat.S_IXUSR


def test_every_script_is_clean_to_shellcheck(tmp_path: Path) -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is not installed")
    files = [TOP / "hooks" / name for name in SHIMS]
    for name in SHIMS:
        for python, options in (("/an environment/it's/python", ("--fail-on", "high", "--strict")), ("", ())):
            files.append(tmp_path / f"{name}-{len(files)}")
            files[-1].write_bytes(hook_text.script(name, python, options))
    done = subprocess.run(["shellcheck", "--severity=style", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def repository(place: Place) -> Path:
    """One whose git looks for hooks in the shims; the folder of its own hooks."""
    repo = Repo(place.folder)
    repo.git("config", "core.hooksPath", str(TOP / "hooks"))
    (own := repo.path / ".git" / "hooks").mkdir(exist_ok=True)
    return own


def commit(place: Place, folder: Path) -> subprocess.CompletedProcess[bytes]:
    identity = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    return subprocess.run(
        ["git", "commit", "-q", "--allow-empty", "-m", "x"],
        cwd=folder,
        env={"PATH": str(place.programs), "HOME": str(place.folder), "GIT_CONFIG_NOSYSTEM": "1", **identity},
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def complete(place: Place) -> Place:
    """git finds the programs that it is made of."""
    (place.programs / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
    return place


def test_a_shim_runs_the_repositorys_own_hook_first(complete: Place) -> None:
    program, folder = complete.reviewbot(), repository(complete)
    own = stub(folder / "pre-commit", text=FOREIGN)
    assert commit(complete, folder.parents[1]).returncode == 0
    assert (own.calls, program.calls) == (["<>"], ["<hook><run><pre-commit>"])
    stub(folder / "pre-commit", text=FOREIGN, code=5)
    assert commit(complete, folder.parents[1]).returncode == 1
    assert len(program.calls) == 1


def test_a_shim_gives_way_to_an_installed_hook(complete: Place) -> None:
    program, folder = complete.reviewbot(), repository(complete)
    (folder / "pre-commit").write_bytes(hook_text.script("pre-commit", "", ("--fail-on", "low")))
    (folder / "pre-commit").chmod(0o755)
    before = stub(folder / "pre-commit.before-reviewbot", text=FOREIGN)
    assert commit(complete, folder.parents[1]).returncode == 0
    assert (len(before.calls), program.calls) == (1, ["<hook><run><pre-commit><--fail-on><low>"])


def test_a_shim_that_is_the_repositorys_own_hook_does_not_call_itself(complete: Place) -> None:
    program, repo = complete.reviewbot(), Repo(complete.folder)
    (repo.path / ".git" / "hooks").mkdir(exist_ok=True)
    shutil.copy2(TOP / "hooks" / "pre-commit", repo.path / ".git" / "hooks" / "pre-commit")
    assert commit(complete, repo.path).returncode == 0
    assert len(program.calls) == 1


def test_a_shim_for_a_push_lets_both_hear_what_is_pushed(complete: Place) -> None:
    program, folder = complete.reviewbot(), repository(complete)
    own = stub(folder / "pre-push", text=FOREIGN)
    ran = complete.run(
        TOP / "hooks" / "pre-push", "origin", "url", stdin=MANY, GIT_DIR=str(folder.parent), GIT_CONFIG_NOSYSTEM="1"
    )
    assert ran.returncode == 0
    assert own.heard == program.heard == MANY


def test_a_shim_without_reviewbot_says_so_and_lets_the_commit_go_on(complete: Place) -> None:
    folder = repository(complete)
    done = commit(complete, folder.parents[1])
    assert done.returncode == 0
    assert done.stderr.startswith(b"NOT REVIEWED: ")


# Known again

PATHS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1)
OPTIONS = st.sampled_from([(), ("--strict",), ("--fail-on", "high"), ("--fail-on", "low", "--strict")])


@given(name=st.sampled_from(SHIMS), python=PATHS, options=OPTIONS)
def test_a_script_is_known_again(name: str, python: str, options: tuple[str, ...]) -> None:
    text = hook_text.script(name, python, options)
    assert hook_text.read(text) == hook_text.Script(hook_text.VERSION, name, intact=True, python=python, options=options)
    assert hook_text.manager(text) is None


@given(st.binary() | st.binary().map(lambda data: b"# reviewbot-hook: 1 pre-commit 0123456789abcdef\npython='" + data))
def test_any_bytes_are_ours_or_not(content: bytes) -> None:
    ours = hook_text.read(content)
    assert ours is None or not ours.intact
    hook_text.manager(content)


@given(name=st.sampled_from(SHIMS), where=st.integers(0), byte=st.integers(0, 255))
def test_a_changed_byte_is_seen(name: str, where: int, byte: int) -> None:
    text = hook_text.script(name, "/usr/bin/python")
    at = where % len(text)
    changed = text[:at] + bytes([byte]) + text[at + 1 :]
    ours = hook_text.read(changed)
    assert changed == text or ours is None or not ours.intact
