"""A claim of models that cites a test which the change broke is as proven as what the checks would have told by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import Models, claim, reviewer
from tests.models.stage import Stage, one_vendor
from tests.models.test_overlooked import TEST
from tests.models.test_proof import BASE, CLAIM, HEAD

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
CITED = {**CLAIM, "evidence_ids": ["E1"]}
PRICES = "RATE = 3\n\n\ndef price(count):\n    return count * RATE\n"


@pytest.fixture
def stage(tmp_path: Path):
    made = Stage(tmp_path, functions=1)
    made.repo.write("shop/pages.py", BASE)
    made.repo.write("shop/prices.py", PRICES)
    made.repo.write("tests/test_pages.py", TEST)
    made.repo.commit("Add pages")
    made.repo.write("shop/pages.py", HEAD)
    made.repo.write("shop/prices.py", PRICES.replace("RATE = 3", "RATE = 4"))
    made.repo.commit("Count pages in a simpler way")
    yield made
    made.close()


def reviewed(stage: Stage, raised):
    with Models() as models:
        stage.configure(one_vendor(models))
        models.script = reviewer(claims={"critic": raised, "reviewer": raised, "optimizer": []}, stance=("support", 0.9))
        return stage.run("review", "HEAD", "--format", "json").document


def test_two_seats_that_cite_a_broken_test_and_bring_no_check_have_proven_it(stage: Stage):
    review = reviewed(stage, [CITED])
    (told,) = review["findings"]
    assert (told["proof"], told["status"], told["settled_by"]) == ("proven", "accepted", "evidence")
    assert told["probability"] >= 0.95
    assert told["check"]["command"] == ["pytest", "tests/test_pages.py::test_full_pages"]
    assert (told["check"]["outcome"], told["check"]["author"]) == ("fails_at_head", "")
    assert review["verdict"] == "request_changes"


def test_a_claim_about_another_file_that_cites_it_is_not_proven_by_it(stage: Stage):
    elsewhere = claim("shop/prices.py", 1, "RATE = 4", title="the rate is too high", evidence_ids=["E1"])
    review = reviewed(stage, [elsewhere])
    (told,) = (finding for finding in review["findings"] if finding["path"] == "shop/prices.py")
    assert told["proof"] == "untested"
    assert told["check"] is None


def test_and_the_broken_test_is_told_beside_it_and_blocks(stage: Stage):
    elsewhere = claim("shop/prices.py", 1, "RATE = 4", title="the rate is too high", evidence_ids=["E1"])
    review = reviewed(stage, [elsewhere])
    assert [(told["path"], told["proof"]) for told in review["findings"] if told["status"] == "accepted"] == [
        ("shop/prices.py", "untested"),
        ("shop/pages.py", "proven"),
    ]
    assert review["verdict"] == "request_changes"
