"""Reports of linters and type checkers: what real ones say, and that any other bytes end in remarks or in the one named error.

The reports under ``data/reports`` were printed by ruff 0.17.6, mypy 2.4.1, pyright 1.1.414, ESLint 10.15.0, TypeScript 7.0.2,
ShellCheck 0.9.0, hadolint 2.15.1, sqlfluff 4.5.0, zizmor 1.32.0, go vet 1.19.8 and gcc 12.2, and cut to a few results; paths are
below ``/src``. The one of actionlint has its messages in the form that its documentation gives.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.evidence.parsers import (
    actionlint,
    checkstyle,
    eslint,
    gnu,
    hadolint,
    mypy,
    pyright,
    rdjson,
    ruff,
    sarif,
    shape,
    shellcheck,
    sqlfluff,
    tsc,
    zizmor,
)
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable

Reader = Callable[[bytes], tuple[Remark, ...]]

REPORTS = Path(__file__).parents[1] / "data" / "reports"
READERS: dict[str, Reader] = {
    "actionlint/actionlint.json": actionlint.read,
    "checkstyle/hadolint.xml": checkstyle.read,
    "checkstyle/shellcheck.xml": checkstyle.read,
    "eslint/eslint.json": eslint.read,
    "gnu/gcc.txt": gnu.read,
    "gnu/go_vet.txt": gnu.read,
    "gnu/hadolint.txt": gnu.read,
    "gnu/ruff.txt": gnu.read,
    "gnu/ruff_pylint.txt": gnu.read,
    "gnu/shellcheck.txt": gnu.read,
    "hadolint/hadolint.json": hadolint.read,
    "mypy/mypy.jsonl": mypy.read,
    "mypy/mypy.txt": mypy.read,
    "mypy/no_place.jsonl": mypy.read,
    "mypy/places.txt": mypy.read,
    "pyright/pyright.json": pyright.read,
    "rdjson/ruff.json": rdjson.read,
    "ruff/ruff.json": ruff.read,
    "sarif/hadolint.sarif": sarif.read,
    "sarif/ruff.sarif": sarif.read,
    "sarif/sqlfluff.sarif": sarif.read,
    "sarif/zizmor.sarif": sarif.read,
    "shellcheck/shellcheck.json": shellcheck.read,
    "shellcheck/shellcheck.json1": shellcheck.read,
    "sqlfluff/sqlfluff.json": sqlfluff.read,
    "tsc/options.txt": tsc.read,
    "tsc/tsc.txt": tsc.read,
    "zizmor/zizmor.json": zizmor.read,
}
DOCUMENTS = {name: reader for name, reader in READERS.items() if name.endswith(("json", "json1", "sarif"))}
EVERY_READER = sorted({*READERS.values(), rdjson.read_lines}, key=lambda reader: f"{reader.__module__} {reader.__name__}")

leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4), max_leaves=8
)


def report(name: str) -> bytes:
    return (REPORTS / name).read_bytes()


def remarks(name: str) -> tuple[Remark, ...]:
    return READERS[name](report(name))


def dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def read_or_refused(reader: Reader, data: bytes) -> None:
    try:
        found = reader(data)
    except Unreadable:
        return
    assert len(found) <= shape.MAX_REMARKS
    for remark in found:
        assert all(type(number) is int and number >= 0 for number in (remark.line, remark.end_line, remark.column))
        assert all(isinstance(text, str) and "\0" not in text for text in (remark.path, remark.message, remark.rule or ""))
        assert remark.rule != ""
        assert isinstance(remark.grade, Grade)


def places(root: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to all values inside a document."""
    items = root.items() if isinstance(root, dict) else enumerate(root) if isinstance(root, list) else ()
    return [path, *(place for key, value in items for place in places(value, (*path, key)))]


@st.composite
def nearly(draw: st.DrawFn, document: Any) -> bytes:
    """A document with one value replaced by some other, or left out."""
    changed = deepcopy(document)
    *way, last = draw(st.sampled_from(places(document)[1:]))
    inner = changed
    for key in way:
        inner = inner[key]
    if draw(st.booleans()):
        inner[last] = draw(anything | st.sampled_from([-1, 0, 10**9 + 1, 2**63, "", "none", "\x00", [None], [{}], {}, True]))
    else:
        del inner[last]
    return dumped(changed)


@pytest.mark.parametrize("reader", EVERY_READER, ids=lambda reader: f"{reader.__module__.rpartition('.')[2]}.{reader.__name__}")
@given(data=st.binary(max_size=300) | anything.map(dumped) | st.lists(anything, max_size=3).map(dumped))
def test_any_bytes_are_read_or_refused(reader: Reader, data: bytes) -> None:
    read_or_refused(reader, data)


@pytest.mark.parametrize("name", DOCUMENTS)
@given(choice=st.data())
def test_a_report_that_is_wrong_in_one_place_is_read_or_refused(name: str, choice: st.DataObject) -> None:
    data = choice.draw(nearly(json.loads(report(name))))
    read_or_refused(READERS[name], data)


