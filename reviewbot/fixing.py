"""Review a change and fix what is found, or work towards a goal: `reviewbot fix`.

Nothing is written. All functions raise ReviewbotError.
"""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial

import msgspec
from msgspec.structs import replace

from reviewbot.checks.project import Project, load_project
from reviewbot.checks.run import collect, run_checks
from reviewbot.concurrency import run_all
from reviewbot.context.brief import Brief
from reviewbot.errors import GitError, ReviewbotError, UsageError
from reviewbot.events import Event
from reviewbot.git.change import Change
from reviewbot.pipeline import briefs_of, prepare, review_change
from reviewbot.services import Host, Services, open_services
from reviewbot.store.sessions import TrialRow
from reviewbot.tasks.cycle import work
from reviewbot.tasks.described import plan_increments, prepare_bug, prepare_feature, prepare_repair
from reviewbot.tasks.fix import after, fix_findings
from reviewbot.tasks.goals import GOALS, REPAIR
from reviewbot.tasks.task import Attempt, Task, TaskResult
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify
from reviewbot.verdict.decide import alike, copies_of
from reviewbot.verdict.document import Finding, Review


async def fix(
    change: Change, host: Host, ids: Sequence[str] = (), earlier: Mapping[str, Finding] = {}
) -> tuple[Review, list[TaskResult]]:
    """Review a change and fix what is reported, or the findings with some ids.

    `earlier` has findings of earlier reviews with their debate, by key.
    """
    started = time.monotonic()
    async with open_services(change, host) as services:
        whole, project = await prepare(change, services)
        ahead = [] if ids else [_try_ahead(whole, project, services)]
        others = run_all(services.client.open(), *ahead)
        result, _ = await run_all(review_change(change, services), others)
        known = [finding.id for finding in result.findings]
        if unknown := sorted(set(ids) - set(known)):
            hint = f"there is {', '.join(known)}" if known else "nothing is found"
            raise UsageError(f"there is no finding {unknown[0]}", hint=hint)
        wanted = {alike(f) for f in result.reported if not ids or f.id in ids}
        found = [f for f in (*result.reported, *copies_of(result)) if alike(f) in wanted]
        found = [_with_debate_of(earlier.get(f.key, f), f) for f in found]
        briefs = await briefs_of(whole, project, services)
        trials = await _trials(whole, project, services, briefs[0])
        results = await fix_findings(found, trials, project, briefs)
        seconds = round(time.monotonic() - started, 2)
        result = replace(result, usage=services.client.totals, seconds=seconds)
        await services.finish(msgspec.json.encode(result).decode(), [*trials_of(results)])
    return result, results


async def _try_ahead(change: Change, project: Project, services: Services) -> None:
    """Run the tests with what linters mend beside those without: it is tried before all else."""
    quick = replace(project, checks=tuple(check for check in project.checks if check.is_quick))
    trials = await _trials(change, quick, services, Brief(title="", description="", passages=()))
    found = trials.evidence.new_results
    if candidate := await trials.draft_tool_fixes(found, change.head_tree, quick):
        with suppress(GitError):  # which is said where it is tried
            tree = await trials.repository.make_tree(change.head_tree, candidate.files)
            fixed = await trials.repository.compare(change.base_tree, tree)
            project = await load_project(fixed, trials.repository, services.checks)
            await run_checks(project.checks, fixed, project, services.executor)


def _with_debate_of(earlier: Finding, finding: Finding) -> Finding:
    """What stands from an earlier review, or what a check reports again, with its debate."""
    if finding.claims:
        return finding
    consequence = finding.consequence if finding.result else earlier.consequence
    tests = {"proof": earlier.proof, "attempt": earlier.attempt}
    return replace(finding, consequence=consequence, claims=earlier.claims, **tests)


async def pursue(
    goal: str | None, paths: Sequence[str], change: Change, host: Host, report: str = ""
) -> TaskResult:
    """Work towards one of GOALS in files of a change, by default in its source files.

    With REPAIR, make the tests pass that fail at its head; the report is the log of CI, if there is
    one. Without a goal, reproduce and fix what somebody reports about the head.
    """
    if goal is None:
        return await _run(partial(prepare_bug, report), change, host)
    if goal == REPAIR:
        return await _run(partial(prepare_repair, report, change), change, host)
    assert host.repository
    if missing := sorted({*paths} - await host.repository.list_files(change.head_tree)):
        hint = "name files as they are called from the top of the repository"
        raise UsageError(f"{missing[0]} is no file of the repository", hint=hint)
    chosen = paths or [file.path for file in change.files if classify(file.path) == "source"]
    if not any(path.endswith(".py") for path in chosen):
        raise UsageError("there is no Python in it", hint=f"fix --goal {goal} HEAD -- PATH")
    return await _run(partial(GOALS[goal], chosen), change, host)


