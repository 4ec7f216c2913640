"""``docs/extending.md``: the files it shows are those of the example, and its configuration is one with the example installed."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from reviewbot.config import Source, load
from reviewbot.evidence.parsers.outside import RemarkParser
from reviewbot.wiring import outside, tools
from reviewbot.wiring.options import options_of
from tests.docs.outside import known_options
from tests.docs.pages import blocks
from tests.extension.page import PAGE, shown, with_files
from tests.extension.stock import PACKAGE

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_shows_the_files_of_the_example_as_they_are() -> None:
    assert with_files(TEXT) == TEXT, "write them again: python -m tests.extension.page"


def test_the_page_shows_every_file_of_the_example() -> None:
    files = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert files - set(shown(TEXT)) == {"src/reviewbot_example/__init__.py"}, "which holds a line of documentation"
    assert len([block for block in blocks(PAGE) if block.language in ("python", "toml")]) == len(shown(TEXT))


def test_each_of_the_four_is_one_file() -> None:
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    values = [value for points in project["entry-points"].values() for value in points.values()]
    modules = {value.partition(":")[0].replace(".", "/") for value in values}
    assert len(values) == len(modules) == 4
    assert {f"src/{module}.py" for module in modules} == {file for file in shown(TEXT) if file.endswith(".py")}


def test_the_configuration_of_the_page_is_one(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(example))
    (block,) = [block for block in blocks(PAGE) if block.language == "yaml"]
    held = load(user=Source("config.yml", block.text.encode()))
    assert held.notices == ()
    (check,) = options_of(held).checks.custom
    assert isinstance(check.outside, RemarkParser)
    assert [one.origin for one in tools.extra(held)] == ["reviewbot-example 1.0"]


def test_the_commands_of_the_page_are_known(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(example))
    (command,) = re.findall(r"^\$ (reviewbot ask .*)$", TEXT, re.MULTILINE)
    assert known_options(command) == ""
    assert outside.pattern(command.rpartition(" ")[2])[1] == "reviewbot-example 1.0"
