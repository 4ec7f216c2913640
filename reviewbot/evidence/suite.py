"""The project's tests at head and at base, and the head's tests against the base's code.

A test that fails at head is the change's doing where its very text passes against the base. Where a test is new and fails
against both, the change brought a red test, which says less: what it waits for may be missing here, such as the network.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from reviewbot.domain.change import is_test_path
from reviewbot.domain.evidence import (
    Category,
    CheckRun,
    EvidenceKind,
    EvidenceStatus,
    Precision,
    Result,
    Severity,
    Side,
    TestRun,
)
from reviewbot.evidence import choose, locate, places, shown
from reviewbot.evidence.match import Heard, Mark
from reviewbot.evidence.parsers import pytest_report
from reviewbot.evidence.parsers.pytest_report import Failure, TestReport
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.evidence.statements import executed_changes, untested
from reviewbot.evidence.view import CheckOptions, View, is_library, is_python_test
from reviewbot.ports import Ended, Job, Outcome

CHECK = "pytest"
HEAD, BASE, OVERLAY = f"{CHECK}:head", f"{CHECK}:base", f"{CHECK}:overlay"
REPORT = "report.jsonl"
COMMAND = ("{python}", "-I", "{probes}/reviewbot_tests.py", "{scratch}/tests.json", f"{{scratch}}/{REPORT}")
_MISSING_MODULE = re.compile(r"No module named '([\w.]+)'")
_MISSING_FIXTURE = re.compile(r"(?:fixture|recursive dependency involving fixture) '(\w+)' (?:not found|detected)")
_NOTHING = TestReport()


def wanted(view: View, options: CheckOptions) -> tuple[str, ...]:
    """The head's test files to run; none where nothing in scope is Python. An audit runs the whole suite."""
    if CHECK not in options.presets or not view.python():
        return ()
    return choose.every(view, options.max_tests) if view.is_audit else choose.tests(view, options.max_tests)


def jobs(view: View, options: CheckOptions) -> tuple[Job, ...]:
    """The chosen tests at head, at base in their own version, and at base in the head's version where they differ. In an audit
    at head alone, and unmeasured."""
    tests = wanted(view, options)
    if not tests:
        return ()
    if view.is_audit:
        return (job(HEAD, list(tests), Side.HEAD, seconds=options.seconds),)
    older = {file.path: file.base_path or file.path for file in view.files}
    files = test_files(view)
    changed = [test for test in tests if test in dict(files)]
    supports = any(not is_python_test(path) for path, _ in files)
    again = list(tests) if supports else changed
    found = [
        job(HEAD, list(tests), Side.HEAD, seconds=options.seconds, measure=_measured(view)),
        replace(job(BASE, [older.get(test, test) for test in tests], Side.BASE, seconds=options.seconds), keep=(0,)),
    ]
    if again:
        found.append(replace(job(OVERLAY, again, Side.BASE, seconds=options.seconds), overlay=files))
    return tuple(found)


def job(name: str, tests: list[str], side: Side, *, seconds: float, measure: list[str] | None = None) -> Job:
    """One run of pytest on these files or node ids."""
    spec = json.dumps({"tests": tests, "measure": measure or []}).encode("ascii")
    return Job(name, COMMAND, seconds, executes=True, tree=side, files=(("tests.json", spec),), collect=(REPORT,))


def test_files(view: View) -> tuple[tuple[str, bytes], ...]:
    """The head's version of every changed file of the tests, their support and data included."""
    found = ((file.path, view.contents_of(file).head) for file in view.files if file.head_path and is_test_path(file.path))
    return tuple((path, data) for path, data in found if data is not None)


