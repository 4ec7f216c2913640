"""What is new: diagnostics and tests of base and head, matched by content."""

from __future__ import annotations

import difflib
import time
from typing import Literal

from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.compare import base_line_of, compare
from reviewbot.checks.compare_tests import lines_beside_removals
from reviewbot.checks.evidence import (
    CheckResult,
    CheckRun,
    Diagnostic,
    Evidence,
    Report,
    RunOutcome,
    TestOutcome,
    summarise,
)
from reviewbot.checks.project import Project
from reviewbot.checks.readers import read_gnu
from reviewbot.git.change import Change, ChangedFile, Hunk, Line, Location, Side
from reviewbot.severity import Severity
from reviewbot.verdict.decide import coverage_of


def hunks_of(before: list[str], after: list[str], context: int = 3) -> tuple[Hunk, ...]:
    """Hunks as git makes them."""
    hunks = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(context):
        lines = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [Line(before[i], i + 1, j1 + i - i1 + 1) for i in range(i1, i2)]
            else:
                lines += [Line(before[i], i + 1, None) for i in range(i1, i2)]
                lines += [Line(after[j], None, j + 1) for j in range(j1, j2)]
        hunks.append(Hunk("", tuple(lines)))
    return tuple(hunks)


def changed(
    before: str, after: str, path: str = "a.py", old_path: str = "", context: int = 3
) -> ChangedFile:
    return ChangedFile(
        path=path,
        old_path=old_path or path,
        status="modified",
        old_mode="100644",
        mode="100644",
        hunks=hunks_of(before.split("\n"), after.split("\n"), context),
    )


def change_of(*files: ChangedFile) -> Change:
    return Change(base_tree="1", head_tree="2", files=files)


def diagnostic(
    line: int, rule: str = "R1", message: str = "m", path: str = "a.py", severity: Severity = "low"
) -> Diagnostic:
    place = Location(path, line, line)
    return Diagnostic(rule=rule, message=message, severity=severity, location=place)


LINT = Check(name="lint", kind="lint", globs=("*",), command=("lint",), read=read_gnu)
COMPILER = Check(
    name="lint", kind="lint", globs=("*",), command=("cc",), read=read_gnu, distant_rules=("*",)
)


def lint(
    change: Change,
    base: list[Diagnostic],
    head: list[Diagnostic],
    check: Check = LINT,
    outcome: RunOutcome = "ended",
) -> list[tuple[str, int]]:
    def run(side: Side, found: list[Diagnostic]) -> CheckRun:
        return CheckRun(
            check="lint",
            side=side,
            outcome=outcome if side == "base" else "ended",
            files=tuple(file.path for file in change.files),
            report=Report(diagnostics=tuple(found)),
        )

    evidence = compare(change, (run("base", base), run("head", head)), Project(checks=(check,)))
    assert {r.cause for r in evidence.results} <= {""}  # each is a finding of its own
    return [(r.state, r.location.line if r.location else 0) for r in evidence.results]


MOVED = changed("x\nbad\ny\nz", "new\nnew\nx\nbad\ny\nz")
REPLACED = changed("a\nbad()\nb", "a\nbad(1)\nb")


LINTED = (
    # A file, what is said of it before and after, and the states of the latter.
    (MOVED, [diagnostic(2)], [diagnostic(4)], [("existing", 4)]),
    (MOVED, [], [diagnostic(1)], [("new", 1)]),
    (REPLACED, [diagnostic(2)], [diagnostic(2)], [("existing", 2)]),
    (REPLACED, [], [diagnostic(2)], [("new", 2)]),
    # Of an unchanged line, a linter that looks at one line at a time says nothing new.
    (REPLACED, [], [diagnostic(3)], [("existing", 3)]),
    # The same message of the same rule counts once for each that was there before.
    (MOVED, [diagnostic(2)], [diagnostic(1), diagnostic(4)], [("new", 1), ("existing", 4)]),
    (MOVED, [diagnostic(2, "R2")], [diagnostic(1)], [("new", 1)]),
    (REPLACED, [diagnostic(2, message="n")], [diagnostic(2)], [("new", 2)]),
    # What one part of a file no longer has, an added line of another may have anew.
    (
        changed("bad" + "\n" * 9, "\n" * 9 + "evil"),
        [diagnostic(1)],
        [diagnostic(10)],
        [("new", 10)],
    ),
    # A lone carriage return moves nothing out of sight.
    (
        changed("x = 1", "x = 1  # hi" + "\r" * 100 + "\nprint(undefined)"),
        *([], [diagnostic(102)], [("new", 102)]),
    ),
    (
        changed("bad\nx", "bad\ny", path="new.py", old_path="old.py"),
        *([diagnostic(1, path="old.py")], [diagnostic(1, path="new.py")], [("existing", 1)]),
    ),
)


