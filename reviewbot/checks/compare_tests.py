"""Which tests a change broke, and where."""

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from os.path import commonprefix
from typing import Literal

from msgspec.structs import replace

from reviewbot.checks.evidence import FAILURES, CheckResult, CheckRun, ResultState, TestOutcome
from reviewbot.checks.project import Project
from reviewbot.git.change import Change, ChangedFile, Location
from reviewbot.text.files import classify

# Node.js says "imported from" a name without quotes of a file that is not there.
MISSING_MODULE = re.compile(
    r"(?:No module named|Failed to resolve import|Cannot find (?:package|module"
    r"(?! '[^']*' imported from [^']))) ['\"](?P<module>(?:@[\w.-]+/)?\w[\w.-]*)"
)
LACKS = re.compile(
    r"No module named '[^']*?(\w+)'|(?:Cannot find module|Failed to resolve import)"
    r" ['\"](?:[^'\"]*/)?([^'\"/]+?)(?:\.[cm]?[jt]sx?)?['\"]"
    r"|cannot import name '(\w+)' from '[\w.]*?(\w+)'|undefined: (?:\w+\.)*(\w+)"
    r"|Property '(\w+)' does not exist on type '.*?(\w+)\W*'"
    r"|\"[^\"]*?(\w+)\"'? has no (?:attribute|exported member)(?: named)? [\"'](\w+)"
)
INSTALL = ": install it into the project's environment"
NODE_INSTALL = ": install it with npm ci, pnpm install or yarn"
MISSING_NAME = re.compile(r"cannot import name '(\w+)' from '(?P<module>[\w.]+)'")
MISSING_PACKAGE = re.compile(r"importlib[._]metadata\.PackageNotFoundError\b")
# What a test says that needs a network or a program that is not here.
MISSING_MACHINE = re.compile(
    r"\bgaierror\b|NameResolutionError|Name or service not known|Network is unreachable"
    r"|Temporary failure in name resolution|exit status 127\b"
    r"|dial \w+: lookup|network is unreachable|executable file not found"
)
# As pytest shows that Python did not find the program, at the end of a traceback.
MISSING_PROGRAM = re.compile(r"FileNotFoundError: .*: '[^/']+'\s+\S*\bsubprocess\.py:\d+:")
SYNTAX_ERROR = re.compile(r"\b(?:SyntaxError|IndentationError|TabError)\b")
MISSING_FIXTURE = re.compile(r"fixture '(\w+)' not found")
TEST = re.compile(r"^[ \t]*(?:async )?def test", re.MULTILINE)
ENDING = re.compile(r"(?:/(?:index|__init__))?\.\w+$")  # behind the name of a module
CONFTEST, GONE = "conftest.py", ("deleted", "renamed")
ASSERTS = ("assert", "AssertionError")  # at the start of a message that says nothing by itself
# Parameters of pytest, and parts of a test of Go, whose name is one word.
PART = re.compile(r"(::(?:[^\[/]*(?=\[)|\w+(?=/))).*", re.DOTALL)

# Tests that fail for one reason: what is said of them, where, and how they fail.
Group = tuple[Literal["broken_test", "failing_test"], ResultState, Location | None, str]
# By check and test, where the edit is that breaks it, and whether it was seen to pass without that.
Causes = Mapping[tuple[str, str], tuple[Location, bool]]
NO_CAUSE = (None, False)


