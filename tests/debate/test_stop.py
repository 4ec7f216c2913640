"""When a case is talked out: each test alone, and the first that holds."""

from __future__ import annotations

import pytest

from reviewbot.debate import stop
from reviewbot.domain.debate import Argument, Case, Position, Stance, Triage
from reviewbot.domain.evidence import Severity
from reviewbot.testing import a_claim


def a_word(who: str, number: int, stance: Stance, cite: str) -> Position:
    return Position(who, number, stance, 0.6, (Argument("so", (cite,)),))


RAISED = a_word("critic", 1, Stance.SUPPORT, "E1")
FIRST = a_word("reviewer", 1, Stance.OPPOSE, "a.py:1")
SECOND = a_word("reviewer", 2, Stance.OPPOSE, "a.py:2")


@pytest.mark.parametrize(
    ("said", "probability", "before", "last_round", "expected"),
    [
        ((RAISED,), 0.5, 0.2, 1, "nobody answered"),
        ((RAISED, a_word("reviewer", 1, Stance.SUPPORT, "a.py:1")), 0.5, 0.2, 1, "all stances are equal"),
        ((RAISED, FIRST), 0.05, 0.2, 1, "the probability left [0.10, 0.90]"),
        ((RAISED, FIRST), 0.95, 0.2, 1, "the probability left [0.10, 0.90]"),
        ((RAISED, FIRST), 0.5, 0.45, 1, None),
        ((RAISED, FIRST, SECOND), 0.5, 0.45, 2, "the round moved it by less than 0.10"),
        ((RAISED, FIRST, SECOND), 0.5, 0.3, 2, None),
        ((RAISED, FIRST, a_word("reviewer", 2, Stance.OPPOSE, "a.py:1")), 0.5, 0.3, 2, "the last turn cites nothing new"),
        ((RAISED, FIRST, SECOND, a_word("reviewer", 3, Stance.OPPOSE, "a.py:3")), 0.5, 0.3, 3, "the rounds are used up"),
        ((RAISED, FIRST), 0.5, 0.3, 2, "nobody answered"),
    ],
)
def test_the_first_test_that_holds_ends_a_case(
    said: tuple[Position, ...], probability: float, before: float, last_round: int, expected: str | None
) -> None:
    claim = a_claim("a.py", 1, "x", evidence=("E1",))
    case = Case("F1", (claim,), Severity.MEDIUM, Triage.DEBATED, "", positions=said, probability=probability)
    assert stop.reason(case, before=before, last_round=last_round, rounds=3) == expected


@pytest.mark.parametrize(("probability", "expected"), [(0.35, False), (0.36, True), (0.64, True), (0.65, False)])
def test_too_close_to_call_is_strictly_between_the_bounds(probability: float, expected: bool) -> None:
    assert stop.is_deadlock(probability) is expected