def test_what_a_linter_says_is_new_or_was_there() -> None:
    for file, base, head, expected in LINTED:
        assert lint(change_of(file), base, head) == expected, (file, base, head)
    for outcome in ("incomplete", "not_run"):  # nothing is new where base did not end
        found = lint(change_of(REPLACED), [], [diagnostic(2)], outcome=outcome)
        assert found == [("existing", 2)]


def test_many_equal_diagnostics_are_matched_fast() -> None:
    base, head = ([diagnostic(line) for line in range(first, 5_000)] for first in (5, 7))
    started = time.process_time()
    assert {state for state, _ in lint(change_of(MOVED), base, head)} == {"existing"}
    assert time.process_time() - started < 5


def test_many_diagnostics_of_a_large_change_are_compared_fast() -> None:
    """Of one hunk, and of many."""
    lines = [Line("x", None, number) for number in range(1, 8_001)]
    found = [diagnostic(number, message=str(number)) for number in range(1, 8_001)]
    for hunks in ([lines], [[line] for line in lines[::2]]):
        file = replace(MOVED, hunks=tuple(Hunk("", tuple(hunk)) for hunk in hunks))
        started = time.process_time()
        states = [state for state, _ in lint(change_of(file), [], found)]
        assert time.process_time() - started < 5
        assert states.count("new") == sum(map(len, hunks))


def test_a_compiler_reports_what_a_change_elsewhere_causes() -> None:
    assert lint(change_of(REPLACED), [], [diagnostic(3)], COMPILER) == [("new", 3)]
    in_other_file = [diagnostic(9, path="other.py")]
    assert lint(change_of(REPLACED), [], in_other_file, COMPILER) == [("new", 9)]


def test_a_statement_may_be_reported_at_another_of_its_lines() -> None:
    assert lint(change_of(MOVED), [diagnostic(2)], [diagnostic(5)], COMPILER) == [("existing", 5)]


def test_documentation_says_what_is_meant_and_code_does_not() -> None:
    gone = replace(diagnostic(2, severity="medium"), subjects=(("old_name",),))
    for path, expected in (("CHANGES.md", "low"), ("b.py", "medium")):
        change = change_of(REPLACED, changed("", "Without old_name.", path=path))
        runs = (
            CheckRun(check="lint", side="base", outcome="ended"),
            CheckRun(
                check="lint", side="head", outcome="ended", report=Report(diagnostics=(gone,))
            ),
        )
        (result,) = compare(change, runs, Project(checks=(LINT,))).results
        assert result.severity == expected


def test_a_line_that_moves_between_files_takes_its_problem_along() -> None:
    source = changed("a\nbad = l\nb", "a\nb", path="old.py")
    target = changed("c\nd", "c\n    bad = l\nd", path="new.py")
    found = lint(
        change_of(source, target), [diagnostic(2, path="old.py")], [diagnostic(2, path="new.py")]
    )
    assert found == [("existing", 2)]


def test_an_added_noqa_blocks_the_block_but_hides_nothing() -> None:
    change = change_of(changed("x = 1", "x = 1\nf()  # noqa: F821"))
    found = (diagnostic(2, severity="high"),)
    runs = (
        CheckRun(check="lint", side="base", outcome="ended"),
        CheckRun(check="lint", side="head", outcome="ended", report=Report(diagnostics=found)),
    )
    (result,) = compare(change, runs, Project(checks=(LINT,))).results
    assert (result.state, result.severity) == ("new", "medium")


texts = st.lists(st.sampled_from("abcd"), max_size=12)


@settings(max_examples=50)
@given(texts, texts, st.integers(0, 3))
def test_unchanged_lines_are_found_on_the_other_side(
    before: list[str], after: list[str], context: int
) -> None:
    file = changed("\n".join(before), "\n".join(after), context=context)
    before, after = "\n".join(before).split("\n"), "\n".join(after).split("\n")
    found = [base_line_of(file, number) for number in range(1, len(after) + 1)]
    assert {number for number, line in enumerate(found, 1) if line is None} == file.added_lines
    unchanged = [line for line in found if line is not None]
    assert [before[line - 1] for line in unchanged] == [
        text for text, line in zip(after, found, strict=True) if line is not None
    ]
    assert unchanged == sorted(set(unchanged))


def test_the_gap_that_a_removal_leaves() -> None:
    assert lines_beside_removals(changed("a\nb\nc", "a\nc")) == {2}
    assert lines_beside_removals(changed("a\nb", "a")) == {1}
    assert lines_beside_removals(changed("a\nb", "a\nB")) == set()


def outcome(
    id: str, result: str = "failed", message: str = "assert 1", line: int = 1
) -> TestOutcome:
    path = id.partition("::")[0]
    kind = {"passed": "passed", "failed": "failed", "error": "error"}[result]
    return TestOutcome(
        id=id,
        outcome=kind,  # type: ignore[arg-type]  # a word of the table
        message=message if result != "passed" else "",
        location=Location(path, line, line),
    )


NOTHING_KNOWN = Project()


