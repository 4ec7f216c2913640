"""``reviewbot init``: writes what was agreed, all of it or nothing, and says what is left to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reviewbot import cli
from reviewbot.cli import init as command
from reviewbot.cli import init_plan, init_workflows
from reviewbot.cli.init_ask import Said, asked
from reviewbot.cli.init_origin import named, of_clone
from reviewbot.cli.init_write import standing, written
from reviewbot.errors import OutputError, UsageError
from tests.action import npm
from tests.action.test_workflows import OUTDATED, lint, zizmor
from tests.action.world import TOP
from tests.first_hour.terminal import Terminal
from tests.repo import Repo

COMMIT = "1f" * 20
REFERENCE = f"octo/reviewbot@{COMMIT}"
EVERY = tuple(word for name in init_workflows.SETS for word in ("--workflow", name))


def run(repo: Repo, *words: str) -> int:
    return cli.main(["init", "-C", str(repo.path), *words])


def files(repo: Repo) -> set[str]:
    return {str(path.relative_to(repo.path)) for path in repo.path.rglob("*") if path.is_file() and ".git" not in path.parts}


def told_by_pypi(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows where this reviewbot came from."""
    monkeypatch.setattr(command, "origin", lambda: None)


@pytest.mark.ci
@pytest.mark.parametrize("secrets", [(), ("--secret", "none"), ("--secret", "openrouter", "--secret", "anthropic")])
def test_every_workflow_is_written_filled_in_and_passes_every_linter(git_repo: Repo, capfd, secrets: tuple[str, ...]) -> None:
    assert run(git_repo, "--yes", *EVERY, "--action-ref", REFERENCE, *secrets) == 0
    place = git_repo.path / ".github" / "workflows"
    assert sorted(path.name for path in place.iterdir()) == sorted(path.name for path in (TOP / "docs" / "workflows").iterdir())
    texts = {path.name: path.read_text(encoding="utf-8") for path in place.iterdir()}
    for name, text in texts.items():
        assert "OWNER" not in text, name
        assert "Copy " not in text.split("\nname:")[0], name
        assert f"uses: {REFERENCE}\n" in text, name
        assert max(map(len, text.split("\njobs:")[0].splitlines())) <= 130
    done = zizmor(*place.iterdir())
    assert done.returncode == 0, done.stdout + done.stderr
    done = lint("check-jsonschema", "--builtin-schema", "vendor.github-workflows", *place.iterdir())
    assert done.returncode == 0, done.stdout + done.stderr
    said = [note["message"] for notes in npm.ask("lint.mjs", texts).values() for note in notes]
    assert set(said) <= set(OUTDATED)


def test_a_filled_in_workflow_differs_from_the_shipped_one_in_nothing_but_the_action() -> None:
    for name in init_workflows.names(tuple(init_workflows.SETS)):
        text = init_workflows.shipped(name)
        made = init_workflows.filled(text, init_workflows.action(REFERENCE), None)
        assert yaml.safe_load(made) == yaml.safe_load(text.replace(init_workflows.PLACEHOLDER, REFERENCE)), name
        assert init_workflows.filled(text, None, None) == text


def test_keys_are_handed_over_as_they_were_chosen_and_only_to_whom_had_them(git_repo: Repo) -> None:
    words = ("--yes", "--no-config", *EVERY, "--action-ref", REFERENCE, "--secret", "openrouter")
    assert run(git_repo, *words) == 0
    for path in (git_repo.path / ".github" / "workflows").iterdir():
        text = path.read_text(encoding="utf-8")
        shipped = "anthropic_api_key" in init_workflows.shipped(path.name)
        assert re.findall(r"(\w+_api_key): \$\{\{ secrets\.(\w+) \}\}", text) == (
            [("openrouter_api_key", "OPENROUTER_API_KEY")] * shipped
        )


