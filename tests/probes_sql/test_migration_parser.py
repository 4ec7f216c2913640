"""The report of migrations is untrusted text: it is read as a whole, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import migration
from reviewbot.evidence.parsers.migration import MigrationReport, Stage, Step
from reviewbot.evidence.parsers.remark import Unreadable

RECORDS: tuple[dict[str, Any], ...] = (
    {"type": "start", "server": "15.4"},
    {"type": "history", "what": "edited", "path": "m/1.sql"},
    {"type": "role", "name": "clerk"},
    {"type": "role", "name": "clerk"},
    {"type": "error", "stage": "fresh", "path": "m/2.sql", "line": 3, "code": "42703", "message": "no", "statement": "SELECT x"},
    {"type": "fact", "what": "lock", "path": "", "line": 0, "statement": "s", "object": "public.t", "detail": "ShareLock"},
    {"type": "change", "object": "table public.t", "base": None, "head": ""},
    {"type": "difference", "object": "table public.t", "upgraded": "", "fresh": None},
    {"type": "plan", "side": "base", "path": "a", "name": "q", "cost": 8, "nodes": [[0, "Index Scan", "t", "t_i"]], "error": ""},
    {"type": "plan", "side": "head", "path": "a", "name": "q", "cost": 25.5, "nodes": [[0, "Seq Scan", "t", ""]], "error": ""},
    {"type": "left_out", "what": "fact", "count": 3},
    {"type": "finish"},
)


def written(records: tuple[dict[str, Any], ...]) -> bytes:
    return b"".join(json.dumps({"n": number} | record).encode() + b"\n" for number, record in enumerate(records))


def refused(data: bytes) -> bool:
    """Whether the report is refused; the one error that may be raised."""
    try:
        assert isinstance(migration.read(data), MigrationReport)
    except Unreadable:
        return True
    return False


def test_a_report_is_read_as_a_whole() -> None:
    report = migration.read(written(RECORDS))
    assert report.server == "15.4"
    assert report.roles == ("clerk",)
    assert report.errors[0].stage is Stage.FRESH
    assert report.changes[0].first is None
    assert report.changes[0].second == ""
    assert report.left_out == (("fact", 3),)
    ((before, after),) = report.replanned()
    assert (before.steps, after.cost) == ((Step(0, "Index Scan", "t", "t_i"),), 25.5)


def test_a_report_cut_off_is_one_error() -> None:
    whole = written(RECORDS)
    assert all(refused(whole[:place]) for place in range(len(whole)))
    assert refused(whole + b"{")


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_a_line_left_out_or_said_twice_is_one_error(number: int) -> None:
    lines = written(RECORDS).splitlines(keepends=True)
    assert refused(b"".join(lines[:number] + lines[number + 1 :]))
    assert refused(b"".join([*lines[: number + 1], *lines[number:]]))


@pytest.mark.parametrize("extra", [{"type": "finish"}, {"type": "start", "server": "1"}, {"type": "party"}, {}, {"type": "note"}])
def test_a_record_that_is_too_much_is_one_error(extra: dict[str, Any]) -> None:
    assert refused(written((*RECORDS[:-1], extra, RECORDS[-1])))


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.sampled_from(["lock", "base", "edited"])
)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=3))


@given(st.sampled_from(range(len(RECORDS))), st.data())
def test_a_field_of_another_kind_is_read_or_refused(number: int, data: st.DataObject) -> None:
    record = RECORDS[number]
    key = data.draw(st.sampled_from(sorted(record)))
    changed = {**record, key: data.draw(values)}
    refused(written((*RECORDS[:number], changed, *RECORDS[number + 1 :])))


@given(st.sampled_from(range(len(RECORDS))), st.data())
def test_a_field_left_out_is_refused(number: int, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(RECORDS[number])))
    less = {name: value for name, value in RECORDS[number].items() if name != key}
    assert refused(written((*RECORDS[:number], less, *RECORDS[number + 1 :])))


@given(st.binary(max_size=300) | st.lists(values).map(lambda many: b"".join(json.dumps(one).encode() + b"\n" for one in many)))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert refused(data)