def suite(
    change: Change,
    base: list[TestOutcome],
    head: list[TestOutcome],
    project: Project = NOTHING_KNOWN,
    base_outcome: RunOutcome = "ended",
) -> Evidence:
    runs = (
        CheckRun(
            check="pytest",
            kind="test",
            side="base",
            outcome=base_outcome,
            report=Report(tests=tuple(base)),
        ),
        CheckRun(
            check="pytest",
            kind="test",
            side="head",
            outcome="ended",
            report=Report(tests=tuple(head)),
        ),
    )
    return compare(change, runs, project)


def states(evidence: Evidence) -> list[tuple[str, str]]:
    return [(result.kind, result.state) for result in evidence.results]


TEST = "test_a.py::test_a"


SIDES: list[tuple[list[str], str, RunOutcome, list[tuple[str, str]]]] = [
    (["passed"], "failed", "ended", [("broken_test", "new")]),
    (["failed"], "failed", "ended", [("failing_test", "existing")]),
    (["failed"], "passed", "ended", []),
    ([], "failed", "ended", [("failing_test", "new")]),
    ([], "failed", "incomplete", [("failing_test", "existing")]),
    (["passed"], "failed", "incomplete", [("broken_test", "new")]),
    (["passed"], "passed", "ended", []),
]


def test_tests_of_both_sides() -> None:
    for base, head, ended, expected in SIDES:
        before, after = [outcome(TEST, word) for word in base], [outcome(TEST, head)]
        evidence = suite(change_of(REPLACED), before, after, base_outcome=ended)
        assert states(evidence) == expected, (base, head, ended)
        levels = {"broken_test": ("high", "correctness"), "failing_test": ("medium", "tests")}
        assert all((r.severity, r.category) == levels[r.kind] for r in evidence.results)


def test_a_file_that_fails_outside_of_its_tests() -> None:
    passed, failed = outcome("a.test.js::adds", "passed"), outcome("a.test.js", message="TypeError")
    for before, state in (
        ([passed], "new"),
        ([passed, failed], "existing"),
        ([failed], "existing"),
    ):
        (result,) = suite(change_of(REPLACED), before, [passed, failed]).results
        assert (result.state, result.at_import) == (state, False)
        assert result.message == "a.test.js fails: TypeError"


def test_a_conftest_that_cannot_be_loaded_breaks_the_tests_of_its_folder() -> None:
    base = [outcome("tests/test_a.py::test_a", "passed")]
    evidence = suite(change_of(REPLACED), base, [outcome("tests/conftest.py", "error")])
    assert states(evidence) == [("broken_test", "new")]


def test_tests_that_have_no_outcome_any_more() -> None:
    """Those of a file that the change edits may be gone on purpose."""
    kept = outcome("test_b.py::test_b", "passed")
    for id, before, after, is_missed in (
        ("test_c.py::test_c", "passed", [], True),
        ("test_c.py::test_c", "failed", [], False),
        ("a.py::test_a", "passed", [], False),
        ("test_c.py::test_c[1]", "passed", [outcome("test_c.py::test_c[2]", "passed")], False),
    ):
        evidence = suite(change_of(REPLACED), [kept, outcome(id, before)], [kept, *after])
        assert evidence.results == ()
        reason = f"a test that passed before did not run, for example {id}" if is_missed else ""
        assert evidence.runs[-1].reason == reason, id
        assert evidence.runs[-1].outcome == ("incomplete" if is_missed else "ended")


IMPORTS = change_of(changed("import os", "import oss"))
NUMPY = change_of(changed("x = 1", "import numpy"))
MISSING = "ModuleNotFoundError: No module named '{}'"


SAME = change_of(REPLACED)
ABSENT = [
        (IMPORTS, MISSING.format("oss"), Project(), True),
        (NUMPY, MISSING.format("numpy"), Project(manifests={"setup.py": "numpy>=2"}), False),
        (NUMPY, MISSING.format("numpy"), Project(), True),
        (SAME, MISSING.format("freezegun"), Project(), False),
        (SAME, MISSING.format("cart.total"), Project(base_files=frozenset({"cart.py"})), True),
        (SAME, "ImportError: cannot import name 'total' from 'cart' (/x/cart.py)",
         Project(head_files=frozenset({"src/cart.py"})), True),
        (SAME, "importlib.metadata.PackageNotFoundError: No package metadata was found"
         " for x", Project(), False),
        (SAME, "importlib_metadata.PackageNotFoundError: x", Project(), False),
        (SAME, "shop.PackageNotFoundError: x", Project(), True),
        (change_of(changed("", "import os.pathh")), MISSING.format("os.pathh"), Project(), True),
        (SAME, MISSING.format("os.pathh"), Project(), False),
        (change_of(changed("", "import tkinter")), MISSING.format("tkinter"), Project(), False),
        (change_of(changed("", "from json import lodas")),
         "ImportError: cannot import name 'lodas' from 'json' (/usr/lib)", Project(), True),
]  # fmt: skip