def test_a_review_makes_fixes_where_there_is_a_workflow_that_commits_them(git_repo: Repo, capfd) -> None:
    assert run(git_repo, "--yes", "--workflow", "review", "--workflow", "autofix", "--action-ref", REFERENCE) == 0
    text = (git_repo.path / ".github" / "workflows" / "review.yml").read_text()
    assert text.count("          autofix: suggest\n") == 1
    assert "gh variable set REVIEWBOT_AUTOFIX --body true" in capfd.readouterr().err


def test_a_workflow_that_commits_alone_says_what_the_review_needs(git_repo: Repo, capfd) -> None:
    assert run(git_repo, "--workflow", "autofix", "--action-ref", REFERENCE) == 0
    assert "review.yml must say 'autofix: suggest'" in capfd.readouterr().err
    assert run(git_repo, "--workflow", "autofix", "--workflow", "review", "--action-ref", REFERENCE) == 0
    assert "must say" not in capfd.readouterr().err


def test_where_nobody_knows_the_action_the_placeholder_stays_and_is_said(git_repo: Repo, capfd, monkeypatch) -> None:
    told_by_pypi(monkeypatch)
    assert run(git_repo, "--yes", "--workflow", "review") == 0
    said = capfd.readouterr().err
    assert "GitHub refuses these workflows until you put" in said
    assert "--action-ref OWNER/REPO@COMMIT" in said
    assert files(git_repo) == {".github/workflows/review.yml"}
    assert run(git_repo, "--yes", "--workflow", "review", "--force", "--action-ref", REFERENCE) == 0
    assert init_workflows.PLACEHOLDER not in (git_repo.path / ".github" / "workflows" / "review.yml").read_text()


@pytest.mark.parametrize(
    "text", ["octo/reviewbot@v1", "octo/reviewbot", "octo@" + COMMIT, REFERENCE + "0", "o/r@" + "0" * 40, "a b/c@" + COMMIT, ""]
)
def test_what_is_no_commit_of_an_action_is_refused(git_repo: Repo, capfd, text: str) -> None:
    assert run(git_repo, "--workflow", "review", "--action-ref", text) == 2
    assert "OWNER/REPO@COMMIT" in capfd.readouterr().err
    assert not files(git_repo)


@given(st.text(max_size=80))
def test_any_text_names_an_action_or_is_one_error(text: str) -> None:
    try:
        found = init_workflows.action(text)
    except UsageError:
        return
    assert str(found) == text.strip()


def test_only_what_flags_name_is_written(git_repo: Repo) -> None:
    assert run(git_repo, "--no-config") == 0
    assert files(git_repo) == set()
    assert run(git_repo, "--hooks", "none", "--yes") == 0
    assert files(git_repo) == set()
    assert run(git_repo, "--config") == 0
    assert files(git_repo) == {".reviewbot.yml"}


def test_a_dry_run_prints_the_files_and_writes_none(git_repo: Repo, capfd, monkeypatch) -> None:
    told_by_pypi(monkeypatch)
    assert run(git_repo, "--dry-run", "--config", "--workflow", "forks", "--hooks", "native") == 0
    said = capfd.readouterr().out
    assert re.findall(r"^==> (.*) <==$", said, re.MULTILINE) == [
        ".reviewbot.yml",
        ".github/workflows/review-collect.yml",
        ".github/workflows/review-publish.yml",
    ]
    assert "would install the git hooks" in said
    assert not files(git_repo)


def test_a_second_time_finds_its_work_done(git_repo: Repo, capfd) -> None:
    words = ("--config", "--workflow", "review", "--hooks", "pre-commit", "--action-ref", REFERENCE)
    assert run(git_repo, *words) == 0
    before = git_repo.snapshot()
    capfd.readouterr()
    assert run(git_repo, *words) == 0
    said = capfd.readouterr().err
    assert "Wrote" not in said
    assert "Put this under" not in said
    assert git_repo.snapshot() == before