def compare_tests(
    base: CheckRun, head: CheckRun, change: Change, project: Project, causes: Causes
) -> tuple[list[CheckResult], CheckRun]:
    """The results of a suite, and its run at head: incomplete if a package is missing here."""
    before = base.report.outcomes
    # New tests that fail as others did before say nothing about the change.
    known = {test.message for test in base.report.tests if test.outcome in FAILURES} - {""}
    counts: Counter[tuple[str, str, int]] = Counter(
        (test.outcome, path, line)
        for test in head.report.tests
        for path, lines in test.lines.items()
        for line in lines
    )
    missing: list[str] = []
    said: dict[tuple[str, ResultState, str], Group] = {}
    groups: dict[Group, dict[str, TestOutcome]] = {}
    failed = (test for test in head.report.tests if test.outcome in FAILURES)
    compared = [(outcome_before(test.id, before, change.old_paths), test) for test in failed]
    for earlier, test in sorted(compared, key=lambda pair: pair[0] != "passed"):
        if is_missing_here(test, earlier, change, project):
            missing.append(f"{test.message} ({test.file})")
            continue
        message = "" if test.message.startswith(ASSERTS) else test.message
        if earlier == "passed":
            cause_at, _ = causes.get((head.check, test.id), NO_CAUSE)
            place = cause_at or locate(test, change, counts, head.report.executed)
            # What one changed line breaks is one result, however the tests fail. Elsewhere, and of
            # errors of syntax, those are that fail alike, whatever values they compare.
            is_one = place != test.location and not SYNTAX_ERROR.match(test.message)
            alike = "" if is_one else re.sub(r"[^A-Za-z].*", "", test.message)
            group: Group = "broken_test", "flaky" if test.is_flaky else "new", place, alike
            raised = next((f for f in test.frames[-1:] if classify(f.path) == "source"), None)
            cause = "" if cause_at else "import" if _is_file(test) else str(raised or "")
        else:
            is_new = earlier is None and base.outcome == "ended" and message not in known
            alike = "" if test.location else _function_of(test)
            state: ResultState = "flaky" if test.is_flaky else "new" if is_new else "existing"
            group = "failing_test", state, test.location, alike
            cause = "import" if _is_file(test) else test.file
        if cause and message:
            group = said.setdefault((cause, group[1], message), group)
        groups.setdefault(group, {}).setdefault(test.id, test)
    results = [_result(head, k, [*t.values()], project, causes) for k, t in groups.items()]
    if lost := silenced_tests(base, head, change, project):
        count = f"{len(lost)} tests" if len(lost) > 1 else "a test"
        missing.append(f"{count} that passed before did not run, for example {lost[0]}")
    seen = {test.file for test in head.report.tests} | head.report.executed.keys()
    idle = (p for p in head.report.statements if p not in seen and classify(p) == "test")
    missing += [f"no test of {p} ran" for p in idle if TEST.search(project.head_texts.get(p, ""))]
    ran = {test.outcome for test in (*base.report.tests, *head.report.tests)}
    if groups and "passed" not in ran and all(result.state == "existing" for result in results):
        missing.append(f"no test passes, before or after the change: {results[0].message}")
    if missing and (head.outcome == "ended" or "conftest.py cannot be imported" in head.reason):
        module = MISSING_MODULE.search(missing[0])
        hint = (INSTALL if module[0].startswith("No ") else NODE_INSTALL) if module else ""
        head = replace(head, outcome="incomplete", reason=missing[0] + hint)
    return results, head


def silenced_tests(base: CheckRun, head: CheckRun, change: Change, project: Project) -> list[str]:
    """Tests that passed at base and are skipped, or are gone from files that do not change.

    Something silenced the latter that is no edit of theirs, such as a conftest.py. Parameters and
    parts do not count: they may come from what the change edits. So may files that a build writes.
    """
    skipped = {test.id for test in head.report.tests if test.outcome == "skipped"}
    touched = {file.old_path for file in change.files} - skipped
    built = {test.file for test in base.report.tests} - project.base_files
    touched |= built if project.base_files else set()
    # A file that cannot be loaded stands for all of its tests, a conftest.py for all below it.
    alive = {PART.sub(r"\1", test.id) for test in head.report.tests if test.outcome != "skipped"}
    # Of a test of Node.js that fails by a part, the part alone has an outcome.
    alive |= {whole for id in alive for whole in _wholes(id)}
    folders = tuple(id[: -len(CONFTEST)] for id in alive if f"/{id}".endswith(f"/{CONFTEST}"))
    return [
        test.id
        for test in base.report.tests
        if test.outcome == "passed"
        if test.location
        if _wholes(test.id) & skipped or test.file not in touched
        if not alive & {PART.sub(r"\1", test.id), test.file}
        if not test.id.startswith(folders)
    ]


