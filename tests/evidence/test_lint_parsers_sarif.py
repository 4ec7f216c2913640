"""SARIF has many ways to say one thing. Section numbers are of the standard, version 2.1.0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reviewbot.evidence.parsers import sarif
from reviewbot.evidence.parsers.remark import Grade, Remark, Unreadable

PLACE = {"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 3}}}
RESULT = {"ruleId": "R1", "message": {"text": "m"}, "locations": [PLACE]}


def read(*results: dict[str, Any], **run: Any) -> tuple[Remark, ...]:
    return sarif.read(json.dumps({"version": "2.1.0", "runs": [{"results": results, **run}]}).encode())


def with_rules(*rules: dict[str, Any], **driver: Any) -> dict[str, Any]:
    return {"driver": {"name": "t", "rules": rules, **driver}}


def at(**location: Any) -> dict[str, Any]:
    return {**RESULT, "locations": [{"physicalLocation": {"artifactLocation": location}}]}


def test_a_result_is_a_remark() -> None:
    region = {"startLine": 3, "startColumn": 5, "endLine": 4, "endColumn": 2}
    place = {"physicalLocation": {"artifactLocation": {"uri": "src/a.py"}, "region": region}}
    found = read({**RESULT, "level": "error", "locations": [place]})
    assert found == (Remark("src/a.py", 3, "m", "R1", Grade.ERROR, end_line=4, column=5),)


def test_the_results_of_all_runs_are_read_and_none_is_no_error() -> None:
    runs = [{"results": [RESULT]}, {"results": None}, {}, {"results": [RESULT]}]
    assert len(sarif.read(json.dumps({"version": "2.1.0", "runs": runs}).encode())) == 2


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ([], "the report is not an object"),
        ({"runs": []}, "its version is not 2.1.0"),
        ({"version": "1.0.0", "runs": []}, "its version is not 2.1.0"),
        ({"version": "2.1.0"}, "it lacks 'runs'"),
        ({"version": "2.1.0", "runs": {}}, "'runs' is not a list"),
    ],
)
def test_another_document_is_one_error(document: Any, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        sarif.read(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("said", "rule", "grade"),
    [
        ({}, {}, Grade.WARNING),
        ({}, {"defaultConfiguration": {"level": "error"}}, Grade.ERROR),
        ({"level": "note"}, {"defaultConfiguration": {"level": "error"}}, Grade.NOTE),
        ({"level": "none"}, {}, Grade.NOTE),
        ({"level": "high"}, {}, Grade.WARNING),
    ],
)
def test_the_level_is_the_result_s_or_its_rule_s(said: dict[str, Any], rule: dict[str, Any], grade: Grade) -> None:
    assert read({**RESULT, **said}, tool=with_rules({"id": "R1", **rule}))[0].grade is grade


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"kind": "fail"}, True),
        ({"kind": "pass"}, False),
        ({"kind": "informational"}, False),
        ({"baselineState": "unchanged"}, True),
        ({"baselineState": "absent"}, False),
        ({"suppressions": []}, True),
        ({"suppressions": [{"kind": "inSource"}]}, False),
        ({"suppressions": [{"kind": "external", "status": "accepted"}]}, False),
        ({"suppressions": [{"kind": "external", "status": "underReview"}]}, True),
        ({"suppressions": [{"kind": "inSource"}, {"kind": "external", "status": "rejected"}]}, True),
    ],
)
def test_what_is_no_failure_or_suppressed_is_left_out(change: dict[str, Any], *, shown: bool) -> None:
    assert bool(read({**RESULT, **change})) is shown


@pytest.mark.parametrize(
    "reference",
    [
        {"ruleId": "B"},
        {"ruleId": "B/1/2"},
        {"ruleIndex": 1},
        {"rule": {"id": "B"}},
        {"rule": {"index": 1}},
        {"ruleId": "A", "rule": {"index": 1}},
    ],
)
def test_a_rule_is_named_in_many_ways(reference: dict[str, Any]) -> None:
    rules = ({"id": "A"}, {"id": "B", "defaultConfiguration": {"level": "error"}})
    result = {"message": {"text": "m"}, "locations": [PLACE], **reference}
    assert read(result, tool=with_rules(*rules))[0].grade is Grade.ERROR


@pytest.mark.parametrize(
    ("reference", "name"), [({"ruleId": "B/1"}, "B/1"), ({"rule": {"id": "B"}}, "B"), ({"ruleIndex": 0}, "A")]
)
def test_the_rule_is_called_as_the_result_calls_it(reference: dict[str, Any], name: str) -> None:
    assert read({"message": {"text": "m"}, **reference}, tool=with_rules({"id": "A"}))[0].rule == name


def test_a_rule_may_be_an_extension_s_as_codeql_s_are() -> None:
    extension = {"name": "queries", "rules": [{"id": "py/x", "defaultConfiguration": {"level": "error"}}]}
    reference = {"ruleId": "py/x", "rule": {"id": "py/x", "index": 0, "toolComponent": {"index": 0}}}
    assert read({**RESULT, **reference}, tool={**with_rules(), "extensions": [extension]})[0].grade is Grade.ERROR


@pytest.mark.parametrize("index", [-1, 5, True, "0", 1.0])
def test_an_index_of_nothing_is_no_rule(index: object) -> None:
    tool = with_rules({"id": "A", "defaultConfiguration": {"level": "error"}})
    assert read({**RESULT, "ruleIndex": index}, tool=tool)[0].grade is Grade.WARNING


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"text": "as {it} {{is}}"}, "as {it} {{is}}"),
        ({"text": "{0} and {1}, {{0}}", "arguments": ["x", "{0}"]}, "x and {0}, {0}"),
        ({"text": "{0} and {7}", "arguments": ["x"]}, "x and {7}"),
        ({"id": "default", "arguments": ["x"]}, "unused x"),
        ({"id": "shared"}, "of {all}"),
        ({"id": "unknown"}, "unknown"),
        ({"text": "depends on a [user-provided value](1)."}, "depends on a user-provided value."),
        ({}, "short"),
    ],
)
def test_a_message_is_a_text_or_the_name_of_one(message: dict[str, Any], text: str) -> None:
    rule = {"id": "R1", "messageStrings": {"default": {"text": "unused {0}"}}, "shortDescription": {"text": "short"}}
    tool = with_rules(rule, globalMessageStrings={"shared": {"text": "of {{all}}"}})
    assert read({**RESULT, "message": message}, tool=tool)[0].message == text


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/a%20b%C3%BC.py", "src/a bü.py"),
        ("100%.py", "100%.py"),
        ("file:///src/a.py", "/src/a.py"),
        ("FILE://localhost/src/a.py", "/src/a.py"),
        ("file:/src/a.py", "/src/a.py"),
        ("file:///C:/src/a.py", "C:/src/a.py"),
        ("file://host/share/a.py", "//host/share/a.py"),
        ("C:\\src\\a.py", "C:\\src\\a.py"),
        ("./a.py", "./a.py"),
        ("%FF.py", "\ufffd.py"),
    ],
)
def test_a_path_is_written_as_a_uri(uri: str, path: str) -> None:
    assert read(at(uri=uri))[0].path == path


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ({"uri": "a.py", "uriBaseId": "SRC"}, "/repo/web/a.py"),
        ({"uri": "a.py", "uriBaseId": "ROOT"}, "/repo/a.py"),
        ({"uri": "a.py", "uriBaseId": "%SRCROOT%"}, "a.py"),
        ({"uri": "file:///b/a.py", "uriBaseId": "SRC"}, "/b/a.py"),
        ({"uri": "a.py", "uriBaseId": "LOOP"}, "x/" * 8 + "a.py"),
        ({"index": 0}, "/repo/web/table.py"),
        ({"uri": "a.py", "index": 0}, "a.py"),
        ({"index": 7}, ""),
        ({"index": True}, ""),
    ],
)
def test_a_path_may_be_relative_to_others_or_in_the_table(location: dict[str, Any], path: str) -> None:
    bases = {
        "ROOT": {"uri": "file:///repo/"},
        "SRC": {"uri": "web/", "uriBaseId": "ROOT"},
        "%SRCROOT%": {"description": {"text": "the source"}},
        "LOOP": {"uri": "x/", "uriBaseId": "LOOP"},
    }
    artifacts = [{"location": {"uri": "table.py", "uriBaseId": "SRC"}}]
    assert read(at(**location), originalUriBaseIds=bases, artifacts=artifacts)[0].path == path


def test_a_path_with_nul_is_one_error() -> None:
    with pytest.raises(Unreadable, match="NUL"):
        read(at(uri="a%00.py"))


def test_a_text_that_would_grow_is_cut() -> None:
    rule = {"id": "R1", "messageStrings": {"default": {"text": "{0}" * 100_000}}}
    message = {"id": "default", "arguments": ["x" * 100_000]}
    assert len(read({**RESULT, "message": message}, tool=with_rules(rule))[0].message) == 4_000


def test_a_name_with_very_many_parts_is_the_rule_s_name_still() -> None:
    assert read({**RESULT, "ruleId": "R1" + "/x" * 500_000}, tool=with_rules({"id": "R1"}))[0].rule.startswith("R1/x/x")


@pytest.mark.parametrize("location", [{"uri": "x" * 2_001}, {"uri": "a.py", "uriBaseId": "LONG"}])
def test_a_uri_that_is_too_long_is_one_error(location: dict[str, Any]) -> None:
    with pytest.raises(Unreadable, match="more than 2000 characters"):
        read(at(**location), originalUriBaseIds={"LONG": {"uri": "x/" * 3_000}})


def test_a_result_without_a_place_is_kept() -> None:
    bare = {"ruleId": "R1", "message": {"text": "m"}}
    assert read(bare) == (Remark("", 0, "m", "R1"),)
    assert read({**bare, "analysisTarget": {"uri": "a.py"}}) == (Remark("a.py", 0, "m", "R1"),)


def test_golangci_lint_s_results_are_read() -> None:
    """It writes an index into a table that it does not write, and levels of the project's own."""
    place = {"artifactLocation": {"uri": "cmd/main.go", "index": 0}, "region": {"startLine": 12, "startColumn": 6}}
    result = {
        "ruleId": "errcheck",
        "level": "error",
        "message": {"text": "Error return value is not checked"},
        "locations": [{"physicalLocation": place}],
    }
    run = {"tool": {"driver": {"name": "golangci-lint"}}}
    expected = Remark("cmd/main.go", 12, "Error return value is not checked", "errcheck", Grade.ERROR, column=6)
    assert read(result, **run) == (expected,)