@pytest.mark.parametrize("name", READERS)
@given(choice=st.data())
def test_a_report_with_some_bytes_changed_is_read_or_refused(name: str, choice: st.DataObject) -> None:
    whole = report(name)
    start = choice.draw(st.integers(0, len(whole)))
    end = choice.draw(st.integers(start, min(len(whole), start + 200)))
    read_or_refused(READERS[name], whole[:start] + choice.draw(st.binary(max_size=4)) + whole[end:])


@pytest.mark.parametrize("name", READERS)
def test_a_real_report_is_read_whole(name: str) -> None:
    found = remarks(name)
    assert found
    read_or_refused(READERS[name], report(name))
    assert all(remark.message.strip() for remark in found)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_report_cut_off_is_one_error(name: str) -> None:
    with pytest.raises(Unreadable):
        READERS[name](report(name).rstrip()[:-1])


ALIKE = (
    ("ruff/ruff.json", "sarif/ruff.sarif", {"rule", "grade"}),
    ("ruff/ruff.json", "rdjson/ruff.json", {"rule", "grade"}),
    ("sqlfluff/sqlfluff.json", "sarif/sqlfluff.sarif", {"message"}),
    ("hadolint/hadolint.json", "sarif/hadolint.sarif", {"end_line"}),
    ("zizmor/zizmor.json", "sarif/zizmor.sarif", {"rule"}),
    ("shellcheck/shellcheck.json", "shellcheck/shellcheck.json1", set()),
    ("mypy/mypy.jsonl", "mypy/places.txt", set()),
)


@pytest.mark.parametrize(("one", "other", "differs"), ALIKE, ids=lambda name: name if isinstance(name, str) else "")
def test_a_tool_says_the_same_in_two_formats(one: str, other: str, differs: set[str]) -> None:
    names = ({"path", "line", "message", "rule", "grade", "end_line", "column"}) - differs
    first, second = ([{name: getattr(remark, name) for name in names} for remark in remarks(each)] for each in (one, other))
    assert first == second


def test_of_very_many_remarks_the_first_are_kept() -> None:
    comment = {"file": "a.sh", "line": 1, "code": 2086, "message": "quote", "level": "info"}
    found = shellcheck.read(dumped([{**comment, "line": number} for number in range(1, shape.MAX_REMARKS + 2)]))
    assert len(found) == found[-1].line == shape.MAX_REMARKS


def test_ruff_names_the_rule_and_none_for_what_it_cannot_parse() -> None:
    found = remarks("ruff/ruff.json")
    assert found[0] == Remark("/src/lint.py", 1, "`os` imported but unused", "F401", Grade.ERROR, end_line=1, column=8)
    assert [remark.rule for remark in found if remark.path.endswith("syntax.py")] == [None, None]


def test_ruff_before_it_told_severities_is_read() -> None:
    place = {"row": 3, "column": 1}
    item = {"code": None, "filename": "a.py", "location": place, "end_location": place, "message": "SyntaxError: invalid"}
    old = ruff.read(dumped([item, {**item, "code": "F401"}]))
    assert [(remark.rule, remark.grade) for remark in old] == [(None, Grade.ERROR), ("F401", Grade.WARNING)]


def test_pyright_counts_from_0_and_its_rule_may_be_missing() -> None:
    found = remarks("pyright/pyright.json")
    assert (found[0].line, found[0].column, found[0].rule) == (7, 12, "reportReturnType")
    assert next((remark.line, remark.grade) for remark in found if remark.rule is None) == (19, Grade.NOTE)


def test_pyright_s_remark_on_a_whole_file_has_no_line() -> None:
    item = {"file": "/src/a.py", "severity": "warning", "message": "Import cycles not allowed"}
    assert pyright.read(dumped({"generalDiagnostics": [item]})) == (Remark("/src/a.py", 0, "Import cycles not allowed"),)


def test_eslint_s_suppressed_results_and_ignored_files_are_left_out() -> None:
    found = remarks("eslint/eslint.json")
    assert [(remark.path, remark.line, remark.rule) for remark in found] == [
        ("/src/broken.js", 1, None),
        ("/src/shop.js", 2, "no-unused-vars"),
        ("/src/shop.js", 3, "eqeqeq"),
        ("/src/shop.js", 4, "no-undef"),
    ]
    assert [remark.grade for remark in found] == [Grade.ERROR, Grade.WARNING, Grade.ERROR, Grade.ERROR]


def test_shellcheck_s_codes_become_names_of_rules() -> None:
    found = {remark.rule: remark.grade for remark in remarks("shellcheck/shellcheck.json1")}
    assert (found["SC2045"], found["SC2164"], found["SC2086"]) == (Grade.ERROR, Grade.WARNING, Grade.NOTE)


def test_actionlint_knows_errors_only() -> None:
    first, second = remarks("actionlint/actionlint.json")
    assert (first.path, first.line, first.column, first.rule) == (".github/workflows/ci.yml", 10, 24, "expression")
    assert first.grade is second.grade is Grade.ERROR