def gone_tests(runs: Sequence[CheckRun], change: Change) -> list[str]:
    """Tests that passed at base and are gone from files that change, if fewer are new anywhere."""
    ended = Counter(run.check for run in runs if run.outcome == "ended")
    tests = [(run, PART.sub(r"\1", test.id), test) for run in runs for test in run.report.tests]
    old = [(id, test) for run, id, test in tests if run.side == "base" and ended[run.check] > 1]
    before, passed = dict(old), {id for id, test in old if test.outcome == "passed"}
    now = [(run, *id.partition("::")) for run, id, _ in tests if run.side == "head"]
    after = {change.old_paths.get(p, p) + mark + name: run for run, p, mark, name in now}
    new = [id for id, run in after.items() if ended[run.check] > 1 and id not in before]
    touched = {file.old_path for file in change.files} - after.keys()  # what cannot be loaded
    gone = [id for id in before if id not in after and before[id].file in touched]
    return [id for id in gone if id in passed] if len(gone) > len(new) else []


def _wholes(id: str) -> set[str]:
    """The id of a test, and those of the suites that it is in, but for its file."""
    return {id.rsplit("::", n)[0] for n in range(id.count("::"))}


def outcome_before(id: str, outcomes: Mapping[str, str], moved: Mapping[str, str]) -> str | None:
    """The outcome at base; None if new. What could not be imported stands for all tests in it."""
    path, mark, name = id.partition("::")
    old_path = moved.get(path, path)
    id = old_path + mark + name
    if id in outcomes or (name and old_path in outcomes):
        return outcomes.get(id, outcomes.get(old_path))
    is_conftest = f"/{old_path}".endswith(f"/{CONFTEST}")
    start = old_path.removesuffix(CONFTEST) if is_conftest else f"{id}::"
    covered = {outcomes[other] for other in outcomes if other == id or other.startswith(start)}
    return "passed" if "passed" in covered else "failed" if covered else None


def is_missing_here(test: TestOutcome, prior: str | None, change: Change, project: Project) -> bool:
    """Whether a failure says more of this machine (packages, network) than of the change."""
    lacks = MISSING_MACHINE.search(test.message) or MISSING_PROGRAM.search(test.output)
    if MISSING_PACKAGE.match(test.message) or (prior is None and lacks):
        return True
    if fixture := MISSING_FIXTURE.search(f"{test.message}\n{test.output}"):
        return prior is None and not _writes(change, fixture)
    name = MISSING_NAME.search(test.message)
    missing = name or MISSING_MODULE.search(test.message)
    if missing is None:
        return False
    module = missing["module"]
    top = module.partition(".")[0]
    # The change is to blame if the project has the module, or if it writes what nothing declares.
    if own := {p for p in project.files if top in re.sub(r"\.pyx?$", "", p).split("/")}:
        # A project at a new place has to be installed there.
        new = project.manifests.keys() - project.base_files
        folders = tuple(path.rpartition("/")[0] + "/" for path in new)
        there = own & project.head_files
        is_new = bool(there) and there.isdisjoint(project.base_files) and name is None
        return is_new and module == top and all(path.startswith(folders) for path in there)
    is_written = _writes(change, missing)
    is_part = name or re.search(r"No module named '\w+\.", test.message)  # of an installed package
    if top in sys.stdlib_module_names:
        return name is None and not (is_part and is_written)
    # Another version of the package may have it.
    is_other = prior != "passed" or any(f.path in project.manifests for f in change.files)
    is_named = any(map(project.declares, (top, module))) if project.manifests else prior is None
    return not is_written or (is_named and (is_other or not is_part))


