"""``--help`` is a manual: every command and option says what it does, looks well at 80 and 100 columns, and agrees with the pages."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from reviewbot import cli
from reviewbot.cli import COMMANDS
from reviewbot.cli.sections import SECTIONS
from tests.first_hour import reference

TOP = Path(__file__).parents[2]
ALL = list(reference.commands())
WORDS = [" ".join(names) for names, _ in ALL]
ENDS = (".", "…")


def options(command: click.Command, context: click.Context) -> list[click.Option]:
    return [parameter for parameter in command.get_params(context) if isinstance(parameter, click.Option)]


def prose(command: click.Command) -> list[str]:
    return [part for part in inspect.cleandoc(command.help or "").split("\n\n") if not part.startswith("\b")]


@pytest.mark.parametrize(("names", "command"), ALL, ids=WORDS)
def test_a_command_says_what_it_does_in_a_sentence_and_then_in_full(names: tuple[str, ...], command: click.Command) -> None:
    first, *rest = prose(command)
    assert first.rstrip().endswith(ENDS), "the first paragraph is one line: a sentence"
    assert len(" ".join(first.split())) <= 130
    assert rest, "a paragraph tells more"
    for paragraph in rest:
        assert paragraph.rstrip().endswith(ENDS), paragraph
    assert command.get_short_help_str(limit=130).endswith(ENDS)


@pytest.mark.parametrize(("names", "command"), ALL, ids=WORDS)
def test_every_option_and_argument_is_told(names: tuple[str, ...], command: click.Command) -> None:
    context = reference.context_of(names)
    text = reference.helped(names, 100)
    for option in options(command, context):
        assert re.search(rf"^  .*{option.opts[-1]}\b", text, re.MULTILINE), f"{option.opts} is not listed"
        assert option.help, option.opts
        assert option.help[0].isupper(), option.opts
        assert option.help.endswith(ENDS), option.opts
    for argument in command.get_params(context):
        if isinstance(argument, click.Argument):
            name = argument.make_metavar(context).strip("[].")
            assert name in (command.help or ""), f"{name} is told nowhere"


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("names", [names for names, _ in ALL], ids=WORDS)
def test_help_fits_its_terminal(names: tuple[str, ...], width: int) -> None:
    text = reference.helped(names, width)
    wide = [line for line in text.splitlines() if len(line) > width]
    assert wide == []
    assert "\b" not in text


@pytest.mark.parametrize(("names", "command"), ALL, ids=WORDS)
def test_an_example_is_one_that_the_command_line_takes(names: tuple[str, ...], command: click.Command) -> None:
    for block in re.findall(r"\x08\nExamples:\n(.*?)(?:\n\n|\Z)", inspect.cleandoc(command.help or ""), re.DOTALL):
        for line in block.splitlines():
            told = re.sub(r"  +.*", "", line.strip())
            match = re.search(r"\breviewbot .*?(?=\s*[|>]|\)\"|$)", told)
            assert match or told.startswith("pre-commit "), line
            if match:
                understood(shlex.split(match[0])[1:])


def understood(words: list[str]) -> None:
    """Every word is a command, or an option that the command has."""
    names: tuple[str, ...] = ()
    command: click.Command = reference.reviewbot
    while isinstance(command, click.Group):
        names = (*names, words.pop(0))
        command = reference.context_of(names).command
    known = {name for option in options(command, reference.context_of(names)) for name in (*option.opts, *option.secondary_opts)}
    assert {word for word in words if word.startswith("-") and word != "-"} <= known


def test_every_command_has_examples_or_is_a_group_or_takes_nothing_special() -> None:
    """Where something must be typed, an example shows it."""
    for names, command in ALL:
        context = reference.context_of(names)
        needs = [parameter for parameter in command.get_params(context) if parameter.required]
        assert not needs or "Examples:" in (command.help or "") or names[:1] == ("sessions",), names


def test_the_table_of_commands_and_their_own_lines_agree() -> None:
    for names, command in ALL:
        if len(names) == 1:
            assert command.name == names[0]
            assert COMMANDS[names[0]][1].endswith(".")


def test_the_readme_names_every_command() -> None:
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"reviewbot {name}" not in readme and f"`{name}`" not in readme] == []


def test_the_readme_names_no_command_that_is_not_there() -> None:
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^\$ |`)reviewbot ([a-z]+)", readme, re.MULTILINE))
    assert named <= {*COMMANDS, "help"}


def test_the_page_of_commands_is_what_help_says() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run: python -m tests.first_hour.reference"


def test_every_heading_of_options_is_about_options_that_exist() -> None:
    known = {option.opts[-1] for names, command in ALL for option in options(command, reference.context_of(names))}
    assert {name for _, listed in SECTIONS for name in listed} <= known


def test_help_is_a_word_too(capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["help"], ["help", "init"], ["help", "hook", "install"]):
        assert cli.main(words) == 0
        said = capfd.readouterr().out
        assert cli.main([*words[1:], "--help"]) == 0
        assert capfd.readouterr().out == said
    assert cli.main(["help", "nonsense"]) == 2


def test_help_from_outside_is_what_the_tests_look_at() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reviewbot.cli", "review", "--help"],
        env={"COLUMNS": "80", "PYTHONPATH": str(TOP), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.rstrip("\n") == reference.helped(("review",), 80)
