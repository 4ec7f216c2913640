"""A ratio of times with its spread: what is proven slower, and what is left open."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.ratio import COVERAGE, Pace, Ratio, compare, coverage

times = st.floats(1e-9, 1e4)
rounds = st.lists(st.tuples(times, times), min_size=1, max_size=40)


def of(pairs: list[tuple[float, float]]) -> Ratio:
    return compare([before for before, _ in pairs], [after for _, after in pairs])


def test_a_slow_down_in_every_round_is_shown() -> None:
    ratio = compare([1.0, 1.1, 0.9, 1.0, 3.0], [2.0, 2.2, 1.9, 2.1, 6.0])
    assert (ratio.low, ratio.middle, ratio.rounds) == (2.0, 2.0, 5)
    assert ratio.high == pytest.approx(1.9 / 0.9)
    assert ratio.pace() is Pace.SLOWER


def test_a_speed_up_in_every_round_is_shown() -> None:
    assert compare([2.0] * 5, [1.0, 1.1, 1.2, 1.0, 1.0]).pace() is Pace.FASTER


def test_one_round_of_five_that_says_otherwise_leaves_it_open() -> None:
    ratio = compare([1.0] * 5, [2.0, 2.0, 2.0, 2.0, 1.05])
    assert ratio.middle == 2.0
    assert ratio.pace() is Pace.NOT_SHOWN


def test_one_round_of_eight_that_says_otherwise_does_not() -> None:
    ratio = compare([1.0] * 8, [2.0, 2.0, 2.0, 2.0, 1.05, 2.0, 2.0, 2.0])
    assert ratio.pace() is Pace.SLOWER


def test_what_slows_a_round_as_a_whole_is_no_slow_down() -> None:
    assert compare([1.0, 5.0, 1.0, 9.0, 1.0], [1.0, 5.0, 1.0, 9.0, 1.0]) == Ratio(1.0, 1.0, 1.0, 5)


@pytest.mark.parametrize(
    ("factor", "pace"), [(1.09, Pace.NOT_SHOWN), (1.12, Pace.SLOWER), (0.91, Pace.NOT_SHOWN), (0.88, Pace.FASTER)]
)
def test_less_than_a_tenth_is_not_spoken_of(factor: float, pace: Pace) -> None:
    assert compare([1.0] * 9, [factor] * 9).pace() is pace


def test_another_threshold_may_be_given() -> None:
    assert compare([1.0] * 5, [1.3] * 5).pace(0.5) is Pace.NOT_SHOWN
    assert compare([1.0] * 5, [1.6] * 5).pace(0.5) is Pace.SLOWER


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_too_few_rounds_show_nothing(count: int) -> None:
    assert coverage(count) < COVERAGE
    assert compare([1.0] * count, [100.0] * count).pace() is Pace.NOT_SHOWN


@pytest.mark.parametrize(
    ("count", "expected"), [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375), (6, 0.96875), (8, 0.9296875), (20, 0.95861)]
)
def test_the_coverage_is_the_binomial_one(count: int, expected: float) -> None:
    assert coverage(count) == pytest.approx(expected, abs=1e-5)


@given(st.integers(5, 300))
def test_from_five_rounds_on_the_spread_is_sure_enough(count: int) -> None:
    assert COVERAGE <= coverage(count) < 1


@pytest.mark.parametrize("count", [5, 8, 15])
def test_the_spread_holds_the_true_median_as_often_as_it_says(count: int) -> None:
    """By simulation with a lopsided distribution whose median is known; the seed is fixed, the margin four standard errors."""
    dice = random.Random(7)
    tries, true = 4000, math.exp(0.3)
    held = 0
    for _ in range(tries):
        ratio = compare([1.0] * count, [dice.lognormvariate(0.3, 0.8) for _ in range(count)])
        held += ratio.low <= true <= ratio.high
    expected = coverage(count)
    assert held / tries == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / tries))


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ([], []),
        ([1.0], []),
        ([1.0], [1.0, 1.0]),
        ([0.0], [1.0]),
        ([1.0], [-1.0]),
        ([math.nan], [1.0]),
        ([1.0], [math.inf]),
        ([1e-300], [1e300]),
    ],
)
def test_what_are_no_pairs_of_times_is_refused(base: list[float], head: list[float]) -> None:
    with pytest.raises(ValueError, match="ratio"):
        compare(base, head)


@given(rounds)
def test_the_middle_lies_in_the_spread_and_the_spread_in_the_rounds(pairs: list[tuple[float, float]]) -> None:
    ratio = of(pairs)
    every = [after / before for before, after in pairs]
    assert min(every) <= ratio.low <= ratio.middle <= ratio.high <= max(every)


@given(rounds, st.floats(1e-3, 1e3))
def test_another_unit_of_time_changes_nothing(pairs: list[tuple[float, float]], scale: float) -> None:
    one, other = of(pairs), of([(before * scale, after * scale) for before, after in pairs])
    assert (other.low, other.middle, other.high) == tuple(map(pytest.approx, (one.low, one.middle, one.high)))


@given(rounds, st.floats(1e-3, 1e3))
def test_a_head_that_takes_so_many_times_as_long_has_a_ratio_so_many_times_as_large(
    pairs: list[tuple[float, float]], factor: float
) -> None:
    one, other = of(pairs), of([(before, after * factor) for before, after in pairs])
    assert (other.low, other.middle, other.high) == tuple(
        pytest.approx(value * factor) for value in (one.low, one.middle, one.high)
    )


@given(rounds)
def test_base_and_head_exchanged_give_the_reciprocal(pairs: list[tuple[float, float]]) -> None:
    one, other = of(pairs), of([(after, before) for before, after in pairs])
    assert (other.low, other.middle, other.high) == tuple(pytest.approx(1 / value) for value in (one.high, one.middle, one.low))


@given(rounds, st.randoms(use_true_random=False))
def test_the_order_of_the_rounds_does_not_matter(pairs: list[tuple[float, float]], dice: random.Random) -> None:
    mixed = list(pairs)
    dice.shuffle(mixed)
    assert of(mixed) == of(pairs)


@given(rounds)
def test_nothing_is_both_slower_and_faster(pairs: list[tuple[float, float]]) -> None:
    ratio, turned = of(pairs), of([(after, before) for before, after in pairs])
    assert ratio.pace() is Pace.NOT_SHOWN or turned.pace() is not ratio.pace()
