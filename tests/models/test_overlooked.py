"""A test that the change broke is told, whatever the models look at."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import Models, claim, reviewer
from tests.models.stage import Stage, one_vendor
from tests.models.test_proof import BASE, CLAIM, HEAD

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
TEST = "from shop.pages import page_count\n\n\ndef test_full_pages():\n    assert page_count(20, 10) == 2\n"


@pytest.fixture
def stage(tmp_path: Path):
    made = Stage(tmp_path, functions=1)
    made.repo.write("shop/pages.py", BASE)
    made.repo.write("tests/test_pages.py", TEST)
    made.repo.commit("Add pages")
    made.repo.write("shop/pages.py", HEAD)
    made.repo.commit("Count pages in a simpler way")
    yield made
    made.close()


def found(stage: Stage, claims):
    with Models() as models:
        stage.configure(one_vendor(models))
        models.script = reviewer(claims=claims, stance=("support", 0.9))
        return stage.run("review", "HEAD", "--format", "json").document


def test_a_broken_test_is_a_finding_although_no_model_claims_anything(stage: Stage):
    review = found(stage, [])
    (told,) = review["findings"]
    assert (told["status"], told["raised_by"]) == ("accepted", ["checks"])
    assert "test_full_pages" in told["title"] + told["body"] + told["failure_scenario"]
    assert told["path"] == "shop/pages.py"


def test_a_broken_test_that_a_model_speaks_of_is_told_once(stage: Stage):
    cited = {**CLAIM, "evidence_ids": ["E1"]}
    review = found(stage, {"critic": [cited], "reviewer": [], "optimizer": []})
    assert [told["title"] for told in review["findings"]] == [CLAIM["title"]]


def test_numbers_are_given_once(stage: Stage):
    elsewhere = claim("shop/pages.py", 1, "def page_count(items, size):", title="a size of nothing divides by zero")
    review = found(stage, {"critic": [elsewhere], "reviewer": [], "optimizer": []})
    ids = [told["id"] for told in review["findings"]]
    assert len(ids) == len(set(ids)) == 2