def test_sqlfluff_s_older_names_are_read() -> None:
    violation = {"line_no": 2, "line_pos": 5, "code": "L010", "description": "Keywords"}
    old = sqlfluff.read(dumped([{"filepath": "a.sql", "violations": [violation, {**violation, "warning": True}]}]))
    assert [(remark.line, remark.column, remark.grade) for remark in old] == [(2, 5, Grade.ERROR), (2, 5, Grade.WARNING)]


def test_zizmor_s_primary_place_counts_and_what_is_ignored_does_not() -> None:
    found = json.loads(report("zizmor/zizmor.json"))
    assert [location["symbolic"]["kind"] for location in found[1]["locations"]] == ["Related", "Primary"]
    assert zizmor.read(dumped(found))[1].message.endswith("default permissions used due to no permissions: block")
    found[0]["ignored"] = True
    assert len(zizmor.read(dumped(found))) == len(found) - 1


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ({"Local": {"prefix": ".", "given_path": "./ci.yml"}}, "./ci.yml"),
        ({"Remote": {"slug": {"owner": "o", "repo": "r"}, "path": ".github/workflows/ci.yml"}}, ".github/workflows/ci.yml"),
    ],
)
def test_zizmor_s_other_places_are_read(key: dict[str, Any], path: str) -> None:
    finding = json.loads(report("zizmor/zizmor.json"))[0]
    finding["locations"][0]["symbolic"]["key"] = key
    assert zizmor.read(dumped([finding]))[0].path == path


DIAGNOSTIC = {
    "message": "m",
    "location": {"path": "a.go", "range": {"start": {"line": 5, "column": 23}, "end": {"line": 6, "column": 1}}},
}


@pytest.mark.parametrize(
    ("severity", "grade"),
    [("ERROR", Grade.ERROR), (1, Grade.ERROR), (2, Grade.WARNING), ("INFO", Grade.NOTE), (3, Grade.NOTE), (0, Grade.WARNING)],
)
def test_a_diagnostic_of_reviewdog_is_graded_by_word_or_number(severity: object, grade: Grade) -> None:
    item = {**DIAGNOSTIC, "severity": severity, "code": {"value": "X1"}}
    assert rdjson.read_lines(dumped(item) + b"\n\n") == (Remark("a.go", 5, "m", "X1", grade, end_line=5, column=23),)


def test_a_diagnostic_is_as_grave_as_its_document_where_it_does_not_say() -> None:
    said = {**DIAGNOSTIC, "severity": "INFO"}
    found = rdjson.read(dumped({"severity": "ERROR", "diagnostics": [DIAGNOSTIC, said]}))
    assert [remark.grade for remark in found] == [Grade.ERROR, Grade.NOTE]


def test_a_diagnostic_may_be_of_a_whole_file() -> None:
    assert rdjson.read_lines(dumped({"message": "m", "location": {"path": "a.go"}})) == (Remark("a.go", 0, "m"),)


CHECKSTYLE = b"<checkstyle version='10'><file name='A.java'>%b</file></checkstyle>"


def test_checkstyle_s_remarks_may_lack_everything_but_a_message() -> None:
    assert checkstyle.read(CHECKSTYLE % b"<error message='m'/><other/>") == (Remark("A.java", 0, "m"),)


def test_a_file_over_which_checkstyle_failed_is_said() -> None:
    found = checkstyle.read(CHECKSTYLE % b"<exception><![CDATA[\nTreeWalker: expecting EOF\n]]></exception>")
    assert found == (Remark("A.java", 0, "TreeWalker: expecting EOF", grade=Grade.ERROR),)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<testsuites/>", "its root is not <checkstyle>"),
        (b"<!DOCTYPE a><checkstyle/>", "it has a document type"),
        (CHECKSTYLE % b"<error line='1'/>", "<error> without 'message'"),
        (CHECKSTYLE % b"<error line='1e9' message='m'/>", "'line' of <error> is not the number"),
        (CHECKSTYLE % b"<error line='1234567890' message='m'/>", "'line' of <error> is not the number"),
        (CHECKSTYLE % "<error line='١' message='m'/>".encode(), "'line' of <error> is not the number"),
        (b"<checkstyle><file/></checkstyle>", "<file> without 'name'"),
    ],
)
def test_other_xml_is_one_error(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        checkstyle.read(data)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({}, "the report is not a list"),
        ([1], "an item of the report is not an object"),
        ([{"file": "a", "line": 1}], "it lacks 'message'"),
        ([{"file": "a", "line": True, "message": "m"}], "'line' is not the number of a line"),
        ([{"file": "a", "line": 1.5, "message": "m"}], "'line' is not the number of a line"),
        ([{"file": ["a"], "line": 1, "message": "m"}], "'file' is not a text"),
    ],
)
def test_json_of_another_shape_is_one_error_with_the_reason(document: Any, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        hadolint.read(dumped(document))