def test_a_module_that_is_missing() -> None:
    for change, message, project, is_found in ABSENT:
        base, head = [outcome(TEST, "passed")], [outcome(TEST, "error", message)]
        evidence = suite(change, base, head, project)
        assert [result.state for result in evidence.results] == ["new"] * is_found, message
        (run,) = (run for run in evidence.runs if run.side == "head")
        hint = ": install it into the project's environment" if "No module" in message else ""
        wanted = ("ended", "") if is_found else ("incomplete", f"{message} (test_a.py){hint}")
        assert (run.outcome, run.reason) == wanted


NO_NAME = "socket.gaierror: [Errno -2] Name or service not known"
COMMAND = "subprocess.CalledProcessError: Command 'shop' returned non-zero exit status 127."


OLDER = "AttributeError: module 'collections' has no attribute 'Mapping'"
MACHINE = [
    (NO_NAME, Project(), False),
    (COMMAND, Project(), False),
    ('Get "https://a.example": dial tcp: lookup a.example on 127.0.0.1:53', Project(), False),
    ('exec: "docker": executable file not found in $PATH', Project(), False),
    (MISSING.format("numpy"), Project(), False),  # nothing says what is declared
    (MISSING.format("numpy"), Project(manifests={"setup.py": "attrs"}), True),
    (OLDER, Project(), False),
    ("AttributeError: module 'shop' has no attribute 'total'", Project(), True),
    ("assert 1 == 2", Project(), True),
]


def test_new_tests_that_fail_because_of_this_machine() -> None:
    base = [outcome("test_b.py::test_b", "passed"), outcome("test_c.py", "error", OLDER)]
    base.append(outcome("test_c.py::test_c", message="assert 1 == 2"))
    for message, project, is_found in MACHINE:
        found = suite(NUMPY, base, [*base, outcome(TEST, message=message)], project).new_results
        assert [result.name for result in found] == [TEST] * is_found, message


def test_a_new_test_of_a_program_that_is_not_here() -> None:
    message = "FileNotFoundError: [Errno 2] No such file or directory: 'shop'"
    failed, passed = outcome(TEST, message=message), outcome("test_b.py::test_b", "passed")
    for place, is_found in (("/usr/lib/python3/subprocess.py", False), ("/usr/lib/shop.py", True)):
        new = replace(failed, output=f"E   {message}\n\n{place}:1950: FileNotFoundError")
        assert bool(suite(NUMPY, [passed], [passed, new]).new_results) == is_found, place
        assert suite(NUMPY, [passed, outcome(TEST, "passed")], [passed, new]).new_results


def test_a_test_that_breaks_in_two_suites_is_broken_in_both() -> None:
    """It may be flaky in one of them."""
    change, runs = (
        change_of(REPLACED),
        suite(change_of(REPLACED), [outcome(TEST, "passed")], [outcome(TEST)]).runs,
    )
    others = [replace(run, check="older python") for run in runs]
    results = compare(change, [*runs, *others], NOTHING_KNOWN).new_results
    assert [result.check for result in results] == ["pytest", "older python"]


def test_a_suite_of_which_nothing_passes_says_nothing() -> None:
    red = outcome(TEST, message="ImportError: no libshop.so")
    evidence = suite(change_of(REPLACED), [red], [red, outcome("test_a.py::test_b")])
    head = next(run for run in evidence.runs if run.side == "head")
    assert head.outcome == "ended"  # the new one is reported

    evidence = suite(change_of(REPLACED), [red], [red])
    head = next(run for run in evidence.runs if run.side == "head")
    reason = "no test passes, before or after the change: test_a fails: ImportError: no libshop.so"
    assert (head.outcome, head.reason) == ("incomplete", reason)


def test_a_suite_that_did_not_end_before_the_change_did_not_fail_there() -> None:
    red, green = outcome(TEST, message="NameError"), outcome("test_a.py::test_b", "passed")
    words: dict[RunOutcome, str] = {"ended": "", "incomplete": ", perhaps before as well"}
    for before, more in words.items():
        evidence = suite(change_of(REPLACED), [], [red, green], base_outcome=before)
        base, head = evidence.runs
        head = replace(head, outcome="incomplete", reason="stopped")
        (summary,) = summarise(replace(evidence, runs=(base, head)))
        assert summary.text == f"is incomplete: stopped (1 passed, 1 failed{more})"


def located(frames: list[tuple[str, int]], lines: dict[str, tuple[int, ...]]) -> CheckResult:
    file = changed("a\nb\nc\nd\ne\nf\ng\nh", "a\nB\nc\nd\ne\nF\ng\nh")
    test = TestOutcome(
        id=TEST,
        outcome="failed",
        message="assert",
        location=Location("test_a.py", 3, 3),
        frames=tuple(Location(path, line, line) for path, line in frames),
        lines=lines,
    )
    other = TestOutcome(id="test_a.py::other", outcome="passed", lines={"a.py": (2,)})
    (result,) = suite(change_of(file), [outcome(TEST, "passed")], [test, other]).results
    return result


