"""The rules by which pages are held are themselves held: each says no where it should."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import held, outside
from tests.docs.console import Command, Shell, commands
from tests.docs.pages import TOP, Block, every_block
from tests.docs.shown import missing

SAID = "a\nb 1.5 s\nc  \nd\n"


@pytest.mark.parametrize("shown", ["a\nb 1.5 s\nc\nd", "b 99 s\nc", "a\n…\nd\n", "…\nc\n…"])
def test_what_stands_there_in_one_piece_or_with_a_mark_where_something_is_left_out_was_said(shown: str) -> None:
    assert missing(shown, SAID) == ""


@pytest.mark.parametrize(("shown", "piece"), [("a\nc", "a\nc"), ("a\n…\na", "a"), ("d\n…\nb 1 s", "b N s"), ("x", "x")])
def test_what_is_left_out_without_a_mark_turned_round_or_made_up_was_not(shown: str, piece: str) -> None:
    assert missing(shown, SAID) == piece


def test_a_block_is_taken_apart_into_commands_and_what_they_print() -> None:
    assert commands("$ one \\\n> two\nsaid\n> quoted\n$ three\n") == (
        Command("one \\\ntwo", "said\n> quoted\n"),
        Command("three"),
    )
    with pytest.raises(ValueError, match="before any command"):
        commands("said\n$ one\n")


def test_a_terminal_keeps_folder_and_variables_and_says_how_a_command_ended(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    shell = Shell(tmp_path, {"PATH": "/usr/bin:/bin"}, tmp_path / "state")
    assert shell.run("cd inner && export A='b  c' && exit 3").code == 3
    assert shell.run('echo "$A"; basename "$PWD"').text == "b  c\ninner\n"
    assert shell.folder == tmp_path / "inner"


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("reviewbot publish --review r.json --pull-request 3 # posts it", ""),
        ("reviewbot publish --reveiw r.json --pull-request 3", "publish does not know ['--reveiw']"),
        ("pip install 'reviewbot[models,formal]'", ""),
        ("pip install 'reviewbot[modles]'", "there is no extra ['modles']"),
        ("python -m benchmarks --quick # two minutes", ""),
        ("python -m benchmarkss --quick", "benchmarkss is no module to run"),
        ("python -m benchmarks --slow", "benchmarks does not know ['--slow']"),
    ],
)
def test_what_is_not_run_is_looked_at(command: str, wrong: str) -> None:
    row = outside.row_of(command)
    assert row is not None
    assert row.check is not None
    assert row.check(command) == wrong


def test_every_row_of_the_tables_is_for_something_that_a_page_says() -> None:
    said = [command.text for block in every_block("console") for command in commands(block.text)]
    unused = [row.pattern for row in outside.OUTSIDE if row not in {outside.row_of(command) for command in said}]
    unused += [one.pattern for one in outside.STAND_INS if one.command not in {outside.stood_in(command) for command in said}]
    assert unused == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("# .reviewbot.yml\nversion: 1\ndebate: {rounds: 1}\n", ""),
        ("# .reviewbot.yml\nversion: 1\nsetup: [make]\n", "operator key"),
        ("# .reviewbot.yml\nversion: 1\nlimits: {cost_usd: 9}\n", "looser than the operator allows"),
        ("version: 1\nsetup: [make]\n", ""),
        ("version: 1\ndebate: {runds: 1}\n", "did you mean"),
    ],
)
def test_a_configuration_is_held_to_who_is_said_to_write_it(text: str, wrong: str) -> None:
    found = held.configured(Block("page.md", 1, "yaml", text))
    assert (wrong in found) if wrong else not found


def test_documents_that_are_none_are_refused(tmp_path: Path) -> None:
    workflow = Block("page.md", 1, "yaml", "on: push\njobs: {a: {runs-on: x, stps: []}}\n")
    assert held.kind(workflow) == "workflow"
    assert "stps" in held.accepted([workflow], tmp_path, held.PROGRAMS["workflow"])
    config = Block("page.md", 2, "yaml", "repos: [{repo: x, hooks: []}]\n")
    assert held.kind(config) == "pre-commit"
    assert "rev" in held.accepted([config], tmp_path, held.PROGRAMS["pre-commit"])
    hooks = Block("page.md", 3, "yaml", "- {id: x}\n")
    assert held.kind(hooks) == "hooks"
    assert "name" in held.accepted([hooks], tmp_path, held.PROGRAMS["hooks"])
    assert held.documented(Block("page.md", 4, "json", '{"schema_version": 1, "findings": []}'))
    assert held.laid(Block("page.md", 5, "toml", "[tool.reviewbot.debate]\nrunds = 1\n"))


def test_no_page_names_a_machine_or_an_index_of_packages() -> None:
    for page in (TOP / "README.md", *(TOP / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        found = re.search(r"(?<![\w.])/(?:tmp|work|root)/|pypi\.|npmjs\.", text)
        assert found is None, f"{page.name} says {found}"
