"""How models change code: a draft is tried, attacked by the others, revised, and made simpler.

What was tried counts: a change is "fixed" only if everything ran with it and nothing objects.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from reviewbot.context.brief import Brief
from reviewbot.debate import prompts
from reviewbot.debate.panel import Panel, Question
from reviewbot.tasks.edits import (
    Draft,
    Objections,
    apply_edits,
    read_draft,
    read_objections,
    schema_of,
    shown,
)
from reviewbot.tasks.task import Attempt, Candidate, Task, TaskResult, Trial
from reviewbot.tasks.trial import Trials

MAX_ATTEMPTS = 3
MAX_FILE = 60_000  # bytes of a file that is shown to models


async def work(task: Task, trials: Trials, panel: Panel, brief: Brief) -> TaskResult:
    """Have a task done by models. Each question begins with the brief."""
    proposer, *judges = panel.names
    found = await trials.repository.read_files(trials.change.head_tree, task.paths)
    files = {path: content for path, content in found.items() if len(content) <= MAX_FILE}
    failed = TaskResult(
        kind=task.kind,
        title=task.title,
        findings=tuple(finding.id for finding in task.findings),
        outcome="failed",
    )
    attempts: list[Attempt] = []
    accepted: Trial | None = None
    suggested: Trial | None = None
    dissent: tuple[str, ...] = ()
    for number in range(1, MAX_ATTEMPTS + 1):
        text = task.question(_texts(files), attempts)
        draft = await _ask_draft(panel, proposer, f"fix_{task.id}_{number}", text, brief)
        if isinstance(draft, str) and suggested:
            break
        if isinstance(draft, str):
            return replace(failed, reasons=(draft,), attempts=tuple(attempts))
        try:
            changed = apply_edits(draft, files)
            if touched := sorted(changed.keys() & task.given.keys()):
                raise ValueError(f"{touched[0]} is given, and stays as it is")
        except ValueError as error:
            attempts.append(Attempt("", (str(error),)))
            continue
        candidate = Candidate(author=proposer, files=changed, explanation=draft.explanation)
        trial = await trials.try_out(candidate, task)
        diff = _diff(files, changed)
        if trial.outcome == "refused":
            attempts.append(Attempt(diff, trial.reasons))
            continue
        dissent = await _objections(task, diff, number, judges, panel, brief)
        if not dissent:
            accepted = trial
            break
        suggested = trial
        attempts.append(Attempt(diff, dissent))
    best = accepted or suggested
    if best is None:
        reasons = attempts[-1].reasons if attempts else ()
        return replace(failed, reasons=reasons, attempts=tuple(attempts))
    if accepted:
        best = await _simpler(task, accepted, files, trials, panel, brief)
    result = await result_of(task, best, trials)
    outcome = result.outcome if accepted else "suggested"
    dissent = () if accepted else dissent
    return replace(result, outcome=outcome, attempts=tuple(attempts), dissent=dissent)


async def result_of(task: Task, trial: Trial, trials: Trials) -> TaskResult:
    """The result of a candidate that was not refused."""
    files = {**trial.candidate.files, **task.given}
    before = await trials.repository.read_files(trials.change.head_tree, list(files))
    return TaskResult(
        kind=task.kind,
        title=task.title,
        findings=tuple(finding.id for finding in task.findings),
        outcome="fixed" if trial.outcome == "fixed" else "suggested",
        author=trial.candidate.author,
        tree=trial.tree,
        evidence=trial.evidence,
        files=files,
        diff=_diff(before, files),
        explanation=trial.candidate.explanation,
        facts=trial.judgement.facts,
        reasons=trial.reasons,
    )


async def _ask_draft(panel: Panel, who: str, phase: str, text: str, brief: Brief) -> Draft | str:
    """A draft, or why there is none."""
    question = Question(who, phase, text, brief, schema_of(Draft))
    answers = await panel.ask([question], read_draft)
    if answers:
        return answers[0][1]
    return f"{who} did not answer: {panel.absences[-1].reason}"


async def _objections(
    task: Task, diff: str, number: int, judges: Sequence[str], panel: Panel, brief: Brief
) -> tuple[str, ...]:
    """What those who did not write it say against it, as far as it is about a changed file."""
    text = prompts.render("judge_fix", title=task.title, diff=diff)
    phase = f"judge_{task.id}_{number}"
    questions = [Question(name, phase, text, brief, schema_of(Objections)) for name in judges]
    answers = await panel.ask(questions, read_objections)
    return tuple(
        f"{question.panelist} ({objection.path}:{objection.line}): {objection.reason}"
        for question, objections in answers
        for objection in objections
        if f"+++ {objection.path}\n" in f"{diff}\n"
    )


async def _simpler(
    task: Task, trial: Trial, files: Mapping[str, bytes], trials: Trials, panel: Panel, brief: Brief
) -> Trial:
    """A version with less, if it is tried as well and nobody objects; else the same."""
    optimizer = panel.names[-1]
    now = {path: content for path, content in trial.candidate.files.items() if content is not None}
    diff = _diff(files, trial.candidate.files)
    text = prompts.render("optimise_fix", title=task.title, diff=diff, files=_texts(now))
    draft = await _ask_draft(panel, optimizer, f"optimise_{task.id}", text, brief)
    if isinstance(draft, str) or not draft.edits:
        return trial
    try:
        changed = dict(trial.candidate.files) | apply_edits(draft, now)
    except ValueError:
        return trial
    shorter = _diff(files, changed)
    if shorter.count("\n") >= diff.count("\n") or changed.keys() & task.given.keys():
        return trial
    candidate = Candidate(author=optimizer, files=changed, explanation=draft.explanation)
    better = await trials.try_out(candidate, task)
    judges = [name for name in panel.names if name != optimizer]
    if better.outcome != trial.outcome:
        return trial
    against = await _objections(task, shorter, MAX_ATTEMPTS + 1, judges, panel, brief)
    return trial if against else better


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
