"""Speed: a candidate counts if the benchmark is faster beyond the noise, tests are no worse, and functions do what they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.domain.repair import Goal
from reviewbot.errors import UsageError
from reviewbot.pipeline.goals import Wanted
from reviewbot.ports import Diagnosis, Drafting
from tests.goals.house import Cast, House, only, told

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci, pytest.mark.matrix]

SLOW = '''\
def distinct(items: list[int]) -> list[int]:
    """Every item once, in the order of its first place."""
    found: list[int] = []
    for item in items:
        if item not in found:
            found.append(item)
    return found
'''
SHOP = {
    "shop/__init__.py": "",
    "shop/unique.py": SLOW,
    "shop/other.py": "def nothing():\n    return None\n",
    "bench.py": "from shop.unique import distinct\n\nfor _ in range(3):\n    distinct(list(range(4000)))\n",
    "tests/test_unique.py": "from shop.unique import distinct\n\n\ndef test_once():\n    assert distinct([2, 1, 2]) == [2, 1]\n",
}
BODY = "".join(SLOW.splitlines(keepends=True)[2:])
RIGHT = [("shop/unique.py", BODY, "    return list(dict.fromkeys(items))\n")]
SLOWER = [("shop/unique.py", "        if item not in found:\n", "        if item not in list(found) and item not in found:\n")]
NO_FASTER = [("shop/unique.py", "    return found\n", "    return found[:]\n")]
OTHER_RESULT = [("shop/unique.py", BODY, "    return list(dict.fromkeys(items))[:5]\n")]
OTHER_ORDER = [("shop/unique.py", BODY, "    return sorted(set(items))\n")]
WANTED = Wanted(Goal.PERFORMANCE, benchmark="python bench.py")
ROLES = ("critic", "reviewer", "optimizer")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House.built(tmp_path, {"README.md": "A shop.\n"}, SHOP)


def cast(*drafts) -> Cast:
    return Cast(drafts, roles=ROLES)


def test_a_faster_candidate_that_does_the_same_is_proven_by_the_benchmark(house: House):
    panel = cast(RIGHT)
    repair = only(house.pursue(WANTED, panel))
    assert repair.outcome == "fixed", told(repair)
    assert repair.author == "optimizer"
    assert repair.proof is not None
    assert "the command takes 0." in repair.proof.told
    assert "in 5 rounds taken in turn" in repair.proof.told
    assert any("no input was found on which shop/unique.py:distinct does something else" in one for one in repair.proof.beside)
    assert any("1 tests pass as before" in one for one in repair.proof.beside)
    assert not panel.of(Diagnosis)


def test_the_writer_sees_where_the_time_goes(house: House):
    panel = cast(RIGHT)
    house.pursue(WANTED, panel)
    asked = panel.of(Drafting)[0].question
    assert isinstance(asked, Drafting)
    assert "shop/unique.py:1 distinct: " in asked.task.wish
    assert asked.task.packet.path == "shop/unique.py"
    assert "bench.py" not in asked.task.paths


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (SLOWER, "it is not faster beyond the noise"),
        (NO_FASTER, "it is not faster beyond the noise"),
        (OTHER_ORDER, "worse than before: pytest at shop/unique.py"),
        (OTHER_RESULT, "does something else than before"),
    ],
    ids=["slower", "no faster", "another order", "another result"],
)
def test_a_candidate_that_is_not_faster_or_does_something_else_is_refused(house: House, draft, why: str):
    repair = only(house.pursue(WANTED, cast(draft), attempts=1))
    assert repair.outcome == "failed"
    assert why in told(repair)


def test_whoever_is_to_be_faster_may_not_change_what_is_measured(house: House):
    cheat = [("bench.py", "4000", "4")]
    repair = only(house.pursue(WANTED, cast(cheat), attempts=1))
    assert repair.outcome in ("failed", "skipped")
    assert "bench.py" in told(repair)


def test_a_benchmark_that_fails_at_head_is_told(house: House):
    made = house.pursue(Wanted(Goal.PERFORMANCE, benchmark="python nosuch.py"), cast(RIGHT))
    assert made.conclusion == "not_reviewed"
    assert any("the benchmark cannot be measured at head" in note and "nosuch.py" in note for note in made.notes)


@pytest.mark.parametrize("command", ["", "python 'bench.py"])
def test_what_is_no_command_is_said(house: House, command: str):
    with pytest.raises(UsageError):
        house.pursue(Wanted(Goal.PERFORMANCE, benchmark=command), cast(RIGHT))
