"""``reviewbot doctor``: every gap has a line that says what, why it matters and what closes it; what is done is told as done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot import cli
from reviewbot.cli import diagnosis_place
from reviewbot.cli.completion import SHELLS
from reviewbot.wiring import languages
from tests.repo import Repo

REFERENCE = f"octo/reviewbot@{'1f' * 20}"
STATES = {"ok", "open", "warn", "bad"}


def told(repo: Repo, *words: str, code: int = 0) -> dict[str, list[dict[str, str]]]:
    """What doctor says from outside, by name."""
    done = subprocess.run(
        [sys.executable, "-m", "reviewbot.cli", "doctor", "--format", "json", *words],
        cwd=repo.path,
        env={**os.environ, "SHELL": "/bin/bash"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stderr
    found: dict[str, list[dict[str, str]]] = {}
    for line in json.loads(done.stdout):
        found.setdefault(line["name"], []).append(line)
    return found


def looked(repo: Repo, environment: dict[str, str] | None = None) -> dict[str, list[tuple[str, str, str]]]:
    """What it says of the place, without the machine."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for line in diagnosis_place.look(repo.path, environment or repo.environment):
        found.setdefault(line.name, []).append((line.state, line.text, line.next_step))
    return found


def test_whoever_does_what_is_said_has_no_gap_left(git_repo: Repo, newcomer: Path) -> None:
    git_repo.write("a.sh", "echo\n")
    git_repo.commit()
    before = told(git_repo)
    gaps = {name for name, lines in before.items() for line in lines if line["state"] != "ok"}
    assert gaps >= {"keys", "config", "identity", "pre-commit", "pre-push", "workflow", "completion"}
    for name, lines in before.items():
        for line in lines:
            assert line["state"] in STATES
            assert bool(line["next_step"]) or line["state"] == "ok", name
    assert before["identity"][0]["next_step"].startswith("git config --global user.name")
    subprocess.run(["sh", "-c", before["identity"][0]["next_step"]], check=True)
    for step in (before["config"][0]["next_step"], before["pre-commit"][0]["next_step"], before["workflow"][0]["next_step"]):
        program, *words = step.split()
        assert program == "reviewbot"
        more = ["--yes", "--action-ref", REFERENCE] if "--workflow" in words else []
        assert cli.main([*words, *more, "-C", str(git_repo.path), "-q"]) == 0, step
    line = SHELLS["bash"][2]
    assert before["completion"][0]["next_step"].endswith(f"~/.bashrc: {line}")
    (newcomer / ".bashrc").write_text(f"{line}\n")
    after = told(git_repo)
    left = {name for name, lines in after.items() for line in lines if line["state"] != "ok"}
    assert not left & {"config", "identity", "pre-commit", "pre-push", "workflow", "completion"}


def test_a_workflow_that_github_would_refuse_is_told(git_repo: Repo) -> None:
    (source,) = (Path(cli.__file__).parents[2] / "docs" / "workflows").glob("review.yml")
    git_repo.write(".github/workflows/ours.yml", source.read_text())
    git_repo.write(".github/workflows/other.yml", "name: test\non: push\n")
    lines = looked(git_repo)["workflow"]
    assert lines[0][:2] == ("ok", "ours.yml")
    assert lines[1][0] == "warn"
    assert ".github/workflows/ours.yml" in lines[1][2]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("name: x\njobs:\n  a:\n    steps:\n      - uses: octo/reviewbot@abc\n", True),
        ("name: x\njobs:\n  a:\n    steps:\n      - name: y\n        uses: 'octo/reviewbot@abc'\n", True),
        ("name: reviewbot audit\n", True),
        ("name: x\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n", False),
        ("name: x # not reviewbot\n", False),
    ],
)
def test_a_workflow_of_ours_is_known_by_what_it_uses(git_repo: Repo, text: str, is_found: bool) -> None:
    git_repo.write(".github/workflows/x.yml", text)
    assert (looked(git_repo)["workflow"][0][0] == "ok") == is_found


def test_a_configuration_that_is_not_valid_is_told_before_it_is_committed(git_repo: Repo) -> None:
    git_repo.write(".reviewbot.yml", "debate: {round: 1}\n")
    ((state, text, step),) = looked(git_repo)["config"]
    assert (state, "debate.round" in text) == ("warn", True)
    assert "did you mean 'debate.rounds'?" in step
    git_repo.write(".reviewbot.yml", "limits: {seconds: 100}\n")
    assert looked(git_repo)["config"][0][0] == "ok"


