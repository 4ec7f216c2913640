"""Every block of data on every page is what the program that reads it takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.config import Source, load
from reviewbot.wiring.options import options_of
from tests.docs import held
from tests.docs.pages import LANGUAGES, Block, every_block

ELSEWHERE = "docs/extending.md"
"""Speaks of a package that is not installed here: tests/extension holds its blocks of data, with that package."""

YAML = [block for block in every_block("yaml", "yml") if block.page != ELSEWHERE]
CONFIGURATIONS = [block for block in YAML if held.kind(block) == "configuration"]


def test_there_is_something_to_hold() -> None:
    assert len(CONFIGURATIONS) > 5
    assert {held.kind(block) for block in YAML} >= {"configuration", "workflow"}


@pytest.mark.parametrize("block", every_block(), ids=str)
def test_every_block_says_what_it_is_and_somebody_looks_at_it(block: Block) -> None:
    assert block.language in LANGUAGES
    assert block.text.strip()


@pytest.mark.parametrize("block", CONFIGURATIONS, ids=str)
def test_every_configuration_of_a_page_is_taken_and_means_what_it_says(block: Block) -> None:
    assert held.configured(block) == ""
    configuration = load(user=Source("config.yml", block.text.encode()))
    options = options_of(configuration)
    assert len(options.checks.custom) == len([check for check in configuration.records("checks") if "run" in check])


@pytest.mark.parametrize("kind", held.PROGRAMS)
def test_every_other_document_is_what_its_own_program_takes(kind: str, tmp_path: Path) -> None:
    wanted = [block for block in YAML if held.kind(block) == kind]
    assert held.accepted(wanted, tmp_path, held.PROGRAMS[kind]) == ""


@pytest.mark.parametrize("block", [block for block in every_block(*held.DATA) if block.page != ELSEWHERE], ids=str)
def test_every_document_is_read(block: Block) -> None:
    assert held.DATA[block.language](block) == ""
