"""Tell flaky tests from broken ones."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.evidence import CheckResult, Evidence
from reviewbot.checks.project import Project
from reviewbot.checks.run import job_of
from reviewbot.concurrency import run_all
from reviewbot.git.change import Change
from reviewbot.sandbox.executor import Executor

MAX_TESTS = 50


async def rerun_failures(
    evidence: Evidence,
    change: Change,
    checks: Iterable[Check],
    project: Project,
    executor: Executor,
) -> Evidence:
    """Run tests that fail anew once more at head. One that passes then is flaky, and no finding."""
    by_name = {check.name: check for check in checks}
    failed: dict[str, list[str]] = {}
    for result in evidence.new_results:
        check = by_name.get(result.check)
        if check and check.rerun:
            ids = failed.setdefault(result.check, [])
            ids += [id for id in result.tests if "::" in id]  # a file fails to import each time
    passed = await run_all(
        *(
            _passed(by_name[name], ids[:MAX_TESTS], change, project, executor)
            for name, ids in failed.items()
            if ids
        )
    )
    names = frozenset(id for ids in passed for id in ids)
    return replace(evidence, results=tuple(_with_flaky(r, names) for r in evidence.results))


async def _passed(
    check: Check, ids: list[str], change: Change, project: Project, executor: Executor
) -> frozenset[str]:
    command = check.rerun(tuple(ids)) if check.rerun else ()
    job = job_of(check, change, "head", (), project)
    completed = await executor.execute(replace(job, command=command, tool_files=check.tool_files))
    try:
        tests = check.read(completed).tests
    except (ValueError, ModuleNotFoundError):
        return frozenset()
    return frozenset(test.id for test in tests if test.outcome == "passed")


def _with_flaky(result: CheckResult, passed: frozenset[str]) -> CheckResult:
    """A result stands as long as one of its tests fails again."""
    if result.state != "new" or not result.tests or not passed.intersection(result.tests):
        return result
    left = tuple(id for id in result.tests if id not in passed)
    if left:
        return replace(result, tests=left)
    return replace(result, state="flaky")
