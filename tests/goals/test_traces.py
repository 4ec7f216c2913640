"""What a report speaks of is found in the tree, whatever wrote it; and hypotheses are read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.context import traces
from reviewbot.debate import diagnosis
from reviewbot.debate.minutes import Minutes
from reviewbot.debate.papers import Papers
from reviewbot.debate.patterns import hypotheses
from reviewbot.debate.strict import InvalidReply
from reviewbot.testing import a_dossier, a_passage, a_seat
from tests.debate.conversation import local_seat, talked
from tests.goals.house import hypothesis

TREE = (
    "src/shop/cart.py", "shop/pages.py", "tests/test_pages.py", "pkg/sum.go", "web/cart.ts",
    "src/main/java/com/acme/Cart.java", "src/main.rs", "lib/cart.rb", "a/util.py", "b/util.py", "c/util.py", "d/util.py",
)  # fmt: skip
PYTHON = """\
Traceback (most recent call last):
  File "/usr/lib/python3/site-packages/shop/cart.py", line 10, in total
    return page_count(1)
  File "/app/shop/pages.py", line 3, in page_count
    return items // size
shop.errors.EmptyCartError: no items
"""


@pytest.mark.parametrize(
    ("text", "places"),
    [
        (PYTHON, [("shop/pages.py", 3), ("src/shop/cart.py", 10)]),
        ("E  shop/pages.py:3: in page_count", [("shop/pages.py", 3)]),
        ("pkg.F(0x1)\n\t/home/x/go/pkg/sum.go:12 +0x1d", [("pkg/sum.go", 12)]),
        ("TypeError: x\n    at Object.f (file:///repo/web/cart.ts:12:5)", [("web/cart.ts", 12)]),
        ("  at com.acme.Cart.total(Cart.java:42)", [("src/main/java/com/acme/Cart.java", 42)]),
        ("thread 'main' panicked at src/main.rs:12:5:", [("src/main.rs", 12)]),
        ("/srv/app/lib/cart.rb:7:in `total'", [("lib/cart.rb", 7)]),
        (r"C:\work\shop\pages.py:12: error", [("shop/pages.py", 12)]),
        ("in shop/pages.py, line 5 it fails", [("shop/pages.py", 5)]),
        ("see pages.py and shop/cart.py please", [("shop/pages.py", 0), ("src/shop/cart.py", 0)]),
        ("util.py is wrong", []),
        ("a/util.py:3 is wrong", [("a/util.py", 3)]),
        ("other/pages.py:3", []),
        ("nothing of the kind", []),
    ],
)
def test_places_of_a_report_are_found_in_the_tree(text: str, places: list[tuple[str, int]]):
    assert list(traces.located(traces.read(text).places, TREE)) == places


def test_names_and_exceptions_are_told_the_innermost_function_first():
    found = traces.read(PYTHON + "\nCalling `Cart.total()` with an empty_cart breaks.")
    assert found.names[:2] == ("page_count", "total")
    assert {"Cart", "empty_cart"} <= set(found.names)
    assert found.exceptions == ("EmptyCartError",)


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([*"./:\\\"'`()", "at ", 'File "', "a.py", "line 3", "\n", "Error"])).map("".join)
)
def test_any_text_is_read(text: str):
    found = traces.read(text)
    for path, line in traces.located(found.places, TREE):
        assert path in TREE
        assert line >= 0


@pytest.mark.parametrize("part", ["a", "a.", "a/", 'File "', "at x(", "`a", "x.py:", "A", "a.b"])
def test_a_long_line_of_anything_is_read_to_its_cap(part: str):
    found = traces.read(part * 60_000)
    assert len(found.places) <= traces.MOST_PLACES
    assert len(found.names) <= traces.MOST_NAMES


def answer(**fields: Any) -> str:
    return json.dumps({"hypotheses": [hypothesis("a.py", 3, "def test(): pass") | fields]})


def test_a_hypothesis_is_read():
    (found,) = diagnosis.hypotheses(answer())
    assert (found.path, found.line, found.title) == ("a.py", 3, "the last page is lost")
    assert found.check.source == "def test(): pass"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (answer(check=None), "needs a check"),
        (answer(line=-1), "is the number of no line"),
        (answer(title=" "), "it is empty"),
        (answer(more=1), "unknown"),
        ('{"hypotheses": 3}', "a list of at most"),
        ("[]", "an object is wanted"),
        ("{", "not valid JSON"),
        (json.dumps({"hypotheses": [hypothesis("a.py", 1, "")] * 11}), "at most 10"),
    ],
)
def test_what_is_no_hypothesis_is_one_error(text: str, fault: str):
    with pytest.raises(InvalidReply, match=fault):
        diagnosis.hypotheses(text)


@given(
    st.text(max_size=80)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=9),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    ).map(json.dumps)
)
def test_any_answer_is_read_or_is_one_error(text: str):
    try:
        diagnosis.hypotheses(text)
    except InvalidReply:
        return


PAPERS = Papers((a_dossier(a_passage("a.py", "one\ntwo", changed=())),))


def formed(seats: list[Any], said: dict[str, list[dict[str, Any]] | str], most: int = 5) -> hypotheses.Formed:
    talk = talked(
        hypotheses.form("it fails", PAPERS, Minutes(tuple(seats)), most=most, seconds=60.0),
        lambda ask: found if isinstance(found := said[ask.seat.name], str) else json.dumps({"hypotheses": found}),
    )
    return talk.end


def one(title: str, source: str = "") -> dict[str, Any]:
    return hypothesis("a.py", 1, source or f"# {title}", title=title)


def test_each_seats_first_comes_before_anybodys_second_and_what_several_hold_before_all():
    seats = [a_seat("critic"), a_seat("tester"), a_seat("reviewer")]
    said = {"tester": [one("A"), one("B")], "critic": [one("C"), one("D", "same")], "reviewer": [one("E", "same")]}
    found = formed(seats, said).hypotheses
    assert [hypothesis.title for hypothesis in found] == ["E", "A", "C", "B"]
    assert found[0].by == ("reviewer", "critic")
    assert [hypothesis.title for hypothesis in formed(seats, said, most=2).hypotheses] == ["E", "A"]


def test_who_writes_checks_is_asked_first_and_local_models_where_nobody_else_sits():
    seats = [a_seat("optimizer"), a_seat("reviewer"), local_seat("formal"), a_seat("critic"), a_seat("tester")]
    assert [seat.name for seat in hypotheses.writers(seats)] == ["tester", "critic", "reviewer"]
    assert [seat.name for seat in hypotheses.writers([local_seat("critic")])] == ["critic"]
    assert hypotheses.writers([a_seat("critic", family="static")]) == []


def test_a_seat_without_a_valid_answer_is_asked_once_more_and_then_left_out():
    found = formed([a_seat("tester"), a_seat("critic")], {"tester": "no", "critic": [one("A")]})
    assert (found.asked, found.answered) == (("tester", "critic"), ("critic",))
