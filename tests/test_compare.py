"""What is new: diagnostics and tests of base and head, matched by content."""

from __future__ import annotations

import difflib
import time
from typing import Any, Literal

from each import each
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.compare import base_line_of, compare
from reviewbot.checks.compare_tests import changed_lines, gone_tests
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
    modes = {"status": "modified", "old_mode": "100644", "mode": "100644"}
    hunks = hunks_of(before.split("\n"), after.split("\n"), context)
    return ChangedFile(path=path, old_path=old_path or path, hunks=hunks, **modes)  # type: ignore[arg-type]  # words


def change_of(*files: ChangedFile) -> Change:
    return Change(base_tree="1", head_tree="2", files=files)


def diagnostic(
    line: int, rule: str = "R1", message: str = "m", path: str = "a.py", severity: Severity = "low"
) -> Diagnostic:
    place = Location(path, line, line)
    return Diagnostic(rule=rule, message=message, severity=severity, location=place)


LINT = Check(
    name="lint", kind="lint", globs=("*",), command=("lint",), read=read_gnu, distant_rules=()
)
COMPILER = replace(LINT, command=("cc",), distant_rules=("*",))


def ran(check: str, side: Side, *found: Diagnostic, **fields: Any) -> CheckRun:
    """A linter that ended, if fields say nothing else."""
    report = Report(diagnostics=found)
    return CheckRun(check=check, side=side, **{"outcome": "ended", "report": report, **fields})


def lint(
    change: Change,
    base: list[Diagnostic],
    head: list[Diagnostic],
    check: Check = LINT,
    outcome: RunOutcome = "ended",
) -> list[tuple[str, int]]:
    files = tuple(file.path for file in change.files)
    before = ran("lint", "base", *base, files=files, outcome=outcome)
    runs = before, ran("lint", "head", *head, files=files)
    evidence = compare(change, runs, Project(checks=(check,)))
    assert {r.cause for r in evidence.results} <= {""}  # each is a finding of its own
    return [(r.state, r.location.line if r.location else 0) for r in evidence.results]


MOVED = changed("x\nbad\ny\nz", "new\nnew\nx\nbad\ny\nz")
REPLACED = changed("a\nbad()\nb", "a\nbad(1)\nb")


GONE = replace(diagnostic(2, path="z.py", severity="medium"), subjects=(("old_name",),))


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
    # A line that moves between files takes its problem along.
    source = changed("a\nbad = l\nb", "a\nb", path="old.py")
    target = changed("c\nd", "c\n    bad = l\nd", path="new.py")
    before, after = diagnostic(2, path="old.py"), diagnostic(2, path="new.py")
    assert lint(change_of(source, target), [before], [after]) == [("existing", 2)]


def test_many_diagnostics_are_compared_fast() -> None:
    """Equal ones, and different ones of a change with one large hunk or many hunks."""
    started = time.process_time()
    base, head = ([diagnostic(line) for line in range(first, 5_000)] for first in (5, 7))
    assert {state for state, _ in lint(change_of(MOVED), base, head)} == {"existing"}
    lines = [Line("x", None, number) for number in range(1, 8_001)]
    found = [diagnostic(number, message=str(number)) for number in range(1, 8_001)]
    for hunks in ([lines], [[line] for line in lines[::2]]):
        file = replace(MOVED, hunks=tuple(Hunk("", tuple(hunk)) for hunk in hunks))
        states = [state for state, _ in lint(change_of(file), [], found)]
        assert states.count("new") == sum(map(len, hunks))
    assert time.process_time() - started < 5


def test_a_compiler_reports_what_a_change_elsewhere_causes() -> None:
    assert lint(change_of(REPLACED), [], [diagnostic(3)], COMPILER) == [("new", 3)]
    in_other_file = [diagnostic(9, path="other.py")]
    assert lint(change_of(REPLACED), [], in_other_file, COMPILER) == [("new", 9)]
    # It may report a statement at another of its lines.
    assert lint(change_of(MOVED), [diagnostic(2)], [diagnostic(5)], COMPILER) == [("existing", 5)]


@each(
    ("files", "found", "severity"),
    [
        ([changed("", "Without old_name.", path="CHANGES.md")], GONE, "low"),
        ([changed("", "Without old_name.", path="b.py")], GONE, "medium"),
        # An added noqa blocks the block but hides nothing.
        ([changed("x\nx", "x\nf()  # noqa: F821")], diagnostic(2, severity="high"), "medium"),
    ],
)
def test_how_severe_a_new_result_is(
    files: list[ChangedFile], found: Diagnostic, severity: str
) -> None:
    change = change_of(*files, changed("a\nb", "a\nB", path="z.py"))
    runs = ran("lint", "base"), ran("lint", "head", found)
    (result,) = compare(change, runs, Project(checks=(COMPILER,))).results
    assert (result.state, result.severity) == ("new", severity)


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
    assert changed_lines(changed("a\nb\nc", "a\nc")) == {2}
    assert changed_lines(changed("a\nb", "a")) == {1}
    assert changed_lines(changed("a\nb", "a\nB")) == {2}