async def develop(specification: str, change: Change, host: Host) -> list[TaskResult]:
    """Build what is asked for on the head of a change, up to the first step that does not work."""
    results: list[TaskResult] = []
    async with _open_trials(change, host, "develop") as (services, trials):
        started = time.monotonic()
        increments = await plan_increments(specification, trials)
        titles = "; ".join(increment.title for increment in increments)
        host.emit(Event("step", f"plan: {titles}", time.monotonic() - started))
        for number, increment in enumerate(increments, start=1):
            started = time.monotonic()
            name = f"step {number} of {len(increments)}: {increment.title}"
            host.emit(Event("step", name))
            built = TaskResult(kind="feature", title=increment.title, outcome="not_needed")
            try:
                task = await prepare_feature(specification, increments, number, trials)
                results.append(await _work_on(task, trials) if task else built)
            except UsageError as error:
                if not results:
                    raise
                results.append(replace(built, outcome="failed", reasons=(str(error),)))
            host.emit(Event("step", name, time.monotonic() - started))
            if results[-1].outcome == "fixed":
                trials = await after(trials, results[-1])
            elif results[-1] is not built:
                break
        results = [replace(result, usage=services.client.totals) for result in results]
        await services.finish(trials=[*trials_of(results)])
    return results


async def _run(make: Callable[[Trials], Awaitable[Task]], change: Change, host: Host) -> TaskResult:
    async with _open_trials(change, host) as (services, trials):
        result = await _work_on(await make(trials), trials)
        result = replace(result, usage=services.client.totals)
        await services.finish(trials=[*trials_of([result])])
        return result


async def _work_on(task: Task, trials: Trials) -> TaskResult:
    """What becomes of a task, or of what is tried instead."""
    absent = len(trials.panel.absences)
    result = await work(task, trials)
    # If the proposer gives no answer, nobody has found anything wrong with the test.
    was_tried = result.attempts or len(trials.panel.absences) == absent
    instead = task.instead if result.outcome == "failed" and was_tried else None
    if instead and (other := await instead(result.reasons)):
        more = await _work_on(other, trials)
        return replace(more, attempts=(*result.attempts, *more.attempts))
    return result


@asynccontextmanager
async def _open_trials(
    change: Change, host: Host, kind: str = "fix"
) -> AsyncIterator[tuple[Services, Trials]]:
    """Make code where a change ends: whatever a check then reports is the candidate's fault."""
    async with open_services(change, host, kind) as services:
        if not services.panel.panelists:
            message = "no language model is configured, so there is nobody to write code"
            raise UsageError(message, hint="reviewbot models list")
        if not await services.executor.can_execute():
            message = "nothing can be executed here, so nothing can be proven"
            raise UsageError(message, hint="reviewbot doctor says why")
        assert host.repository
        stay = await host.repository.compare(change.head_tree, change.head_tree)
        whole, project = await prepare(replace(stay, title=change.title), services)
        brief = Brief(title=change.title, description="", passages=(), material={})
        try:
            yield services, await _trials(whole, project, services, brief)
        except ReviewbotError:  # what got no usable answer is asked again
            await services.finish()
            raise


def trials_of(results: Sequence[TaskResult]) -> Iterator[TrialRow]:
    """What the ledger keeps: attempts that were not accepted, and what became of each task."""
    for result in results:
        last = Attempt(result.diff, (*result.facts, *result.reasons, *result.dissent))
        for attempt in (*result.attempts, last):
            yield TrialRow(
                task=", ".join(result.findings) or result.kind,
                title=result.title,
                author=result.author,
                outcome=result.outcome if attempt is last else "refused",
                tree=result.tree if attempt is last else "",
                diff=attempt.diff,
                reasons="\n".join(attempt.reasons),
            )


async def _trials(change: Change, project: Project, services: Services, brief: Brief) -> Trials:
    assert services.host.repository
    off = [entry.name for entry in services.settings.checks if entry.off]
    return Trials(
        change=change,
        evidence=await collect(change, project, off, services.executor),
        repository=services.host.repository,
        executor=services.executor,
        checks=services.checks,
        languages=services.languages,
        off=off,
        panel=services.panel,
        brief=brief,
    )
