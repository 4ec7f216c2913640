"""All checks over a change, where nobody reads along."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from reviewbot.checks.check import Check
from reviewbot.checks.compare import compare
from reviewbot.checks.evidence import Evidence
from reviewbot.checks.project import Project
from reviewbot.checks.run import rerun_failures, run_checks
from reviewbot.checks.scans import check_syntax, run_scans
from reviewbot.git.change import Change
from reviewbot.sandbox.executor import Executor


async def collect(
    change: Change,
    project: Project,
    checks: Sequence[Check],
    off: Collection[str],
    executor: Executor,
    known: Collection[str] = (),
) -> Evidence:
    """Run them, and tests that fail once more.

    Args:
        off: names of scans that are turned off.
        known: ids of tests that are known to fail, which are not run again.
    """
    runs = (*run_scans(change, frozenset(off)), *check_syntax(change, project))
    runs += await run_checks(checks, change, project, executor)
    by_name = {check.name: check for check in checks}
    evidence = compare(change, runs, by_name, project)
    return await rerun_failures(evidence, change, checks, project, executor, known)