def outcome(
    id: str, result: str = "failed", message: str = "assert 1", line: int = 1
) -> TestOutcome:
    path = id.partition("::")[0]
    return TestOutcome(
        id=id,
        outcome=result,  # type: ignore[arg-type]  # a word of the table
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
    executed: dict[str, tuple[int, ...]] = {},  # noqa: B006  # nobody changes it
) -> Evidence:
    before = Report(tests=tuple(base))
    after = Report(tests=tuple(head), executed=executed)
    runs = (
        ran("pytest", "base", kind="test", outcome=base_outcome, report=before),
        ran("pytest", "head", kind="test", report=after),
    )
    return compare(change, runs, project)


def broken_by(change: Change, *head: TestOutcome, **fields: Any) -> tuple[CheckResult, ...]:
    """Results of tests that passed before."""
    return suite(change, [outcome(test.id, "passed") for test in head], [*head], **fields).results


def states(evidence: Evidence) -> list[tuple[str, str]]:
    return [(result.kind, result.state) for result in evidence.results]


TEST, SAME = "test_a.py::test_a", change_of(REPLACED)


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
        evidence = suite(SAME, before, after, base_outcome=ended)
        assert states(evidence) == expected, (base, head, ended)
        levels = {"broken_test": ("high", "correctness"), "failing_test": ("medium", "tests")}
        assert all((r.severity, r.category) == levels[r.kind] for r in evidence.results)


def test_a_file_that_fails_outside_of_its_tests() -> None:
    passed, failed = outcome("a.test.js::adds", "passed"), outcome("a.test.js", message="TypeError")
    for before, state in (([passed], "new"), ([passed, failed], "existing")):
        (result,) = suite(SAME, before, [passed, failed]).results
        assert (result.state, result.at_import) == (state, False)
        assert result.message == "a.test.js fails: TypeError"
    # Two tests of one name, and tests without a name, are compared in their order.
    twice = [outcome("test 1"), outcome("test 1", "passed")]
    assert states(suite(SAME, twice, twice)) == [("failing_test", "existing")]


def test_parameters_that_are_cut_off_do_not_name_a_result() -> None:
    cut = [outcome(f"{TEST}[{letter * 1000}]"[:500]) for letter in "ab"]
    assert [each.message for each in broken_by(SAME, *cut)] == ["test_a and 1 more fail: assert 1"]


def test_a_conftest_that_cannot_be_loaded_breaks_the_tests_of_its_folder() -> None:
    base = [outcome("tests/test_a.py::test_a", "passed")]
    evidence = suite(SAME, base, [outcome("tests/conftest.py", "error")])
    assert states(evidence) == [("broken_test", "new")]


def test_tests_that_have_no_outcome_any_more() -> None:
    """Those of a file that the change edits may be gone on purpose, and are not to be skipped."""
    kept = outcome("test_b.py::test_b", "passed")
    for id, before, after, is_missed in (
        ("test_c.py::test_c", "passed", [], True),
        ("test_c.py::test_c", "failed", [], False),
        ("a.py::test_a", "passed", [], False),
        ("a.py::test_a", "passed", [outcome("a.py::test_a", "skipped")], True),
        ("a.py::test_a", "passed", [outcome("a.py", "skipped")], True),
        ("a.py::A::test_a", "passed", [outcome("a.py::A", "skipped")], True),
        ("a.py::test_a", "skipped", [outcome("a.py::test_a", "skipped")], False),
        ("test_c.py::test_c[1]", "passed", [outcome("test_c.py::test_c[2]", "passed")], False),
    ):
        evidence = suite(SAME, [kept, outcome(id, before)], [kept, *after])
        assert evidence.results == ()
        reason = f"a test that passed before did not run, for example {id}" if is_missed else ""
        assert evidence.runs[-1].reason == reason, id
        assert evidence.runs[-1].outcome == ("incomplete" if is_missed else "ended")


def test_which_tests_are_gone_from_a_file_that_changes() -> None:
    """Cases and parts of a test are not, but what a sentence names behind a slash is another."""

    def suite_of(side: Side, names: list[str]) -> CheckRun:
        tests = tuple(outcome(f"a.py::{name}", "passed") for name in names)
        return ran("t", side, report=Report(tests=tests))

    for before, after, gone in (
        (["test_a[1]", "test_a[2/3]"], ["test_a[1]"], []),
        (["TestA/b/c", "TestA/d e"], ["TestA/b"], []),
        (["GET /a", "GET /b"], ["GET /a"], ["a.py::GET /b"]),
        (["s::reads /a [x]", "s::reads /b"], ["s::reads /b"], ["a.py::s::reads /a [x]"]),
    ):
        runs = [suite_of("base", before), suite_of("head", after)]
        assert gone_tests(runs, SAME) == gone, before


