"""Structure: what nobody outside can tell apart may be written anew; another public name, result, file or tangle may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reviewbot.domain.repair import Goal
from reviewbot.errors import UsageError
from reviewbot.pipeline.goals import Wanted
from reviewbot.ports import Drafting
from tests.goals.house import Cast, House, only, told

pytestmark = [pytest.mark.usefixtures("bubblewrap"), pytest.mark.ci]

PRICES = '''\
def with_tax(cents: int, rate: int) -> int:
    """The price with so many percent of tax, rounded half up."""
    if rate == 0:
        return cents
    else:
        if rate > 0:
            tax = (cents * rate + 50) // 100
            return cents + tax
        else:
            raise ValueError("a rate is not negative")


def _unused() -> None:
    return None
'''
BODY = "".join(PRICES.splitlines(keepends=True)[2:10])
SIMPLER = """\
    if rate < 0:
        raise ValueError("a rate is not negative")
    return cents + (cents * rate + 50) // 100
"""
SHOP = {
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/other.py": "def other(number: int) -> int:\n    return number\n",
    "tests/test_prices.py": "from shop.prices import with_tax\n\n\ndef test_tax():\n    assert with_tax(100, 19) == 119\n",
}
RIGHT = [("shop/prices.py", BODY, SIMPLER)]
OTHER_RESULT = [("shop/prices.py", BODY, SIMPLER.replace(" + 50", ""))]
TANGLED = [
    (
        "shop/prices.py",
        "        return cents\n    else:\n",
        "        return cents\n    else:\n        if rate == 1:\n            pass\n",
    )
]
WANTED = Wanted(Goal.REFACTOR, "Return early.", ("shop/prices.py",))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House.built(tmp_path, {"README.md": "A shop.\n"}, SHOP)


def test_code_that_does_the_same_in_fewer_branches_is_proven(house: House):
    panel = Cast((RIGHT,))
    repair = only(house.pursue(WANTED, panel))
    assert repair.outcome == "fixed", told(repair)
    assert repair.proof is not None
    assert repair.proof.told == "the public names are the same, and 1 tests pass as before"
    assert any("no input was found on which shop/prices.py:with_tax does something else" in one for one in repair.proof.beside)
    asked = panel.of(Drafting)[0].question
    assert isinstance(asked, Drafting)
    assert (asked.task.wish, asked.task.paths) == ("Return early.", frozenset({"shop/prices.py"}))


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (OTHER_RESULT, "shop/prices.py:with_tax does something else than before: with_tax("),
        (
            [("shop/prices.py", "def with_tax(cents: int, rate: int)", "def with_tax(cents: int, rate: int = 0)")],
            "refused by the gate (api)",
        ),
        ([("shop/prices.py", "def _unused()", "def used()")], "`used` is new"),
        (TANGLED, "refused by the gate (complexity): it has 3 branches where there were 2"),
        ([("shop/new.py", "", "def new():\n    return 1\n")], "`new` is new"),
        ([("other/_new.py", "", "def new():\n    return 1\n")], "only programs at or below shop"),
        ([("tests/test_new.py", "", "def test_new():\n    pass\n")], "only programs at or below shop"),
    ],
    ids=["another result", "another signature", "a new name", "tangled", "a new module", "elsewhere", "a test"],
)
def test_what_can_be_told_apart_is_refused(house: House, draft, why: str):
    wanted = Wanted(Goal.REFACTOR, "Return early.", ("shop",))
    repair = only(house.pursue(wanted, Cast((draft,)), attempts=1))
    assert repair.outcome == "failed"
    assert why in told(repair)


def test_a_file_outside_of_the_path_may_not_be_changed(house: House):
    draft = [("shop/other.py", "return number", "return int(number)")]
    repair = only(house.pursue(WANTED, Cast((draft,)), attempts=1))
    assert repair.outcome in ("failed", "skipped")
    assert "shop/other.py" in told(repair)


@pytest.mark.ci
def test_a_private_module_may_take_what_a_public_one_offers(house: House):
    moved = [
        ("shop/_tax.py", "", PRICES.split("\n\n\ndef _unused")[0].replace(BODY.rstrip("\n"), SIMPLER.rstrip("\n")) + "\n"),
        (
            "shop/prices.py",
            PRICES.split("\n\n\ndef _unused")[0] + "\n",
            'from shop._tax import with_tax\n\n__all__ = ["with_tax"]\n',
        ),
    ]
    repair = only(house.pursue(Wanted(Goal.REFACTOR, "", ("shop/",)), Cast((moved,)), attempts=1))
    assert repair.outcome in ("fixed", "suggested"), told(repair)


def test_what_is_not_shown_to_do_the_same_is_only_suggested(tmp_path: Path):
    bare = {"shop/__init__.py": "", "shop/prices.py": PRICES.replace("cents: int, rate: int", "cents, rate")}
    house = House.built(tmp_path, {"README.md": "A shop.\n"}, bare)
    repair = only(house.pursue(WANTED, Cast((RIGHT,))))
    assert (repair.outcome, repair.why) == ("suggested", "no check shows that it works")


@pytest.mark.parametrize("paths", [(), ("nosuch",), ("tests",)])
def test_paths_without_a_program_are_said(house: House, paths: tuple[str, ...]):
    with pytest.raises(UsageError):
        house.pursue(Wanted(Goal.REFACTOR, "", paths), Cast((RIGHT,)))
