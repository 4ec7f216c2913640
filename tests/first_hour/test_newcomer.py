"""The path of somebody who has never seen reviewbot: clone, install, first review, hooks, a warning, a dismissal, a push, a workflow.

Real processes in real repositories, with the network out of reach. One story: each step goes on from where the one before ended.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reviewbot import __version__
from tests.action import npm
from tests.action.test_workflows import OUTDATED, lint, zizmor
from tests.action.world import TOP
from tests.hooks.wheelhouse import offline, stock

REFERENCE = f"octo/reviewbot@{'1f' * 20}"
#: Nothing of the environment that runs the tests.
ELSEWHERE = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != Path(sys.prefix) / "bin"]
SHOP = '''\
"""Prices of a shop."""


def total(prices: list[int]) -> int:
    """The sum of all prices, in cents."""
    return sum(prices)
'''
BUG = '''

def remembered(price: int, seen: list[int] = []) -> list[int]:
    """Every price so far."""
    seen.append(price)
    return seen
'''
TEST = """\
from shop import total


def test_the_total_is_the_sum():
    assert total([1, 2]) == 3
"""


@dataclass
class Desk:
    """Where the newcomer sits: their home, the clone of reviewbot, and their own project with its remote."""

    folder: Path

    @property
    def clone(self) -> Path:
        return self.folder / "reviewbot"

    @property
    def project(self) -> Path:
        return self.folder / "shop"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join([f"{self.clone}/.venv/bin", *ELSEWHERE]),
            "HOME": str(self.folder / "home"),
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
            **offline(self.folder / "wheels"),
        }

    def run(self, *words: str, folder: Path | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
        """What somebody types in their project."""
        done = subprocess.run(
            words,
            cwd=folder or self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
        return done

    def write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files_of_the_repository() -> Iterator[str]:
    """What a clone would hold if everything were committed."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=TOP, capture_output=True, check=True, timeout=60)
    return (name for name in listed.stdout.decode().split("\0") if name and (TOP / name).is_file())