def test_a_test_file_of_which_no_test_ran_is_named_fast() -> None:
    started = time.process_time()
    texts = {"test_b.py": "\n" * 40_000 + "x", "test_c.py": "\n    async def test_c():"}
    runs = [
        ran("pytest", side, kind="test", report=Report(statements=dict.fromkeys(texts, (1,))))
        for side in ("base", "head")
    ]
    evidence = compare(SAME, runs, Project(head_texts=texts))
    assert evidence.runs[-1].reason == "no test of test_c.py ran"
    assert time.process_time() - started < 2


IMPORTS = change_of(changed("import os", "import oss"))
NUMPY = change_of(changed("x = 1", "import numpy"))
NUMPY_PART = change_of(changed("x = 1", "import numpy.fftt"))
DECLARED = Project(manifests={"setup.py": "numpy>=2"})
NEW = Project(
    base_files=frozenset({"old/setup.py", "old/src/tax/__init__.py"}),
    head_files=frozenset({"libs/setup.py", "libs/src/tax/__init__.py"}),
    manifests={"libs/setup.py": ""},
)
MISSING = "ModuleNotFoundError: No module named '{}'"


NODE = Project(
    manifests={"package.json": '"dependencies": {"left-pad": "1", "a.b": "1", "@x/y": "1"}'}
)
ABSENT = [
        (IMPORTS, MISSING.format("oss"), Project(), True),
        (NUMPY, MISSING.format("numpy"), DECLARED, False),
        (NUMPY, MISSING.format("numpy"), Project(), True),
        (NUMPY_PART, MISSING.format("numpy.fftt"), DECLARED, True),
        (SAME, MISSING.format("numpy.fftt"), DECLARED, False),
        (change_of(changed("", "import numpy.fftt"), changed("", "numpy", "setup.py")),
         MISSING.format("numpy.fftt"), DECLARED, False),
        (NUMPY_PART, "ImportError: cannot import name 'fftt' from 'numpy' (/x)", DECLARED, True),
        (SAME, MISSING.format("freezegun"), Project(), False),
        (SAME, MISSING.format("fast"), Project(base_files=frozenset({"x/fast.pyx"})), True),
        (SAME, MISSING.format("cart.total"), Project(base_files=frozenset({"cart.py"})), True),
        (SAME, "ImportError: cannot import name 'total' from 'cart' (/x/cart.py)",
         Project(head_files=frozenset({"src/cart.py"})), True),
        (SAME, MISSING.format("tax"), NEW, False),
        (SAME, MISSING.format("tax.rate"), NEW, True),
        (SAME, "ImportError: cannot import name 'rate' from 'tax' (/x/tax.py)", NEW, True),
        (SAME, MISSING.format("tax"), replace(NEW, base_files=NEW.head_files), True),
        (SAME, MISSING.format("tax"), replace(NEW, manifests={}), True),
        (SAME, "importlib.metadata.PackageNotFoundError: x", Project(), False),
        (SAME, "shop.PackageNotFoundError: x", Project(), True),
        (change_of(changed("", "import os.pathh")), MISSING.format("os.pathh"), Project(), True),
        (SAME, MISSING.format("os.pathh"), Project(), False),
        (change_of(changed("", "import 'left-pad'")), "Cannot find module 'left-pad' from 'a.js'",
         NODE, False),
        (change_of(changed("", "import 'a.b'")), "Cannot find module 'a.b' from 'a.js'",
         NODE, False),
        (change_of(changed("", "import '@x/y'")), "Cannot find package '@x/y' imported from /a.js",
         NODE, False),
        (change_of(changed("", "import '@x/z'")), "Cannot find package '@x/z' imported from /a.js",
         NODE, True),
        (SAME, "Error [X]: Cannot find module 'dist/x.mjs' imported from a.mjs", Project(), True),
        (change_of(changed("", "from json import lodas")),
         "ImportError: cannot import name 'lodas' from 'json' (/usr/lib)", Project(), True),
]  # fmt: skip


def test_a_module_that_is_missing() -> None:
    """A test that breaks for another reason is found beside it."""
    other = outcome("test_b.py::test_b")
    for change, message, project, is_found in ABSENT:
        base = [outcome(TEST, "passed"), outcome(other.id, "passed")]
        evidence = suite(change, base, [outcome(TEST, "error", message), other], project)
        names = {id for result in evidence.new_results for id in result.tests}
        assert names == {other.id, TEST} if is_found else {other.id}, message
        (run,) = (run for run in evidence.runs if run.side == "head")
        hint = ": install it into the project's environment" if "No module" in message else ""
        hint = ": install it with npm ci, pnpm install or yarn" if "Cannot" in message else hint
        wanted = ("ended", "") if is_found else ("incomplete", f"{message} (test_a.py){hint}")
        assert (run.outcome, run.reason) == wanted


