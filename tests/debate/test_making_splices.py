"""What files become of splices, and which of them can be taken together."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.debate.making.splices import Misfit, apart, clash, moved, spliced, unchanged_ends
from reviewbot.ports import Splice
from tests.rings import examples

SOME = settings(max_examples=examples(200), derandomize=True)
CONTENT = b"0123456789"


@st.composite
def splices(draw: st.DrawFn, most: int = len(CONTENT)) -> Splice:
    start = draw(st.integers(0, most))
    text = draw(st.binary(max_size=3))
    return Splice(draw(st.sampled_from(["a", "b"])), start, draw(st.integers(start, most)), text)


FILES = {"a": CONTENT, "b": CONTENT}


@SOME
@given(st.lists(st.lists(splices(), min_size=1, max_size=2).map(tuple), max_size=8), st.lists(splices(), max_size=2))
def test_what_can_be_taken_together_gives_the_same_files_in_any_order(
    wanted: list[tuple[Splice, ...]], taken: list[Splice]
) -> None:
    chosen = apart(wanted, taken)
    for one, other in combinations(chosen, 2):
        assert not any(clash(a, b) for a in wanted[one] for b in wanted[other])
    assert not any(clash(a, b) for index in chosen for a in wanted[index] for b in taken)
    for left in set(range(len(wanted))) - set(chosen):
        before = [*taken, *(splice for index in chosen if index < left for splice in wanted[index])]
        assert any(clash(a, b) for a in wanted[left] for b in before), "nobody is left out without a reason"
    single = [wanted[index] for index in chosen if len(wanted[index]) == 1]
    forward = [splice for offer in single for splice in offer]
    assert spliced(FILES, forward) == spliced(FILES, forward[::-1])


@SOME
@given(st.lists(splices(), max_size=6))
def test_splices_make_of_a_file_what_they_say_or_are_a_misfit(found: list[Splice]) -> None:
    try:
        made = spliced(FILES, found)
    except Misfit:
        ranges = [(one.start, one.end) for one in dict.fromkeys(found)]
        assert len(ranges) > 1
        return
    for path, text in made.items():
        here = [one for one in dict.fromkeys(found) if one.path == path]
        assert len(text) == len(CONTENT) + sum(len(one.text) - (one.end - one.start) for one in here)
        expected = CONTENT
        for one in sorted(here, key=lambda one: (one.start, one.end), reverse=True):
            expected = expected[: one.start] + one.text + expected[one.end :]
        if len({(one.start, one.end) for one in here}) == len(here):
            assert text == expected


@SOME
@given(splices(), splices())
def test_being_in_the_way_has_no_direction_and_nobody_is_in_its_own(one: Splice, other: Splice) -> None:
    assert clash(one, other) == clash(other, one)
    assert not clash(one, one)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((0, 3), (3, 5), False),
        ((0, 4), (3, 5), True),
        ((3, 3), (3, 3), True),
        ((3, 3), (3, 5), True),
        ((0, 3), (3, 3), True),
        ((0, 3), (4, 4), False),
        ((0, 9), (4, 4), True),
    ],
)
def test_neighbours_do_not_clash_but_what_is_added_at_an_edge_does(
    one: tuple[int, int], other: tuple[int, int], expected: bool
) -> None:
    assert clash(Splice("a", *one, b"x"), Splice("a", *other, b"y")) is expected
    assert not clash(Splice("a", *one, b"x"), Splice("b", *other, b"y"))


@pytest.mark.parametrize(
    ("splice", "told"),
    [
        (Splice("c", 0, 0, b""), "c is not there"),
        (Splice("a", 9, 11, b""), "bytes 9-11 are not in a"),
        (Splice("a", -1, 1, b""), "bytes -1-1 are not in a"),
        (Splice("a", 5, 4, b""), "bytes 5-4 are not in a"),
    ],
)
def test_a_splice_outside_of_its_file_is_a_misfit(splice: Splice, told: str) -> None:
    with pytest.raises(Misfit, match=told):
        spliced(FILES, [splice])


def test_the_same_splice_of_two_offers_counts_once() -> None:
    same = Splice("a", 2, 4, b"x")
    assert apart([(same,), (same,)]) == (0, 1)
    assert spliced(FILES, [same, same]) == {"a": b"01x456789"}


@SOME
@given(splices(), splices())
def test_a_splice_follows_its_place_in_a_file_that_changed_elsewhere(one: Splice, other: Splice) -> None:
    """Where it says that it can be made on the changed file, both orders give the same."""
    one, other = Splice("a", one.start, one.end, one.text), Splice("a", other.start, other.end, other.text)
    now = spliced(FILES, [other])["a"]
    here = moved(one, CONTENT, now)
    if here is None or clash(one, other) or one == other:
        return
    assert spliced({"a": now}, [here])["a"] == spliced(FILES, [one, other])["a"]


def test_what_stands_where_the_file_changed_is_not_found_again() -> None:
    assert moved(Splice("a", 3, 5, b""), CONTENT, b"012xy56789") is None
    assert moved(Splice("a", 0, 2, b""), CONTENT, b"012xy56789") == Splice("a", 0, 2, b"")
    assert moved(Splice("a", 6, 8, b""), CONTENT, b"012long56789") == Splice("a", 8, 10, b"")


@SOME
@given(st.binary(max_size=8), st.binary(max_size=8))
def test_unchanged_ends_never_overlap(old: bytes, new: bytes) -> None:
    before, after_ = unchanged_ends(old, new)
    assert before + after_ <= min(len(old), len(new))
    assert old[:before] == new[:before]
    assert old[len(old) - after_ :] == new[len(new) - after_ :]
    assert (before + after_ == len(old) == len(new)) is (old == new)