def hear(view: View, outcomes: Mapping[str, Outcome], *, is_trial: bool = False) -> Heard:
    """What the runs said together. In a trial a test that passed before and lacks something now is broken."""
    if HEAD not in outcomes:
        return Heard()
    runs = _Runs(*(_report(outcomes.get(name)) for name in (HEAD, BASE, OVERLAY)))
    reason = _why_not(outcomes[HEAD], runs.head)
    seconds = sum(outcome.seconds for name, outcome in outcomes.items() if name in (HEAD, BASE, OVERLAY))
    if not runs.head.counts:
        return Heard(runs=(CheckRun(CHECK, ran=False, reason=reason, seconds=seconds, cut_short=True),))
    strange = _strangers(view, runs.head)
    if is_trial:
        older = {file.path: file.base_path or file.path for file in view.files}
        strange = {name: why for name, why in strange.items() if _before(name, runs, older) is not _Before.PASSED}
    marks = _judged(view, runs, strange, head=outcomes[HEAD])
    broke = any(mark.status is EvidenceStatus.NEW for mark in marks)
    reasons = [reason] if reason else []
    if strange:
        reasons.append(f"{len(strange)} failed for what is not installed here, as {shown.sentence(next(iter(strange.values())))}")
    if runs.head.started and not runs.head.measured and not view.is_audit:
        reasons.append("coverage was not measured")
    if runs.head.attempt:
        reasons.append("it started only without the project's own options")
    if not runs.base.counts and not view.is_audit:
        reasons.append(f"at base: {_why_not(outcomes.get(BASE), runs.base)}")
    cut_short = bool(reason or strange)
    run = CheckRun(CHECK, ran=True, reason="; ".join(reasons), seconds=seconds, failed=broke, cut_short=cut_short)
    if runs.head.measured and runs.head.finished and not strange:  # what could not be loaded might have run it
        marks += tuple(Mark(EvidenceStatus.NEW, Side.HEAD, result) for result in untested(view, runs.head))
    return Heard(marks=marks, runs=(run,), tests=_totals(view, runs.head, strange))


@dataclass(frozen=True, slots=True)
class _Runs:
    """The reports of the three runs."""

    head: TestReport
    base: TestReport
    overlay: TestReport


def _measured(view: View) -> list[str]:
    return [file.path for file in view.files if file.head_path and is_library(file.path) and file.path.endswith(".py")]


def _report(outcome: Outcome | None) -> TestReport:
    return pytest_report.read(outcome.file(REPORT) or b"") if outcome else _NOTHING


def _why_not(outcome: Outcome | None, report: TestReport) -> str:
    """Why a run says less than it should, empty where it came to its end."""
    if outcome is None:
        return "it was not run"
    if outcome.ended is not Ended.EXITED:
        done = report.total(TestOutcome.PASSED) + report.total(TestOutcome.FAILED)
        return f"{outcome.reason}; {done} of {report.count} tests had ended" if report.counts else outcome.reason
    if report.broken:
        return shown.sentence(report.broken)
    if not report.sound:
        return "the report was changed by the code under test and does not count"
    if not report.started:
        words = (outcome.stderr or outcome.stdout).decode("utf-8", "replace").strip()
        said = shown.sentence(words.rpartition("\n")[2])
        return f"pytest could not start: {said}" if said else "pytest could not start"
    return "" if report.finished else "the code under test ended the run before its time"


def _strangers(view: View, report: TestReport) -> dict[str, str]:
    """Failures that say more of this machine than of the change: a module or a fixture that the project does not hold."""
    if not view.paths:
        return {}
    names = {part.removesuffix(".py") for path in view.paths for part in path.split("/")}
    names |= {part.removesuffix(".py") for file in view.change.files for part in (file.base_path or "").split("/")}
    found: dict[str, str] = {}
    for name, failure in report.failures.items():
        missing = _MISSING_MODULE.search(failure.message)
        if missing and missing[1].partition(".")[0] not in names:
            found[name] = failure.message
        elif (fixture := _MISSING_FIXTURE.search(failure.text)) and not _is_defined(view, fixture[1]):
            found[name] = fixture[0]
    return found


def _is_defined(view: View, fixture: str) -> bool:
    mention = f"def {fixture}(".encode()
    sources = (
        *view.tests.values(),
        *(data for contents in view.contents.values() for data in (contents.base, contents.head) if data),
    )
    return any(mention in source for source in sources)


def _judged(view: View, runs: _Runs, strange: Mapping[str, str], *, head: Outcome) -> tuple[Mark, ...]:
    found = locate.ground(view, runs.head)
    older = {file.path: file.base_path or file.path for file in view.files}
    new: defaultdict[tuple[locate.Place, _Kind], list[Failure]] = defaultdict(list)
    marks: list[Mark] = []
    for failure in (*runs.head.failures.values(), *_hanging(runs.head, head)):
        if failure.id in strange:
            continue
        before = _before(failure.id, runs, older)
        if before is _Before.FAILED:
            marks.append(Mark(EvidenceStatus.EXISTING, Side.HEAD, _existing(failure)))
        else:
            new[locate.cause(failure, runs.head, found), _kind(view, failure, before)].append(failure)
    broken = (
        Mark(EvidenceStatus.NEW, Side.HEAD, _broken(view, place, failures, kind=kind)) for (place, kind), failures in new.items()
    )
    return (*broken, *marks, *_fixed(runs, older))


