"""The Action's own steps, executed: it installs itself without an index, knows its Python, and says what a machine lacks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reviewbot import __version__
from tests.action.runner import Result, run_action
from tests.action.world import TOP, World

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("action")]

#: What ends the last step before reviewbot is called: this is about the steps before it.
STOPPED = {"timeout_minutes": "none"}


def shim(world: World, name: str, script: str) -> None:
    path = world.programs() / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def texts(result: Result, level: str) -> list[str]:
    return [note.text for note in result.annotations if note.level == level]


def test_the_environment_has_reviewbot_compiled_and_runs_it(action_venv: Path) -> None:
    done = subprocess.run(
        [action_venv / "bin" / "python", "-I", "-m", "reviewbot.cli", "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == f"reviewbot {__version__}\n"
    assert list(action_venv.glob("lib/python*/site-packages/reviewbot/cli/__pycache__/github*.pyc"))


def test_a_second_use_in_the_same_job_finds_the_work_done(tmp_path: Path, action_venv: Path) -> None:
    world = World(tmp_path, venv=action_venv)
    stamp = (action_venv / "reviewbot-state").stat().st_mtime_ns
    result = run_action(STOPPED, "push", {}, world)
    assert "::group::" not in result.log
    assert result.step("Install reviewbot").outcome == "success"
    assert (action_venv / "reviewbot-state").stat().st_mtime_ns == stamp


@pytest.mark.smoke
def test_a_machine_without_a_new_enough_python_is_told(tmp_path: Path) -> None:
    world = World(tmp_path)
    for name in ("python3", "python3.11", "python3.12", "python3.13", "python3.14"):
        world.programs()
        shim(world, name, "exit 1")
    result = run_action({}, "push", {}, world)
    assert (result.exit_code, result.result) == (2, "failure")
    assert texts(result, "error") == ["no Python >= 3.11 is found on this runner. Put actions/setup-python before this step"]


@pytest.mark.parametrize(
    ("inputs", "told"), [({"mode": "al"}, "mode is not one of"), (STOPPED, "timeout_minutes must be a whole number")]
)
def test_an_input_that_makes_no_sense_is_named(tmp_path: Path, action_venv: Path, inputs: dict[str, str], told: str) -> None:
    result = run_action(inputs, "push", {}, World(tmp_path, venv=action_venv))
    assert result.exit_code == 2
    assert [text for text in texts(result, "error") if text.startswith(told)]


@pytest.mark.smoke
def test_a_machine_of_another_system_is_told(tmp_path: Path) -> None:
    result = run_action({}, "push", {}, World(tmp_path, system="macOS"))
    assert texts(result, "error") == ["the action runs on Linux only. Set runs-on to ubuntu-24.04"]


def test_a_sandbox_that_cannot_stand_is_said_and_nothing_else_is_done_to_a_machine_that_lives_on(
    tmp_path: Path, action_venv: Path
) -> None:
    world = World(tmp_path, venv=action_venv)
    shim(world, "bwrap", "exit 1")
    shim(world, "sysctl", f"touch {tmp_path}/sysctl-was-called")
    shim(world, "sudo", 'shift; exec "$@"')
    result = run_action(STOPPED, "push", {}, world)
    assert result.step("Prepare the sandbox").outcome == "success"
    (notice,) = texts(result, "notice")
    assert notice.startswith("bubblewrap cannot make a sandbox on this runner, so no code of the change is run.")
    assert not (tmp_path / "sysctl-was-called").exists()


def test_a_machine_of_githubs_is_told_to_allow_namespaces_for_its_one_job(tmp_path: Path, action_venv: Path) -> None:
    world = World(tmp_path, venv=action_venv, hosted=True)
    shim(world, "bwrap", f"[ -e {tmp_path}/allowed ]")
    shim(world, "sysctl", f'[ "$*" = "-q -w kernel.apparmor_restrict_unprivileged_userns=0" ] && touch {tmp_path}/allowed')
    shim(world, "sudo", '[ "$1" = -n ] && shift; exec "$@"')
    result = run_action(STOPPED, "push", {}, world)
    assert "User namespaces are allowed on this machine until the job ends." in result.log
    assert not texts(result, "notice")


def test_a_machine_without_bubblewrap_and_without_rights_is_told(tmp_path: Path, action_venv: Path) -> None:
    world = World(tmp_path, venv=action_venv, hidden=("bwrap",))
    shim(world, "id", "echo 1000")
    shim(world, "sudo", "exit 1")
    shim(world, "apt-get", f"touch {tmp_path}/apt-was-called")
    result = run_action(STOPPED, "push", {}, world)
    (notice,) = texts(result, "notice")
    assert notice.startswith("bubblewrap is not installed on this runner, so no code of the change is run.")
    assert not (tmp_path / "apt-was-called").exists()


def test_bubblewrap_is_installed_where_that_asks_nobody(tmp_path: Path, action_venv: Path) -> None:
    """``sudo`` asks no password; this ``apt-get`` fails until its lists are fetched, as on a fresh machine."""
    world = World(tmp_path, venv=action_venv, hidden=("bwrap",))
    lists, program = tmp_path / "lists", world.programs() / "bwrap"
    shim(world, "id", "echo 1000")
    shim(world, "sudo", '[ "$1" = -n ] && shift; exec "$@"')
    shim(world, "apt-get", f'case "$*" in *update*) touch {lists} ;; *) [ -e {lists} ] && ln -s /bin/true {program} ;; esac')
    result = run_action(STOPPED, "push", {}, world)
    assert "Installing bubblewrap with apt-get" in result.log
    assert program.exists()
    assert not texts(result, "notice")


@pytest.mark.parametrize("mode", ["debate", "publish"])
def test_a_part_that_runs_no_code_prepares_no_sandbox(tmp_path: Path, action_venv: Path, mode: str) -> None:
    world = World(tmp_path, venv=action_venv)
    shim(world, "bwrap", f"touch {tmp_path}/bwrap-was-called")
    shim(world, "python3", "exit 1")
    result = run_action({**STOPPED, "mode": mode}, "push", {}, world)
    assert not (tmp_path / "bwrap-was-called").exists()
    assert result.exit_code == 2


KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")


def reviewbot_told(tmp_path: Path, mode: str, **inputs: str) -> dict[str, str]:
    """The environment that reviewbot is called with."""
    world = World(tmp_path / mode, environment={"AWS_ACCESS_KEY_ID": "of-the-job"})
    venv = tmp_path / mode / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text('#!/bin/sh\n[ "$*" = "-I -m reviewbot.cli github" ] && env -0 >"$RUNNER_TEMP/told"\n')
    (venv / "bin" / "python").chmod(0o755)
    shim(world, "python3", f'case "$*" in *venv*) mkdir -p {venv} ;; *) echo 3.11 ;; esac')
    (venv / "reviewbot-state").write_text(f"{TOP} 3.11\n")
    world.venv = venv
    result = run_action({"mode": mode, **inputs}, "push", {"x": 1}, world)
    assert result.exit_code == 0, result.log
    assert result.machine
    told = (result.machine.temp / "told").read_text(encoding="utf-8")
    return dict(entry.split("=", 1) for entry in told.split("\0") if entry)


def test_inputs_and_keys_reach_reviewbot_in_its_environment(tmp_path: Path) -> None:
    text = 'a "b" $(touch x) `y` ${{ z }}\nand more'
    told = reviewbot_told(tmp_path, "all", openai_api_key="sk-1", fail_on="high", models=text)
    assert (told["OPENAI_API_KEY"], told["ANTHROPIC_API_KEY"], told["INPUT_FAIL_ON"]) == ("sk-1", "", "high")
    assert told["INPUT_MODELS"] == text
    assert told["GITHUB_TOKEN"] == "ghs_of_no_forge"
    assert told["INPUT_TIMEOUT_MINUTES"] == "20"
    assert not [name for name in told if name.startswith("INPUT_") and name.endswith(("_KEY", "_TOKEN"))]


@pytest.mark.parametrize("mode", ["collect", "publish"])
def test_the_parts_that_ask_no_model_have_no_key_even_where_it_was_given(tmp_path: Path, mode: str) -> None:
    told = reviewbot_told(tmp_path, mode, **{key.lower(): "sk-1" for key in KEYS})
    assert not [name for name in told if name in (*KEYS, "AWS_ACCESS_KEY_ID")]
    assert told["GITHUB_TOKEN"]


def test_the_debate_has_the_keys(tmp_path: Path) -> None:
    told = reviewbot_told(tmp_path, "debate", **{key.lower(): "sk-1" for key in KEYS})
    assert {told[key] for key in KEYS} == {"sk-1"}
    assert told["AWS_ACCESS_KEY_ID"] == "of-the-job"


def test_no_step_sees_the_environment_of_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVIEWBOT_CANARY", "sings")
    assert os.environ["REVIEWBOT_CANARY"]
    assert "REVIEWBOT_CANARY" not in reviewbot_told(tmp_path, "all")
