"""Coverage and benchmarks: untrusted numbers become lines and seconds, or the one named error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import coverage_xml, hyperfine, pytest_benchmark
from reviewbot.evidence.parsers.coverage_xml import Lines
from reviewbot.evidence.parsers.remark import Unreadable

REPORTS = Path(__file__).parents[1] / "data" / "reports"


def coverage(name: str) -> coverage_xml.CoverageReport:
    return coverage_xml.read((REPORTS / "coverage_xml" / name).read_bytes())


def of_lines(lines: str, file: str = "a.py", prologue: str = "") -> coverage_xml.CoverageReport:
    classes = f'<class filename="{file}"><lines>{lines}</lines></class>'
    return coverage_xml.read(
        f"{prologue}<coverage><packages><package><classes>{classes}</classes></package></packages></coverage>".encode()
    )


def numbers(*values: int) -> frozenset[int]:
    return frozenset(values)


def test_pytest_cov_tells_which_statements_ran():
    report = coverage("pytest_cov.xml")
    assert report.files == {
        "__init__.py": Lines(numbers(), numbers()),
        "price.py": Lines(numbers(1, 3, 4, 5, 6, 8, 11), numbers(7, 12)),
    }
    assert report.sources == ("/src/shop",)


def test_c8_counts_every_line_and_istanbul_statements():
    every = coverage("c8.xml").files["lib/price.js"]
    assert (every.missed, every.executed | every.missed) == (numbers(12, 13, 14), frozenset(range(1, 17)))
    assert coverage("istanbul.xml").files["lib/price.js"] == Lines(numbers(4, 5, 6, 7, 9, 16), numbers(13))
    assert coverage("istanbul.xml").sources == ("/src",)


def test_gocover_names_files_by_their_package():
    assert coverage("gocover.xml").files == {"example.com/shop/calc/calc.go": Lines(numbers(4, 8), numbers(5, 6, 7, 11, 12, 13))}


def test_classes_of_one_file_are_joined():
    first = '<class filename="a.go"><lines><line number="1" hits="0"/><line number="2" hits="0"/></lines></class>'
    second = '<class filename="a.go"><lines><line number="1" hits="7"/></lines></class>'
    data = f"<coverage><packages><package><classes>{first}{second}</classes></package></packages></coverage>"
    assert coverage_xml.read(data.encode()).files == {"a.go": Lines(numbers(1), numbers(2))}


def test_a_line_zero_is_no_line():
    assert of_lines('<line number="0" hits="1"/><line number="3" hits="0"/>').files == {"a.py": Lines(numbers(), numbers(3))}


@pytest.mark.parametrize(
    "line",
    [
        '<line number="x" hits="1"/>',
        '<line number="1"/>',
        '<line hits="1"/>',
        '<line number="-1" hits="1"/>',
        '<line number="1" hits="1.5"/>',
    ],
)
def test_a_line_without_its_numbers_is_refused(line: str):
    with pytest.raises(Unreadable, match="number or its hits"):
        of_lines(line)


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE coverage SYSTEM "http://cobertura.sourceforge.net/xml/coverage-04.dtd">',
        "<?xml version='1.0'?>\n<!DOCTYPE coverage SYSTEM 'coverage-04.dtd'>\n",
        "<!DOCTYPE coverage>",
    ],
)
def test_a_document_type_that_only_names_is_passed_over(prologue: str):
    assert set(of_lines('<line number="1" hits="1"/>', prologue=prologue).files) == {"a.py"}


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE coverage [<!ENTITY a "b">]>',
        '<!DOCTYPE coverage SYSTEM "x" [<!ENTITY a "b">]>',
        '<!DOCTYPE coverage SYSTEM "x"><!DOCTYPE coverage SYSTEM "x">',
        '<!-- c --><!DOCTYPE coverage SYSTEM "x">',
    ],
)
def test_a_document_type_that_may_declare_is_refused(prologue: str):
    with pytest.raises(Unreadable):
        of_lines("", prologue=prologue)


def test_endless_blanks_are_refused_at_once():
    with pytest.raises(Unreadable):
        coverage_xml.read(b" " * 1_000_000 + b"<!DOCTYPE coverage" + b" " * 1_000_000)


def test_entities_mean_nothing():
    with pytest.raises(Unreadable):
        of_lines("", file="&a;", prologue='<!DOCTYPE coverage SYSTEM "x">')


@pytest.mark.parametrize("data", [b"", b"{}", b"<testsuites/>", (REPORTS / "coverage_xml" / "c8.xml").read_bytes()[:700]])
def test_what_is_no_coverage_report_is_one_error(data: bytes):
    with pytest.raises(Unreadable, match="no coverage report"):
        coverage_xml.read(data)


TAGS = st.sampled_from(["coverage", "packages", "package", "classes", "class", "lines", "line", "sources", "source", "method"])
ATTRIBUTES = st.sampled_from(
    ["", " filename='a.py'", " number='1' hits='2'", " number='3' hits='0'", " number='x'", " hits='" + "9" * 30 + "'"]
)
NESTED = st.recursive(
    st.sampled_from(["", "/src", "<line number='1' hits='1'/>"]),
    lambda inner: st.builds(lambda tag, attributes, body: f"<{tag}{attributes}>{body}</{tag}>", TAGS, ATTRIBUTES, inner),
)


@given(st.binary(max_size=200) | NESTED.map(str.encode))
def test_any_bytes_are_coverage_or_refused(data: bytes):
    try:
        report = coverage_xml.read(data)
    except Unreadable:
        return
    for lines in report.files.values():
        assert not lines.executed & lines.missed
        assert 0 not in lines.executed | lines.missed


def test_pytest_benchmark_tells_each_round():
    timings = pytest_benchmark.read((REPORTS / "pytest_benchmark" / "full.json").read_bytes())
    assert [(timing.name, len(timing.seconds)) for timing in timings] == [
        ("test_bench.py::test_half[1]", 5),
        ("test_bench.py::test_half[2]", 5),
        ("test_bench.py::test_sum", 4),
    ]
    assert timings[0].seconds[0] == pytest.approx(5.4681e-08, rel=1e-3)


def test_without_rounds_the_median_is_the_only_one():
    timings = pytest_benchmark.read((REPORTS / "pytest_benchmark" / "saved.json").read_bytes())
    document = json.loads((REPORTS / "pytest_benchmark" / "saved.json").read_bytes())
    assert [timing.seconds for timing in timings] == [(benchmark["stats"]["median"],) for benchmark in document["benchmarks"]]


def test_hyperfine_tells_each_run():
    timings = hyperfine.read((REPORTS / "hyperfine" / "two.json").read_bytes())
    assert [(timing.name, len(timing.seconds)) for timing in timings] == [("named", 3), ("sleep 0.02", 3)]
    assert timings[0].seconds == (0.01098593632, 0.01088908632, 0.01082740532)


def test_a_command_too_short_to_be_timed_is_left_out():
    timings = hyperfine.read((REPORTS / "hyperfine" / "too_short.json").read_bytes())
    assert [timing.name for timing in timings] == ["sleep 0.001", "sleep 0.002"], "'true' took no longer than the shell"


def test_where_nothing_could_be_timed_the_error_says_what_to_do():
    with pytest.raises(Unreadable, match="let each round do more work"):
        hyperfine.read(dumped({"results": [{"command": "true", "times": [0.0, 0.1]}]}))


def test_a_command_run_twice_is_told_twice():
    again = {"command": "c", "times": [1]}
    assert [timing.name for timing in hyperfine.read(dumped({"results": [again, again]}))] == ["c", "c (2)"]


def test_a_report_without_benchmarks_has_none():
    assert hyperfine.read(b'{"results": []}') == ()
    assert pytest_benchmark.read(b'{"benchmarks": []}') == ()


@pytest.mark.parametrize(
    "result",
    [
        {"command": "c"},
        {"command": "c", "times": ["1"]},
        {"command": "c", "times": [True]},
        {"command": "c", "times": [-1]},
        {"command": "c", "mean": None},
        {"times": [1]},
        {"command": 3, "times": [1]},
        [],
        None,
    ],
)
def test_a_result_of_another_shape_is_one_error(result: Any):
    with pytest.raises(Unreadable):
        hyperfine.read(dumped({"results": [{"command": "good", "times": [1]}, result]}))


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=8
)
NUMBERS = st.lists(st.floats(1e-9, 10) | leaves, max_size=4) | anything
KEYS = {
    "command": st.text(max_size=5) | leaves,
    "fullname": st.text(max_size=5) | leaves,
    "times": NUMBERS,
    "median": leaves,
    "mean": leaves,
}
STATISTICS = st.fixed_dictionaries(
    {"stats": st.fixed_dictionaries({}, optional={"data": NUMBERS, "median": leaves, "mean": leaves}) | anything}
)
RESULTS = st.lists(st.fixed_dictionaries({}, optional=KEYS) | anything, max_size=4) | anything
BENCHMARKS = st.lists(
    st.builds(lambda a, b: {**a, **b}, st.fixed_dictionaries({}, optional=KEYS), STATISTICS) | anything, max_size=4
)
DOCUMENTS = st.fixed_dictionaries({"results": RESULTS, "benchmarks": BENCHMARKS | anything}) | anything


@pytest.mark.parametrize("read", [hyperfine.read, pytest_benchmark.read])
@given(data=st.binary(max_size=100) | DOCUMENTS.map(dumped))
def test_any_bytes_are_timings_or_refused(read: Any, data: bytes):
    try:
        timings = read(data)
    except Unreadable:
        return
    assert len({timing.name for timing in timings}) == len(timings)
    assert all(timing.name and timing.seconds and min(timing.seconds) > 0 for timing in timings)
