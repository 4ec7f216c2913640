"""What is said of the hooks of a repository: each of the ways in which they can be, and not be."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from reviewbot.events import hook_text
from reviewbot.events.installed import HookStatus, Standing
from reviewbot.wiring import hooks
from reviewbot.wiring.hooks import Wish
from tests.hooks import foreign
from tests.hooks.lab import Lab
from tests.hooks.test_install import MINE, around, folder_of, put
from tests.repo import Repo


def first(repo: Repo, **more: str) -> HookStatus:
    return hooks.status(repo.path, around(repo, **more)).hooks[0]


@pytest.fixture
def nobody(git_repo: Repo, tmp_path: Path) -> dict[str, str]:
    """A PATH with git and without reviewbot."""
    (folder := tmp_path / "programs").mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        if (Path(place) / "git").exists():
            (folder / "git").symlink_to(Path(place) / "git")
            break
    return {"PATH": str(folder)}


def test_a_repository_without_hooks_says_so_in_text_and_json(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    ran = lab.reviewbot("hook", "status")
    assert ran.out == "git looks for hooks in .git/hooks\npre-commit: not installed\npre-push: not installed\n"
    assert (ran.code, ran.err) == (0, "")
    assert lab.reviewbot("hook", "status", "--format", "json").document == {
        "folder": ".git/hooks",
        "setting": "",
        "hooks": [
            {"name": name, "standing": "absent", "path": f".git/hooks/{name}", "words": "not installed", "problems": []}
            for name in ("pre-commit", "pre-push")
        ],
        "notes": [],
    }


def test_an_installed_hook_is_whole(git_repo: Repo) -> None:
    hooks.install(git_repo.path, around(git_repo))
    told = first(git_repo)
    assert (told.standing, told.words, told.problems, told.installed) == (Standing.INSTALLED, "installed", (), True)


def test_a_chained_hook_names_what_runs_first(git_repo: Repo) -> None:
    put(folder_of(git_repo) / "pre-commit", mode=0o644)
    hooks.install(git_repo.path, around(git_repo))
    told = first(git_repo)
    assert (told.standing, told.words) == (Standing.CHAINED, "installed; pre-commit.before-reviewbot runs first")
    assert told.problems[0].endswith("is not run: chmod +x .git/hooks/pre-commit.before-reviewbot")


@pytest.mark.parametrize(
    ("text", "standing", "words"),
    [
        (MINE, Standing.FOREIGN, "not installed: there is another hook"),
        (foreign.PRE_COMMIT, Standing.MANAGED, "not installed: the hook is pre-commit's"),
        (hook_text.script("pre-commit").decode() + "x\n", Standing.EDITED, "installed, and changed by hand since"),
        (hook_text.script("pre-push").decode(), Standing.EDITED, "installed, and changed by hand since"),
    ],
)
def test_what_is_somebody_elses_is_told(git_repo: Repo, text: str, standing: Standing, words: str) -> None:
    put(folder_of(git_repo) / "pre-commit", text)
    told = first(git_repo)
    assert (told.standing, told.words) == (standing, words)
    assert told.installed == (standing is Standing.EDITED)


def test_a_hook_that_is_called_by_pre_commits_own_is_installed(git_repo: Repo) -> None:
    folder = folder_of(git_repo)
    put(folder / "pre-commit", foreign.PRE_COMMIT)
    put(folder / "pre-commit.legacy", hook_text.script("pre-commit", sys.executable).decode())
    told = first(git_repo)
    assert told.words == "installed; pre-commit's hook calls it as pre-commit.legacy"
    assert (told.installed, told.problems) == (True, ())
    assert hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",))) == (
        "pre-commit: already installed as .git/hooks/pre-commit.legacy",
    )
    hooks.uninstall(git_repo.path, around(git_repo))
    assert {path.name for path in folder.iterdir() if path.suffix != ".sample"} == {"pre-commit"}
    assert (folder / "pre-commit").read_text() == foreign.PRE_COMMIT


def test_pre_commits_hook_is_not_made_its_own_legacy_when_ours_between_them_goes(git_repo: Repo) -> None:
    """It refuses to be called by itself: no commit would be possible."""
    folder = folder_of(git_repo)
    put(folder / "pre-commit", foreign.PRE_COMMIT)
    put(folder / "pre-commit.legacy", hook_text.script("pre-commit", sys.executable).decode())
    put(folder / "pre-commit.before-reviewbot", foreign.PRE_COMMIT.replace("python3", "python3.10"))
    hooks.uninstall(git_repo.path, around(git_repo))
    assert {path.name for path in folder.iterdir() if path.suffix != ".sample"} == {"pre-commit"}
    assert (folder / "pre-commit").read_text() == foreign.PRE_COMMIT


def test_where_ours_was_removed_by_hand_it_is_told_that_nothing_runs_what_it_ran_first(git_repo: Repo) -> None:
    hook = put(folder_of(git_repo) / "pre-commit")
    hooks.install(git_repo.path, around(git_repo), Wish(("pre-commit",)))
    hook.unlink()
    words = "pre-commit.before-reviewbot is there, and nothing runs it: rename it to pre-commit to have it back"
    told = first(git_repo)
    assert (told.standing, told.problems) == (Standing.ABSENT, (words,))
    assert hooks.uninstall(git_repo.path, around(git_repo), Wish(("pre-commit",))) == (f"pre-commit: not installed; {words}",)
    assert not hook.exists(), "somebody may have meant that"


def test_a_link_is_told_as_one(git_repo: Repo) -> None:
    put(git_repo.path / "hook", hook_text.script("pre-commit", sys.executable).decode())
    (folder_of(git_repo) / "pre-commit").symlink_to("../../hook")
    assert first(git_repo).words == "a link to a hook of reviewbot's"


def test_a_hook_that_git_does_not_run_is_told(git_repo: Repo) -> None:
    hooks.install(git_repo.path, around(git_repo))
    (folder_of(git_repo) / "pre-commit").chmod(0o644)
    (problem,) = first(git_repo).problems
    assert problem == "it is not executable, so git does not run it: chmod +x .git/hooks/pre-commit"


def test_a_program_that_is_gone_is_told(git_repo: Repo, nobody: dict[str, str]) -> None:
    put(folder_of(git_repo) / "pre-commit", hook_text.script("pre-commit", "/gone/bin/python").decode())
    (problem,) = first(git_repo).problems
    assert "/gone/bin/python, is no longer there, so the one on PATH is called instead" in problem
    (problem,) = first(git_repo, **nobody).problems
    assert "is no longer there, so nothing is reviewed: run `reviewbot hook install` again" in problem


def test_a_hook_that_calls_by_path_needs_it_there(git_repo: Repo, nobody: dict[str, str]) -> None:
    put(folder_of(git_repo) / "pre-commit", hook_text.script("pre-commit").decode())
    assert first(git_repo).problems == ()
    (problem,) = first(git_repo, **nobody).problems
    assert problem.startswith("reviewbot is not on PATH, so nothing is reviewed")


def test_a_setting_that_leads_elsewhere_is_told_with_what_stays_behind(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.reviewbot("hook", "install", "--no-pre-push")
    lab.git("config", "core.hooksPath", ".githooks")
    setting = "core.hooksPath (local, .git/config)"
    assert lab.reviewbot("hook", "status").out.splitlines() == [
        f"git looks for hooks in .githooks: {setting} says so",
        "pre-commit: not installed",
        "pre-push: not installed",
        f"pre-commit is installed as .git/hooks/pre-commit as well, but git does not look there: {setting} says .githooks",
    ]
