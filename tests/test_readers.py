"""Reports of real tools, recorded, and what is wrong with those of broken ones."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest
from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.compare_tests import compare_tests
from reviewbot.checks.evidence import CheckRun
from reviewbot.checks.languages import LANGUAGES
from reviewbot.checks.languages.python import PYTEST, PYTHON, read_mypy, read_pyright, read_ty
from reviewbot.checks.project import Project
from reviewbot.checks.readers import READERS
from reviewbot.checks.run import read
from reviewbot.config.settings import OutputFormat
from reviewbot.git.change import Change
from reviewbot.sandbox.job import Completed

REPORTS = Path(__file__).parent / "data" / "reports"


def recorded(name: str) -> Completed:
    return Completed(outcome="ended", exit_code=1, stdout=(REPORTS / name).read_bytes())


def printed(text: str, exit_code: int = 0) -> Completed:
    stdout = text.encode(errors="surrogateescape")
    return Completed(outcome="ended", exit_code=exit_code, stdout=stdout)


@each(
    ("format_", "name", "count", "first"),
    [
        ("gnu", "gcc.txt", 4, ("warning", "a.c:3", "low")),
        ("gnu", "go_vet.txt", 2, ("message", "main.go:8", "low")),
        ("gnu", "shellcheck.txt", 5, ("SC2164", "deploy.sh:2", "low")),
        ("gnu", "tsc.txt", 2, ("TS2322", "src/cart (old).ts:1", "medium")),
        ("rdjson", "ruff.json", 6, ("F401", "/src/lint.py:1", "low")),
        ("github", "biome.txt", 9, ("lint/suspicious/noExplicitAny", "src/a.ts:3", "low")),
        ("github", "oxlint.txt", 3, ("oxlint", "src/c.ts:1", "medium")),
        ("sarif", "ruff.sarif", 6, ("F401", "/src/lint.py:1", "medium")),
        ("sarif", "sqlfluff.sarif", 4, ("PRS", "query.sql:3", "medium")),
        ("sarif", "zizmor.sarif", 3, ("zizmor/artipacked", ".github/workflows/ci.yml:7", "low")),
    ],
)
def test_linters(format_: OutputFormat, name: str, count: int, first: tuple[str, str, str]) -> None:
    found = READERS[format_][1](recorded(f"{format_}/{name}")).diagnostics
    assert len(found) == count
    assert (found[0].rule, str(found[0].location), found[0].severity) == first


def test_folders_with_spaces_and_letters_of_any_language() -> None:
    """Which reports write as URIs, and as escapes of JSON."""
    folder = "/home/josé/my repo"
    uri = {"uri": f"file://{quote(folder)}/a.py"}
    place = {"physicalLocation": {"artifactLocation": uri, "region": {"startLine": 3}}}
    results = [{"message": {"text": f"\n{folder}/b.py"}, "locations": [place]}]
    path = {"path": f"{folder}/a.py", "range": {"start": {"line": 3}}}
    reports = {
        "sarif": {"runs": [{"results": results}]},
        "rdjson": {"diagnostics": [{"message": f"\n{folder}/b.py", "location": path}]},
    }
    for format_, report in reports.items():
        check = Check(name="odd", kind="lint", globs=(), command=(), read=READERS[format_][1])
        completed = replace(printed(json.dumps(report)), project=folder)
        _, _, found = read(check, "head", completed)
        (bad,) = found.diagnostics
        assert (str(bad.location), bad.message) == ("a.py:3", "b.py")


MISTYPED = 'Incompatible return value type (got "int", expected "str")'


def test_type_checkers() -> None:
    note = b"setup.cfg: note: unused section(s): [mypy-tests.*]\n"
    plain = recorded("mypy/mypy.jsonl")
    with_note = replace(plain, stdout=note + plain.stdout + note)
    mypy = read_mypy(with_note)
    assert mypy == read_mypy(plain)
    assert (len(mypy.diagnostics), mypy.diagnostics[0].rule) == (6, "return-value")
    assert str(mypy.diagnostics[0].location) == "shop.py:7"
    stopped = read_mypy(replace(with_note, exit_code=2))
    assert (stopped.problem, stopped.diagnostics) == (f"shop.py:7: {MISTYPED}", ())
    blocker = {"file": "mypy.ini", "line": 3, "severity": "error", "code": None, "message": "x"}
    said = json.dumps(blocker).encode()
    assert read_mypy(replace(printed("", 2), stderr=said)).problem == "mypy.ini:3: x"
    older = replace(printed("", 2), stderr=b"mypy: error: unrecognized arguments: --output=json\n")
    with pytest.raises(ValueError, match=r"it is older than 1\.11: pip install -U mypy in its "):
        read_mypy(older)
    (check,) = (known for known in PYTHON.checks if known.name == "mypy")
    missing = replace(printed("", 1), stderr=b"/bin/python: No module named mypy\n")
    hint = "mypy is not installed for this project: install mypy into the project's environment"
    assert read(check, "head", missing)[:2] == ("not_run", hint)
    pyright = read_pyright(recorded("pyright/pyright.json")).diagnostics
    assert len(pyright) == 11
    assert (pyright[0].rule, str(pyright[0].location)) == ("reportReturnType", "/src/shop.py:7")
    said = [
        (found.rule, str(found.location)) for found in read_ty(recorded("ty/ty.sarif")).diagnostics
    ]
    assert said == [("invalid-explicit-return", "a.py:5"), ("unresolved-reference", "a.py:9")]
    for name in ("ty", "basedpyright"):
        (check,) = (known for known in PYTHON.checks if known.name == name)
        missing = replace(printed("", 1), stderr=f"/bin/python: No module named {name}\n".encode())
        hint = f"{name} is not installed for this project: install {name} into the project's envir"
        assert read(check, "head", missing)[1].startswith(hint)


@each(
    ("lines", "said"),
    [
        (['{"has_finished": true}'], "ran no test"),
        (['{"test": {"id": "a.py::a", "outcome": "skipped"}}', '{"has_finished": true}'], "ran no"),
        (['{"test": {"id": "a.py::a", "outcome": "passed"}}', '{"te'], "the run ended before its"),
        (['{"test": {"id": "a.py::a", "outcome": "passed"}}', '{"has_finished": true}'], ""),
    ],
)
def test_a_suite_that_ran_nothing_or_was_stopped_did_not_pass(lines: list[str], said: str) -> None:
    (pytest_,) = (known for known in PYTHON.checks if known.name == "pytest")
    completed = replace(printed(""), report="\n".join(lines).encode())
    outcome, reason, _ = read(pytest_, "head", completed)
    assert (outcome, reason[: len(said)]) == ("incomplete" if said else "ended", said)
    assert bool(said) is bool(reason)


@each(
    ("format_", "name", "passed", "failed", "skipped"),
    [
        *[("junit", "bats.xml", 3, 3, 2), ("junit", "go_junit_report.xml", 6, 11, 1)],
        *[("junit", "jest.xml", 3, 5, 1), ("junit", "node.xml", 5, 6, 2)],
        *[("junit", "pytest.xml", 4, 7, 2), ("junit", "surefire.xml", 1, 2, 1)],
        *[("junit", "vitest.xml", 1, 3, 2), ("tap", "ava.tap", 2, 2, 2)],
        *[("tap", "node.tap", 5, 4, 3), ("tap", "perl.tap", 2, 3, 2), ("tap", "tape.tap", 1, 3, 1)],
        ("tap", "vitest_nested.tap", 1, 3, 2),
    ],
)
def test_test_runners(
    format_: OutputFormat, name: str, passed: int, failed: int, skipped: int
) -> None:
    tests = READERS[format_][1](recorded(f"{format_}/{name}")).tests
    found = Counter("failed" if t.outcome == "error" else t.outcome for t in tests)
    assert (found["passed"], found["failed"], found["skipped"]) == (passed, failed, skipped)


@each(
    ("name", "problem"),
    [
        ("perl_bails_out.tap", "bailed out: no database"),
        *[("perl_dies.tap", "planned 3 tests, ran 1"), ("node.tap", "")],
    ],
)
def test_a_run_that_ended_early_says_so(name: str, problem: str) -> None:
    assert READERS["tap"][1](recorded(f"tap/{name}")).problem == problem


def test_names_of_tests_in_tap() -> None:
    """Subtests have those of their parents, others a number."""
    tests = READERS["tap"][1](recorded("tap/node.tap")).tests
    assert "nested::inner passes" in {test.id for test in tests}
    tests = READERS["tap"][1](printed("ok 1\n# a diagnostic\nok 2\nok\n1..3\n")).tests
    assert [test.id for test in tests] == ["test 1", "test 2", "test 3"]
    started = time.process_time()
    (test,) = READERS["tap"][1](
        printed(f"ok 1 a{' ' * 900}x#\nok 2 - adds  numbers  # TODO\n")
    ).tests
    assert (test.id, test.outcome) == ("adds  numbers", "skipped")
    assert time.process_time() - started < 2


def test_a_failed_test_has_its_message_and_where_it_fails() -> None:
    said = (
        ("jest", "<failure>ReferenceError: c is no\n  at c (src/sum.js:2:38)\n at o (a.js:1)"),
        ("node", "<failure message='6 == 4'>[cause]\n  at T (file://src/sum.js:2:9)"),
        ("vitest", "<failure message='6 == 4'>Error: six\n \u276f src/sum.js:2:38"),
        ("cargo", "<failure/><system-out>panicked at src/sum.js:2:9:\n at ./src/sum.js:2"),
    )
    for name, text in said:
        end = "</system-out>" if name == "cargo" else "</failure>"
        case = f"<testcase classname=' adds' name=' adds'>{text}{end}</testcase>"
        (test,) = READERS["junit"][1](printed(f"<testsuite>{case}</testsuite>", 1)).tests
        assert (test.id, test.outcome) == ("adds::adds", "failed"), name
        assert test.message in ("ReferenceError: c is no", "6 == 4", "panicked at src/sum.js:2:9:")
        assert str(test.frames[-1]) == "src/sum.js:2", name
        assert "src/sum.js:2" in test.output, name
        assert test.location is None, name
    case = '<testcase file="./tests/sum.py" line="7" name="adds"><failure/></testcase>'
    (test,) = READERS["junit"][1](printed(case, 1)).tests
    assert (test.id, str(test.location)) == ("tests/sum.py::adds", "tests/sum.py:7")


def test_a_failed_test_of_tap_has_its_message_and_where_it_fails() -> None:
    text = "not ok {0} - adds {0}\n  ---\n  {1}: '1 != 2'\n  at: f (t/{0}.js:2:3)\n"
    text += "      f (node_modules/tape/test.js:3:4)\n  ...\n"
    text = f"TAP version 13\n{text.format(1, 'message')}{text.format(2, 'error')}1..2\n"
    tests = READERS["tap"][1](printed(text)).tests
    assert [test.message for test in tests] == ["1 != 2", "1 != 2"]
    assert [[*map(str, test.frames)] for test in tests] == [["t/1.js:2"], ["t/2.js:2"]]


@each(
    ("format_", "text", "message"),
    [
        ("gnu", "cc: no such program \udcff", "no such program \ufffd"),
        ("gnu", f"INTERNALERROR> no loop {'x' * 400}", "^INTERNALERROR> no loop x+…$"),
        ("gnu", "/usr/lib/require.rb:85:in 'require': cannot load", "cannot load"),
        *[("sarif", "", "truncated"), ("sarif", "{}", "runs is missing")],
        ("sarif", '{"runs": [{"invocations": [{"executionSuccessful": false}]}]}', "failed"),
        ("sarif", '{"runs": ["\udcff"]}', "the report cannot be read: Invalid UTF-8"),
        ("sarif", '{"runs": [{"results": "none"}]}', "results is missing, or is no list"),
        ("rdjson", "Traceback", "Traceback"),
        ("rdjson", '{"diagnostics": [{"message": "no place"}]}', "location.path is missing"),
        ("github", "Failed to parse it.\n", "^Failed to parse it.$"),
        ("junit", "error: no tests", "error: no tests"),
        ("junit", "<testsuite><testcase ", "not a JUnit report"),
        ("junit", '<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>', "document type"),
        *[("tap", "command not found", "command not found"), ("tap", "", "printed no TAP")],
    ],
)
def test_what_is_no_report(format_: OutputFormat, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        READERS[format_][1](printed(text, exit_code=1))


@each(
    ("format_", "text"),
    [
        *[("gnu", "a.c:3: Warning: m"), ("sarif", '{"runs": [{"results": []}]}')],
        ("rdjson", '{"message": "m", "location": {"path": "a.c"}}'),
        ("github", "::error file=a.c,line=3::m"),
        *[("junit", "<testsuite><testcase name='m'/></testsuite>"), ("tap", "ok 1 - m\n1..1")],
    ],
)
def test_a_report_that_is_written_counts_and_not_what_is_printed(
    format_: OutputFormat, text: str
) -> None:
    expected = READERS[format_][1](printed(text))
    for stdout in (b"3 files, 1 problem", b""):
        beside = replace(printed(""), stdout=stdout, stderr=b"done", report=text.encode())
        assert READERS[format_][1](beside) == expected
    if format_ == "rdjson":
        with pytest.raises(ValueError, match="truncated"):
            READERS[format_][1](replace(beside, stderr=b"", report=b"{"))


def test_a_linter_that_ends_well_may_say_so() -> None:
    """Compilers print to the standard error."""
    assert READERS["gnu"][1](printed("3 files, no problem")).diagnostics == ()
    assert READERS["rdjson"][1](printed("")).diagnostics == ()
    assert READERS["tap"][1](printed("1..0")).tests == ()
    (found,) = READERS["gnu"][1](replace(printed(""), stderr=b"a.c:0: Warning: m")).diagnostics
    assert (found.message, found.location) == ("m", None)
    with pytest.raises(ValueError, match="no such option"):  # but not by complaints alone
        READERS["rdjson"][1](replace(printed("\n"), stderr=b"lint: no such option"))


def test_what_is_escaped_in_an_annotation() -> None:
    text = "::notice file=a%2Cb.c,line=3,col=1,title=x%3Ay::a,b.c:3:1: 50%25 of it%0Amore"
    (found,) = READERS["github"][1](printed(f"{text}\n::group::a.c")).diagnostics
    assert (found.rule, str(found.location), found.message) == ("x:y", "a,b.c:3", "50% of it")


def test_rdjson_beside_what_a_tool_says_of_its_progress() -> None:
    one = {"message": "m", "location": {"path": "a", "range": {"start": {"line": 3}}}}
    text = json.dumps({"severity": "ERROR", "diagnostics": [one, {**one, "severity": "INFO"}]})
    found = READERS["rdjson"][1](replace(printed(text), stderr=b"1 file checked")).diagnostics
    assert [(item.severity, str(item.location)) for item in found] == [
        ("medium", "a:3"),
        ("low", "a:3"),
    ]


def test_of_sarif_only_what_fails_and_is_not_suppressed_counts() -> None:
    results = [
        {"ruleId": "passed", "kind": "pass"},
        {"ruleId": "accepted", "suppressions": [{"kind": "inSource"}]},
        {"ruleId": "in question", "suppressions": [{"kind": "external", "status": "rejected"}]},
        {"rule": {"id": "failed"}, "kind": "fail"},
    ]
    text = json.dumps({"runs": [{"invocations": [{}], "results": results}]})
    found = READERS["sarif"][1](printed(text)).diagnostics
    assert [item.rule for item in found] == ["in question", "failed"]


POSITION = '{"row": 7, "column": 1}'
UNDEFINED = (
    '{"code": "F821", "message": "Undefined name `x` in /project/a.py, not /srv/project/a.py",'
    f' "filename": "/project/a.py", "location": {POSITION}, "end_location": {POSITION}}}'
)


@each(("check", "cut", "count"), [("ruff", UNDEFINED[:90], 2), ("pyright", "", 0)])
def test_what_was_read_of_a_long_output_is_kept(check: str, cut: str, count: int) -> None:
    """Messages do not name the folder in which the tool ran."""
    text = f"{UNDEFINED}\n{UNDEFINED}\n{cut}"
    flood = replace(printed(text, exit_code=1), is_cut=True)
    found = next(known for known in PYTHON.checks if known.name == check)
    outcome, reason, report = read(found, "head", flood)
    assert (outcome, reason) == ("incomplete", "printed too much")
    message = "Undefined name `x` in a.py, not /srv/project/a.py"
    said = [(str(item.location), item.message) for item in report.diagnostics]
    assert said == [("a.py:7", message)] * count


@pytest.mark.parametrize("format_", ["gnu", "tap"])
@settings(max_examples=50, deadline=None)
@given(text=st.text(alphabet=":#0123456789 aokntE-.{}[]\n\r\x00\u2028", max_size=200))
def test_any_text_is_read_or_refused(format_: OutputFormat, text: str) -> None:
    try:
        report = READERS[format_][1](printed(text))
    except ValueError:
        return
    assert all(found.location is None or found.location.line >= 0 for found in report.diagnostics)


def test_what_depends_on_installed_packages_is_no_error() -> None:
    error = {"file": "a.py", "line": 1, "severity": "error"}
    codes = "import-not-found untyped-decorator no-any-return no-any-unimported unused-ignore misc"
    lines = [json.dumps({**error, "code": code, "message": code}) for code in codes.split()]
    report = read_mypy(printed("\n".join(lines), 1))
    assert [found.rule for found in report.diagnostics] == ["misc"]


GO_EVENTS = """module . m
{{"Action": "output", "Package": "m", "Output": {text}}}
{{"Action": "output", "Package": "m", "Test": "T", "Output": {text}}}
{{"Action": "fail", "Package": "m", "Test": "T"}}
ended
"""
LIBTEST = """./{text}
built
     Running unittests src/lib.rs (target/debug/deps/a-1)

