"""Fix findings: the linters' own fixes first and together, then models, one finding at a time.

A model's fix is drafted, tried, attacked by the others, revised, and made simpler. What was tried
counts: a fix is "fixed" only if everything ran with it and nothing objects.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.checks.check import Check
from reviewbot.checks.project import Project
from reviewbot.context.brief import Brief, brief_about
from reviewbot.debate import prompts
from reviewbot.debate.panel import Panel, Question
from reviewbot.tasks.candidate import Candidate, Trial
from reviewbot.tasks.edits import (
    Draft,
    Objections,
    apply_edits,
    read_draft,
    read_objections,
    schema_of,
    shown,
)
from reviewbot.tasks.tool_fixes import draft_tool_fixes
from reviewbot.tasks.trial import Trials
from reviewbot.text.files import classify
from reviewbot.verdict.document import Finding

MAX_ATTEMPTS = 3
MAX_FILE = 60_000  # characters of a file that is shown to models


class Attempt(Struct, frozen=True):
    """A draft that was not accepted: its diff, and why."""

    diff: str
    reasons: tuple[str, ...]


class TaskResult(Struct, frozen=True, kw_only=True):
    """What became of the wish to fix some findings.

    Attributes:
        findings: their ids.
        outcome: "failed" if there is no candidate that may be shown.
        tree: the tree with the fix, and with those before it.
        diff: unified, of this fix alone.
        dissent: objections of panelists that were not met, a sentence each.
    """

    findings: tuple[str, ...]
    outcome: Literal["fixed", "suggested", "failed"]
    author: str = ""
    tree: str = ""
    files: Mapping[str, bytes | None] = {}
    diff: str = ""
    digest: str = ""
    explanation: str = ""
    reasons: tuple[str, ...] = ()
    dissent: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()


async def fix_findings(
    findings: Sequence[Finding],
    trials: Trials,
    project: Project,
    checks: Sequence[Check],
    panel: Panel,
    briefs: Sequence[Brief],
) -> list[TaskResult]:
    """Each fix builds on those before it."""
    results: list[TaskResult] = []
    left = list(findings)
    candidate = await draft_tool_fixes(
        findings, trials.change, project, checks, trials.repository, trials.executor
    )
    if candidate:
        fixed, trial = await _largest_batch(candidate, left, trials)
        if trial:
            results.append(await _result(fixed, trial, trials))
            left = [finding for finding in left if finding not in fixed]
            trials = await _after(trials, trial.tree)
    for finding in left:
        if not panel.panelists:
            reason = "No linter fixes it, and no language model is configured."
            results.append(TaskResult(findings=(finding.id,), outcome="failed", reasons=(reason,)))
            continue
        result = await fix_by_models([finding], trials, panel, briefs)
        results.append(result)
        if result.outcome == "fixed":
            trials = await _after(trials, result.tree)
    return results


async def fix_by_models(
    findings: Sequence[Finding], trials: Trials, panel: Panel, briefs: Sequence[Brief]
) -> TaskResult:
    """Draft, try, attack, revise; then make it simpler."""
    ids = tuple(finding.id for finding in findings)
    brief = brief_about(findings[0].location, briefs)
    proposer, *judges = panel.names
    files = await _files_of(findings, trials)
    attempts: list[Attempt] = []
    accepted: Trial | None = None
    suggested: Trial | None = None
    dissent: tuple[str, ...] = ()
    for number in range(1, MAX_ATTEMPTS + 1):
        text = prompts.fix(findings, _texts(files), attempts)
        draft = await _ask_draft(panel, proposer, f"fix_{ids[0]}_{number}", text, brief)
        if isinstance(draft, str):
            return TaskResult(
                findings=ids, outcome="failed", reasons=(draft,), attempts=tuple(attempts)
            )
        try:
            changed = apply_edits(draft, files)
        except ValueError as error:
            attempts.append(Attempt("", (str(error),)))
            continue
        candidate = Candidate(author=proposer, files=changed, explanation=draft.explanation)
        trial = await trials.try_out(candidate, findings)
        diff = _diff(files, changed)
        if trial.outcome == "refused":
            attempts.append(Attempt(diff, trial.reasons))
            continue
        dissent = await _objections(findings, diff, number, judges, panel, brief)
        if not dissent:
            accepted = trial
            break
        suggested = trial
        attempts.append(Attempt(diff, dissent))
    best = accepted or suggested
    if best is None:
        reasons = attempts[-1].reasons if attempts else ()
        return TaskResult(findings=ids, outcome="failed", reasons=reasons, attempts=tuple(attempts))
    if accepted:
        best = await _simpler(findings, accepted, files, trials, panel, brief)
    result = await _result(findings, best, trials)
    outcome = result.outcome if accepted else "suggested"
    return replace(
        result,
        outcome=outcome,
        attempts=tuple(attempts),
        dissent=() if accepted else dissent,
    )


async def _largest_batch(
    candidate: Candidate, findings: Sequence[Finding], trials: Trials
) -> tuple[list[Finding], Trial | None]:
    """The fixes of tools that can be made together.

    What a tool does not fix stays out. If the rest breaks something, it is tried file by file.
    """
    fixed = [f for f in findings if f.location and f.location.path in candidate.files]
    trial = await trials.try_out(candidate, fixed)
    if trial.unmet and not trial.refusals and not trial.regressions:
        ids = {words.split()[0] for words in trial.unmet}
        fixed = [finding for finding in fixed if finding.id not in ids]
        trial = replace(trial, unmet=())
    if trial.outcome == "fixed" and fixed:
        return fixed, trial
    if len(candidate.files) == 1:
        return [], None
    kept: dict[str, bytes | None] = {}
    done: list[Finding] = []
    best: Trial | None = None
    for path, content in candidate.files.items():
        own = [finding for finding in fixed if finding.location and finding.location.path == path]
        more = replace(candidate, files=kept | {path: content})
        trial = await trials.try_out(more, [*done, *own])
        if own and trial.outcome == "fixed":
            kept[path], best = content, trial
            done += own
    return done, best


async def _ask_draft(panel: Panel, who: str, phase: str, text: str, brief: Brief) -> Draft | str:
    """A draft, or why there is none."""
    question = Question(who, phase, text, brief, schema_of(Draft))
    answers = await panel.ask([question], read_draft)
    if answers.given:
        return answers.given[0][1]
    return f"{who} did not answer: {answers.absences[0].reason}"


async def _objections(
    findings: Sequence[Finding],
    diff: str,
    number: int,
    judges: Sequence[str],
    panel: Panel,
    brief: Brief,
) -> tuple[str, ...]:
    """What those say against it who did not write it, as far as it cites a line of the change."""
    text = prompts.judge_fix(findings, diff)
    phase = f"judge_{findings[0].id}_{number}"
    questions = [Question(name, phase, text, brief, schema_of(Objections)) for name in judges]
    answers = await panel.ask(questions, read_objections)
    return tuple(
        f"{question.panelist} ({objection.path}:{objection.line}): {objection.reason}"
        for question, objections in answers.given
        for objection in objections
        if f"+++ {objection.path}\n" in f"{diff}\n"
    )


async def _simpler(
    findings: Sequence[Finding],
    trial: Trial,
    files: Mapping[str, bytes],
    trials: Trials,
    panel: Panel,
    brief: Brief,
) -> Trial:
    """A version with less, if it is tried as well and nobody objects; else the same."""
    optimizer = panel.names[-1]
    now = {path: content for path, content in trial.candidate.files.items() if content is not None}
    diff = _diff(files, trial.candidate.files)
    text = prompts.optimise_fix(findings, diff, _texts(now))
    phase = f"optimise_{findings[0].id}"
    draft = await _ask_draft(panel, optimizer, phase, text, brief)
    if isinstance(draft, str) or not draft.edits:
        return trial
    try:
        changed = dict(trial.candidate.files) | apply_edits(draft, now)
    except ValueError:
        return trial
    shorter = _diff(files, changed)
    if shorter.count("\n") >= diff.count("\n"):
        return trial
    candidate = Candidate(author=optimizer, files=changed, explanation=draft.explanation)
    better = await trials.try_out(candidate, findings)
    judges = [name for name in panel.names if name != optimizer]
    if better.outcome != trial.outcome:
        return trial
    against = await _objections(findings, shorter, MAX_ATTEMPTS + 1, judges, panel, brief)
    return trial if against else better


async def _files_of(findings: Sequence[Finding], trials: Trials) -> dict[str, bytes]:
    """The files that a fix is likely to change, and the tests that show what is wanted."""
    paths = {f.location.path for f in findings if f.location}
    for finding in findings:
        tests = finding.result.tests if finding.result else ()
        paths |= {test.partition("::")[0] for test in tests[:3]}
    changed = {file.path for file in trials.change.files if classify(file.path) == "source"}
    found = await trials.repository.read_files(trials.change.head_tree, [*paths, *changed])
    return {path: content for path, content in found.items() if len(content) <= MAX_FILE}


async def _after(trials: Trials, tree: str) -> Trials:
    """What comes next builds on this tree."""
    change = await trials.repository.compare(trials.change.base_tree, tree)
    return replace(trials, change=replace(change, title=trials.change.title))


async def _result(findings: Sequence[Finding], trial: Trial, trials: Trials) -> TaskResult:
    files = trial.candidate.files
    before = await trials.repository.read_files(trials.change.head_tree, list(files))
    return TaskResult(
        findings=tuple(finding.id for finding in findings),
        outcome="fixed" if trial.outcome == "fixed" else "suggested",
        author=trial.candidate.author,
        tree=trial.tree,
        files=files,
        diff=_diff(before, files),
        digest=trial.digest,
        explanation=trial.candidate.explanation,
        reasons=trial.reasons,
    )


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    return {path: shown(content) for path, content in sorted(files.items())}


def _diff(before: Mapping[str, bytes], after: Mapping[str, bytes | None]) -> str:
    """A unified diff with the lines as readers may see them."""
    parts: list[str] = []
    for path in sorted(after):
        old, new = before.get(path, b""), after[path] or b""
        lines = difflib.unified_diff(
            shown(old).splitlines(), shown(new).splitlines(), path, path, lineterm=""
        )
        parts += lines
    return "\n".join(parts)
