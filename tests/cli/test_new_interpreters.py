"""Each command once as a user's shell starts it: a new interpreter of its own, whatever the other tests fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot.cli import COMMANDS
from tests.repo import Repo

REVIEWBOT = Path(sys.executable).with_name("reviewbot")
pytestmark = pytest.mark.cold

RUNS: dict[str, tuple[str, int, str]] = {
    "review": ("review --fail-on medium", 1, "a.py"),
    "fix": ("fix --write-patch fix.patch", 0, "a.py"),
    "demo": ("demo --panel nobody", 2, "nobody"),
    "hook": ("hook install", 0, "pre-commit"),
    "dismiss": ("dismiss F1", 2, "reason"),
    "ask": ("ask Why?", 3, "NOT ANSWERED"),
    "explain": ("explain F1", 2, "reviewbot review"),
    "status": ("status", 0, "no debate is remembered here"),
    "sessions": ("sessions list", 0, "no debate is remembered here"),
    "models": ("models list", 0, "no provider is configured"),
    "init": ("init", 0, ".reviewbot.yml"),
    "config": ("config show", 0, "version"),
    "doctor": ("doctor", 0, "git"),
    "completion": ("completion bash", 0, "complete -"),
    "schema": ("schema review", 0, "json-schema.org"),
    "github": ("github", 2, "GITHUB_EVENT_NAME"),
}
THREE_ZONES = {"collect", "debate", "publish"}


@pytest.fixture
def repository(git_repo: Repo) -> Repo:
    """Its last commit brings a default value that all calls share."""
    git_repo.write("a.py", "def f(x):\n    return x\n")
    git_repo.commit("First")
    git_repo.write("a.py", "def f(x=[]):\n    x.append(1)\n    return x\n")
    git_repo.commit("Second")
    return git_repo


def run(repository: Repo, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [REVIEWBOT, *arguments],
        cwd=repository.path,
        env=repository.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def test_every_command_is_started():
    assert {*RUNS, *THREE_ZONES} == set(COMMANDS)


@pytest.mark.parametrize("command", RUNS)
def test_a_command_runs(repository: Repo, command: str):
    arguments, code, text = RUNS[command]
    done = run(repository, *arguments.split())
    assert done.returncode == code, done.stderr
    assert text in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_review_passes_through_three_commands(repository: Repo, tmp_path: Path):
    change, evidence, review = (str(tmp_path / name) for name in ("changeset.json", "evidence.json", "review.json"))
    collected = run(repository, "collect", "HEAD", "--out", str(tmp_path))
    assert collected.returncode == 0, collected.stderr
    debated = run(repository, "debate", "--changeset", change, "--evidence", evidence, "--out", str(tmp_path))
    assert debated.returncode == 0, debated.stderr
    published = run(repository, "publish", "--review", review)
    assert published.returncode == 0, published.stderr
    assert "a.py" in published.stdout
