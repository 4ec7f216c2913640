"""The reports of the formal probes are untrusted text: they are read, or refused with the one named error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import formal
from reviewbot.evidence.parsers.formal import Called, Ending, FormalReport, Judged, Replayed, Searched, Unable
from reviewbot.evidence.parsers.remark import Unreadable

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8
)
outcomes = st.dictionaries(
    st.sampled_from(
        ["returns", "raises", "exits", "hangs", "mutated", "printed", "private", "holds", "line", "message", "skipped"]
    ),
    leaves | anything,
    max_size=6,
)
records = st.fixed_dictionaries(
    {"type": st.sampled_from(["counterexample", "none", "unable", "replayed", "finish", "else"])},
    optional={
        "arguments": st.lists(leaves, max_size=3) | anything,
        "by": leaves | st.lists(leaves, max_size=3),
        "base": outcomes,
        "head": outcomes,
        "outcome": outcomes,
        "condition": leaves,
        "calls": leaves,
        "bound": leaves,
        "exhausted": leaves,
        "cut": leaves,
        "code": leaves,
        "reason": leaves,
    },
)


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@given(st.binary(max_size=300) | st.lists(records | anything, max_size=4).map(lambda values: lines(*values)))
def test_a_report_is_read_or_refused(data: bytes) -> None:
    try:
        report = formal.read(data)
    except Unreadable:
        return
    for result in report.results:
        assert isinstance(hash(result), int)
        assert not isinstance(result, formal.Counterexample) or (result.judged is None) == (result.base is not None)


FINISH = {"type": "finish"}
ONE = {"returns": "1"}
FOUND = {
    "type": "counterexample",
    "arguments": ["1"],
    "by": "hypothesis",
    "base": ONE,
    "head": {"raises": "KeyError", "message": "'a'"},
}


def test_a_report_says_whether_it_came_to_its_end() -> None:
    assert formal.read(b"") == FormalReport((), finished=False)
    assert not formal.read(lines(FOUND)).finished
    assert formal.read(lines(FOUND)).results == formal.read(lines(FOUND, FINISH)).results
    assert formal.read(lines(FOUND, FINISH)).finished


def test_each_kind_of_line_is_read() -> None:
    none = {"type": "none", "by": ["z3"], "bound": "all", "exhausted": True, "cut": False, "condition": "spec_a"}
    unable = {"type": "unable", "code": "import", "reason": "no such module"}
    replayed = {"type": "replayed", "outcome": {"hangs": 4.0, "mutated": {"b": "1", "a": "2"}}}
    judged = {"type": "replayed", "outcome": {"holds": None, "raises": "TypeError", "line": 3}}
    found = formal.read(lines(none, unable, replayed, judged, FINISH)).results
    assert found[0] == Searched(("z3",), "all", exhausted=True, cut=False, condition="spec_a")
    assert found[1] == Unable("import", "no such module")
    assert found[2] == Replayed(Called(Ending.HANGS, "", mutated=(("a", "2"), ("b", "1"))))
    assert found[3] == Replayed(Judged(holds=None, raises="TypeError", line=3))


@pytest.mark.parametrize(
    "record",
    [
        dict(FOUND, head=ONE),
        dict(FOUND, head={}),
        dict(FOUND, head={"returns": "2", "raises": "KeyError"}),
        dict(FOUND, arguments="1"),
        dict(FOUND, arguments=[1]),
        {"type": "counterexample", "arguments": [], "by": "z3", "outcome": {"holds": True}},
        {"type": "counterexample", "arguments": [], "by": "z3", "outcome": {}},
        {"type": "none", "by": "z3", "bound": "all", "exhausted": 1, "cut": False},
        {"type": "unable", "code": "import"},
        {"type": "replayed", "outcome": {"exits": True}},
        {"type": "start"},
        {},
        [],
        FINISH,
    ],
)
def test_a_line_that_contradicts_itself_spoils_the_report(record: Any) -> None:
    with pytest.raises(Unreadable):
        formal.read(lines(record, FINISH))


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [
        ({"returns": "1"}, {"returns": "1", "printed": "'a'"}, True),
        ({"returns": "1"}, {"returns": "1", "mutated": {"a": "[]"}}, True),
        ({"raises": "KeyError", "message": "a"}, {"raises": "KeyError", "message": "b"}, False),
        ({"hangs": 2.0}, {"hangs": 4.0}, False),
        ({"hangs": 2.0}, {"exits": 1}, True),
        (
            {"returns": "A()", "private": {"names": ["A._x"], "text": "1"}},
            {"returns": "A()", "private": {"names": ["A._x"], "text": "2"}},
            True,
        ),
        (
            {"returns": "A()", "private": {"names": ["A._x"], "text": "1"}},
            {"returns": "A()", "private": {"names": ["A._y"], "text": "2"}},
            False,
        ),
    ],
)
def test_what_makes_two_calls_different(one: dict[str, Any], other: dict[str, Any], differ: bool) -> None:
    calls = [
        result.outcome
        for result in formal.read(lines({"type": "replayed", "outcome": one}, {"type": "replayed", "outcome": other})).results
        if isinstance(result, Replayed)
    ]
    here, there = calls
    assert isinstance(here, Called)
    assert isinstance(there, Called)
    assert here.differs(there) is there.differs(here) is differ