def test_one_file_in_the_way_means_that_none_is_written(git_repo: Repo, capfd) -> None:
    git_repo.write(".github/workflows/review.yml", "mine")
    assert run(git_repo, "--config", "--workflow", "review", "--workflow", "audit") == 2
    assert "review.yml is there already; nothing was written; replace it with --force" in capfd.readouterr().err
    assert files(git_repo) == {".github/workflows/review.yml"}


def test_a_dry_run_shows_what_would_take_the_place_of_a_file_that_is_there(git_repo: Repo, capfd) -> None:
    git_repo.write(".reviewbot.yml", "version: 1\n")
    assert run(git_repo, "--config", "--dry-run") == 0
    assert "==> .reviewbot.yml <==" in capfd.readouterr().out
    assert (git_repo.path / ".reviewbot.yml").read_text() == "version: 1\n"


def test_a_table_in_pyproject_is_not_put_out_of_force_unasked(git_repo: Repo, capfd) -> None:
    git_repo.write("pyproject.toml", '[tool.reviewbot.review]\nfail_on = "high"\n')
    assert run(git_repo, "--yes") == 2
    assert "pyproject.toml has [tool.reviewbot]" in capfd.readouterr().err
    assert files(git_repo) == {"pyproject.toml"}
    assert run(git_repo, "--yes", "--no-config") == 0
    assert run(git_repo, "--yes", "--force") == 0
    assert files(git_repo) == {"pyproject.toml", ".reviewbot.yml"}


def test_the_step_that_adds_the_files_works_from_any_folder(git_repo: Repo, capfd, monkeypatch) -> None:
    folder = git_repo.path / "a folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run(git_repo, "--config") == 0
    (line,) = [line for line in capfd.readouterr().err.splitlines() if " add .reviewbot.yml" in line]
    subprocess.run(["sh", "-c", line.partition("  it counts")[0]], check=True, env=git_repo.environment)
    assert git_repo.git("diff", "--cached", "--name-only").split() == [".reviewbot.yml"]


def test_nothing_is_written_among_gits_own_files(tmp_path: Path, git_repo: Repo, capfd) -> None:
    git_repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    assert cli.main(["init", "--yes", "-C", str(tmp_path / "bare")]) == 2
    assert "is a bare repository; go to a folder with a work tree" in capfd.readouterr().err
    assert not (tmp_path / "bare" / ".reviewbot.yml").exists()


def test_a_folder_that_is_a_link_is_not_followed(git_repo: Repo, tmp_path: Path, capfd) -> None:
    (tmp_path / "elsewhere").mkdir()
    (git_repo.path / ".github").symlink_to(tmp_path / "elsewhere")
    assert run(git_repo, "--config", "--workflow", "audit", "--force") == 2
    assert ".github is a symbolic link; nothing was written" in capfd.readouterr().err
    assert not list((tmp_path / "elsewhere").iterdir())
    assert not files(git_repo)


def test_what_was_written_is_taken_back_where_the_next_file_cannot_be(git_repo: Repo, capfd) -> None:
    git_repo.write(".reviewbot.yml", "version: 1\n")
    git_repo.write(".github/workflows/audit.yml/in the way", "")
    words = ("--force", "--config", "--workflow", "review", "--workflow", "audit", "--action-ref", REFERENCE)
    assert run(git_repo, *words) == 2
    said = capfd.readouterr().err
    assert "audit.yml" in said
    assert "nothing was written" in said
    assert (git_repo.path / ".reviewbot.yml").read_text() == "version: 1\n"
    assert files(git_repo) == {".reviewbot.yml", ".github/workflows/audit.yml/in the way"}


def test_files_are_taken_back_where_hooks_cannot_be_installed(git_repo: Repo, capfd, monkeypatch) -> None:
    def refuse(*_: object) -> tuple[str, ...]:
        raise UsageError("no hook can be written here", hint="do something")

    monkeypatch.setattr(command, "_install", refuse)
    words = ("--yes", "--config", "--workflow", "review", "--hooks", "native", "--action-ref", REFERENCE)
    assert run(git_repo, *words) == 2
    assert "no hook can be written here" in capfd.readouterr().err
    assert not files(git_repo)
    assert not (git_repo.path / ".github").exists()