def published(desk: Desk) -> Path:
    """reviewbot as it is here, in a repository that can be cloned."""
    source = desk.folder / "published"
    for name in files_of_the_repository():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, target)
    desk.run("git", "init", "-q", "-b", "main", folder=source)
    desk.run("git", "add", "--all", folder=source)
    desk.run("git", "commit", "-q", "-m", "reviewbot", folder=source)
    return source


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A fresh home, reviewbot cloned and installed as its README says, and a project with a remote."""
    desk = Desk(tmp_path)
    home = desk.folder / "home"
    home.mkdir()
    for key, value in (("user.name", "Ada Lovelace"), ("user.email", "ada@example.org"), ("init.defaultBranch", "main")):
        desk.run("git", "config", "--global", key, value, folder=home)
    desk.run("git", "clone", "-q", f"file://{published(desk)}", str(desk.clone), folder=home)
    desk.run(sys.executable, "-m", "venv", ".venv", folder=desk.clone)
    stock(desk.folder / "wheels", "reviewbot")
    desk.run(".venv/bin/python", "-m", "pip", "install", "-q", ".", folder=desk.clone)
    desk.project.mkdir()
    desk.run("git", "init", "-q", "--bare", str(desk.folder / "shop.git"), folder=home)
    desk.run("git", "init", "-q")
    desk.run("git", "remote", "add", "origin", str(desk.folder / "shop.git"))
    desk.write("shop.py", SHOP)
    desk.write("test_shop.py", TEST)
    desk.run("git", "add", ".")
    desk.run("git", "commit", "-q", "-m", "Begin")
    desk.run("git", "push", "-q", "--set-upstream", "origin", "main")
    return desk


def a_clone_installs_and_its_demo_finds_what_was_planted(desk: Desk) -> None:
    assert desk.run("reviewbot", "--version").stdout == f"reviewbot {__version__}\n"
    where = desk.run(f"{desk.clone}/.venv/bin/python", "-c", "import reviewbot; print(reviewbot.__file__)").stdout
    assert str(desk.clone / ".venv") in where, "the installed package runs, and not the one of the tests"
    demo = desk.run("reviewbot", "demo")
    assert "static panel, no language model" in demo.stdout
    assert "Planted in that commit" in demo.stderr


def the_first_review_of_a_project_of_their_own_finds_the_bug(desk: Desk) -> None:
    desk.write("shop.py", SHOP + BUG)
    told = desk.run("reviewbot", "review").stdout
    assert "shop.py:9" in told
    assert "Mutable default argument" in told
    desk.run("git", "checkout", "-q", "shop.py")


def everything_is_set_up_by_one_command_and_doctor_finds_no_gap_in_it(desk: Desk) -> None:
    words = ("--yes", "--config", "--hooks", "native", "--workflow", "review", "--workflow", "forks", "--action-ref", REFERENCE)
    said = desk.run("reviewbot", "init", *words).stderr
    assert ".github/workflows/review.yml" in said
    assert all((desk.project / ".git" / "hooks" / name).is_file() for name in ("pre-commit", "pre-push"))
    doctor = desk.run("reviewbot", "doctor").stdout
    lines = {line.split()[1]: line.split()[0] for line in doctor.splitlines() if line.strip() and not line.startswith(" ")}
    assert {lines[name] for name in ("git", "config", "identity", "pre-commit", "pre-push", "workflow")} == {"ok"}


def the_workflows_that_were_written_pass_every_linter(desk: Desk) -> None:
    written = sorted((desk.project / ".github" / "workflows").iterdir())
    assert [path.name for path in written] == ["review-collect.yml", "review-publish.yml", "review.yml"]
    done = zizmor(*written)
    assert done.returncode == 0, done.stdout + done.stderr
    done = lint("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *written)
    assert done.returncode == 0, done.stdout + done.stderr
    found = npm.ask("lint.mjs", {path.name: path.read_text(encoding="utf-8") for path in written})
    assert {note["message"] for notes in found.values() for note in notes} <= set(OUTDATED)


def what_was_written_is_committed_and_the_hook_has_nothing_against_it(desk: Desk) -> None:
    desk.run("git", "add", ".")
    assert "NOT REVIEWED" not in desk.run("git", "commit", "-q", "-m", "Set up reviewbot").stderr
    assert desk.run("git", "status", "--short").stdout == ""


def a_commit_with_a_bug_is_told_and_made(desk: Desk) -> None:
    desk.write("shop.py", SHOP + BUG)
    told = desk.run("git", "commit", "-q", "-a", "-m", "Remember prices").stderr
    assert "shop.py:9" in told
    assert "Mutable default argument" in told
    assert "Remember prices" in desk.run("git", "log", "--oneline").stdout
    assert "Mutable default argument" in desk.run("reviewbot", "explain", "F1").stdout


def what_is_dismissed_is_not_told_again(desk: Desk) -> None:
    desk.run("git", "reset", "-q", "--soft", "HEAD~1")
    desk.run("reviewbot", "dismiss", "F1", "--reason", "it is meant to remember")
    desk.run("git", "add", ".reviewbot/dismissed.yml")
    told = desk.run("git", "commit", "-q", "-m", "Remember prices").stderr
    assert "shop.py:9" not in told
    assert "it is meant to remember" in desk.run("reviewbot", "dismiss", "--list").stdout


def a_push_is_reviewed_and_arrives(desk: Desk) -> None:
    told = desk.run("git", "push", "-q", "origin", "main").stderr
    assert "reviewbot" in told
    assert "NOT REVIEWED" not in told
    head = desk.run("git", "rev-parse", "HEAD").stdout
    assert desk.run("git", "rev-parse", "main", folder=desk.folder / "shop.git").stdout == head


def the_hooks_leave_as_they_came(desk: Desk) -> None:
    desk.run("reviewbot", "hook", "uninstall")
    assert not [name for name in ("pre-commit", "pre-push") if (desk.project / ".git" / "hooks" / name).exists()]
    assert desk.run("git", "status", "--short").stdout == ""


STEPS = (
    a_clone_installs_and_its_demo_finds_what_was_planted,
    the_first_review_of_a_project_of_their_own_finds_the_bug,
    everything_is_set_up_by_one_command_and_doctor_finds_no_gap_in_it,
    the_workflows_that_were_written_pass_every_linter,
    what_was_written_is_committed_and_the_hook_has_nothing_against_it,
    a_commit_with_a_bug_is_told_and_made,
    what_is_dismissed_is_not_told_again,
    a_push_is_reviewed_and_arrives,
    the_hooks_leave_as_they_came,
)


@pytest.mark.ci
@pytest.mark.usefixtures("bubblewrap")
def test_a_newcomer_comes_from_a_clone_to_a_reviewed_push(desk: Desk) -> None:
    for step in STEPS:
        step(desk)
