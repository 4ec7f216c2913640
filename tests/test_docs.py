"""The pages under docs/: every configuration that they show is one that reviewbot takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reviewbot.config import Source, load
from reviewbot.evidence import presets
from reviewbot.evidence.presets import custom
from reviewbot.wiring.options import options_of

DOCS = Path(__file__).parents[1] / "docs"
BLOCKS = [
    (page.name, block)
    for page in sorted(DOCS.glob("*.md"))
    for block in re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]
CHECKS = (DOCS / "checks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_every_configuration_of_a_page_is_taken_and_means_what_it_says(page: str, block: str) -> None:
    del page
    configuration = load(user=Source("config.yml", block.encode()))
    assert not configuration.notices
    options = options_of(configuration)
    assert len(options.checks.custom) == len([check for check in configuration.records("checks") if "run" in check])


def test_the_page_names_every_preset_and_every_parser() -> None:
    for name in (
        *presets.TOOLS,
        *presets.SUITES,
        *custom.REMARKS,
        *custom.TRIALS,
        "exit-code",
        "regex",
        "migrations",
        "ruff",
        "pytest",
    ):
        assert f"`{name}`" in CHECKS, name