def locate(
    test: TestOutcome,
    change: Change,
    counts: Counter[tuple[str, str, int]],  # of tests with an outcome that executed a line
    executed: Mapping[str, tuple[int, ...]],  # changed lines that ran at all
) -> Location | None:
    """The changed line that most likely broke a test; else the test itself.

    That is the nearest to a line of the failure: the deepest one that it passed through, or the
    executed one that the fewest passing tests executed, and of these the most failing ones
    (spectrum-based fault localisation, https://doi.org/10.1145/1101908.1101949). Else it is one
    that ran on import, or the first one if the change does not touch the test, or the file that is
    gone. Before all, it is the line that fails, if that is new and nobody knows what ran.
    """
    for place in () if test.lines else test.frames[-1:]:  # what it executed is not known
        if any(f.path == place.path and place.line in f.added_lines for f in change.files):
            return place
    if gone := gone_module(test.message, change):
        return Location(gone, 0, 0)
    changed = {
        file.path: lines
        for file in change.files
        if file.is_regular("head") and (classify(file.path) == "source" or CONFTEST in test.id)
        if (lines := changed_lines(file))
    }
    seen = [(frame.path, frame.line) for frame in reversed(test.frames)]
    own = [(path, line) for path, lines in test.lines.items() for line in lines]
    seen += sorted(own, key=lambda at: (counts["passed", *at], -counts["failed", *at], at))
    places = [
        (abs(close - line), (order, 0, 0), path, close)
        for order, (path, line) in enumerate(seen)
        for close in changed.get(path, ())
    ]
    # Files with tests are often called like what they test.
    near = test.frames[-1].path if test.frames else test.file
    for path, lines in changed.items():
        # Statements such as a constant run when their module is imported, which no test is seen to
        # do. Of some suites, it is not known at all which test executes what.
        ran = {n for n in executed.get(path, ()) if n in lines and not counts["passed", path, n]}
        is_as_it_was = test.file not in change.old_paths
        is_named = path in test.message
        # A test without a place, such as one of TAP, is called like nothing.
        if ran or (is_as_it_was and (is_named or test.location or test.frames)):
            # Characters count, not folders: sum.test.js is about sum.js.
            ways = ((path, near), (path[::-1], near[::-1]))
            alike = sum(len(commonprefix(way)) for way in ways)  # noqa: RUF071
            places.append((sys.maxsize, (not is_named, not ran, -alike), path, min(ran or lines)))
    if not places:
        went = [f.path for f in change.files if f.status in GONE and f.path not in test.id]
        return Location(went[0], 0, 0) if len(went) == 1 else test.location
    *_, path, line = min(places)
    return Location(path, line, line)


def lacking(message: str) -> frozenset[str]:
    """Names that a message says are not there: of a module, or of what is in a module or a type."""
    return frozenset(name for found in LACKS.findall(message)[:1] for name in found if name)


def gone_module(message: str, change: Change) -> str:
    """The path of a file that the change moves or removes, if a message misses its module."""
    names, gone = lacking(message), (f for f in change.files if f.status in GONE)
    return next((f.path for f in gone if ENDING.sub("", f.old_path).split("/")[-1] in names), "")


def changed_lines(file: ChangedFile) -> set[int]:
    """Lines that are added, or stand where lines were removed and none put in their place."""
    found = {*file.added_lines}
    for hunk in file.hunks:
        found |= {b.head for a, b in pairwise(hunk.lines) if a.head is None and b.head and b.base}
        if hunk.lines[-1].head is None:
            found |= {number for number, _ in list(hunk.at("head"))[-1:]}
    return found


def _result(
    run: CheckRun, group: Group, tests: list[TestOutcome], project: Project, causes: Causes
) -> CheckResult:
    """Named after the function, or the file, of the first test."""
    kind, state, place, _ = group
    first, *others = tests
    function = _function_of(first)
    name = function.partition("::")[2].rpartition("::")[2] or function
    more = f" and {len(others)} more" if others else ""
    name += more or first.id.removeprefix(function)
    at_import = all(_is_file(test) for test in tests)
    verb = "cannot be loaded" if at_import else "fail" if more else "fails"
    if name == CONFTEST and name not in project.head_files:  # a plug-in fails like one
        name, verb = "no test", "can be loaded"
    return CheckResult(
        check=run.check,
        kind=kind,
        state=state,
        name=first.id,
        message=f"{name} {verb}: {first.message}".removesuffix(": "),
        severity="high" if kind == "broken_test" else "medium",
        location=place,
        category="correctness" if kind == "broken_test" else "tests",
        tests=tuple(test.id for test in tests),
        at_import=at_import,
        passes_without=sum(causes.get((run.check, test.id), NO_CAUSE)[1] for test in tests),
        output=first.output,
    )


def _function_of(test: TestOutcome) -> str:
    """The id of a test without its parameters, which may be cut off."""
    return re.sub(r"(::[^\[]*)\[(?:.*\]|.{300,})\Z", r"\1", test.id, flags=re.DOTALL)


def _is_file(test: TestOutcome) -> bool:
    """Whether it is a file that cannot be imported."""
    return test.outcome == "error" and test.location is not None and test.id == test.location.path


def _writes(change: Change, match: re.Match[str]) -> bool:
    """Whether the change adds a line with the name that is missing."""
    name = re.compile(rf"(?<!\w){re.escape(match[1])}\b")
    return any(name.search(text) for file in change.files for text in file.added.values())
