"""A claim made executable: its test is run again at both ends, twice, and only the probe's own report counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reviewbot.domain.debate import Check
from reviewbot.domain.evidence import Side
from reviewbot.evidence import shown, suite
from reviewbot.evidence.parsers import pytest_report
from reviewbot.evidence.parsers.pytest_report import TestOutcome, TestReport
from reviewbot.evidence.plan import why_not
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Experiment, Job, Outcome, Verification

TIMES = 2
FAILS_AT_HEAD, PASSES_AT_HEAD, FAILS_AT_BOTH = "fails_at_head", "passes_at_head", "fails_at_both"
UNSTABLE, NOT_RUN = "unstable", "not_run"
WRITTEN = "tests/test_reviewbot_check.py"
"""Where a check that was written for a claim is laid, at both ends."""
_SETTLED = frozenset({TestOutcome.PASSED, TestOutcome.FAILED})


def jobs(check: Check, view: View, options: CheckOptions) -> tuple[Job, ...]:
    """Twice at head, then twice at base with the head's tests; none where the check cannot be run here.

    A check is a test of the project by its ``subject``, or the ``source`` of a test file.
    """
    if why_not(view, options) or not (check.source or check.subject):
        return ()
    target = WRITTEN if check.source else check.subject
    written = ((WRITTEN, check.source.encode("utf-8", "surrogateescape")),) if check.source else ()
    tests = suite.test_files(view)
    return tuple(
        replace(
            suite.job(f"proof:{side}:{turn}", [target], side, seconds=options.seconds),
            overlay=(*(tests if side is Side.BASE else ()), *written),
        )
        for side in (Side.HEAD, Side.BASE)
        for turn in range(TIMES)
    )


def judge(experiment: Experiment, outcomes: Sequence[Outcome]) -> Verification:
    """What the runs of ``jobs`` showed."""
    check = experiment.check
    if len(outcomes) != 2 * TIMES:
        return Verification(replace(check, outcome=NOT_RUN), "it could not be run here")
    reports = [pytest_report.read(outcome.file(suite.REPORT) or b"") for outcome in outcomes]
    ended = [_ended(report, check) for report in reports]
    outcome = _outcome(ended[:TIMES], ended[TIMES:])
    return Verification(replace(check, outcome=outcome), _excerpt(outcomes, reports))


def _ended(report: TestReport, check: Check) -> TestOutcome | None:
    """How the check's test ended, a file of tests as a whole; ``None`` where it did not run or the report does not count."""
    if not (report.counts and report.finished):
        return None
    if not check.source:
        return report.of(check.subject)
    results = set(report.outcomes.values())
    return TestOutcome.FAILED if TestOutcome.FAILED in results else TestOutcome.PASSED if TestOutcome.PASSED in results else None


def _outcome(head: Sequence[TestOutcome | None], base: Sequence[TestOutcome | None]) -> str:
    """One word for four runs. A run that did not tell leaves its side open."""
    if not set(head) <= _SETTLED:
        return NOT_RUN
    if len(set(head)) > 1 or (set(base) <= _SETTLED and len(set(base)) > 1):
        return UNSTABLE
    if head[0] is TestOutcome.PASSED:
        return PASSES_AT_HEAD
    if not set(base) <= _SETTLED:
        return NOT_RUN
    return FAILS_AT_HEAD if base[0] is TestOutcome.PASSED else FAILS_AT_BOTH


def _excerpt(outcomes: Sequence[Outcome], reports: Sequence[TestReport]) -> str:
    """What failed at head, or what the first run said instead."""
    failure = next((failure for report in reports for failure in report.failures.values()), None)
    if failure:
        return shown.excerpt(failure.text or failure.message)
    return shown.output(outcomes[0].stdout or outcomes[0].stderr) or outcomes[0].reason
