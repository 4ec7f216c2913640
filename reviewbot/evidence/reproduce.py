"""Does a check fail at head, for what it says? A check that fails by a fault of its own shows nothing of the code.

Nothing is run at base: who reports a bug need not know a time when it was not there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass, replace

from reviewbot.domain.debate import CheckKind
from reviewbot.domain.evidence import Side
from reviewbot.evidence import proof, shown, suite
from reviewbot.evidence.parsers import pytest_report
from reviewbot.evidence.parsers.pytest_report import Failure
from reviewbot.evidence.plan import why_not
from reviewbot.evidence.proof.method import Ground, Unfit
from reviewbot.evidence.proof.runs import TIMES, Told
from reviewbot.evidence.proof.tests import WRITTEN
from reviewbot.evidence.view import CheckOptions, View
from reviewbot.ports import Experiment, Job, Outcome

KINDS = (CheckKind.TEST, CheckKind.SCRIPT, CheckKind.COMMAND)
"""Checks that say by themselves what is wrong, without an older version."""

_EXCEPTION = re.compile(r"((?:\w+\.)*)(\w+)(?::|\Z|\n)")
_CLAIMS = ("AssertionError", "Failed")
"""What a test raises that found what it looked for: its own assertion, or pytest's word that nothing was raised."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """Whether a check fails at head each time it is run. ``why`` says why it does not count, ``output`` what it printed."""

    fails: bool
    why: str = ""
    output: str = ""


def conduct(
    experiment: Experiment, view: View, options: CheckOptions, *, spoken: Collection[str] = ()
) -> Generator[tuple[Job, ...], tuple[Outcome, ...], Reproduced]:
    """Run it at head. ``spoken`` are names of exceptions that are known to be a part of the bug."""
    check = experiment.check
    if check.kind not in KINDS or (check.kind is CheckKind.TEST and not check.source):
        return Reproduced(fails=False, why=f"a check of the kind {check.kind} does not show it by itself: a written test does")
    if reason := why_not(view, options):
        return Reproduced(fails=False, why=f"it could not be run here: {reason}")
    ground, method = Ground(experiment, view, options), proof.METHODS[check.kind]
    try:
        job = method.job(ground, Side.HEAD)
    except Unfit as exc:
        return Reproduced(fails=False, why=str(exc))
    outcomes = yield tuple(replace(job, name=f"report:{turn}") for turn in range(1, TIMES + 1))
    runs = [method.told(ground, outcome, Side.HEAD) for outcome in outcomes]
    why = _why_not(runs) or next(_faults(outcomes[0], spoken), "")
    if not why and not any(run.related for run in runs) and not _is_spoken(outcomes[0], spoken):
        why = "it fails without running what the hypothesis is about"
    text = next((run.text for run in runs if run.passes is False and run.text), runs[0].text)
    return Reproduced(not why, why, shown.excerpt(text))


def _why_not(runs: list[Told]) -> str:
    """Why equal runs do not show a failure, empty where they do."""
    said = {run.passes for run in runs}
    if said == {True}:
        return "it did not fail: it passes at head"
    if said != {False}:
        return "it could not be run to its end" if None in said else "it did not fail each time: two equal runs differ"
    return ""


def _is_spoken(outcome: Outcome, spoken: Collection[str]) -> bool:
    """What was raised is what the bug is told to raise: a call that is refused never runs what it calls."""
    failures = pytest_report.read(outcome.file(suite.REPORT) or b"").failures.values()
    raised = {exception(failure.message) for failure in failures}
    return bool(raised) and raised <= frozenset(spoken).difference(_CLAIMS)


def _faults(outcome: Outcome, spoken: Collection[str]) -> Iterator[str]:
    """Failures of a written test that come from the test itself. Other checks leave no report."""
    report = pytest_report.read(outcome.file(suite.REPORT) or b"")
    for failure in report.failures.values():
        if failure.is_collection:
            yield f"it cannot be loaded: {shown.first_line(failure.message)}"
        elif _is_own(failure) and exception(failure.message) not in spoken:
            yield f"it fails by a fault of its own: {shown.first_line(failure.message)}"


def _is_own(failure: Failure) -> bool:
    """The exception was raised in the test's own lines, and is no assertion."""
    inside = not failure.frames or failure.frames[-1][0] == WRITTEN
    return inside and exception(failure.message) not in _CLAIMS


def exception(message: str) -> str:
    """The name of the exception that a failure's message begins with, without its module. A plain assertion may not name it."""
    if message.startswith("assert "):
        return "AssertionError"
    found = _EXCEPTION.match(message)
    return found[2] if found else ""