def test_dismissals_are_counted_and_what_is_wrong_with_them_is_told(git_repo: Repo) -> None:
    assert "dismissals" not in looked(git_repo)
    git_repo.write(".reviewbot/dismissed.yml", "nonsense: [\n")
    ((state, text, step),) = looked(git_repo)["dismissals"]
    assert state == "warn"
    assert "nothing of it counts" in text
    assert step


def test_hooks_of_the_pre_commit_framework_are_told_as_such(git_repo: Repo) -> None:
    git_repo.write(".pre-commit-config.yaml", "repos: [{repo: local, hooks: [{id: reviewbot}]}]\n")
    ((state, _, step),) = looked(git_repo)["pre-commit"]
    assert (state, step) == ("warn", "pre-commit install -t pre-commit")
    framework = Path(sys.prefix) / "bin" / "pre-commit"
    subprocess.run([framework, *step.split()[1:]], cwd=git_repo.path, check=True, capture_output=True, timeout=60)
    ((state, text, _),) = looked(git_repo)["pre-commit"]
    assert (state, "framework" in text) == ("ok", True)


def test_who_has_no_name_is_told_how_to_get_one(git_repo: Repo) -> None:
    nameless = {name: value for name, value in git_repo.environment.items() if not name.startswith("GIT_AUTHOR")}
    ((state, text, step),) = looked(git_repo, nameless)["identity"]
    assert (state, "user.name and user.email" in text) == ("warn", True)
    assert "git config --global user.email" in step
    git_repo.git("config", "user.name", "Ada")
    assert "user.name" not in looked(git_repo, nameless)["identity"][0][1]
    assert looked(git_repo)["identity"][0][0] == "ok"


def test_a_token_of_github_is_no_key_of_a_model(git_repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "canary")
    assert told(git_repo)["keys"][0]["state"] == "open"


def test_pythons_tests_are_missed_only_where_there_is_python(git_repo: Repo) -> None:
    git_repo.write("a.go", "package a\n")
    git_repo.commit()
    assert "tests" not in told(git_repo)
    git_repo.write("a.py", "")
    git_repo.commit()
    assert told(git_repo)["tests"][0]["next_step"].startswith("make a .venv")


def test_a_package_that_cannot_be_read_is_a_line_and_no_end(
    git_repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "packages" / "odd-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[console_scripts]\nnothing\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(info.parent), str(Path(cli.__file__).parents[2])]))
    (line,) = told(git_repo)["extension"]
    assert (line["state"], line["next_step"]) == ("warn", "install it again")


def test_outside_of_a_repository_only_what_concerns_the_user_is_told(tmp_path: Path) -> None:
    found = {line.name for line in diagnosis_place.look(tmp_path, {"HOME": str(tmp_path), "SHELL": "/bin/zsh"})}
    assert found == {"config", "completion"}


def missing(*paths: str, found: tuple[str, ...] = (), has_own: bool = False) -> list[tuple[str, str, str, str]]:
    return list(languages.lines(paths, found.__contains__, has_own=has_own))


def test_a_language_without_its_program_is_a_gap_with_the_command_that_closes_it() -> None:
    ((name, state, text, step),) = missing("a.go", "b/c.go", "README.md")
    assert (name, state) == ("languages", "warn")
    assert text == "2 Go files, and go is not found: they are neither vetted nor tested"
    assert step == "sudo apt-get install golang-go"
    assert missing("a.go", found=("go",)) == []


def test_any_one_of_several_programs_does() -> None:
    assert missing(".github/workflows/a.yml", found=("actionlint",)) == []
    assert missing(".github/workflows/a.yml")[0][3] == "pip install zizmor"
    assert missing("compose.yml") == []
    assert missing("api/Dockerfile")[0][2].startswith("1 container file, and hadolint")


def test_a_language_that_nobody_checks_is_told_unless_checks_are_configured() -> None:
    ((_, state, text, step),) = missing("src/main.rs")
    assert (state, text) == ("open", "1 Rust file: no preset runs a linter or tests of theirs")
    assert "parser: sarif" in step
    assert missing("src/main.rs", has_own=True) == []


def test_every_program_of_the_table_is_one_that_doctor_looks_for() -> None:
    from reviewbot.wiring.diagnosis import TOOLS

    assert {program for language in languages.LANGUAGES for program, _ in language.programs} <= set(TOOLS)


def test_providers_are_asked_only_where_that_is_wanted(git_repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    assert "models" not in told(git_repo)
    (line,) = told(git_repo, "--online")["models"]
    assert line["state"] == "warn"
    assert "does not answer" in line["text"]