PLACES: list[tuple[list[tuple[str, int]], dict[str, tuple[int, ...]], str]] = [
    ([("test_a.py", 3), ("a.py", 6)], {"a.py": (2, 6)}, "a.py:6"),
    # A passing test ran line 2 as well: line 6 is the suspect.
    ([("test_a.py", 3)], {"a.py": (2, 6)}, "a.py:6"),
    ([("test_a.py", 3), ("a.py", 8)], {}, "a.py:6"),
    ([("test_a.py", 3)], {}, "a.py:2"),
]


def test_the_line_that_broke_a_test() -> None:
    for frames, lines, place in PLACES:
        assert str(located(frames, lines).location) == place, (frames, lines)


def test_without_a_line_it_is_the_file_that_is_called_like_the_test() -> None:
    files = [changed("a\nb", "a\nB", path=path) for path in ("api/cart.js", "src/cart.js")]
    for frame, place in (("src/cart.test.js", "src/cart.js:2"), ("other.js", "api/cart.js:2")):
        test = replace(outcome("adds", message="6 == 4"), frames=(Location(frame, 1, 1),))
        (result,) = suite(change_of(*files), [outcome("adds", "passed")], [test]).results
        assert str(result.location) == place


def test_a_test_that_the_change_edits_may_be_wrong_itself() -> None:
    change = change_of(REPLACED, changed("a\nb", "a\nB", path="test_a.py"))
    (result,) = suite(change, [outcome(TEST, "passed")], [outcome(TEST, line=7)]).results
    assert str(result.location) == "test_a.py:7"


@each(
    ("paths", "message", "place"),
    [
        (["a.py", "shop/z.py"], "TypeError: shop/z.py has no total", "shop/z.py"),
        (["a.go", "shop/cart.py"], "m", "shop/cart.py"),
        (["shop/a.py", "shop/cart.py"], "m", "shop/cart.py"),
        (["src/cart.js", "src/total.js"], "m", "src/cart.js"),
    ],
)
def test_where_a_test_is_reported_of_which_no_line_is_known(
    paths: list[str], message: str, place: str
) -> None:
    test = "src/cart.test.js::a" if "src" in place else "tests/test_cart.py::a"
    change = change_of(*(changed("a\nb", "a\nB", path=path) for path in paths))
    (result,) = suite(change, [outcome(test, "passed")], [outcome(test, "failed", message)]).results
    assert str(result.location) == f"{place}:2"


@each(
    ("id", "message", "executed"),
    [
        (TEST, "TypeError: z.py has no total", {"a.py": (2,)}),
        ("test_z.py::test_it", "assert False", {"a.py": (2,), "z.py": (2,)}),
    ],
)
def test_what_a_message_names_or_is_called_alike_is_nearer_than_lines_that_run_at_import(
    id: str, message: str, executed: dict[str, tuple[int, ...]]
) -> None:
    change = change_of(changed("a\nb", "a\nB"), changed("a\nb", "a\nB", path="z.py"))
    sides = {
        "base": Report(tests=(outcome(id, "passed"),)),
        "head": Report(tests=(outcome(id, "error", message),), executed=executed),
    }
    runs = (
        CheckRun(check="pytest", kind="test", side=side, outcome="ended", report=report)  # type: ignore[arg-type]  # a side
        for side, report in sides.items()
    )
    (result,) = compare(change, tuple(runs), NOTHING_KNOWN).results
    assert str(result.location) == "z.py:2"


def test_tests_that_fail_alike_for_one_line_are_one_result() -> None:
    head = [
        TestOutcome(
            id=f"test_a.py::test_{name}",
            outcome="failed",
            message=f"AssertionError: assert {name}",
            frames=(Location("a.py", 2, 2),),
        )
        for name in ("one", "two")
    ]
    base = [outcome(test.id, "passed") for test in head]
    (result,) = suite(change_of(REPLACED), base, head).results
    assert result.message == "test_one and 1 more fail: AssertionError: assert one"
    assert result.tests == ("test_a.py::test_one", "test_a.py::test_two")


def test_files_that_cannot_be_loaded_for_one_reason_are_one_result() -> None:
    """Also those of which nothing ran before, such as modules without a doctest."""
    says = "ImportError: no total"
    base = [outcome("test_a.py::test_a", "passed")]
    files = [outcome(path, "error", says) for path in ("b.py", "test_a.py", "c.py", "test_a.py")]
    (result,) = suite(change_of(REPLACED), base, files).results
    assert (result.kind, str(result.location)) == ("broken_test", "a.py:2")
    assert result.message == f"test_a.py and 2 more cannot be loaded: {says}"
    assert result.tests == ("test_a.py", "b.py", "c.py")
    (result,) = suite(change_of(REPLACED), [], files).results
    assert (result.kind, str(result.location)) == ("failing_test", "b.py:1")
    others = [outcome("d.py", "error", "NameError: total"), outcome("e.py::test_e", message=says)]
    assert len(suite(change_of(REPLACED), base, [*files, *others]).results) == 3


