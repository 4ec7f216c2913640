"""A test as a check: one of the project by its id, or a whole pytest file that was written for the claim.

Only the probe's own report counts. A written test that fails must have run the lines of the claim, or it is about something else.
"""

from __future__ import annotations

import re
from dataclasses import replace

from reviewbot.domain.debate import Check
from reviewbot.domain.evidence import Side
from reviewbot.evidence import places, statements, suite
from reviewbot.evidence.parsers import pytest_report
from reviewbot.evidence.parsers.pytest_report import TestReport
from reviewbot.evidence.parsers.trial import TestOutcome
from reviewbot.evidence.proof.method import Ground, Method, Unfit
from reviewbot.evidence.proof.runs import Told
from reviewbot.evidence.view import View, is_library
from reviewbot.ports import Experiment, Job, Outcome

WRITTEN = "tests/test_reviewbot_check.py"
"""Where a test that was written for a claim is laid, at both ends."""

NEAR = 3
"""A line this far from the claim's counts as its own: a statement may span some, and a removed line has none [design]."""
_TEST_ID = re.compile(r"(?!/|-)[^\0]+")


def _job(ground: Ground, side: Side) -> Job:
    check, tests = ground.experiment.check, suite.test_files(ground.view)
    if not (check.source or _TEST_ID.fullmatch(check.subject)):
        raise Unfit("the check names no test and brings none")
    target = WRITTEN if check.source else check.subject
    written = ((WRITTEN, check.source.encode("utf-8", "surrogateescape")),) if check.source else ()
    measured = [ground.experiment.path] if check.source and side is Side.HEAD and is_library(ground.experiment.path) else None
    job = suite.job("proof", [target], side, seconds=ground.options.seconds, measure=measured)
    return replace(job, overlay=(*(tests if side is Side.BASE else ()), *written))


def _told(ground: Ground, outcome: Outcome, __: Side) -> Told:
    check, report = ground.experiment.check, pytest_report.read(outcome.file(suite.REPORT) or b"")
    ended = _ended(report, check)
    passes = {TestOutcome.PASSED: True, TestOutcome.FAILED: False}.get(ended) if ended else None
    return Told(passes, _text(outcome, report), _is_related(ground.experiment, report, ground.view))


def _ended(report: TestReport, check: Check) -> TestOutcome | None:
    """How the check's test ended, a file of tests as a whole; ``None`` where it did not run or the report does not count."""
    if not (report.counts and report.finished):
        return None
    if not check.source:
        return report.of(check.subject)
    results = set(report.outcomes.values())
    return TestOutcome.FAILED if TestOutcome.FAILED in results else TestOutcome.PASSED if TestOutcome.PASSED in results else None


def _is_related(experiment: Experiment, report: TestReport, view: View) -> bool:
    """A test of a written check (a failing one, where one is) ran a line at the claim's place. True where none was measured."""
    if not (report.measured and experiment.check.source and experiment.line):
        return True
    span = range(experiment.start_line - NEAR, experiment.line + NEAR + 1)
    telling = [report.executed.get(name, {}) for name in (report.failures or report.outcomes)]
    if not report.executed.get("", {}).get(experiment.path, frozenset()).isdisjoint(_at_import(experiment, view)):
        return True
    return any(line in span for lines in telling for line in lines.get(experiment.path, ()))


def _at_import(experiment: Experiment, view: View) -> frozenset[int]:
    """Changed lines of the claim that run when their module is loaded, such as a constant: no test can be seen to run them."""
    file = view.change.file(experiment.path)
    if file is None:
        return frozenset()
    head, added = view.contents_of(file).head, places.added(file)
    spans = (
        range(one.start, one.end + 1)
        for one in statements.statements(head)
        if not one.function and one.start <= experiment.line and one.end >= experiment.start_line
    )
    return frozenset(line for span in spans if not added.isdisjoint(span) for line in span)


def _text(outcome: Outcome, report: TestReport) -> str:
    failure = next(iter(report.failures.values()), None)
    if failure:
        return failure.text or failure.message
    return (outcome.stdout or outcome.stderr).decode("utf-8", "replace") or outcome.reason


METHOD = Method(_job, _told)
