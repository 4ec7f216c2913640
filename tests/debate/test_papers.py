"""Which papers lie before whom, and who has read which line."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.debate.papers import Papers, Reading, lines
from reviewbot.domain.debate import Unread
from reviewbot.ports import Passage
from reviewbot.testing import a_claim, a_dossier, a_passage, a_seat
from tests.debate.conversation import local_seat, portions, rest
from tests.rings import examples

STRONG, SLOW = a_seat("critic"), local_seat("slow")


def test_small_papers_are_for_local_panelists_where_there_are_any() -> None:
    whole, small = portions("P1"), portions("L1", "L2")
    both = Papers(whole, small)
    assert (both.piles(STRONG), both.piles(SLOW)) == (whole, small)
    assert Papers(whole).piles(SLOW) == whole


def test_a_claim_is_argued_over_the_portion_that_shows_its_line() -> None:
    first = a_dossier(a_passage("a.py", "one\ntwo"), portion="P1", of=3)
    second = a_dossier(a_passage("a.py", "nine\nten", start=9), portion="P2", of=3)
    third = a_dossier(a_passage("b.py", "one"), portion="P3", of=3)
    papers = Papers((first, second, third), (third,))

    def found(path: str, line: int) -> str:
        return papers.about(a_claim(path, line, "x"), STRONG).portion

    assert (found("a.py", 2), found("a.py", 10), found("b.py", 1)) == ("P1", "P2", "P3")
    assert (found("a.py", 500), found("b.py", 500)) == ("P1", "P3"), "of the same file at least"
    assert found("gone.py", 1) == "P1", "something lies there always"
    assert papers.about(a_claim("a.py", 10, "x"), SLOW) is third


def test_what_counts_as_read_are_changed_lines_or_the_place_of_a_removal() -> None:
    assert sorted(lines(a_passage("a.py", "x\ny\nz", changed={2, 3}))) == [2, 3]
    assert list(lines(a_passage("a.py", "x\ny", start=7, changed=()))) == [7]


def test_the_readers_of_a_claim_are_those_of_its_best_read_line() -> None:
    (dossier,) = portions("P1", lines=4)
    reading = Reading()
    reading.add(dossier, ())
    reading.add(dossier, rest(dossier, 3))
    assert reading.of(a_claim("P1.py", 2, "x", end=3)) == 2
    assert reading.of(a_claim("P1.py", 3, "x")) == 1
    assert reading.of(a_claim("P1.py", 40, "x")) == 0
    assert reading.of(a_claim("b.py", 1, "x")) == 0


def test_a_file_read_in_part_says_how_much_of_it_and_by_how_many() -> None:
    (dossier,) = portions("P1", lines=4)
    reading = Reading()
    for unread in ((), rest(dossier, 2), rest(dossier, 2)):
        reading.add(dossier, unread)
    assert reading.missing(dossier.passages, 2, 3) == (
        Unread("P1.py", 3, whole=False, reason="3 of 4 changed lines were read by 1 of 3 panelists"),
    )
    assert reading.missing(dossier.passages, 1, 3) == ()
    assert reading.missing(dossier.passages, 4, 3)[0].whole


def cut(passage: Passage, at: int) -> tuple[Passage, Passage]:
    """Both parts of a passage, the second from line ``at`` on."""
    index = at - passage.start
    return (
        replace(passage, lines=passage.lines[:index], changed=frozenset(n for n in passage.changed if n < at)),
        replace(passage, start=at, lines=passage.lines[index:], changed=frozenset(n for n in passage.changed if n >= at)),
    )


@settings(max_examples=examples(60), derandomize=True)
@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.integers(1, 4))
def test_every_line_is_counted_once_for_each_who_was_shown_it(shown: list[int], needed: int) -> None:
    passage = a_passage("a.py", "\n".join("abcdefgh"))
    dossier, reading = a_dossier(passage), Reading()
    for upto in shown:
        reading.add(dossier, (cut(passage, upto + 1)[1],) if upto < 8 else ())
    for line in range(1, 9):
        assert reading.readers["a.py"][line] == sum(upto >= line for upto in shown)
    too_few = [line for line in range(1, 9) if reading.readers["a.py"][line] < needed]
    told = reading.missing((passage,), needed, len(shown))
    assert sum(unread.lines for unread in told) == len(too_few)
    assert [unread.whole for unread in told] == ([len(too_few) == 8] if too_few else [])
