"""Which checks a change deserves, as jobs for the sandbox, and which it will not get, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.domain.evidence import CheckRun
from reviewbot.evidence import lint, public, suite
from reviewbot.evidence.view import CheckOptions, Plan, View


def plan(view: View, options: CheckOptions) -> Plan:
    """All jobs. Slow ones come first, so that they share the time."""
    reason = why_not(view, options)
    if not options.execute:
        return Plan(
            (), tuple(CheckRun(name, ran=False, reason=reason, required=name in options.required) for name in options.presets)
        )
    tests = () if reason else suite.jobs(view, options)
    jobs = (*tests, *lint.jobs(view, options, executes=not reason), *public.jobs(view, options))
    skipped = tuple(_skipped(view, options, reason))
    return Plan(jobs, skipped, notes=(f"nothing of the change was executed: {reason}",) if reason and skipped else ())


def why_not(view: View, options: CheckOptions) -> str:
    """Why nothing of the change may run, empty where it may."""
    if not options.execute:
        return "it was not wanted"
    if not view.has_trees:
        return "there is no repository to run it in"
    return "there is no sandbox" if view.sandbox == "none" else ""


def _skipped(view: View, options: CheckOptions, reason: str) -> Iterator[CheckRun]:
    required = options.required
    if "pytest" in options.presets and view.python():
        if reason:
            yield CheckRun("pytest", ran=False, reason=reason, required="pytest" in required)
        elif not suite.wanted(view, options):
            yield CheckRun("pytest", ran=False, reason="no test file was found", required="pytest" in required)
    for name in required:
        if name not in options.presets or (name != "pytest" and not view.python()):
            yield CheckRun(name, ran=False, reason="nothing in the change is for it", required=False)
