"""How a command line ends: one line, the right code, nothing left to fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reviewbot import cli
from tests.cli.planted import KEY

PLANTED = ("boom", "hook", "refuse", "unable", "wait", "fill", "trickle", "falter")
TOP = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def planted_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in PLANTED:
        monkeypatch.setitem(cli.COMMANDS, name, ("tests.cli.planted", "planted"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def start(*arguments: str, **streams: object) -> subprocess.Popen[str]:
    """The command line as a process of its own, with the planted commands."""
    program = (
        "import sys; from reviewbot import cli; "
        f"cli.COMMANDS.update({{name: ('tests.cli.planted', '') for name in {PLANTED!r}}}); sys.exit(cli.main())"
    )
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": buffered, **streams}
    return subprocess.Popen([sys.executable, "-c", program, *arguments], cwd=TOP, text=True, **piped)


def test_a_bug_is_one_line_and_a_report_without_secrets(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch):
    monkeypatch.setenv("CANARY", "canary-of-the-environment")
    assert cli.main(["boom"]) == 70
    said = capfd.readouterr().err
    report = next((tmp_path / "state").rglob("reviewbot-crash-*"))
    text = report.read_text()
    assert said.count("\n") == 1
    assert "ValueError at planted.py" in said
    assert str(report) in said
    assert "Traceback" in text
    assert "arguments: ['boom']" in text
    assert KEY not in said + text
    assert "canary-of-the-environment" not in text
    assert report.stat().st_mode & 0o077 == 0


def test_a_bug_in_a_hook_stops_no_push_unless_that_was_wanted(capfd):
    assert cli.main(["hook", "run", "pre-push", "origin"]) == 0
    first, second = capfd.readouterr().err.splitlines()
    assert "ValueError at planted.py" in first
    assert second.startswith("NOT REVIEWED: ")
    assert cli.main(["hook", "run", "pre-push", "--strict", "origin"]) == 70
    assert "NOT REVIEWED" not in capfd.readouterr().err


def test_a_bug_without_a_writable_state_directory_is_reported_elsewhere(capfd, tmp_path: Path, monkeypatch):
    (tmp_path / "state").write_text("a file")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert cli.main(["boom"]) == 70
    assert str(tmp_path / "reviewbot-crash-") in capfd.readouterr().err


def test_an_error_is_one_line_that_steers_no_terminal_and_shows_no_key(capfd):
    assert cli.main(["refuse"]) == 2
    said = capfd.readouterr().err
    assert said.startswith("reviewbot: error: ")
    assert said.endswith("; write a number\n")
    assert said.count("\n") == 1
    assert "\x1b" not in said
    assert KEY not in said


def test_what_could_not_run_has_its_own_code(capfd):
    assert cli.main(["unable"]) == 3
    assert capfd.readouterr().err == "reviewbot: error: no sandbox starts here; install bubblewrap\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reviw"], "did you mean 'review'?"),
        (["--verion"], "did you mean '--version'?"),
        (["schema"], "try 'reviewbot schema --help'"),
        (["schema", "evidense"], "'evidense' is not one of"),
        (["config", "sohw"], "no such command 'sohw'"),
        (["init", "-C", "/nonexistent"], "does not exist"),
        (["init", "--color", "blue"], "'blue' is not one of"),
    ],
)
def test_a_usage_error_is_one_line_with_the_next_step(capfd, arguments: list[str], words: str):
    assert cli.main(arguments) == 2
    said = capfd.readouterr().err
    assert said.startswith("reviewbot: error: ")
    assert words in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], ["-V"], ["init", "--help"], ["config", "show", "-h"]])
def test_help_and_version_are_no_errors(capfd, arguments: list[str]):
    assert cli.main(arguments) == 0
    said = capfd.readouterr()
    assert said.out
    assert not said.err


def test_nothing_to_do_shows_the_help_as_a_usage_error(capfd):
    assert cli.main([]) == 2
    assert "Commands:" in capfd.readouterr().err


def test_an_interrupt_is_one_line_and_130():
    process = start("wait")
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (130, "reviewbot: interrupted\n")


@pytest.mark.parametrize("command", ["fill", "trickle", "--version", "--help"])
def test_a_reader_that_went_away_is_no_error_worth_a_word(command: str):
    reader, writer = os.pipe()
    os.close(reader)
    process = start(command, stdout=writer)
    os.close(writer)
    _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", ["fill", "trickle", "--version", "--help"])
def test_a_full_disk_is_told_in_one_line(command: str):
    with Path("/dev/full").open("w") as full:
        process = start(command, stdout=full)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (
        2,
        "reviewbot: error: cannot write the output: No space left on device; free some space\n",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_an_error_is_told_even_where_what_was_printed_before_cannot_be():
    with Path("/dev/full").open("w") as full:
        process = start("falter", stdout=full)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (3, "reviewbot: error: no sandbox starts here; install bubblewrap\n")


def test_closed_streams_end_without_a_traceback():
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m reviewbot.cli schema config >&- 2>&-"], cwd=TOP, check=False, timeout=20
    )
    assert done.returncode == 2


def test_a_character_the_terminal_cannot_show_is_escaped():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    process = start("refus\u00e9", env=environment)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "refus\\xe9" in said
