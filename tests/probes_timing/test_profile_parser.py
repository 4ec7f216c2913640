"""What timers and profilers wrote, real reports and any other bytes: read, or refused with the one error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import profile
from reviewbot.evidence.parsers.profile import Profile, Spot, TimingReport, Unit
from reviewbot.evidence.parsers.remark import Unreadable

DATA = Path(__file__).parent / "data"
TIMED = {"calls": 3, "seconds": [0.5, 0.25], "profile": [["a.py", 3, "work", 9, 0.125, 1.5]], "error": ""}


def data(name: str) -> bytes:
    return (DATA / name).read_bytes()


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_times_of_rounds_are_read_with_the_profile() -> None:
    report = profile.read(dumped(TIMED))
    assert (report.calls, report.seconds, report.error) == (3, (0.5, 0.25), "")
    assert report.profile == Profile(Unit.SECONDS, 0.0, (Spot("a.py", 3, "work", 0.125, 1.5, 9),))


def test_a_snippet_that_raised_has_no_times() -> None:
    report = profile.read(dumped(TIMED | {"calls": 0, "seconds": [], "error": "KeyError"}))
    assert (report.seconds, report.error) == ((), "KeyError")


@pytest.mark.parametrize(
    "change",
    [
        {"seconds": []},
        {"seconds": [0.5, 0]},
        {"seconds": [-1.0]},
        {"seconds": [True]},
        {"seconds": "12"},
        {"calls": 0},
        {"calls": -3},
        {"calls": 1.5},
        {"error": "but also times"},
        {"error": None},
        {"profile": [["a.py", 3, "work", 9, 0.125]]},
        {"profile": [["a.py", "3", "work", 9, 0.125, 1.5]]},
        {"profile": None},
    ],
)
def test_times_that_no_probe_writes_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        profile.read(dumped(TIMED | change))


def test_go_s_processor_time_is_read_in_seconds() -> None:
    read = profile.read_pprof(data("pprof_cpu.txt"))
    assert (read.unit, round(read.total, 6)) == (Unit.SECONDS, 0.34)
    spots = {spot.function: spot for spot in read.spots}
    assert spots["runtime.memmove"] == Spot("", 0, "runtime.memmove", pytest.approx(0.12), pytest.approx(0.12))
    assert (round(spots["runtime.lockWithRank"].own, 6), round(spots["runtime.lockWithRank"].whole, 6)) == (0.01, 0.09)
    assert [spot.whole for spot in read.spots] == sorted((spot.whole for spot in read.spots), reverse=True)


def test_go_s_lines_are_read_with_their_places() -> None:
    spots = [spot for spot in profile.read_pprof(data("pprof_lines.txt")).spots if spot.function == "runtime.memmove"]
    assert [(spot.path, spot.line) for spot in spots] == [
        ("/usr/lib/go-1.19/src/runtime/memmove_amd64.s", 372),
        ("/usr/lib/go-1.19/src/runtime/memmove_amd64.s", 375),
    ]


def test_go_s_memory_is_read_in_bytes_and_its_objects_as_a_count() -> None:
    memory = profile.read_pprof(data("pprof_bytes.txt"))
    assert (memory.unit, memory.total) == (Unit.BYTES, 731.16 * 2**20)
    assert memory.spots[0].function == "example.com/gob.join"
    assert {spot.own for spot in memory.spots[1:]} == {0.0}
    objects = profile.read_pprof(data("pprof_objects.txt"))
    assert (objects.unit, objects.total) == (Unit.COUNT, 713569)
    assert {spot.function: spot.own for spot in objects.spots}["runtime.main"] == 5461


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("10ns", 1e-8), ("10us", 1e-5), ("1.50s", 1.5), ("2.05mins", 123), ("1.5hrs", 5400), ("-20ms", -0.02)],
)
def test_each_unit_of_pprof_is_known(written: str, seconds: float) -> None:
    text = f"flat  flat%   sum%        cum   cum%\n  {written} 50.00% 50.00%  {written} 50.00%  main.(*T).f[go.shape.int_0] (inline)\n"
    (spot,) = profile.read_pprof(text.encode()).spots
    assert spot.function == "main.(*T).f[go.shape.int_0]"
    assert (spot.own, spot.whole) == (pytest.approx(seconds), pytest.approx(seconds))


@pytest.mark.parametrize(
    "row",
    [
        "10ms 50% 50% 10ms",
        "10parsecs 1% 1% 10parsecs 1% f",
        "10ms 1% 1% 10MB 1% f",
        "ten 1% 1% ten 1% f",
        "1e999s 1% 1% 1e999s 1% f",
        "3 1% 1% 10ms 1% f",
    ],
)
def test_rows_that_pprof_does_not_write_are_refused(row: str) -> None:
    with pytest.raises(Unreadable):
        profile.read_pprof(f"flat flat% sum% cum cum%\n{row}\n".encode())


def test_stacks_are_summed_up_by_function() -> None:
    read = profile.read_stacks(data("pyspy.txt"))
    assert (read.unit, read.total) == (Unit.COUNT, 97)
    spots = {spot.function: (spot.path, spot.line, spot.own, spot.whole) for spot in read.spots}
    assert spots == {
        "<module>": ("busy.py", 8, 0, 96),
        "outer": ("busy.py", 7, 0, 96),
        "inner": ("busy.py", 3, 18, 96),
        "inner.<locals>.<genexpr>": ("busy.py", 3, 78, 78),
    }


def test_processes_and_threads_are_no_functions() -> None:
    read = profile.read_stacks(data("pyspy_threads.txt"))
    assert [spot.function for spot in read.spots] == ["inner", "<module>", "outer", "inner.<locals>.<genexpr>"]


def test_a_function_that_calls_itself_counts_once_and_stands_at_its_hottest_line() -> None:
    read = profile.read_stacks(b"walk (a.py:2);walk (a.py:2);walk (a.py:5) 7\nwalk (a.py:3) 2\nmain;read_all 1\n")
    assert read.spots == (
        Spot("a.py", 5, "walk", 9, 9),
        Spot("", 0, "read_all", 1, 1),
        Spot("", 0, "main", 0, 1),
    )


@pytest.mark.parametrize("text", ["", "\n", " 1\n", "no samples\n", "f 1\ng\n", "f -1\n", "f 1.5\n", "f " + "9" * 40])
def test_stacks_without_samples_are_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        profile.read_stacks(text.encode())


READERS: tuple[Callable[[bytes], Profile | TimingReport], ...] = (profile.read, profile.read_pprof, profile.read_stacks)
pieces = st.sampled_from(
    [
        "flat flat% sum% cum cum%\n",
        "10ms ",
        "50.00% ",
        "0 ",
        "main.f",
        " (inline)",
        "\n",
        "f (a.py:12)",
        ";",
        " 42\n",
        "thread (1)",
        "1e9s ",
        "-3 ",
    ]
)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=3))


@given(
    st.binary(max_size=200)
    | st.lists(pieces, max_size=20).map(lambda many: "".join(many).encode())
    | st.fixed_dictionaries({"calls": leaves, "seconds": values, "profile": values, "error": leaves}).map(dumped)
)
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    for read in READERS:
        try:
            found = read(text)
        except Unreadable:
            continue
        spots = found.spots if isinstance(found, Profile) else found.profile.spots
        assert all(spot.function or spot.path or spot.line >= 0 for spot in spots)
        if isinstance(found, TimingReport):
            assert bool(found.seconds) != bool(found.error)


@given(st.lists(st.tuples(st.lists(st.sampled_from("abc"), min_size=1, max_size=6), st.integers(1, 99)), min_size=1, max_size=6))
def test_own_samples_of_all_functions_are_all_samples(stacks: list[tuple[list[str], int]]) -> None:
    text = "".join(f"{';'.join(f'{name} (f.py:{line})' for line, name in enumerate(names))} {count}\n" for names, count in stacks)
    read = profile.read_stacks(text.encode())
    assert sum(spot.own for spot in read.spots) == read.total == sum(count for _, count in stacks)
    assert all(spot.own <= spot.whole <= read.total for spot in read.spots)
