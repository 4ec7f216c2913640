"""Is it slower? Times of base and head, taken alternately, as one ratio with its spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

THRESHOLD = 0.10
"""[design] A change of less than a tenth is not spoken of, however certain it is."""
COVERAGE = 0.90
"""[design] How sure the spread has to be. Five rounds are the fewest that reach it."""


class Pace(StrEnum):
    """What a ratio shows."""

    SLOWER = "slower"
    FASTER = "faster"
    NOT_SHOWN = "no difference shown"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Head over base: ``middle`` is the median of the rounds' ratios, ``low`` and ``high`` the spread in which the true median
    lies with the probability ``coverage(rounds)``, whatever the distribution of the times."""

    middle: float
    low: float
    high: float
    rounds: int

    def pace(self, threshold: float = THRESHOLD) -> Pace:
        """One word. Where the rounds are too few to tell, no difference is shown."""
        if coverage(self.rounds) < COVERAGE:
            return Pace.NOT_SHOWN
        if self.low > 1 + threshold:
            return Pace.SLOWER
        return Pace.FASTER if self.high < 1 - threshold else Pace.NOT_SHOWN


def compare(base: Sequence[float], head: Sequence[float]) -> Ratio:
    """The ratio of times in seconds, one of each side per round. What slows a round slows both of its times, so they are
    compared round by round. Raises ValueError for what are no pairs of times above zero."""
    if not base or len(base) != len(head) or not all(0 < time < math.inf for time in (*base, *head)):
        raise ValueError("a ratio needs one time above zero of each side in each round")
    ratios = sorted(after / before for before, after in zip(base, head, strict=True))
    if not 0 < ratios[0] <= ratios[-1] < math.inf:
        raise ValueError("a ratio of times that no machine takes")
    outer = _rank(len(ratios)) - 1
    return Ratio(_median(ratios), ratios[outer], ratios[-1 - outer], len(ratios))


def coverage(rounds: int) -> float:
    """The probability with which the spread of so many rounds holds the true median; 0.9375 for five, 0.96875 for six.

    The median lies between the r-th smallest and the r-th largest of n values unless fewer than r of them fall on one of its
    sides: 1 - 2 P(B < r), B binomial with n and one half. David and Nagaraja, Order Statistics, third edition, section 7.1.
    """
    return _holds(rounds, _rank(rounds))


def _median(ratios: Sequence[float]) -> float:
    """Of an even number, the geometric mean of the two in the middle: turned round, a ratio is its reciprocal."""
    one, other = ratios[(len(ratios) - 1) // 2], ratios[len(ratios) // 2]
    return one if one == other else min(max(one, math.sqrt(one) * math.sqrt(other)), other)


def _rank(rounds: int) -> int:
    """The narrowest spread that is sure enough, else the widest there is."""
    return max((rank for rank in range(1, (rounds + 1) // 2 + 1) if _holds(rounds, rank) >= COVERAGE), default=1)


def _holds(rounds: int, rank: int) -> float:
    outside = 2 * sum(math.comb(rounds, fewer) for fewer in range(rank))
    return max(0.0, 1 - float(outside / 2**rounds))
