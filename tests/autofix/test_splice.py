"""Splices put together: in any order the same bytes, and none that touches another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.autofix.splice import apart, merged
from reviewbot.domain.repair import Edit
from reviewbot.errors import PatchError
from reviewbot.ports import Splice

FILE = b"0123456789"


def test_splices_of_several_files_become_whole_files():
    splices = (Splice("b", 0, 1, b"B"), Splice("a", 8, 10, b""), Splice("a", 0, 0, b"<"), Splice("a", 3, 5, b"three-four"))
    assert merged({"a": FILE, "b": b"b", "c": b"c"}, splices) == (Edit("a", b"<012three-four567"), Edit("b", b"B"))


def test_a_file_that_stays_as_it_is_is_left_out():
    assert merged({"a": FILE}, ()) == ()
    assert merged({"a": FILE}, (Splice("a", 1, 2, b"1"),)) == ()


def test_one_splice_said_twice_is_one():
    again = (Splice("a", 1, 2, b"x"), Splice("a", 5, 5, b"y"), Splice("a", 1, 2, b"x"), Splice("a", 5, 5, b"y"))
    assert merged({"a": FILE}, again) == (Edit("a", b"0x234y56789"),)


@pytest.mark.parametrize(
    "splices",
    [
        (Splice("a", 1, 4, b"x"), Splice("a", 3, 5, b"y")),
        (Splice("a", 1, 4, b"x"), Splice("a", 4, 5, b"y")),
        (Splice("a", 1, 4, b"x"), Splice("a", 4, 4, b"y")),
        (Splice("a", 1, 4, b"x"), Splice("a", 1, 1, b"y")),
        (Splice("a", 1, 4, b"x"), Splice("a", 1, 4, b"y")),
        (Splice("a", 2, 2, b"x"), Splice("a", 2, 2, b"y")),
        (Splice("a", 0, 9, b"x"), Splice("a", 3, 4, b"y")),
    ],
)
def test_splices_that_touch_each_other_are_an_error_in_either_order(splices: tuple[Splice, ...]):
    for order in (splices, splices[::-1]):
        with pytest.raises(PatchError, match="touch"):
            merged({"a": FILE}, order)
        assert apart([(one,) for one in order]) == ((0,), (1,))
    assert apart([splices]) == ((), (0,))


@pytest.mark.parametrize(
    "splice", [Splice("a", 0, 11, b""), Splice("a", -1, 0, b""), Splice("a", 5, 4, b""), Splice("z", 0, 0, b"")]
)
def test_a_place_that_is_not_there_is_an_error(splice: Splice):
    with pytest.raises(PatchError):
        merged({"a": FILE}, (splice,))


def test_the_earlier_of_two_groups_is_chosen_and_a_group_is_never_torn():
    groups = (
        (Splice("a", 0, 1, b"x"), Splice("b", 0, 1, b"x")),
        (Splice("a", 5, 6, b"y"), Splice("b", 1, 2, b"y")),
        (Splice("a", 5, 6, b"z"),),
        (),
        (Splice("a", 0, 1, b"x"), Splice("a", 8, 9, b"w")),
    )
    assert apart(groups) == ((0, 2, 4), (1, 3)), "what is the same in two groups keeps neither out"


SPLICES = st.builds(
    lambda path, start, length, text: Splice(path, start, min(start + length, 10), text),
    st.sampled_from("ab"),
    st.integers(0, 10),
    st.integers(0, 4),
    st.binary(max_size=2),
)


@given(groups=st.lists(st.lists(SPLICES, max_size=3).map(tuple), max_size=8), data=st.data())
def test_what_is_chosen_gives_the_same_bytes_in_any_order(groups: list[tuple[Splice, ...]], data: st.DataObject):
    chosen, left = apart(groups)
    assert sorted((*chosen, *left)) == list(range(len(groups)))
    splices = [splice for position in chosen for splice in groups[position]]
    files = {"a": FILE, "b": b"abcdefghij"}
    once = merged(files, splices)
    assert merged(files, data.draw(st.permutations(splices))) == once
    written = {**files, **{edit.path: edit.content or b"" for edit in once}}
    for path, content in files.items():
        mine = {splice for splice in splices if splice.path == path}
        assert len(written[path]) == len(content) + sum(len(splice.text) - (splice.end - splice.start) for splice in mine)
        by_hand = content
        for splice in sorted(mine, key=lambda splice: -splice.start):
            by_hand = by_hand[: splice.start] + splice.text + by_hand[splice.end :]
        assert by_hand == written[path]
    for position in left:
        if groups[position]:
            earlier = [splice for before in chosen if before < position for splice in groups[before]]
            with pytest.raises(PatchError):
                merged(files, (*earlier, *groups[position]))
