"""What somebody dismissed is mended by nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.stage import Stage

pytestmark = pytest.mark.usefixtures("bubblewrap")
AFTER = 'import os\n\n\ndef add(a, b):\n    note = f"sum"\n    print(note)\n    return a + b\n'


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, functions=1)
    made.repo.write("shop/sums.py", "def add(a, b):\n    return a + b\n")
    made.repo.commit("Add sums")
    made.repo.write("shop/sums.py", AFTER)
    yield made
    made.close()


@pytest.mark.ci
def test_a_fix_leaves_what_was_dismissed_also_where_it_is_asked_for_by_name(stage: Stage) -> None:
    told = {one["rule"]: one["id"] for one in json.loads(stage.run("review", "--format", "json").out)["findings"]}
    assert set(told) == {"F401", "F541"}
    done = stage.run("dismiss", told["F401"], "--reason", "imported for what it does")
    assert done.code == 0, done.err
    for words in (("--yes",), ("--yes", "--finding", told["F401"])):
        stage.run("fix", *words)
        text = (stage.repo.path / "shop/sums.py").read_text()
        assert text == AFTER.replace('f"sum"', '"sum"')
