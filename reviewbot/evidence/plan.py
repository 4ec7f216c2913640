"""Which checks a change deserves, as jobs for the sandbox, and which it will not get, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.domain.evidence import NO_TESTS, NOT_WANTED, NOTHING_FOR_IT, CheckRun
from reviewbot.evidence import benchmarks, coverage, lint, migrations, presets, public, suite, suites, tools
from reviewbot.evidence.coverage import Measurement
from reviewbot.evidence.suites import Suite
from reviewbot.evidence.tools import Tool
from reviewbot.evidence.view import CheckOptions, Plan, View
from reviewbot.ports import Job


def plan(view: View, options: CheckOptions) -> Plan:
    """All jobs. Slow ones come first, so that they share the time."""
    if options.staged:
        return Plan(lint.jobs(view, options, executes=False))
    reason = why_not(view, options)
    if not options.execute:
        names = (*options.presets, *(check.name for check in options.custom))
        return Plan((), tuple(CheckRun(name, ran=False, reason=reason, required=name in options.required) for name in names))
    executing = () if reason else tuple(_executing(view, options))
    jobs = (*executing, *lint.jobs(view, options, executes=not reason), *public.jobs(view, options))
    skipped = tuple(_skipped(view, options, reason))
    return Plan(jobs, skipped, notes=(f"nothing of the change was executed: {reason}",) if reason and skipped else ())


def why_not(view: View, options: CheckOptions) -> str:
    """Why nothing of the change may run, empty where it may."""
    if not options.execute:
        return NOT_WANTED
    if not view.has_trees:
        return "there is no repository to run it in"
    return "there is no sandbox" if view.sandbox == "none" else ""


def _executing(view: View, options: CheckOptions) -> Iterator[Job]:
    yield from suite.jobs(view, options)
    found = tuple(presets.chosen(view, options))
    for check in found:
        if isinstance(check, Suite):
            yield from suites.jobs(check, view, options)
        elif isinstance(check, Measurement):
            yield from coverage.jobs(check, view, options)
    yield from migrations.jobs(view, options)
    for check in found:
        if isinstance(check, Tool):
            yield from tools.jobs(check, view, options)
    yield from benchmarks.jobs(view, options)


def _skipped(view: View, options: CheckOptions, reason: str) -> Iterator[CheckRun]:
    required = options.required
    if "pytest" in options.presets and view.python():
        if reason:
            yield CheckRun("pytest", ran=False, reason=reason, required="pytest" in required)
        elif not suite.wanted(view, options):
            yield CheckRun("pytest", ran=False, reason=NO_TESTS, required="pytest" in required)
    applying = {check.name for check in presets.chosen(view, options) if _applies(check, view)}
    for name in sorted(applying) if reason else ():
        yield CheckRun(name, ran=False, reason=reason, required=name in required)
    for name in required:
        if name not in ("ruff", "pytest"):
            idle = name not in applying and not (name == migrations.CHECK and migrations.applies(view, options))
        else:
            idle = name not in options.presets or (name != "pytest" and not view.python())
        if idle:
            yield CheckRun(name, ran=False, reason=NOTHING_FOR_IT, required=False)


def _applies(check: Tool | Suite | Measurement, view: View) -> bool:
    if isinstance(check, Measurement):
        return coverage.applies(check, view)
    return suites.applies(check, view) if isinstance(check, Suite) else tools.applies(check, view)