def test_what_code_raises_for_tests_of_several_lines_is_one_result() -> None:
    """Unless it is a test, or a helper of tests, that raises it."""
    change = change_of(changed("a\nb\nc\nd\ne", "a\nB\nc\nD\ne"))
    for path, message, count in (
        *(("b.py", "KeyError: 'x'", 1), ("b.py", "assert 1", 2)),
        *(("tests/b.py", "KeyError: 'x'", 2), ("b.py", "KeyError: '{}'", 2)),
    ):
        head = [
            replace(
                outcome(f"test_a.py::test_{line}", message=message.format(line)),
                frames=(Location("a.py", line, line), Location(path, 1, 1)),
            )
            for line in (2, 4)
        ]
        base = [outcome(test.id, "passed") for test in head]
        assert len(suite(change, base, head).results) == count, (path, message)


def test_the_line_that_most_broken_tests_executed_broke_them() -> None:
    change = change_of(changed("a\nb\nc\nd\ne", "a\nB\nc\nD\ne"))
    head = [
        replace(outcome(f"test_a.py::test_{n}"), lines={"a.py": lines})
        for n, lines in enumerate([(2, 4), (4,)])
    ]
    (result,) = suite(change, [outcome(test.id, "passed") for test in head], head).results
    assert (str(result.location), len(result.tests)) == ("a.py:4", 2)


STYLED = r"AssertionError: assert 'x\x1b[0m' == '\x1b[38;5;0mx\x1b[0m'"


TITLES = [
    (["a.py::test_a[1-x]"], "test_a[1-x] fails: m"),
    ([r"a.py::test_a[\x1b[0m]"], "test_a[…] fails: m"),
    (["a.py::test_a[1]", "a.py::B::test_b[1]", "a.py::B::test_b[x::y]"],
     "test_b and 2 more fail: m"),
    (["tests/conftest.py"], "tests/conftest.py cannot be loaded: m"),
    (["tests/test_a.py", "tests/test_b.py"], "tests/test_a.py and 1 more cannot be loaded: m"),
]  # fmt: skip


def test_the_title_of_tests_that_fail() -> None:
    """It has no escape sequences."""
    for ids, title in TITLES:
        word = "failed" if "::" in ids[0] else "error"
        base = [outcome(id if "::" in id else f"{id}::test_a", "passed") for id in ids]
        if ids == ["tests/conftest.py"]:
            base = [outcome("tests/test_a.py::test_a", "passed")]
        head = [outcome(id, word, "m") for id in ids]
        (result,) = suite(change_of(REPLACED), base, head).results
        assert (result.message, result.tests) == (title, tuple(ids))
    head = [outcome(TEST, "failed", STYLED)]
    (result,) = suite(change_of(REPLACED), [outcome(TEST, "passed")], head).results
    assert result.message == "test_a fails: AssertionError: assert 'x…' == '…x…'"


def test_a_new_test_that_fails_with_each_of_its_parameters_is_one_result() -> None:
    head = [outcome(f"test_a.py::test_a[{x}]", "failed", f"assert {x}") for x in range(3)]
    other = outcome("test_a.py::test_b[0]", "failed", line=9)
    found = suite(change_of(REPLACED), [], [*head, other]).results
    assert [(r.name, len(r.tests)) for r in found] == [
        ("test_a.py::test_a[0]", 3),
        ("test_a.py::test_b[0]", 1),
    ]


def test_new_tests_of_a_file_that_fail_for_want_of_one_thing_are_one_result() -> None:
    for message, count in (("AttributeError: no total", 1), ("assert 1 == 2", 3), ("", 3)):
        tests = [outcome(f"test_a.py::test_{n}", "failed", message, n) for n in (4, 9, 14)]
        other = outcome("test_b.py::test_b", "failed", message)
        found = suite(change_of(REPLACED), [], [*tests, other]).results
        assert len(found) == count + 1, message
        assert (found[0].location or found[0]) == Location("test_a.py", 4, 4)


def test_type_checkers_say_one_thing_of_a_line() -> None:
    def run(check: str, side: Side, *lines: int) -> CheckRun:
        said = tuple(
            Diagnostic(
                rule=f"wrong-{number}",
                message=check,
                severity="medium",
                location=Location("a.py", line, line + number),
            )
            for number, line in enumerate(lines)
        )
        report = Report(diagnostics=said)
        return CheckRun(check=check, kind="lint", side=side, outcome="ended", report=report)

    change = change_of(changed("x = 1", "x = 'a'"))
    runs = [run(check, "base") for check in ("mypy", "pyright")]
    evidence = compare(
        change, [*runs, run("pyright", "head", 2, 1, 2), run("mypy", "head", 1, 1)], Project()
    )
    found = [(r.check, r.location and r.location.line, r.cause) for r in evidence.results]
    assert found == [
        *[("pyright", 2, ""), ("pyright", 1, "E4"), ("pyright", 2, "E1")],
        *[("mypy", 1, ""), ("mypy", 1, "E4")],
    ]