OLDER = "AttributeError: module 'collections' has no attribute 'Mapping'"
MACHINE = [
    ("socket.gaierror: [Errno -2] Name or service not known", Project(), False),
    ("CalledProcessError: Command 'shop' returned non-zero exit status 127.", Project(), False),
    ('Get "https://a.example": dial tcp: lookup a.example on 127.0.0.1:53', Project(), False),
    ('exec: "docker": executable file not found in $PATH', Project(), False),
    (MISSING.format("numpy"), Project(), False),  # nothing says what is declared
    (MISSING.format("numpy"), Project(manifests={"setup.py": "attrs"}), True),
    (OLDER, Project(), False),
    ("AttributeError: module 'shop' has no attribute 'total'", Project(), True),
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


def test_a_suite_of_which_nothing_passes_says_nothing() -> None:
    red = outcome(TEST, message="ImportError: no libshop.so")
    evidence = suite(SAME, [red], [red, outcome("test_a.py::test_b")])
    assert evidence.runs[-1].outcome == "ended"  # the new one is reported
    head = suite(SAME, [red], [red]).runs[-1]
    reason = "no test passes, before or after the change: test_a fails: ImportError: no libshop.so"
    assert (head.outcome, head.reason) == ("incomplete", reason)


A, B = "a.py", "test_a.py"
PLACES: list[tuple[list[tuple[str, int]], dict[str, tuple[int, ...]], str]] = [
    ([(B, 3), (A, 6)], {A: (2, 6)}, "a.py:6"),
    # A passing test ran line 2 as well: line 6 is the suspect.
    ([(B, 3)], {A: (2, 6)}, "a.py:6"),
    ([(B, 3), (A, 8)], {}, "a.py:6"),
    ([(B, 3)], {}, "a.py:2"),
]


def test_the_line_that_broke_a_test() -> None:
    change = change_of(changed("a\nb\nc\nd\ne\nf\ng\nh", "a\nB\nc\nd\ne\nF\ng\nh"))
    other = replace(outcome("test_a.py::other", "passed"), lines={A: (2,)})
    for frames, lines, place in PLACES:
        seen = tuple(Location(path, line, line) for path, line in frames)
        (result,) = broken_by(change, replace(outcome(TEST), frames=seen, lines=lines), other)
        assert str(result.location) == place, (frames, lines)
    # Of two lines, it is the one that most broken tests executed.
    ran_lines = {"one": (2, 6), "two": (6,)}
    both = [replace(outcome(f"{B}::{n}"), lines={A: lines}) for n, lines in ran_lines.items()]
    (result,) = broken_by(change, *both)
    assert (str(result.location), len(result.tests)) == ("a.py:6", 2)
    # A test that the change edits may be wrong itself.
    change = change_of(REPLACED, changed("a\nb", "a\nB", path="test_a.py"))
    (result,) = broken_by(change, outcome(TEST, line=7))
    assert str(result.location) == "test_a.py:7"
    # It is, where a line fails that is new, and nobody knows which lines the test executed.
    edited = replace(outcome(TEST), frames=(Location("test_a.py", 2, 2),))
    (result,) = broken_by(change, edited, executed={A: (2,)})
    assert str(result.location) == "test_a.py:2"


@each(
    ("id", "message", "paths", "executed", "place"),
    [
        ("tests/test_cart.py::a", "TypeError: shop/z.py", ["a.py", "shop/z.py"], {}, "shop/z.py"),
        ("tests/test_cart.py::a", "m", ["a.go", "shop/cart.py"], {}, "shop/cart.py"),
        ("tests/test_cart.py::a", "m", ["shop/a.py", "shop/cart.py"], {}, "shop/cart.py"),
        ("src/cart.test.js::a", "m", ["src/cart.js", "src/total.js"], {}, "src/cart.js"),
        ("src/cart.test.js::a", "m", ["api/cart.js", "src/cart.js"], {}, "src/cart.js"),
        # Of a test without a file, such as of TAP, only what its message names is known.
        ("adds", "m", ["a.py"], {}, "None"),
        ("adds", "in z.py", ["a.py", "z.py"], {}, "z.py"),
        # What a message names, or is called alike, is nearer than lines that run at import.
        (TEST, "TypeError: z.py has no total", ["a.py", "z.py"], {A: (2,)}, "z.py"),
        ("test_z.py::a", "assert 0", ["a.py", "z.py"], {A: (2,), "z.py": (2,)}, "z.py"),
    ],
)
def test_where_a_test_is_reported_of_which_no_line_is_known(
    id: str, message: str, paths: list[str], executed: dict[str, tuple[int, ...]], place: str
) -> None:
    change = change_of(*(changed("a\nb", "a\nB", path=path) for path in paths))
    test = outcome(id, "error", message)
    test = test if "::" in id else replace(test, location=None)
    (result,) = broken_by(change, test, executed=executed)
    assert str(result.location).removesuffix(":2") == place


def test_tests_that_fail_alike_for_one_line_are_one_result() -> None:
    frame, ids = Location("a.py", 2, 2), [f"test_a.py::test_{name}" for name in ("one", "two")]
    tests = [outcome(id, message=f"AssertionError: assert {id[-3:]}") for id in ids]
    (result,) = broken_by(SAME, *(replace(test, frames=(frame,)) for test in tests))
    assert result.message == "test_one and 1 more fail: AssertionError: assert one"
    assert result.tests == (*ids,)


def test_files_that_cannot_be_loaded_for_one_reason_are_one_result() -> None:
    """Also those of which nothing ran before, such as modules without a doctest."""
    says = "ImportError: no total"
    base = [outcome("test_a.py::test_a", "passed")]
    files = [outcome(path, "error", says) for path in ("b.py", "test_a.py", "c.py", "test_a.py")]
    (result,) = suite(SAME, base, files).results
    assert (result.kind, str(result.location)) == ("broken_test", "a.py:2")
    assert result.message == f"test_a.py and 2 more cannot be loaded: {says}"
    assert result.tests == ("test_a.py", "b.py", "c.py")
    (result,) = suite(SAME, [], files).results
    assert (result.kind, str(result.location)) == ("failing_test", "b.py:1")
    others = [outcome("d.py", "error", "NameError: total"), outcome("e.py::test_e", message=says)]
    assert len(suite(SAME, base, [*files, *others]).results) == 3


def test_what_cannot_be_loaded_for_its_own_line_is_reported_there() -> None:
    """Beside what another line breaks."""
    change = change_of(changed("a\nb\nc", "a\nB\nc"), changed("a", "b", path="x/conftest.py"))
    own = (Location("x/conftest.py", 1, 1),)
    broken = replace(outcome("x/conftest.py", "error", "ValueError: x"), frames=own)
    before = [outcome("x/test_x.py::test_x", "passed"), outcome(TEST, "passed")]
    found = suite(change, before, [broken, outcome(TEST)], executed={"a.py": (2,)}).results
    assert {str(result.location) for result in found} == {"x/conftest.py:1", "a.py:2"}


def test_tests_that_import_what_cannot_be_parsed_have_its_cause() -> None:
    """Others that the same line breaks do not."""
    wrong, said = (
        diagnostic(2, "invalid-syntax", severity="critical"),
        "SyntaxError: invalid syntax",
    )
    failed = replace(outcome("test_a.py", "error", said), output='  File "a.py", line 2')
    other = replace(outcome("test_b.py::test_b"), frames=(Location("a.py", 2, 2),))
    before = outcome(TEST, "passed"), replace(other, outcome="passed")
    tests = Report(tests=before), Report(tests=(failed, other))
    runs = [
        *(ran("ruff", "base"), ran("ruff", "head", wrong)),
        *(ran("pytest", "base", kind="test", report=tests[0]),),
        *(ran("pytest", "head", kind="test", report=tests[1]),),
    ]
    results = compare(SAME, runs, NOTHING_KNOWN).results
    assert [(str(result.location), result.tests, result.cause) for result in results] == [
        ("a.py:2", (), ""),
        ("a.py:2", ("test_a.py",), "E1"),
        ("a.py:2", ("test_b.py::test_b",), ""),
    ]


def test_what_linters_say_of_a_name_that_a_test_misses_is_not_said_twice() -> None:
    said = [(2, "Undefined name `total`"), (2, "'total' is not defined"), (2, "`total` is unused")]
    said += [(2, "Undefined name `totals`"), (3, "Undefined name `total`")]
    linted = [replace(diagnostic(line), message=message) for line, message in said]
    failed = outcome(TEST, message="NameError: name 'total' is not defined")
    failed = replace(failed, frames=(Location("a.py", 2, 2),))
    runs = [
        *(ran("ruff", "base"), ran("ruff", "head", *linted)),
        ran("pytest", "base", kind="test", report=Report(tests=(outcome(TEST, "passed"),))),
        ran("pytest", "head", kind="test", report=Report(tests=(failed,))),
    ]
    change = change_of(changed("a\nb\nc", "a\nB\nC"))
    results = compare(change, runs, Project()).results
    assert [result.cause for result in results] == ["E6", "E6", "", "", "", ""]
    results = compare(change, runs[::-1], Project()).results
    assert [result.cause for result in results] == ["", "E1", "E1", "", "", ""]
    runs[2:] = [replace(run, by_author=True) for run in runs[2:]]
    results = compare(change, runs, Project()).results
    assert {result.cause for result in results} == {""}


def test_the_word_of_the_author_hides_nothing_that_others_found() -> None:
    forged, found = (ran(name, "head", diagnostic(2)) for name in ("ruff-project", "ruff"))
    (result,) = compare(SAME, [replace(forged, by_author=True), found], Project()).results
    assert (result.check, result.by_author) == ("ruff", False)
    scans = ran("syntax", "base", kind="scan"), ran("syntax", "head", diagnostic(2), kind="scan")
    compilers = [ran("tsc", side, files=("a.py",), by_author=True) for side in ("base", "head")]
    (result,) = compare(SAME, [*scans, *compilers], Project()).results
    assert result.check == "syntax"


def test_what_a_type_checker_says_of_a_name_that_ruff_does_not_know_is_not_said_twice() -> None:
    unknown = replace(diagnostic(2), message="Undefined name `total`")
    typed = replace(diagnostic(2), message='Name "total" is not defined; did you mean "totals"?')
    runs = [*(ran("ruff", "base"), ran("mypy", "base"))]
    runs += [ran("ruff", "head", unknown), ran("mypy", "head", typed)]
    results = compare(change_of(changed("a\nb", "a\nB")), runs, Project()).results
    assert [result.cause for result in results] == ["", "E1"]


def test_what_misses_a_module_that_the_change_moves_is_one_finding_there() -> None:
    moved = changed("a", "a", path="shop/new.py", old_path="shop/old.py")
    project = Project(base_files=frozenset({"shop/old.py"}))
    for said, old_path in (
        ("Failed to resolve import './shop' from 'x.ts'", "shop/index.ts"),
        ("Cannot find module './old.util' from 'x.ts'", "shop/old.util.ts"),
        # It is the only change.
        ("Module './shop' has no exported member 'total'", "shop/old.py"),
        ("No module named 'shop.old'", "shop/old.py"),
        ("Cannot find module '../old.js' imported from x.ts", "shop/old.py"),
    ):
        change = change_of(replace(moved, status="renamed", old_path=old_path))
        failed = outcome(TEST, "error", f"Error: {said}")
        (result,) = suite(change, [outcome(TEST, "passed")], [failed], project).results
        assert result.location == Location("shop/new.py", 0, 0)
    missing = [replace(diagnostic(1), message=f"Cannot find module './{n}'.") for n in ("old", "b")]
    runs = [
        *(ran("tsc", "base"), ran("tsc", "head", *missing)),
        ran("npm-test", "base", kind="test", report=Report(tests=(outcome(TEST, "passed"),))),
        ran("npm-test", "head", kind="test", report=Report(tests=(failed,))),
    ]
    results = compare(change, runs, project).results
    # A build may write the other module.
    assert [(r.state, r.cause) for r in results] == [("new", "E3"), ("existing", ""), ("new", "")]


def test_what_type_checkers_say_of_a_name_that_a_test_cannot_import_is_not_said_twice() -> None:
    for tool, typed, raised in (
        ("mypy", 'Module "a.cart" has no attribute "{}"', "cannot import name '{}' from 'a.cart'"),
        ("go-vet", "undefined: cart.{}", "undefined: cart.{}"),
    ):
        said = [typed.format(name) for name in ("total", "mean")]
        linted = [replace(diagnostic(line), message=text) for line, text in enumerate(said, 1)]
        failed = outcome(TEST, message=raised.format("total"))
        runs = [
            *(ran(tool, "base"), ran(tool, "head", *linted)),
            ran("pytest", "base", kind="test", report=Report(tests=(outcome(TEST, "passed"),))),
            ran("pytest", "head", kind="test", report=Report(tests=(failed,))),
        ]
        results = compare(SAME, runs, Project(base_files=frozenset({"a/cart.py"}))).results
        assert [result.cause for result in results] == ["E3", "", ""], tool


TWO_LINES = change_of(changed("a\nb\nc\nd\ne", "a\nB\nc\nD\ne"))


def test_what_code_raises_for_tests_of_several_lines_is_one_result() -> None:
    """Unless it is a test, or a helper of tests, that raises it."""
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
        assert len(broken_by(TWO_LINES, *head)) == count, (path, message)


TITLES = [
    (["a.py::test_a[1-x]"], "test_a[1-x] fails: m"),
    (["a.py::test_a[1]", "a.py::B::test_b[1]", "a.py::B::test_b[x::y]"],
     "test_a and 2 more fail: m"),
    (["tests/conftest.py"], "tests/conftest.py cannot be loaded: m"),
    (["tests/test_a.py", "tests/test_b.py"], "tests/test_a.py and 1 more cannot be loaded: m"),
]  # fmt: skip


def test_the_title_of_tests_that_fail() -> None:
    for ids, title in TITLES:
        word = "failed" if "::" in ids[0] else "error"
        base = [outcome(id if "::" in id else f"{id}::test_a", "passed") for id in ids]
        if ids == ["tests/conftest.py"]:
            base = [outcome("tests/test_a.py::test_a", "passed")]
        (result,) = suite(SAME, base, [outcome(id, word, "m") for id in ids]).results
        assert (result.message, result.tests) == (title, tuple(ids))


def test_new_tests_of_a_file_that_fail_for_want_of_one_thing_are_one_result() -> None:
    for message, count in (("AttributeError: no total", 1), ("assert 1 == 2", 3), ("", 3)):
        tests = [outcome(f"test_a.py::test_{n}", "failed", message, n) for n in (4, 9, 14)]
        other = outcome("test_b.py::test_b", "failed", message)
        found = suite(SAME, [], [*tests, other]).results
        assert len(found) == count + 1, message
        assert (found[0].location or found[0]) == Location("test_a.py", 4, 4)
    # So is one that fails with each of its parameters.
    head = [outcome(f"test_a.py::test_a[{x}]", "failed", f"assert {x}") for x in range(3)]
    found = suite(SAME, [], [*head, outcome("test_a.py::test_b[0]", "failed", line=9)]).results
    assert [(r.name, len(r.tests)) for r in found] == [
        ("test_a.py::test_a[0]", 3),
        ("test_a.py::test_b[0]", 1),
    ]


def test_type_checkers_say_one_thing_of_a_line() -> None:
    def run(check: str, *lines: int) -> CheckRun:
        places = [Location("a.py", line, line + number) for number, line in enumerate(lines)]
        said = [
            replace(diagnostic(1, f"wrong-{n}", check), location=p) for n, p in enumerate(places)
        ]
        return ran(check, "head", *said, kind="lint")

    base = [ran(check, "base") for check in ("mypy", "pyright")]
    runs = [*base, run("pyright", 2, 1, 2), run("mypy", 1, 1)]
    results = compare(change_of(changed("x = 1", "x = 'a'")), runs, Project()).results
    assert [(r.check, r.location and r.location.line, r.cause) for r in results] == [
        *[("pyright", 2, ""), ("pyright", 1, "E4"), ("pyright", 2, "E1")],
        *[("mypy", 1, ""), ("mypy", 1, "E4")],
    ]


MYPY = [
    ("[mypy]\nstrict = true\n", "a.py shop/a.py", "tests/test_a.py fuzz/a.py setup.py"),
    ("[mypy]\n[mypy-tests.*]\nstrict = true\n", "tests/test_a.py a.py", "scripts/a.py"),
    ("[mypy]\n[mypy-shop.testing]\nstrict = true\n", "shop/testing.py", "tests/test_a.py"),
    ("[mypy]\nfiles = src, fuzz/\n", "src/a.py fuzz/b/a.py", "a.py srcs/a.py tests/test_a.py"),
    ("[mypy]\nfiles = **/*.py\n", "a.py scripts/b/a.py", "a.pyi"),
    ("[mypy]\nfiles =\n  a.py\n  tests/*.py\n", "a.py tests/test_a.py", "shop/a.py"),
    ("[mypy]\npackages = shop.cart\n", "shop/cart/a.py src/shop/cart/a.py", "shop/a.py"),
    ("[mypy]\nexclude = ['^gen/', \"a\\\\.py\"]\n", "b.py shop/gen.py", "gen/a.py a.py"),
    ("[mypy]\nexclude = (\n", "b.py", ""),
    ("[mypy]\nexclude = (^|/)gen/|^a/\n", "shop/a/b.py", "gen/a.py shop/gen/a.py a/b.py"),
    ("[mypy]\nfiles = ./\n[other]\nfiles = b\n", "a.py scripts/a.py tests/test_a.py", ""),
]


def test_type_checkers_read_what_their_configuration_means() -> None:
    for config, paths, others in MYPY:
        check_scope("mypy", "mypy.ini", config, paths, others)
    config = '{\n  "exclude": [\n    "**/gen", "a.py",\n    "shop/*.py"\n  ]\n}\n'
    others = "gen/b.py more/gen/b.py a.py shop/b.py"
    check_scope("pyright", "pyrightconfig.json", config, "b.py generic.py", others)
    config = "[tool.poetry.group.typing]\nexclude = ['a.py']\n[tool.ty.src]\nexclude = ['gen']\n"
    check_scope("ty", "pyproject.toml", config, "a.py b.py", "gen/b.py more/gen/b.py")
    check_scope("ty", "ty.toml", "[src]\nexclude = ['gen']\n", "a.py", "gen/b.py")
    overrides = "overrides]]\ninclude = ['tests']\nexclude = ['tests/gen']\n"
    for file, start in (("pyproject.toml", "[tool.ty.rules]\n[[tool.ty."), ("ty.toml", "[[")):
        read = "a.py tests/test_a.py tests/gen/a.py"
        check_scope("ty", file, start + overrides, read, "docs/a.py")
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
        old = errors[:before]
        runs = (
            ran(tool, "base", *old, files=("a.py",)),
            ran(tool, "head", *old, diagnostic(2), files=("a.py",)),
        )
        evidence = compare(change, runs, Project())
        assert len(evidence.new_results) == new, tool
        assert evidence.runs[-1].files == files, tool
        (coverage,) = coverage_of(change, evidence, {})
        assert coverage.next_step.startswith("" if files else f"{tool} reported too much"), tool


def test_nobody_uses_a_compiler_that_reports_much_in_several_files() -> None:
    change = change_of(changed("a\nb", "a\nc"))
    for paths, new in ((("b.py",), 1), (("b.py", "test_b.py"), 1), (("b.py", "c.py"), 0)):
        old = [replace(diagnostic(n), location=Location(p, n, n)) for p in paths for n in range(11)]
        runs = (
            ran("tsc", "base", *old, files=("a.py",)),
            ran("tsc", "head", *old, diagnostic(2, "E"), files=("a.py",)),
        )
        evidence = compare(change, runs, Project())
        assert (len(evidence.new_results), len(evidence.runs[-1].files)) == (new, new), paths
        (coverage,) = coverage_of(change, evidence, {})
        assert coverage.next_step.startswith("" if new else "tsc reported too much"), paths


def test_who_looked_at_a_file() -> None:
    """A suite did if it executed a changed line; of what only tests use, whatever it executed."""
    report = Report(executed={"a.py": (1,), "b.py": ()})
    suite = ran("pytest", "head", kind="test", report=report)
    linter = ran("ruff", "head", files=("a.py", "c.py"))
    runs = suite, linter, ran("secrets", "head", kind="scan", files=("a.py",))
    for path, checks in (
        *(("a.py", ("pytest", "ruff")), ("b.py", ()), ("c.py", ("ruff",))),
        ("tests/data/d.py", ("pytest",)),
    ):
        assert Evidence(runs).checks_of(path) == checks, path
    assert [Evidence(runs).scans_of(path) for path in ("a.py", "c.py")] == [("secrets",), ()]
    for other in (
        tuple(replace(run, side="base") for run in runs),
        tuple(replace(run, outcome="incomplete") for run in runs),
        (replace(suite, by_author=True), replace(linter, by_author=True)),
    ):
        assert Evidence(other).checks_of("a.py") == Evidence(other).scans_of("a.py") == ()
    many = tuple(str(number) for number in range(20_000))
    evidence, started = Evidence((replace(linter, files=many),)), time.monotonic()
    assert all(map(evidence.checks_of, many))
    assert time.monotonic() - started < 1


FOUND = CheckResult(
    **{"check": "x", "kind": "diagnostic", "state": "new", "name": "R", "message": "m"},
    **{"severity": "low", "location": None},
)
OLD = replace(FOUND, state="existing")
UNREAD = replace(OLD, kind="failing_test", at_import=True, tests=("test_a.py",))
SAID: list[tuple[RunOutcome, RunOutcome, Literal["lint", "test"], list[CheckResult], str]] = [
    ("ended", "ended", "lint", [], "passed: nothing new"),
    ("ended", "ended", "lint", [OLD], "passed: nothing new, 1 before"),
    ("ended", "ended", "lint", [OLD, FOUND], "failed: 1 new"),
    ("incomplete", "ended", "lint", [OLD], "incomplete: is incomplete before the change: stop"),
    ("incomplete", "ended", "lint", [FOUND], "failed: 1 new"),
    ("ended", "incomplete", "lint", [FOUND], "incomplete: is incomplete: stopped"),
    ("ended", "not_run", "lint", [], "not_run: was not run: stopped"),
    ("ended", "ended", "test", [], "passed: 0 passed"),
    ("ended", "ended", "test", [UNREAD], "incomplete: is incomplete: m"),
    ("ended", "ended", "test", [replace(UNREAD, at_import=False)], "failed_before: 0 passed, 1"),
    ("ended", "ended", "test", [replace(UNREAD, state="new")], "failed: 0 passed, 1 failed"),
    ("ended", "ended", "test", [replace(UNREAD, state="flaky")], "flaky: 0 passed, 1 flaky"),
]


def test_what_is_said_of_a_check() -> None:
    report = Report(statements={"a.py": (2,)})
    fields: dict[str, Any] = {"reason": "stopped", "files": ("a.py",)}
    for before, after, kind, results, words in SAID:
        base = ran("x", "base", kind=kind, outcome=before, **fields)
        head = ran("x", "head", kind=kind, outcome=after, report=report, **fields)
        (summary,) = summarise(Evidence((base, head), tuple(results)))
        assert f"{summary.state}: {summary.text}".startswith(words), (before, after, words)
        by_author = Evidence((replace(head, by_author=True),), tuple(results))
        assert summarise(by_author)[0].text.endswith(" in a job that the author controls")
    executed = ran("x", "head", kind="test", report=replace(report, executed={"a.py": (2,)}))
    assert summarise(Evidence((executed,), (UNREAD,)))[0].state == "failed_before"
    for run, count in ((executed, 1), (replace(executed, by_author=True), 0)):
        (entry,) = coverage_of(SAME, Evidence((run,)), {})
        assert entry.executed == count  # what the job of the author says is not counted


@each(
    ("compiler", "says", "outcome", "expected"),
    [
        ("tsc web", [], "ended", []),
        ("tsc", [diagnostic(9, path="a.py")], "ended", ["syntax", "tsc"]),
        ("tsc", [], "incomplete", ["syntax"]),
        ("eslint", [], "ended", ["syntax"]),
    ],
)
def test_a_compiler_knows_better_what_can_be_parsed(
    compiler: str, says: list[Diagnostic], outcome: RunOutcome, expected: list[str]
) -> None:
    runs = [
        *(ran("syntax", "base", kind="scan"), ran("syntax", "head", diagnostic(2), kind="scan")),
        ran(compiler, "base"),
        ran(compiler, "head", *says, outcome=outcome, files=("a.py",)),
        ran("lint", "head", diagnostic(3)),  # it says what no compiler does
    ]
    results = compare(SAME, runs, NOTHING_KNOWN).results
    assert [result.check for result in results] == [*expected, "lint"]


def test_tests_of_files_that_a_build_writes_may_go() -> None:
    built = outcome("build/a.test.js::works", "passed")
    for files, reason in ((frozenset({"a.py"}), ""), (frozenset({"build/a.test.js"}), "a test")):
        project = Project(base_files=files, head_files=files)
        head = suite(SAME, [built], [], project).runs[-1]
        assert head.reason.partition(" that")[0] == reason
