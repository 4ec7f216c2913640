"""`reviewbot dismiss` from outside: real processes in a real repository, and what a review says afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reviewbot.cli import main
from reviewbot.config.dismissed import read
from reviewbot.domain.dismissal import FILE
from tests.repo import Repo

pytestmark = pytest.mark.ci

PLAIN = 'def double(n):\n    """Twice."""\n    return 2 * n\n'
FAULTY = 'def double(n, seen=[]):\n    """Twice."""\n    seen.append(n)\n    return 2 * n\n'
TOP = Path(__file__).parents[2]


class Desk:
    """Somebody at work in a repository."""

    def __init__(self, repo: Repo) -> None:
        self.repo = repo

    def run(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """One command line."""
        environment = {**self.repo.environment, "PATH": os.environ["PATH"], "PYTHONPATH": str(TOP)}
        return subprocess.run(
            (sys.executable, "-m", "reviewbot.cli", *words),
            cwd=cwd or self.repo.path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def dismiss(self, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """One that succeeds."""
        done = self.run("dismiss", *words, cwd=cwd)
        assert done.returncode == 0, done.stderr
        return done

    def review(self, *words: str) -> dict[str, Any]:
        """The document of a review."""
        done = self.run("review", *words, "--format", "json", "--fail-on", "low")
        found: dict[str, Any] = json.loads(done.stdout)
        return {**found, "code": done.returncode}

    def file(self) -> Path:
        return self.repo.path / FILE


def told(review: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(one["path"], one["line"], one["status"]) for one in review["findings"]]


OPEN, GONE = [("a.py", 1, "accepted")], [("a.py", 1, "dismissed")]


@pytest.fixture
def desk(git_repo: Repo) -> Desk:
    """A staged change with one finding, not reviewed yet."""
    git_repo.write("a.py", PLAIN)
    git_repo.commit("plain")
    git_repo.write("a.py", FAULTY)
    git_repo.git("add", "a.py")
    return Desk(git_repo)


def test_a_finding_that_was_dismissed_is_raised_by_no_review_here_until_that_is_taken_back(desk: Desk) -> None:
    before = desk.review("--staged")
    assert (told(before), before["code"]) == (OPEN, 1)
    index = desk.repo.git("ls-files", "--stage", "--debug")
    (desk.repo.path / "sub").mkdir()
    said = desk.dismiss("f1", "--reason", "the  list is\nmeant to be shared", cwd=desk.repo.path / "sub")
    assert f"git add {FILE}" in said.stderr
    assert (desk.repo.git("ls-files", "--stage", "--debug"), said.stdout) == (index, "")
    after = desk.review("--staged")
    assert (told(after), after["code"], after["verdict"]) == (GONE, 0, "approve")
    assert after["findings"][0]["stop_reason"] == f"dismissed in {FILE}: the list is meant to be shared"
    assert after["findings"][0]["fingerprint"] == before["findings"][0]["fingerprint"]
    shown = desk.run("review", "--worktree")
    assert "not told" in shown.stdout
    assert "0 findings" in shown.stdout
    again = desk.run("dismiss", "F1", "--reason", "twice")
    assert (again.returncode, "dismissed already: the list is meant" in again.stderr) == (2, True)
    text = desk.file().read_bytes()
    desk.dismiss("--undo", before["findings"][0]["fingerprint"].removeprefix("sha256:")[:8])
    assert told(desk.review("--staged")) == OPEN
    desk.dismiss("F1", "--reason", "the list is meant to be shared")
    assert desk.file().read_bytes() == text


def test_commits_heed_the_file_of_their_base_and_call_their_own_their_authors_word(desk: Desk) -> None:
    desk.review("--staged")
    desk.dismiss("F1", "--reason", "meant")
    desk.repo.commit("faulty, with its own dismissal")
    brought = desk.review("HEAD")
    assert (told(brought), brought["code"]) == (OPEN, 1)
    assert brought["findings"][0]["dissent"] == "the change itself dismisses it: meant"
    desk.repo.git("checkout", "-q", "HEAD~1", "--", "a.py")
    desk.repo.commit("plain again")
    desk.repo.write("a.py", FAULTY.replace("seen=[]", "seen=[1]"))
    assert told(desk.review("--worktree")) == OPEN, "its line says something else"
    desk.repo.write("a.py", FAULTY)
    desk.repo.commit("faulty again")
    heeded = desk.review("HEAD")
    assert (told(heeded), heeded["code"]) == (GONE, 0)


def test_what_a_report_of_machines_holds_is_a_suppression(desk: Desk) -> None:
    desk.review("--staged")
    desk.dismiss("F1", "--reason", "meant")
    done = desk.run("review", "--staged", "--format", "sarif")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    (one,) = result["suppressions"]
    assert (one["kind"], one["status"], one["justification"]) == ("external", "accepted", f"dismissed in {FILE}: meant")
    assert json.loads(desk.run("review", "--staged", "--format", "rdjson").stdout)["diagnostics"] == []


def test_the_list_says_what_is_about_nothing_any_more(desk: Desk) -> None:
    assert "nothing is dismissed" in desk.dismiss("--list").stdout
    desk.review("--staged")
    desk.dismiss("F1", "--reason", "meant")
    (one,) = json.loads(desk.dismiss("--list", "--format", "json").stdout)
    assert (one["path"], one["rule"], one["severity"], one["reason"], one["stale"]) == ("a.py", "B006", "medium", "meant", None)
    desk.repo.write("a.py", PLAIN)
    assert "its line is gone" in desk.dismiss("--list").stdout
    desk.repo.remove("a.py")
    assert "its file is gone" in desk.dismiss("--list").stdout


@pytest.mark.smoke
def test_what_cannot_be_dismissed_is_said_with_the_next_step_and_nothing_is_written(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in desk.repo.environment.items():
        monkeypatch.setenv(name, value)

    def refused(*words: str, told: str, cwd: Path | None = None) -> None:
        assert main(["dismiss", *words, "-C", str(cwd or desk.repo.path)]) == 2
        said = capsys.readouterr()
        assert (said.out, told in said.err) == ("", True), said.err
        assert not desk.file().exists()

    refused("F1", "--reason", "x", told="make one with 'reviewbot review'")
    desk.review("--staged")
    refused("F1", told="needs a reason")
    refused("F1", "--reason", "  \n ", told="needs a reason")
    refused("F1", "--reason", "x" * 501, told="at most 500")
    refused("--reason", "x", told="no finding is named")
    refused("F1", "F9", "--reason", "x", told="no single finding 'F9'")
    refused("--undo", "F1", told="nothing is dismissed")
    refused("--undo", "F1", "--reason", "x", told="exclude each other")
    refused("--list", "F1", told="takes no finding")
    refused("F1", "--reason", "x", told="git", cwd=desk.repo.home)
    outside = desk.repo.home / "outside"
    outside.mkdir()
    desk.repo.link(".reviewbot", str(outside))
    refused("F1", "--reason", "x", told="no folder")
    assert list(outside.iterdir()) == []


def test_a_broken_file_stops_the_command_with_its_line_and_a_review_says_that_nothing_is_spared(desk: Desk) -> None:
    desk.review("--staged")
    desk.dismiss("F1", "--reason", "meant")
    text = desk.file().read_text() + "<<<<<<< ours\n"
    desk.file().write_text(text)
    done = desk.run("dismiss", "--undo", "F1")
    assert (done.returncode, f"{FILE} line 1" in done.stderr) == (2, True)
    assert desk.file().read_text() == text
    review = desk.review("--staged")
    assert told(review) == OPEN
    assert any("the file of dismissals is not read" in note for note in review["notes"])


def test_something_grave_goes_loudly_and_no_secret_is_written(desk: Desk) -> None:
    key = "AKIA" + "Z7QW3M5RT2XK6NLP"
    desk.repo.write("a.py", f"KEY = {key!r}\n")
    desk.review("--worktree")
    said = desk.dismiss("F1", "--quiet", "--reason", f"{key} is an example of the vendor's")
    assert said.stderr.startswith("warning: F1 is critical")
    assert key not in desk.file().read_text()
    assert told(desk.review("--worktree"))[:1] == GONE


def test_the_hook_before_a_commit_heeds_the_same_file_at_once(desk: Desk) -> None:
    hook = ("hook", "run", "pre-commit", "--fail-on", "low")
    assert [desk.run(*hook).returncode for _ in range(2)] == [1, 1]
    desk.dismiss("F1", "--reason", "meant")
    assert [desk.run(*hook).returncode for _ in range(2)] == [0, 0]
    desk.dismiss("--undo", "F1")
    assert desk.run(*hook).returncode == 1, "what was remembered of the commit is not played again"


@pytest.mark.smoke
def test_several_dismissals_at_once_are_all_written_down(git_repo: Repo) -> None:
    names = ("a", "b", "c", "d")
    for name in names:
        git_repo.write(f"{name}.py", f"def {name}(x):\n    breakpoint()\n    return x\n")
    git_repo.git("add", ".")
    desk = Desk(git_repo)
    assert [path for path, _, _ in told(desk.review("--staged"))] == [f"{name}.py" for name in names]
    with ThreadPoolExecutor(len(names)) as pool:
        list(pool.map(lambda number: desk.dismiss(f"F{number}", "--reason", "meant so"), range(1, len(names) + 1)))
    assert {one.path for one in read(desk.file().read_bytes(), FILE)} == {f"{name}.py" for name in names}
