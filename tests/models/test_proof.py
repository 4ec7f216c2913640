"""A claim settled by execution, from outside: the Tester writes a check, the sandbox runs it, the review tells what it showed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Models, claim, reviewer
from tests.models.stage import Ran, Stage, one_vendor

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
BASE = 'def page_count(items, size):\n    """How many pages of a size hold so many items."""\n    return -(-items // size)\n'
HEAD = BASE.replace("-(-items // size)", "items // size + 1")
RIGHT = "from shop.pages import page_count\n\n\ndef test_full_pages():\n    assert page_count(20, 10) == 2\n"
WRONG = "from shop.pages import page_count\n\n\ndef test_nothing():\n    assert page_count(5, 10) == 1\n"
ELSEWHERE = (
    "import shop\n\n\ndef test_it():\n    import pathlib\n\n    assert '-(-' in pathlib.Path('shop/pages.py').read_text()\n"
)
CLAIM = claim("shop/pages.py", 3, "    return items // size + 1", title="a full last page counts twice", category="correctness")
SEATS = ("critic", "reviewer", "optimizer", "tester")


def test_of(source: str) -> dict[str, Any]:
    return {"kind": "test", "command": ["pytest"], "source": source, "subject": ""}


test_of.__test__ = False  # type: ignore[attr-defined]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, functions=1)
    made.repo.write("shop/pages.py", BASE)
    made.repo.commit("Add pages")
    made.repo.write("shop/pages.py", HEAD)
    made.repo.commit("Count pages in a simpler way")
    yield made
    made.close()


def reviewed(stage: Stage, models: Models, *words: str, **script: Any) -> Ran:
    """A review by four seats, of which one raises the claim and the others cannot decide it."""
    seats = {role: {"model": "gpu:fake-1"} for role in SEATS}
    stage.configure(one_vendor(models, panel=seats))
    claims = {"critic": [CLAIM], "reviewer": [], "optimizer": [], "tester": []}
    models.script = reviewer(**({"claims": claims, "stance": ("neutral", 0.5), "judgement": "undecided"} | script))
    return stage.run("review", "HEAD", "--format", "json", *words)


def the_finding(ran: Ran) -> dict[str, Any]:
    (found,) = (finding for finding in ran.document["findings"] if finding["title"] == CLAIM["title"])
    return found


@pytest.mark.smoke
def test_a_check_that_the_tester_wrote_proves_the_claim_and_blocks(stage: Stage) -> None:
    with Models() as models:
        ran = reviewed(stage, models, design=test_of(RIGHT))
    found = the_finding(ran)
    assert (found["proof"], found["status"], found["settled_by"]) == ("proven", "accepted", "evidence")
    assert found["probability"] >= 0.95
    assert found["check"]["kind"] == "test"
    assert found["check"]["author"] == "tester"
    assert found["check"]["outcome"] == "fails_at_head"
    assert "assert 3 == 2" in found["check"]["output"]
    assert ran.document["verdict"] == "request_changes"


def test_a_proven_claim_offers_its_check_as_a_regression_test(stage: Stage) -> None:
    with Models() as models:
        reviewed(stage, models, design=test_of(RIGHT))
        shown = stage.run("explain", "F1")
        markdown = reviewed(stage, models, "--format", "markdown", design=test_of(RIGHT))
    assert "def test_full_pages():" in shown.out
    assert "A regression test" in markdown.out
    assert "def test_full_pages():" in markdown.out


def test_a_check_that_passes_at_head_contradicts_the_claim(stage: Stage) -> None:
    with Models() as models:
        found = the_finding(reviewed(stage, models, design=test_of(WRONG)))
    assert (found["proof"], found["check"]["outcome"]) == ("contradicted", "passes_at_head")
    assert found["status"] == "contested", "a grave claim is not dropped for it: code under test can fake a pass"


def test_a_check_that_fails_without_running_the_claimed_lines_proves_nothing(stage: Stage) -> None:
    with Models() as models:
        found = the_finding(reviewed(stage, models, design=test_of(ELSEWHERE)))
    assert (found["proof"], found["check"]["outcome"]) == ("untested", "unrelated")


def test_a_test_that_runs_nothing_of_the_claim_does_not_refute_it(stage: Stage) -> None:
    with Models() as models:
        found = the_finding(reviewed(stage, models, design=test_of("def test_nothing():\n    pass\n")))
    assert (found["proof"], found["check"]["outcome"]) == ("untested", "unrelated")


def test_a_claim_whose_counter_example_was_replayed_is_proven(stage: Stage) -> None:
    behaviour = {"kind": "behaviour", "command": [], "source": "", "subject": "shop/pages.py:page_count"}
    typed = HEAD.replace("(items, size)", "(items: int, size: int) -> int")
    stage.repo.write("shop/pages.py", BASE.replace("(items, size)", "(items: int, size: int) -> int"))
    stage.repo.commit("Say the types")
    stage.repo.write("shop/pages.py", typed)
    stage.repo.commit("Count pages in a simpler way")
    with Models() as models:
        found = the_finding(reviewed(stage, models, design=behaviour))
    assert found["proof"] == "proven"
    assert "base: " in found["check"]["output"]
    assert "head: " in found["check"]["output"]


def test_a_draft_that_its_check_fails_with_is_dropped_and_one_that_it_passes_with_is_kept(stage: Stage) -> None:
    wrong, right = "    return items // size + 2", "    return -(-items // size)"
    with Models() as models:
        dropped = reviewed(stage, models, "--effort", "high", design=test_of(RIGHT), replacement=wrong)
        kept = reviewed(stage, models, "--effort", "high", "--fresh", design=test_of(RIGHT), replacement=right)
    assert the_finding(kept)["suggestion"]["replacement"] == right
    assert the_finding(dropped)["suggestion"] is None


def test_a_second_run_pays_for_nothing_and_runs_no_check_again(stage: Stage) -> None:
    with Models() as models:
        first = reviewed(stage, models, design=test_of(RIGHT))
        calls = len(models.calls)
        again = stage.run("review", "HEAD", "--format", "json")
        assert len(models.calls) == calls
    assert the_finding(first)["check"] == the_finding(again)["check"]
    assert "running pytest" not in again.err