def test_what_cannot_be_taken_back_is_named(tmp_path: Path) -> None:
    piece = init_plan.Piece("a.yml", "new\n")
    (tmp_path / "a.yml").write_text("old\n")

    def fail() -> None:
        with written(tmp_path, (piece,)):
            (tmp_path / "a.yml").unlink()
            (tmp_path / "a.yml").mkdir()
            raise UsageError("something else failed")

    with pytest.raises(OutputError, match=r"could not be taken back: .*a\.yml"):
        fail()


def test_a_file_that_is_there_as_it_should_be_is_not_in_the_way(tmp_path: Path) -> None:
    piece = init_plan.Piece("a.yml", "new\n")
    assert standing(tmp_path, (piece,), force=False) == (piece,)
    (tmp_path / "a.yml").write_text("new\n")
    assert standing(tmp_path, (piece,), force=False) == ()


def pre_commit(repo: Repo, *words: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.prefix) / "bin" / "pre-commit"
    return subprocess.run([program, *words], cwd=repo.path, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("words", [(), ("--action-ref", REFERENCE)])
def test_a_new_pre_commit_configuration_is_a_valid_one(git_repo: Repo, capfd, monkeypatch, words: tuple[str, ...]) -> None:
    told_by_pypi(monkeypatch)
    assert run(git_repo, "--yes", "--hooks", "pre-commit", *words) == 0
    assert files(git_repo) == {".pre-commit-config.yaml"}
    done = pre_commit(git_repo, "validate-config")
    assert done.returncode == 0, done.stdout
    held = yaml.safe_load((git_repo.path / ".pre-commit-config.yaml").read_text())
    assert [hook["id"] for hook in held["repos"][0]["hooks"]] == ["reviewbot", "reviewbot-push"]
    assert held["repos"][0]["repo"] == ("https://github.com/octo/reviewbot" if words else "local")
    assert "pre-commit install" in capfd.readouterr().err


def test_a_pre_commit_configuration_that_is_there_stays_also_with_force(git_repo: Repo, capfd) -> None:
    mine = "repos:\n  - repo: meta\n    hooks: [{id: identity}]\n"
    git_repo.write(".pre-commit-config.yaml", mine)
    assert run(git_repo, "--yes", "--force", "--hooks", "pre-commit", "--action-ref", REFERENCE) == 0
    said = capfd.readouterr().err
    assert f'rev: "{COMMIT}"' in said
    snippet = said.partition("'repos:':\n\n")[2].partition("\n\n")[0]
    assert yaml.safe_load(mine + snippet)["repos"][1]["rev"] == COMMIT
    assert files(git_repo) == {".pre-commit-config.yaml"}
    assert (git_repo.path / ".pre-commit-config.yaml").read_text() == mine


def start(repo: Repo, *words: str, **variables: str) -> Terminal:
    environment = {**repo.environment, "PYTHONPATH": str(TOP), "TERM": "dumb", **variables}
    return Terminal((sys.executable, "-m", "reviewbot.cli", "init", *words), repo.path, environment)


def test_at_a_terminal_it_asks_shows_and_writes_what_was_agreed(git_repo: Repo) -> None:
    git_repo.git("remote", "add", "origin", "https://github.com/octo/app.git")
    with start(git_repo, OPENAI_API_KEY="canary") as terminal:
        terminal.answer("Write .reviewbot.yml", "n")
        terminal.answer("Which hooks?", "none")
        terminal.answer("Review pull requests on GitHub? [Y/n]", "")
        terminal.answer("Which workflows?", "review, audits")
        assert "audits is not one of" in terminal.answer("Which workflows?", "audit review")
        terminal.answer("Action [", "octo/reviewbot@v1")
        terminal.answer("names no action at a commit", REFERENCE)
        terminal.answer("[openai]", "")
        terminal.answer("Do it?", "s")
        assert "==> .github/workflows/audit.yml <==" in terminal.answer("Do it?", "")
        assert terminal.end() == 0, terminal.said
    assert files(git_repo) == {".github/workflows/review.yml", ".github/workflows/audit.yml"}
    text = (git_repo.path / ".github" / "workflows" / "review.yml").read_text()
    assert "openai_api_key" in text
    assert "gemini" not in text
    assert "canary" not in terminal.said + text


def test_a_pre_commit_configuration_names_the_reviewbot_that_runs_here_also_where_it_is_asked_for() -> None:
    known = init_workflows.action(REFERENCE)
    said = Said(configuration=False, hooks="pre-commit", workflows=())
    assert asked(said, init_plan.Ground(is_repository=True), origin=lambda: known, force=False).uses == known


def test_a_no_at_the_end_writes_nothing(git_repo: Repo) -> None:
    with start(git_repo, "--config", "--hooks", "none") as terminal:
        terminal.answer("Review pull requests on GitHub? [y/N]", "")
        terminal.answer("Do it?", "no")
        assert terminal.end() == 0
        assert "Nothing was written." in terminal.said
    assert not files(git_repo)


def test_an_interrupt_at_a_question_writes_nothing(git_repo: Repo) -> None:
    with start(git_repo) as terminal:
        terminal.read("Write .reviewbot.yml")
        terminal.type("\x04")
        assert terminal.end() == 130
    assert not files(git_repo)


def address(url: str, **more: object) -> str:
    return json.dumps({"url": url, **more})


GIT = {"vcs_info": {"vcs": "git", "commit_id": COMMIT}}


@pytest.mark.parametrize(
    ("told", "is_known"),
    [
        (address("https://github.com/octo/reviewbot", **GIT), True),
        (address("https://github.com/octo/reviewbot.git", **GIT), True),
        (address("ssh://git@github.com/octo/reviewbot.git", **GIT), True),
        (address("git@github.com:octo/reviewbot.git", **GIT), True),
        (address("https://gitlab.com/octo/reviewbot", **GIT), False),
        (address("https://github.com/octo/reviewbot/archive/main.zip", archive_info={}), False),
        (address("https://github.com/octo/reviewbot", vcs_info={"commit_id": "main"}), False),
        ("[]", False),
        ("{", False),
        ('{"url": 1, "vcs_info": 2}', False),
    ],
)
def test_where_this_reviewbot_came_from_is_read_from_how_it_was_installed(told: str, is_known: bool) -> None:
    found = named(told, clone=lambda _: ("", ""))
    assert (str(found) if found else None) == (REFERENCE if is_known else None)


def test_a_clone_is_named_by_its_origin_once_that_has_its_commit(git_repo: Repo, tmp_path: Path) -> None:
    commit = git_repo.commit()
    assert of_clone(git_repo.path) == ("", "")
    git_repo.git("init", "-q", "--bare", str(tmp_path / "far"))
    git_repo.git("remote", "add", "origin", str(tmp_path / "far"))
    assert of_clone(git_repo.path) == ("", "")
    git_repo.git("push", "-q", "origin", "main")
    assert of_clone(git_repo.path) == (str(tmp_path / "far"), commit)
    git_repo.git("remote", "set-url", "origin", "git@github.com:octo/reviewbot.git")
    told = address(git_repo.path.as_uri(), dir_info={"editable": True})
    assert str(named(told, clone=of_clone)) == f"octo/reviewbot@{commit}"
    assert of_clone(tmp_path / "nowhere") == ("", "")


@pytest.mark.ci
def test_the_wheel_brings_the_workflows(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path]
    subprocess.run(build, cwd=TOP, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        for source in (TOP / "docs" / "workflows").iterdir():
            assert opened.read(f"reviewbot/workflows/{source.name}") == source.read_bytes()
