"""S6: when a case is talked out. Never "until they agree"."""

from __future__ import annotations

from reviewbot.debate.numbers import DEADLOCK, SETTLED_ABOVE, SETTLED_BELOW, STILL
from reviewbot.domain.debate import Case

ALL_EQUAL = "all stances are equal"
NOBODY = "nobody answered"


def reason(case: Case, *, before: float, last_round: int, rounds: int) -> str | None:
    """Why the case ends after ``last_round``, the first test that holds, or ``None`` where another round may tell more.

    ``before`` is its probability before that round.
    """
    stances = {position.stance for position in case.last_words().values()}
    tests = (
        (not _was_heard(case, last_round), NOBODY),
        (len(stances) == 1, ALL_EQUAL),
        (
            not SETTLED_BELOW <= case.probability <= SETTLED_ABOVE,
            f"the probability left [{SETTLED_BELOW:.2f}, {SETTLED_ABOVE:.2f}]",
        ),
        (last_round > 1 and abs(case.probability - before) < STILL, f"the round moved it by less than {STILL:.2f}"),
        (not _something_new(case, last_round), "the last turn cites nothing new"),
        (last_round >= rounds, "the rounds are used up"),
    )
    return next((text for holds, text in tests if holds), None)


def is_deadlock(probability: float) -> bool:
    """Too close to call."""
    return DEADLOCK[0] < probability < DEADLOCK[1]


def _something_new(case: Case, last_round: int) -> bool:
    """A citation in the last round that was in nobody's hands before."""
    known = set(case.evidence) | {
        cite for position in case.positions if position.round < last_round for cite in position.citations()
    }
    return any(position.citations() - known for position in case.positions if position.round == last_round)


def _was_heard(case: Case, number: int) -> bool:
    """Someone spoke in the round; a raiser's opening in round 1 is not an answer."""
    return any(said.round == number and (number > 1 or said.panelist not in case.raised_by) for said in case.positions)
