"""Make tests pass again that fail where a change ends, as after a red run of CI."""

from __future__ import annotations

from collections.abc import Iterable

from reviewbot.checks.check import Check
from reviewbot.checks.evidence import FAILURES, TestOutcome
from reviewbot.checks.run import applies
from reviewbot.context.brief import Brief
from reviewbot.debate.panel import Panel
from reviewbot.errors import UsageError
from reviewbot.tasks.bug import MAX_REPORT, files_about, prepare_bug
from reviewbot.tasks.edits import shown
from reviewbot.tasks.goals import project_at, run_suite
from reviewbot.tasks.task import Judgement, Step, Task
from reviewbot.tasks.trial import Trials

MAX_SHOWN = 10  # failures
MAX_OUTPUT = 3_000  # characters of one
MAX_FILES = 8


async def prepare_repair(log: str, trials: Trials, panel: Panel, brief: Brief) -> Task:
    """All tests run first. If none fails, the log is taken for a bug report.

    Raises UsageError if there is nothing to repair.
    """
    tree = trials.change.head_tree
    project = await project_at(tree, trials)
    red: list[TestOutcome] = []
    problems: list[str] = []
    suites: list[Check] = []
    for check in project.checks:
        if check.kind == "test" and applies(check, project.head_files, project):
            report = await run_suite(tree, check, trials, {})
            own = _failures(report.tests)
            red += own
            suites += [check] if own or not report.problem else []
            problems += [f"{check.name}: {report.problem}"] if report.problem else []
    if not red:
        if log.strip():
            return await prepare_bug(log, trials, panel, brief)
        reason = "; ".join(problems) or "no test fails"
        hint = "give the log of the run that failed: --report FILE"
        raise UsageError(f"there is nothing to repair: {reason}", hint=hint)
    known = {test.id for test in red}
    framed = [frame.path for test in red for frame in test.frames[::-1]]
    framed += [test.id.partition("::")[0] for test in red]
    said = (log[-MAX_REPORT:], *(test.output[-MAX_OUTPUT:] for test in red[:MAX_SHOWN]))
    named = await files_about("\n".join(said), tree, trials)

    async def judge(step: Step) -> Judgement:
        after: list[TestOutcome] = []
        for suite in suites:
            report = await run_suite(step.after, suite, trials, {})
            if report.problem:
                words = f"{suite.name} does not run to its end: {report.problem}."
                return Judgement(unmet=(words,))
            after += report.tests
        unmet = [
            f"{test.id} {'still fails' if test.id in known else 'fails now'}: {test.message[:200]}"
            for test in _failures(after)
        ]
        passed = {test.id for test in after if test.outcome == "passed"}
        passed |= {id.partition("::")[0] for id in passed}  # files that could not be imported
        unmet += [f"{id} does not run any more." for id in sorted(known - passed) if not unmet]
        fact = f"Tests that failed and pass now: {len(known)}, such as {min(known)}."
        return Judgement(unmet=tuple(unmet[:MAX_SHOWN]), facts=() if unmet else (fact,))

    count = "1 test" if len(red) == 1 else f"{len(red)} tests"
    failures = [(test.id, test.message, shown(test.output[-MAX_OUTPUT:].encode())) for test in red]
    return Task(
        id="repair",
        kind="repair",
        title=f"Repair {count} that fail: {min(known)}",
        paths=tuple(dict.fromkeys([*framed, *named]))[:MAX_FILES],
        details={
            "failures": failures[:MAX_SHOWN],
            "more": len(red) - MAX_SHOWN,
            "log": shown(log[-MAX_REPORT:].encode()),
        },
        judge=judge,
    )


def _failures(tests: Iterable[TestOutcome]) -> list[TestOutcome]:
    return [test for test in tests if test.outcome in FAILURES]