MYPY = [
    ("[mypy]\nstrict = true\n", "a.py shop/a.py", "tests/test_a.py fuzz/a.py setup.py"),
    ("[mypy]\n[mypy-tests.*]\nstrict = true\n", "tests/test_a.py a.py", "scripts/a.py"),
    ("[mypy]\n[mypy-shop.testing]\nstrict = true\n", "shop/testing.py", "tests/test_a.py"),
    ("[mypy]\n[mypy-testing.*]\nstrict = true\n", "testing/test_a.py", ""),
    ("[mypy]\nfiles = src, fuzz/\n", "src/a.py fuzz/b/a.py", "a.py srcs/a.py tests/test_a.py"),
    ("[mypy]\nfiles = **/*.py\n", "a.py scripts/b/a.py", "a.pyi"),
    ("[mypy]\nfiles =\n  a.py\n  tests/*.py\n", "a.py tests/test_a.py", "shop/a.py"),
    ("[mypy]\npackages = shop.cart\n", "shop/cart/a.py src/shop/cart/a.py", "shop/a.py"),
    ("[mypy]\nfiles = ./shop\n", "shop/a.py", "a.py"),
    ("[mypy]\nexclude = ^(gen|a\\.py)\n", "b.py shop/gen.py", "a.py gen/b.py"),
    ("[mypy]\nexclude = ['^gen/', \"a\\\\.py\"]\n", "b.py", "gen/a.py a.py"),
    ("[mypy]\nexclude = (\n", "b.py", ""),
    ("[mypy]\nexclude = .*/migrations/.*\n", "b.py", "shop/migrations/a.py"),
    ("[mypy]\nexclude = (^|/)gen/|^a/\n", "shop/a/b.py", "gen/a.py shop/gen/a.py a/b.py"),
    ("[mypy]\nfiles = .\n[other]\nfiles = b\n", "a.py scripts/a.py tests/test_a.py", ""),
]


def test_type_checkers_read_what_their_configuration_means() -> None:
    for config, paths, others in MYPY:
        check_scope("mypy", "mypy.ini", config, paths, others)
    config = '{\n  "exclude": [\n    "**/gen", "a.py",\n    "shop/*.py"\n  ]\n}\n'
    others = "gen/b.py more/gen/b.py a.py shop/b.py"
    check_scope("pyright", "pyrightconfig.json", config, "b.py generic.py", others)
    stub = Project(configs={"mypy.ini": "[mypy]\n"}, head_files=frozenset({"a.py", "a.pyi"}))
    mypy = replace(LINT, name="mypy", configured_by=("mypy.ini",))
    assert [path for path in ("a.py", "a.pyi") if stub.type_checks(path, mypy)] == ["a.pyi"]


def check_scope(tool: str, file: str, config: str, paths: str, others: str) -> None:
    project = Project(configs={file: config})
    check = replace(LINT, name=tool, configured_by=(file,))
    asked = [*paths.split(), *others.split()]
    read = [path for path in asked if project.type_checks(path, check)]
    assert read == paths.split(), config


def test_nobody_checks_a_file_that_is_full_of_errors() -> None:
    change = change_of(changed("a\nb", "a\nc"))
    errors = [diagnostic(1, f"E{n}") for n in range(11)]
    for tool, before, new, files in (
        *(("mypy", 10, 1, ("a.py",)), ("mypy", 11, 0, ()), ("ruff", 11, 1, ("a.py",))),
        *(("eslint", 10, 1, ("a.py",)), ("eslint web", 11, 0, ())),
    ):
        runs = [CheckRun(check=tool, side=side, outcome="ended", files=("a.py",),
            report=Report(diagnostics=(*errors[:before], *found)))
            for side, found in (("base", ()), ("head", (diagnostic(2),)))]  # fmt: skip
        evidence = compare(change, runs, Project())
        assert len(evidence.new_results) == new, tool
        assert evidence.runs[-1].files == files, tool
        (coverage,) = coverage_of(change, evidence, {})
        assert coverage.next_step.startswith("" if files else f"{tool} reported too much"), tool