running 1 test
test a ... FAILED

failures:

---- a stdout ----
{text}

failures:
    a

ended
"""
NPM = '{{"tests": [{{"id": {text}, "outcome": "failed", "message": {text}, "output": {text}}}]}}'
JUNIT = "<testsuite><testcase name={text}><failure message={text}/></testcase></testsuite>"
# What tools print that a change wrote: patterns that look for their end again and again would take
# minutes for it.
ENDLESS = (
    *(*"_ \n:('[", "::", "\n ", " \n\n", "Error", "Error ", "test ", "not ok ", " Running ("),
    *("a.go:1: \n Error Trace:\n Error:\n\t", "\n a.go:1: \n Error Trace:\n Error:"),
    *("thread 'a' panicked at 'b', ", "\nthread 'a' panicked at a.rs:1:1:\n \n", "a.rs:0:a"),
    *("\na - b (line ", '{"reason":"src_path":"a","', "process didn't exit successfully: ("),
    *("cache/download/", "cannot import name 'a' from 'a", "FileNotFoundError: : ' "),
)


GO_TESTS = "".join(
    f'{{"Action": "{action}", "Package": "m", "Test": "T{number}", "Output": "x"}}\n'
    for number in range(4_000)
    for action in ("output", "fail")
)
CARGO_TESTS = "x\nbuilt\n     Running a.rs (target/a-1)\n\nrunning 1 test\ntest {}b ... ok\nended\n"
DOC_TESTS = "".join(f"a.rs - f (line {number}) ... ok\ntest " for number in range(20_000))


@each(
    ("name", "text"),
    [
        ("go-test", f"module . m\n{GO_TESTS}ended\n"),
        ("go-test", "module . m\nm/a.go:1.1,999999999999.1 1 1\nended\n"),
        ("cargo-test", CARGO_TESTS.format("a::" * 800)),
        ("cargo-test", CARGO_TESTS.format(DOC_TESTS)),
        ("github", f"::error {'a' * 1_900}::x\n" * 100),
        ("github", "::error file=a.js,line=2,endLine=999999999999::x\n"),
        ("github", "::error file=a.js,line=999999999999::x\n"),
    ],
)
def test_what_names_much_takes_no_time_and_no_room(name: str, text: str) -> None:
    checks = {check.name: check for language in LANGUAGES for check in language.checks}
    custom = Check(name="github", kind="lint", read=READERS["github"][1], globs=(), command=())
    started = time.process_time()
    ended = Completed(outcome="ended", report=text.encode())
    _, _, report = read(checks.get(name, custom), "head", ended)
    assert time.process_time() - started < 1
    assert len(report.executed.get("a.go", ())) in (0, 1_000_001)
    places = [found.location for found in report.diagnostics if found.location]
    assert all(place.end_line - place.line <= 10_000 for place in places)
    assert all(place.line <= 10_000_000 for place in places)


@each("text", ENDLESS)
def test_what_a_change_prints_is_read_in_no_time(text: str) -> None:
    long = text * (15_000 // len(text))
    checks = [check for language in LANGUAGES for check in language.checks]
    for name, (kind, read_it) in READERS.items():
        checks.append(Check(name=name, kind=kind, read=read_it, globs=(), command=()))
    shapes = {"go-test": GO_EVENTS, "cargo-test": LIBTEST, "npm-test": NPM, "junit": JUNIT}
    for check in checks:
        shape = shapes.get(check.name, "{text}")
        quoted = long if check.name == "cargo-test" or shape == "{text}" else json.dumps(long)
        said = shape.format(text=quoted).encode()
        started = time.process_time()
        for fields in ({"report" if check.report else "stdout": said}, {"stderr": said}):
            ended = Completed(outcome="ended", exit_code=1, **fields)
            outcome, _, report = read(check, "head", ended)
            run = CheckRun(check=check.name, side="head", outcome=outcome, report=report)
            compare_tests(replace(run, side="base"), run, Change(files=()), Project(), {})
            for test in report.tests:
                assert max(len(test.id), len(test.message), len(test.output) // 8) <= 500
        assert time.process_time() - started < 0.2, check.name


def test_more_time_is_asked_for_where_a_late_run_says_why() -> None:
    for report, reason in (
        ('{"problem": "it is late"}\n', "it is late: set seconds of pytest under checks"),
        ("", "exit code 75"),
    ):
        written = f'{report}{{"has_finished": true}}\n'.encode()
        late = Completed(outcome="ended", exit_code=75, seconds=290, report=written)
        assert read(PYTEST, "head", late)[1] == reason
