"""Reports of tools are untrusted text: whatever they hold, reading them ends in a value or in the one named error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import api, pytest_report
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.screen.strict_json import InvalidJson

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4), max_leaves=12
)
KEYS = st.sampled_from(
    [
        "type",
        "n",
        "id",
        "count",
        "lines",
        "outcome",
        "frames",
        "message",
        "text",
        "file",
        "line",
        "measured",
        "number",
        "code",
        "location",
    ]
)
VALUES = leaves | st.sampled_from(["start", "test", "collect", "lines", "begin", "finish", "attempt", "failed", "passed"])
records = st.dictionaries(KEYS, VALUES | anything, max_size=9)


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


@given(st.binary(max_size=400) | anything.map(dumped) | st.fixed_dictionaries({"breakages": anything}).map(dumped))
def test_the_report_of_breakages_is_read_or_refused(data: bytes) -> None:
    try:
        breakages = api.read(data)
    except InvalidJson:
        return
    assert all(isinstance(breakage.path, str) for breakage in breakages)


@given(st.lists(st.binary(max_size=60) | records.map(dumped), max_size=12))
def test_a_report_of_tests_is_always_read_and_never_sound_by_accident(lines: list[bytes]) -> None:
    report = pytest_report.read(b"".join(line + b"\n" for line in lines))
    if report.counts:
        assert any(b'"start"' in line for line in lines)
    assert set(report.failures) <= set(report.outcomes)


SESSION = (
    {"type": "attempt", "number": 0},
    {"type": "start", "n": 0, "measured": True},
    {"type": "collected", "n": 1, "count": 2},
    {"type": "begin", "n": 2, "id": "t.py::a", "at": 1},
    {
        "type": "test",
        "n": 3,
        "id": "t.py::a",
        "file": "t.py",
        "line": 1,
        "outcome": "passed",
        "phase": "call",
        "message": "",
        "frames": [],
        "text": "",
    },
    {"type": "lines", "n": 4, "id": "t.py::a", "lines": {"a.py": [1, 2]}},
    {"type": "begin", "n": 5, "id": "t.py::b", "at": 2},
    {"type": "finish", "n": 6},
)


def report_of(*session: dict[str, Any]) -> pytest_report.TestReport:
    return pytest_report.read(b"".join(dumped(record) + b"\n" for record in session))


def test_a_whole_report_counts() -> None:
    report = report_of(*SESSION)
    assert report.counts
    assert report.finished
    assert report.outcomes == {"t.py::a": TestOutcome.PASSED, "t.py::b": TestOutcome.UNFINISHED}
    assert report.executed["t.py::a"]["a.py"] == {1, 2}


@pytest.mark.parametrize("lost", range(1, len(SESSION) - 1))
def test_a_report_with_a_line_missing_does_not_count(lost: int) -> None:
    assert not report_of(*SESSION[:lost], *SESSION[lost + 1 :]).counts


@pytest.mark.parametrize("twice", range(1, len(SESSION)))
def test_a_report_with_a_line_too_many_does_not_count(twice: int) -> None:
    assert not report_of(*SESSION[: twice + 1], SESSION[twice], *SESSION[twice + 1 :]).counts


def test_a_report_that_was_cut_off_keeps_what_it_has() -> None:
    whole = b"".join(dumped(record) + b"\n" for record in SESSION[:6])
    report = pytest_report.read(whole + b'{"type": "beg')
    assert report.counts
    assert not report.finished
    assert report.of("t.py::a") is TestOutcome.PASSED


def test_only_the_last_attempt_counts() -> None:
    again = ({"type": "attempt", "number": 1}, *SESSION[1:3], {"type": "finish", "n": 2})
    report = report_of(*SESSION[:1], *again)
    assert (report.attempt, report.counts, dict(report.outcomes)) == (1, True, {})