def test_who_looked_at_a_file() -> None:
    """A suite did if it executed a changed line; of what only tests use, whatever it executed."""
    lines = {"a.py": (1,), "b.py": ()}
    suite = CheckRun(
        check="pytest", kind="test", side="head", outcome="ended", report=Report(executed=lines)
    )
    linter = CheckRun(check="ruff", side="head", outcome="ended", files=("a.py", "c.py"))
    scan = CheckRun(check="secrets", kind="scan", side="head", outcome="ended", files=("a.py",))
    runs = (suite, linter, scan)
    for path, checks in (
        ("a.py", ("pytest", "ruff")),
        *(("b.py", ()), ("c.py", ("ruff",)), ("tests/data/d.py", ("pytest",))),
    ):
        assert Evidence(runs).checks_of(path) == checks, path
    assert [Evidence(runs).scans_of(path) for path in ("a.py", "c.py")] == [("secrets",), ()]
    for other in (
        tuple(replace(run, side="base") for run in runs),
        tuple(replace(run, outcome="incomplete") for run in runs),
        (replace(suite, by_author=True), replace(linter, by_author=True)),
    ):
        assert Evidence(other).checks_of("a.py") == Evidence(other).scans_of("a.py") == ()


def test_what_is_said_of_a_check() -> None:
    def run(side: Side, outcome: RunOutcome, kind: Literal["lint", "test"]) -> CheckRun:
        return CheckRun(
            check="x", kind=kind, side=side, outcome=outcome, reason="stopped", files=("a.py",)
        )

    found = CheckResult(
        **{"check": "x", "kind": "diagnostic", "state": "new", "name": "R", "message": "m"},
        **{"severity": "low", "location": None},
    )
    old = replace(found, state="existing")
    unread = replace(old, kind="failing_test", at_import=True, tests=("test_a.py",))
    report = Report(statements={"a.py": (1,)})
    rows: list[tuple[RunOutcome, RunOutcome, Literal["lint", "test"], list[CheckResult], str]] = [
        ("ended", "ended", "lint", [], "passed: nothing new"),
        ("ended", "ended", "lint", [old], "passed: nothing new, 1 before"),
        ("ended", "ended", "lint", [old, found], "failed: 1 new"),
        ("incomplete", "ended", "lint", [old], "incomplete: is incomplete before the change: stop"),
        ("incomplete", "ended", "lint", [found], "failed: 1 new"),
        ("incomplete", "ended", "test", [], "incomplete: is incomplete before the change: stopped"),
        ("ended", "incomplete", "lint", [found], "incomplete: is incomplete: stopped"),
        ("ended", "not_run", "lint", [], "not_run: was not run: stopped"),
        ("ended", "ended", "test", [], "passed: 0 passed"),
        ("ended", "ended", "test", [unread], "incomplete: is incomplete: m"),
        (
            "ended",
            "ended",
            "test",
            [replace(unread, at_import=False)],
            "failed_before: 0 passed, 1",
        ),
        ("ended", "ended", "test", [replace(unread, state="new")], "failed: 0 passed, 1 failed"),
        ("ended", "ended", "test", [replace(unread, state="flaky")], "flaky: 0 passed, 1 flaky"),
    ]
    for before, after, kind, results, words in rows:
        head = replace(run("head", after, kind), report=report)
        evidence = Evidence((run("base", before, kind), head), tuple(results))
        (summary,) = summarise(evidence)
        assert f"{summary.state}: {summary.text}".startswith(words), (before, after, words)
        by_author = Evidence((replace(head, by_author=True),), tuple(results))
        assert summarise(by_author)[0].text.endswith(" in the job of the author")
    executed = replace(
        run("head", "ended", "test"), report=replace(report, executed={"a.py": (1,)})
    )
    assert summarise(Evidence((executed,), (unread,)))[0].state == "failed_before"


@each(
    ("compiler", "says", "outcome", "expected"),
    [
        ("tsc", [], "ended", []),
        ("tsc web", [], "ended", []),
        ("tsc", [diagnostic(9, path="a.py")], "ended", ["syntax", "tsc"]),
        ("tsc", [], "incomplete", ["syntax"]),
        ("eslint", [], "ended", ["syntax"]),
    ],
)
def test_a_compiler_knows_better_what_can_be_parsed(
    compiler: str, says: list[Diagnostic], outcome: RunOutcome, expected: list[str]
) -> None:
    wrong = Report(diagnostics=(diagnostic(2),))
    runs = [
        CheckRun(check="syntax", kind="scan", side="base", outcome="ended"),
        CheckRun(check="syntax", kind="scan", side="head", outcome="ended", report=wrong),
        CheckRun(check=compiler, side="base", outcome="ended"),
        CheckRun(
            check=compiler,
            side="head",
            outcome=outcome,
            report=Report(diagnostics=tuple(says)),
            files=("a.py",),
        ),
    ]
    results = compare(change_of(REPLACED), runs, NOTHING_KNOWN).results
    assert [result.check for result in results] == expected


def test_tests_of_files_that_a_build_writes_may_go() -> None:
    built = outcome("build/a.test.js::works", "passed")
    for files, reason in ((frozenset({"a.py"}), ""), (frozenset({"build/a.test.js"}), "a test")):
        project = Project(base_files=files, head_files=files)
        head = suite(change_of(REPLACED), [built], [], project).runs[-1]
        assert head.reason.partition(" that")[0] == reason
