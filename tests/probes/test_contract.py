"""Specifications of the code: each is run by a real process, and a counter-example counts when its replay says so."""

from __future__ import annotations

import pytest

from reviewbot.evidence.parsers.formal import Counterexample, Judged, Searched, Unable
from tests.probes.folders import Folders

pytestmark = [pytest.mark.matrix(parts=1), pytest.mark.ci]

CODE = """
import builtins, random
ERRORS = [kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, ValueError | OSError | Warning)]

def chance() -> int:
    raise random.choice(ERRORS)("so many kinds that chance does not decide alike")

def clamp(a: int, low: int, high: int) -> int:
    return max(low, min(a, high))

def half(a: int) -> int:
    return a // 2

def first(xs: list[int]) -> int:
    return xs[0]
"""
HEADER = "from shop import chance, clamp, first, half\n"


def claim(folders: Folders, text: str) -> Counterexample | Searched | Unable:
    """What a specification of one condition comes to."""
    (found,) = folders.claim(CODE, HEADER + text)
    return found


@pytest.mark.smoke
def test_a_condition_that_fails_has_arguments_that_can_be_replayed(folders: Folders) -> None:
    text = "def spec_even(a: int):\n    assert half(a) * 2 == a"
    found = claim(folders, text)
    assert isinstance(found, Counterexample)
    assert (found.condition, found.calls, found.arguments) == ("spec_even", "spec_even", ("1",))
    assert found.judged == Judged(holds=False, asserted=True, raises="AssertionError", line=3)
    spec = {"tree": str(folders.top / "tree"), "spec": HEADER + text, "condition": "spec_even"}
    assert folders.replay(**spec, arguments=["1"]) == found.judged
    assert folders.replay(**spec, arguments=["2"]) == Judged(holds=True)


def test_a_condition_that_holds_has_none(folders: Folders) -> None:
    text = "def spec_within(a: int, low: int, high: int):\n    if low > high:\n        return\n    assert low <= clamp(a, low, high) <= high"
    found = claim(folders, text)
    assert isinstance(found, Searched)
    assert "say nothing" in found.bound


def test_an_error_below_the_condition_speaks_against_it(folders: Folders) -> None:
    found = claim(folders, "def spec_first(xs: list[int]):\n    assert first(xs) == xs[0]")
    assert isinstance(found, Counterexample)
    assert found.judged is not None
    assert (found.judged.asserted, found.judged.raises, found.judged.line) == (False, "IndexError", 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def spec_a(a: int):\n    assert half(a).no == 1", "vacuous"),
        ("def spec_a(a: int):\n    return\n    assert half(a)", "vacuous"),
        ("def spec_a(a: int):\n    half(a)", "vacuous"),
        ("def spec_a(a):\n    assert half(a)", "annotations"),
        ("def spec_a(a: int):\n    assert half(a", "specification"),
        ("def check_a(a: int):\n    assert half(a)", "specification"),
        ("import nowhere\ndef spec_a(a: int):\n    assert half(a)", "specification"),
        ("1 / 0\ndef spec_a(a: int):\n    assert half(a)", "specification"),
        ("def spec_a(a: int):\n    assert open('x', 'w')", "input/output"),
        ("def spec_a(a: int):\n    assert chance()", "nondeterministic"),
        ("def spec_a(a: int):\n    import os\n    os._exit(0)", "vacuous"),
    ],
)
def test_a_specification_that_says_nothing_is_told_so(folders: Folders, text: str, code: str) -> None:
    found = claim(folders, text)
    assert isinstance(found, Unable), found
    assert found.code == code


def test_code_that_cannot_be_imported_is_no_fault_of_the_specification(folders: Folders) -> None:
    (found,) = folders.claim("raise RuntimeError", HEADER + "def spec_a(a: int):\n    assert a == a")
    assert isinstance(found, Unable)
    assert found.code == "import"


def test_each_condition_is_answered_by_its_name(folders: Folders) -> None:
    text = "def spec_a(a: int):\n    assert half(a) == 0\ndef helper(): ...\ndef spec_b(a: int):\n    assert half(2 * a) == a\ndef spec_c(a):\n    assert a"
    found = list(folders.claim(CODE, HEADER + text))
    assert [(type(result), result.condition) for result in found] == [
        (Counterexample, "spec_a"),
        (Searched, "spec_b"),
        (Unable, "spec_c"),
    ]


FORMULA = """
import z3
x = z3.Int("x")
def prove_it():
    return {0}
def replay_it(x: int):
    assert half(x) * 2 == x
"""


def test_a_formula_that_is_valid_is_proven_for_all_values(folders: Folders) -> None:
    pytest.importorskip("z3")
    found = claim(folders, FORMULA.format("x + x == 2 * x"))
    assert isinstance(found, Searched)
    assert found.exhausted
    assert found.by == ("z3",)


def test_a_formula_that_is_not_counts_when_the_code_agrees(folders: Folders) -> None:
    pytest.importorskip("z3")
    found = claim(folders, FORMULA.format("(x / 2) * 2 == x"))
    assert isinstance(found, Counterexample)
    assert (found.condition, found.calls, found.by) == ("prove_it", "replay_it", "z3")
    text = HEADER + FORMULA.format("(x / 2) * 2 == x")
    replayed = folders.replay(tree=str(folders.top / "tree"), spec=text, condition="replay_it", arguments=found.arguments)
    assert replayed == found.judged


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("z3.And(x > 1, x % 2 == 1)", "but the code does not"),
        ("3", "not a z3.BoolRef"),
        ("z3.ForAll(x, x > 1) if 1 / 0 else x", "division by zero"),
    ],
)
def test_a_formula_that_the_code_does_not_bear_out_counts_for_nothing(folders: Folders, formula: str, said: str) -> None:
    pytest.importorskip("z3")
    found = claim(folders, FORMULA.format(formula))
    assert isinstance(found, Unable)
    assert found.code == "formula"
    assert said in found.reason


def test_a_formula_without_a_replay_counts_for_nothing(folders: Folders) -> None:
    pytest.importorskip("z3")
    found = claim(folders, "import z3\ndef prove_it():\n    return z3.Int('x') > 1")
    assert isinstance(found, Unable)
    assert "no replay_it" in found.reason