class _Before(StrEnum):
    """What a test of the head did against the base."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


def _before(test: str, runs: _Runs, older: Mapping[str, str]) -> _Before:
    """The head's text of the test against the base's code speaks first, then the base's own text."""
    path, mark, rest = test.partition("::")
    base = runs.base.of(older.get(path, path) + mark + rest)
    overlay = runs.overlay.of(test)
    if overlay is TestOutcome.PASSED or (overlay is None and base is TestOutcome.PASSED):
        return _Before.PASSED
    return _Before.FAILED if base is TestOutcome.FAILED else _Before.UNKNOWN


def _hanging(report: TestReport, outcome: Outcome) -> Iterator[Failure]:
    """The test that was running when time was up, if most of the time was its own: else it only came last in a slow suite."""
    if outcome.ended is Ended.TIMEOUT and report.began / 1000 < outcome.seconds / 2:
        for name, ended in report.outcomes.items():
            if ended is TestOutcome.UNFINISHED:
                yield Failure(name, name.partition("::")[0], 1, f"it does not end ({outcome.reason})", "", ())


def _fixed(runs: _Runs, older: Mapping[str, str]) -> Iterator[Mark]:
    newer = {old: new for new, old in older.items()}
    for failure in runs.base.failures.values():
        path, mark, rest = failure.id.partition("::")
        if runs.head.of(newer.get(path, path) + mark + rest) is TestOutcome.PASSED:
            yield Mark(EvidenceStatus.FIXED, Side.BASE, _existing(failure))


def _existing(failure: Failure) -> Result:
    return _result(failure, (failure.file, failure.line), message=f"{_named(failure)} fails: {shown.first_line(failure.message)}")


def _broken(view: View, place: locate.Place, failures: list[Failure], *, kind: _Kind) -> Result:
    """One result for all tests that fail for this line."""
    first = failures[0]
    others = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
    message = f"{_named(first)}{others} fails: {shown.first_line(first.message)}"
    result = _result(first, place, message=message)
    in_tests = is_test_path(place[0])
    file = view.change.file(place[0])
    anchor = places.line_at(places.lines(view.contents_of(file).head), place[1]) if file else ""
    return replace(
        result,
        anchor=anchor,
        category=Category.TESTS if in_tests else Category.CORRECTNESS,
        severity=_SEVERITIES[kind],
        precision=Precision.CERTAIN if kind is _Kind.BROKE else Precision.HEURISTIC,
        consequence=kind.value,
    )


class _Kind(StrEnum):
    """Why a failure at head is told, as its reader is told."""

    BROKE = "what the test asks for held at base, and does not any more"
    IS_RED = "a test that came or changed with this change does not pass"
    IN_AUDIT = "the project's own test does not pass"
    NOT_COMPARED = "the test fails at head; at base it was not run, so that it may have failed before"


_SEVERITIES = {
    _Kind.BROKE: Severity.HIGH,
    _Kind.IS_RED: Severity.MEDIUM,
    _Kind.IN_AUDIT: Severity.MEDIUM,
    _Kind.NOT_COMPARED: Severity.LOW,
}


def _kind(view: View, failure: Failure, before: _Before) -> _Kind:
    if before is _Before.PASSED:
        return _Kind.BROKE
    if view.is_audit:
        return _Kind.IN_AUDIT
    file = view.change.file(failure.id.partition("::")[0])
    return _Kind.IS_RED if file or any(is_test_path(file.path) for file in view.files) else _Kind.NOT_COMPARED


def _result(failure: Failure, place: locate.Place, *, message: str) -> Result:
    return Result(
        EvidenceKind.TEST,
        CHECK,
        None,
        *place,
        message,
        Category.TESTS,
        Severity.MEDIUM,
        Precision.CERTAIN,
        end_line=place[1],
        trigger=f"pytest {shown.sentence(failure.id)}",
        consequence="the test fails with and without the change",
        excerpt=shown.excerpt(failure.text or failure.message),
        command=("python", "-m", "pytest", failure.id),
        exit_code=1,
        subject=failure.id,
    )


def _named(failure: Failure) -> str:
    name = failure.id.rpartition("::")[2] or failure.id
    return f"`{shown.sentence(name, 80)}`"


def _totals(view: View, report: TestReport, strange: Mapping[str, str]) -> TestRun:
    failed = sum(
        1 for name, ended in report.outcomes.items() if ended is not TestOutcome.PASSED and ended is not TestOutcome.SKIPPED
    )
    return TestRun(
        passed=report.total(TestOutcome.PASSED),
        failed=failed - len(strange),
        measured=report.measured,
        executed=executed_changes(view, report) if report.measured else frozenset(),
    )
