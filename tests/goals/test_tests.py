"""Tests for a change: one is kept if it passes twice, runs what no test ran, and fails when that line is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.domain.repair import Goal
from reviewbot.pipeline.goals import Wanted
from reviewbot.ports import Drafting
from tests.goals.house import Cast, House, only, outcomes, told

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]

BASE = "def shipping(cents):\n    return 500\n"
HEAD = """\
def shipping(cents):
    if cents >= 5000:
        return 0
    return 500
"""
TEST = "from shop.prices import shipping\n\n\ndef test_a_small_order_pays():\n    assert shipping(100) == 500\n"
BEFORE = {"shop/__init__.py": "", "shop/prices.py": BASE, "tests/test_prices.py": TEST}
SHOP = {**BEFORE, "shop/prices.py": HEAD}
NEW = "tests/test_shipping.py"
START = "from shop.prices import shipping\n\n\n"
RIGHT = [(NEW, "", f"{START}def test_a_large_order_is_free():\n    assert shipping(5000) == 0\n")]
ADDED = [
    (
        "tests/test_prices.py",
        "    assert shipping(100) == 500\n",
        "    assert shipping(100) == 500\n\n\ndef test_a_large_order_is_free():\n    assert shipping(9000) == 0\n",
    )
]
NO_ASSERTION = [(NEW, "", f"{START}def test_a_large_order_is_free():\n    shipping(5000)\n    assert shipping(1)\n")]
KNOWN_LINES = [(NEW, "", f"{START}def test_another_small_order():\n    assert shipping(200) == 500\n")]
FAILING = [(NEW, "", f"{START}def test_a_large_order_is_free():\n    assert shipping(5000) == 500\n")]
PROGRAM = [*RIGHT, ("shop/prices.py", "return 0", "return 1 - 1")]
WEAKER = [("tests/test_prices.py", "assert shipping(100) == 500", "assert shipping(100) and shipping(5000) == 0")]
ROLES = ("critic", "reviewer", "tester")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House.built(tmp_path, BEFORE, SHOP)


def cast(*drafts, **other) -> Cast:
    return Cast(drafts, roles=ROLES, **other)


WANTED = Wanted(Goal.TESTS)


@pytest.mark.parametrize("draft", [RIGHT, ADDED], ids=["a new file", "added to a file"])
def test_a_test_that_notices_a_wrong_in_a_line_that_no_test_ran_is_kept(house: House, draft):
    panel = cast(draft)
    made = house.pursue(WANTED, panel, most=1)
    repair = made.repairs[0]
    assert repair.outcome == "fixed", told(repair)
    assert repair.author == "tester"
    assert repair.proof is not None
    assert repair.proof.told.startswith("1 new test passed twice, ran shop/prices.py:3, which no test ran before, and noticed ")
    asked = panel.of(Drafting)[0].question
    assert isinstance(asked, Drafting)
    assert "shop/prices.py:3: return 0" in asked.task.wish
    assert asked.task.paths == frozenset({"tests/test_prices.py"})
    assert made.conclusion == "complete"


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (NO_ASSERTION, "they pass whatever is wrong in the lines that they run"),
        (KNOWN_LINES, "they run no changed line that no test ran before, and notice no wrong"),
        (FAILING, "`test_a_large_order_is_free` fails"),
        (WEAKER, "refused by the gate"),
    ],
    ids=["no assertion", "known lines", "it fails", "an old test is altered"],
)
def test_a_test_that_shows_nothing_new_is_refused(house: House, draft, why: str):
    made = house.pursue(WANTED, cast(draft), attempts=1, most=1)
    repair = made.repairs[0]
    assert repair.outcome == "failed"
    assert why in told(repair)


def test_only_tests_may_come(house: House):
    repair = house.pursue(WANTED, cast(PROGRAM), attempts=1, most=1).repairs[0]
    assert repair.outcome in ("failed", "skipped")
    assert "shop/prices.py" in told(repair)


def test_a_program_that_comes_as_a_new_file_is_refused(house: House):
    draft = [*RIGHT, ("shop/more.py", "", "MORE = 1\n")]
    repair = house.pursue(WANTED, cast(draft), attempts=1, most=1).repairs[0]
    assert "refused by the gate (tests-only)" in told(repair)


def test_wrongs_that_the_tests_pass_over_are_a_task_and_an_edge_case_does_it(house: House):
    weak = {**SHOP, "tests/test_prices.py": TEST + "\n\ndef test_a_large_order_is_free():\n    assert shipping(9000) == 0\n"}
    house.repo.write("tests/test_prices.py", weak["tests/test_prices.py"])
    house.repo.write("shop/prices.py", HEAD.replace("5000", "6000"))
    house.repo.commit()
    edge = [(NEW, "", f"{START}def test_the_bound_is_free():\n    assert shipping(6000) == 0\n")]
    panel = cast(KNOWN_LINES, edge)
    repair = only(house.pursue(WANTED, panel))
    assert repair.outcome == "fixed", told(repair)
    assert repair.proof is not None
    assert "which no test noticed before" in repair.proof.told
    assert "notice no wrong that no test noticed before" in repair.tries[0].reason
    asked = panel.of(Drafting)[0].question
    assert isinstance(asked, Drafting)
    assert "`cents >= 6000` becomes `(cents > 6000)`" in asked.task.wish


def test_judges_debate_what_the_sandbox_lets_through(house: House):
    made = house.pursue(WANTED, cast(RIGHT, verdict=lambda _: (False, "it repeats the code")), attempts=1, most=1)
    assert made.repairs[0].outcome == "failed"
    assert "it repeats the code" in told(made.repairs[0])


def test_where_every_line_is_tested_nothing_is_asked(house: House):
    house.repo.write(
        "tests/test_prices.py",
        TEST + "\n\ndef test_free():\n    assert [shipping(n) for n in (4999, 5000, 5001)] == [500, 0, 0]\n",
    )
    house.repo.commit()
    house.repo.git("reset", "-q", "--soft", "HEAD~2")
    house.repo.commit()
    panel = cast(RIGHT)
    made = house.pursue(WANTED, panel)
    assert (made.conclusion, made.repairs) == ("complete", ())
    assert not panel.asked


@pytest.mark.smoke
def test_without_python_it_says_so(tmp_path: Path):
    house = House.built(tmp_path, {"a.go": "package a\n"}, {"a.go": "package a\n\nvar A = 1\n"})
    made = house.pursue(WANTED, cast(RIGHT))
    assert made.conclusion == "not_reviewed"
    assert any("tests are proposed for Python alone" in note for note in made.notes)


@pytest.mark.smoke
def test_more_functions_than_may_be_written_for_are_told(tmp_path: Path):
    head = "".join(f"def f{n}(x):\n    return x + {n}\n\n\n" for n in range(3))
    house = House.built(tmp_path, BEFORE, {**BEFORE, "shop/more.py": head})
    made = house.pursue(WANTED, cast([]), most=1)
    assert outcomes(made)[1:] == [("T2", "skipped"), ("T3", "skipped")]
    assert "for 1 functions at most" in made.repairs[1].why
