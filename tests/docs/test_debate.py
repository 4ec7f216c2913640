"""``docs/debate.md`` says the numbers that the debate has."""

from __future__ import annotations

import ast
import re

import pytest

from reviewbot.config import load
from reviewbot.consensus import policy
from reviewbot.debate import numbers, stop
from reviewbot.wiring.options import options_of
from tests.docs.pages import TOP

PAGE = (TOP / "docs" / "debate.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([A-Z_]+)(?:\[(\d)\])?` \| (.+?) \| (design|stored claims) \|", PAGE, re.MULTILINE)
SOURCE = (TOP / "reviewbot" / "debate" / "numbers.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "key", "value", "source"), ROWS)
def test_a_number_of_the_page_is_that_of_the_table(name: str, key: str, value: str, source: str) -> None:
    found = getattr(numbers, name)
    assert (found[int(key)] if key else found) == ast.literal_eval(value)
    said = SOURCE[SOURCE.index(f"\n{name}") :].split('"""')[1]
    assert f"[{source}]" in said


def test_the_page_has_every_fact_and_floor() -> None:
    named = {name for name, *_ in ROWS}
    assert named >= {name for name in vars(numbers) if name.startswith(("LOG_ODDS_", "FLOOR_"))} | {"DEADLOCK", "CLIP"}


def test_levels_rounds_and_rules_of_the_text_are_those_of_the_code() -> None:
    for name, level in policy.POSTING_LEVELS.items():
        assert re.search(rf"{name}\s+{level:.2f}", PAGE)
    text = " ".join(PAGE.split())
    assert f"from a probability of {policy.POSTING_LEVELS[load().get('debate.posting', str)]} on" in text
    assert f"at {policy.BLOCKING_PROBABILITY} or more" in text
    assert stop.ALL_EQUAL in text
    assert stop.NOBODY in text
    assert f"[{numbers.SETTLED_BELOW:.2f}, {numbers.SETTLED_ABOVE:.2f}]" in text
    assert f"by less than {numbers.STILL:.2f}" in text
    assert f"at most {numbers.CLUSTER_LINES} lines apart" in text
    assert f"more than {numbers.NEIGHBOURHOOD} lines from" in text
    options = options_of(load()).debate
    assert f"`debate.rounds`, {options.rounds}" in text
    assert f"`debate.max_disputes` ({options.max_disputes})" in text
