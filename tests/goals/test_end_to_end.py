"""Goals from outside: the command, a repository, a model server, a real sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Answer, Models, Seen, reviewer
from tests.fakes.reviewer import spoken_schema
from tests.goals.house import Edits, hypothesis
from tests.goals.test_performance import OTHER_RESULT as NOT_THE_SAME
from tests.goals.test_performance import RIGHT as FAST
from tests.goals.test_performance import SHOP as SLOW_SHOP
from tests.goals.test_refactor import OTHER_RESULT, PRICES, SIMPLER
from tests.goals.test_refactor import RIGHT as SIMPLE
from tests.goals.test_refactor import SHOP as TANGLED_SHOP
from tests.goals.test_report import REPORT, RIGHT_FIX, RIGHT_TEST, SHOP, WRONG_FIX
from tests.goals.test_tests import BEFORE, HEAD, NO_ASSERTION
from tests.goals.test_tests import RIGHT as A_TEST
from tests.models.stage import Ran, Stage, one_vendor

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]
SEATS = ("critic", "reviewer", "proposer", "optimizer", "tester")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path, functions=1)
    yield made
    made.close()


def lay(stage: Stage, files: dict[str, str], *, first: dict[str, str] | None = None) -> None:
    """The files as the last commit, on top of ``first``."""
    for name in stage.repo.git("ls-files", "-z").split("\0")[:-1]:
        stage.repo.remove(name)
    for name, text in (first or {"README.md": "A shop.\n"}).items():
        stage.repo.write(name, text)
    stage.repo.commit("Before")
    for name, text in files.items():
        stage.repo.write(name, text)
    stage.repo.commit("A shop")


def seat(stage: Stage, models: Models, *, written: Sequence[Edits], formed: Sequence[dict[str, Any]] = ()) -> None:
    """Who sits, what they write, call by call, and which hypotheses they form."""
    stage.configure(one_vendor(models, panel={role: {"model": "gpu:fake-1"} for role in SEATS}))
    waiting = list(written)

    def dealt(_: Seen) -> list[tuple[str, str, str]]:
        return list(waiting.pop(0) if len(waiting) > 1 else waiting[0])

    plain = reviewer(edits=dealt)

    def script(seen: Seen) -> Answer:
        wanted = (seen.schema or spoken_schema(seen) or {}).get("properties", {})
        return Answer(json.dumps({"hypotheses": list(formed)})) if "hypotheses" in wanted else plain(seen)

    models.script = script


def fix(stage: Stage, *words: str) -> Ran:
    return stage.run("fix", *words, "--yes", "--format", "json", seconds=300.0)


def text(stage: Stage, name: str) -> str:
    return (stage.repo.path / name).read_text(encoding="utf-8")


def only(ran: Ran) -> dict[str, Any]:
    (found,) = ran.document["repairs"]
    return dict(found)


def test_a_report_becomes_a_failing_test_and_a_fix(stage: Stage):
    lay(stage, SHOP)
    stage.repo.write("../report.txt", REPORT)
    with Models() as models:
        seat(stage, models, written=[WRONG_FIX, RIGHT_FIX], formed=[hypothesis("shop/pages.py", 2, RIGHT_TEST)])
        ran = fix(stage, "--report", "../report.txt")
    repair = only(ran)
    assert (ran.code, repair["outcome"], repair["goal"]) == (0, "fixed", "report"), ran.said
    assert "test_even" in repair["tries"][0]["reason"]
    assert "-(-items // size)" in text(stage, "shop/pages.py")
    assert text(stage, "tests/test_the_last_page_is_lost.py") == RIGHT_TEST


def test_a_report_of_which_nothing_fails_leaves_every_file_as_it_is(stage: Stage):
    lay(stage, SHOP)
    stage.repo.write("../report.txt", REPORT)
    before = stage.repo.snapshot()
    with Models() as models:
        seat(stage, models, written=[RIGHT_FIX], formed=[hypothesis("shop/pages.py", 2, RIGHT_TEST.replace("== 3", "== 2"))])
        ran = fix(stage, "--report", "../report.txt")
    assert "it did not fail" in only(ran)["why"]
    assert stage.repo.snapshot() == before


def test_a_report_without_models_says_what_to_do(stage: Stage):
    lay(stage, SHOP)
    stage.repo.write("../report.txt", REPORT)
    ran = fix(stage, "--report", "../report.txt", "--panel", "static")
    assert ran.code == 2
    assert "a report of a bug is read by language models" in ran.err


def test_a_faster_function_is_written_after_one_that_does_something_else(stage: Stage):
    lay(stage, SLOW_SHOP)
    with Models() as models:
        seat(stage, models, written=[NOT_THE_SAME, FAST])
        ran = fix(stage, "--goal", "performance", "--benchmark", "python bench.py")
    repair = only(ran)
    assert (ran.code, repair["outcome"], repair["goal"]) == (0, "fixed", "performance"), ran.said
    assert "does something else than before" in repair["tries"][0]["reason"]
    assert "dict.fromkeys" in text(stage, "shop/unique.py")


def test_code_is_restructured_as_long_as_nobody_can_tell(stage: Stage):
    lay(stage, TANGLED_SHOP)
    with Models() as models:
        seat(stage, models, written=[OTHER_RESULT, SIMPLE])
        ran = fix(stage, "--goal", "refactor", "shop/prices.py", "--instruction", "Return early.")
    repair = only(ran)
    assert (ran.code, repair["outcome"], repair["goal"]) == (0, "fixed", "refactor"), ran.said
    assert "with_tax does something else than before" in repair["tries"][0]["reason"]
    assert text(stage, "shop/prices.py") == PRICES.replace(
        PRICES[PRICES.index("    if rate == 0") : PRICES.index("\n\ndef _")], SIMPLER
    )


def test_a_test_is_written_after_one_that_notices_nothing(stage: Stage):
    lay(stage, BEFORE | {"shop/prices.py": HEAD}, first=BEFORE)
    with Models() as models:
        seat(stage, models, written=[NO_ASSERTION, A_TEST])
        ran = fix(stage, "--goal", "tests")
    repair = ran.document["repairs"][0]
    assert (repair["outcome"], repair["goal"]) == ("fixed", "tests"), ran.said
    assert "they pass whatever is wrong" in repair["tries"][0]["reason"]
    assert "test_a_large_order_is_free" in text(stage, "tests/test_shipping.py")


def test_a_second_run_pays_for_nothing(stage: Stage):
    lay(stage, SHOP)
    stage.repo.write("../report.txt", REPORT)
    with Models() as models:
        seat(stage, models, written=[RIGHT_FIX], formed=[hypothesis("shop/pages.py", 2, RIGHT_TEST)])
        first = stage.run("fix", "--report", "../report.txt", "--format", "json", seconds=300.0)
        calls = len(models.calls)
        again = stage.run("fix", "--report", "../report.txt", "--format", "json", seconds=300.0)
        assert len(models.calls) == calls
    assert only(first)["patch"] == only(again)["patch"]
