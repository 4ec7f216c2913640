"""Fix findings: the linters' own fixes first and together, then models, one finding at a time."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from reviewbot.checks.evidence import Evidence
from reviewbot.checks.project import Project
from reviewbot.context.brief import Brief, brief_about
from reviewbot.git.change import Change
from reviewbot.proofs.proof import Proof, run_reproduction
from reviewbot.proofs.timing import THRESHOLD, compare_times
from reviewbot.tasks.cycle import failed, result_of, work
from reviewbot.tasks.task import Candidate, Judgement, Task, TaskResult, Trial
from reviewbot.tasks.trial import Trials, identities
from reviewbot.text.files import classify
from reviewbot.verdict.decide import COPY, alike
from reviewbot.verdict.document import Finding


async def fix_findings(
    findings: Sequence[Finding], trials: Trials, project: Project, briefs: Sequence[Brief]
) -> list[TaskResult]:
    """Each fix builds on those before it."""
    results: list[TaskResult] = []
    left = list(findings)
    reported = [finding.result for finding in findings if finding.result]
    candidate = await trials.draft_tool_fixes(reported, trials.change.head_tree, project)
    if candidate:
        fixed, trial = await _largest_batch(candidate, left, trials)
        if trial:
            results.append(await result_of(task_of(fixed, trials), trial, trials))
            left = [finding for finding in left if finding not in fixed]
            if trial.outcome == "fixed":
                trials = await after(trials, results[-1])
    groups: dict[object, list[Finding]] = {}
    for finding in left:
        groups.setdefault(alike(finding), []).append(finding)
    done = list[Finding]()
    for group in groups.values():
        task = task_of(group, trials, done)
        if not trials.panel.panelists:
            reason = "No fix of a linter proved itself, and no language model is configured."
            results.append(failed(task, [reason]))
            continue
        result = await work(task, replace(trials, brief=brief_about(group[0].location, briefs)))
        results.append(result)
        if result.outcome == "fixed":
            trials = await after(trials, result)
            done += group
    return results


def task_of(findings: Sequence[Finding], trials: Trials, done: Sequence[Finding] = ()) -> Task:
    """Models see the files that a fix is likely to change, and the tests that state the behaviour.

    The task is about all findings, and named after those that are no copies of others. What was
    written for those that are done has to pass with it as well.
    """
    paths = [f.location.path for f in findings if f.location]
    paths += [test.partition("::")[0] for f in findings if f.result for test in f.result.tests[:3]]
    paths += [file.path for file in trials.change.files if classify(file.path) == "source"]
    named = tuple(finding for finding in findings if finding.reason != COPY)
    said = [text for f in named for text in (*(c.trigger for c in f.claims[:1]), f.consequence)]
    for finding in named:
        if test := _test_of(finding):
            doubt = "" if finding.proof else ", unless denied below. Before the change it fails too"
            name, source = test.reproduction.name, test.reproduction.source
            said.append(f"\nThis {name} fails without the fix and passes with it{doubt}:\n{source}")

    async def judge(step: Change, evidence: Evidence) -> Judgement:
        """Which findings still stand, or stand again. Their own tests run again."""
        # Others may have the same words with other numbers. What is explained now is not gone.
        left, others = (Counter(identities(e.all_new)) for e in (evidence, trials.evidence))
        others -= Counter(identities(f.result for f in findings if f.result))
        unmet, unproven = list[str](), list[str]()
        for finding in findings:
            test = _test_of(finding)
            words = await _failure(test, step.head_tree, trials) if test else ""
            if finding.result and any(left[n] > others[n] for n in identities([finding.result])):
                unmet.append(f"{finding.id} is still reported.")
            elif words and finding.proof:
                unmet.append(f"{finding.id} still {words}.")
            elif not finding.result and (words or not test):
                unproven.append(f"Nothing that was executed shows that {finding.id} is gone.")
        for finding in done:
            test = _test_of(finding)
            if test and (words := await _failure(test, step.head_tree, trials)):
                unmet.append(f"{finding.id}, which was fixed, {words}.\n{test.reproduction.source}")
        return Judgement(unmet=tuple(unmet), unproven=tuple(unproven))

    return Task(
        id=findings[0].id if findings else "",
        kind="fix",
        title="; ".join(f"{f.id} at {f.location}: {f.title}" for f in named),
        paths=tuple(dict.fromkeys(paths)),
        details={"findings": named, "test_of": _test_of},
        purpose="\n".join(filter(None, said)),
        judge=judge,
        findings=named,
    )


def _test_of(finding: Finding) -> Proof | None:
    """What was written for a finding and fails because of it; maybe before the change as well."""
    test = finding.proof or (None if finding.result else finding.attempt)
    return test if test and (test.head == "fails" or test.result == "proven") else None


async def _failure(proof: Proof, tree: str, trials: Trials) -> str:
    """How a reproduction fails with a candidate; empty if it passes."""
    reproduction, executor, folder = proof.reproduction, trials.executor, proof.folder
    if reproduction.kind == "benchmark":
        try:
            source, before = reproduction.source, trials.change.base_tree
            ratio = await compare_times(source, before, tree, executor, folder)
        except ValueError as error:
            return f"cannot be measured: {error}"
        is_slow = ratio.middle > THRESHOLD
        return f"takes longer than before the change: {ratio.words}" if is_slow else ""
    language = trials.languages[reproduction.language]
    run = await run_reproduction(reproduction, tree, language, executor, folder)
    return "" if run.outcome == "passes" else "fails the test that was written for it"


async def _largest_batch(
    candidate: Candidate, findings: Sequence[Finding], trials: Trials
) -> tuple[list[Finding], Trial | None]:
    """The fixes of tools that can be made together; those that break something, file by file.

    What a tool does not fix stays out.
    """
    best: tuple[list[Finding], Trial | None] = [], None
    kept: Mapping[str, bytes] = {}
    for files in (candidate.files, *({path: text} for path, text in candidate.files.items())):
        more = replace(candidate, files={**kept, **files})
        fixed = [f for f in findings if f.result and f.location and f.location.path in more.files]
        trial = await trials.try_out(more, task_of(fixed, trials))
        if trial.judgement.unmet and not trial.refusals:
            ids = {words.split()[0] for words in trial.judgement.unmet}
            left = {alike(finding) for finding in fixed if finding.id in ids}
            fixed = [finding for finding in fixed if alike(finding) not in left]
            trial = replace(trial, judgement=replace(trial.judgement, unmet=()))
        if trial.outcome != "refused" and len(fixed) > len(best[0]):
            best, kept = (fixed, trial), more.files
        if len(kept) == len(candidate.files):
            break
    return best


async def after(trials: Trials, fixed: TaskResult) -> Trials:
    """What comes next builds on this, and may not bring back what is gone."""
    change = await trials.repository.compare(trials.change.base_tree, fixed.tree)
    change = replace(change, title=trials.change.title)
    return replace(trials, change=change, evidence=fixed.evidence)
