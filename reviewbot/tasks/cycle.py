"""How models change code: a draft is tried, attacked by the others, revised, and made simpler.

What was tried counts: a change is "fixed" only if all tests ran with it and nothing objects.
"""

import difflib
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.debate import prompts
from reviewbot.debate.panel import MODERATOR, Absence
from reviewbot.tasks.task import Attempt, Candidate, Task, TaskResult, Trial
from reviewbot.tasks.trial import Trials
from reviewbot.text.secrets import shown

MAX_ATTEMPTS = 3
# Bytes that models are shown of a file, and of others than that with a finding.
MAX_FILE, MAX_OTHERS = 60_000, 30_000
SMALL = 6  # changed lines, which nobody is asked to make fewer
NO_FILE = re.compile(r"\0|(^|/)(\.{0,2}|\.git)(/|$)", re.IGNORECASE)  # git leaves such paths out


class Edit(Struct, frozen=True, kw_only=True):
    path: str
    find: str
    replace: str


class Draft(Struct, frozen=True, kw_only=True):
    edits: list[Edit]
    explanation: str = ""


class Objection(Struct, frozen=True, kw_only=True):
    path: str
    line: int
    reason: str


class Objections(Struct, frozen=True, kw_only=True):
    objections: list[Objection]


async def work(task: Task, trials: Trials) -> TaskResult:
    """Have a task done by models."""
    panel, brief, proposer = trials.panel, trials.brief, trials.panel.names[0]
    found = await trials.read(task.paths)
    files, room = dict[str, bytes](), MAX_OTHERS
    for path in filter(found.get, task.paths):
        size = len(found[path])
        if size <= MAX_FILE and (task.kind != "fix" or not files or size <= room):
            room -= size if files else 0
            files[path] = found[path]
    best: Trial | None = None
    attempts, reasons = list[Attempt](), tuple[str, ...]()
    against, silent = list[tuple[str, Objection]](), list[Absence]()
    for number in range(1, MAX_ATTEMPTS + 1):
        given = {"files": _texts(files), "paths": [*filter(found.get, found)], "attempts": attempts}
        text = prompts.render(task.kind, **task.details, **given)
        drafts = await panel.ask_for([proposer], f"fix_{task.id}_{number}", text, brief, Draft)
        if not drafts:
            reasons = (*reasons, f"{proposer} did not answer: {panel.absences[-1].reason}")
            break
        diff = ""
        try:
            draft = drafts[0][1]
            if not draft.edits:
                said = f": {draft.explanation}" if draft.explanation else ""
                reasons = (*reasons, f"{proposer} proposes nothing{said}")
                break
            # It may have read others, or not know that they exist: next time, it is shown them.
            files |= await trials.read({edit.path for edit in draft.edits})
            candidate = _candidate(proposer, draft, files, task)
        except ValueError as error:
            reasons = (str(error),)
        else:
            diff = _diff(files, candidate.files)
            trial = await trials.try_out(candidate, task)
            reasons = trial.reasons
            if trial.outcome != "refused":
                best, absent = trial, len(panel.absences)
                against = await _objections(task, files, trial, number, trials)
                # Who wrote it does not learn who objects.
                reasons = tuple(f"{each.path}:{each.line}: {each.reason}" for _, each in against)
                silent = panel.absences[absent:]
                if not against:
                    best = await _simpler(task, trial, files, trials)
                    break
        attempts.append(Attempt(diff, reasons))
    if best is None:
        return failed(task, reasons, attempts)
    result = await result_of(task, best, trials)
    dissent = tuple(f"{name} ({each.path}:{each.line}): {each.reason}" for name, each in against)
    unjudged = (f"{absence.panelist} did not judge it: {absence.reason}" for absence in silent)
    outcome, facts = "suggested" if dissent else result.outcome, (*result.facts, *unjudged)
    return replace(result, outcome=outcome, facts=facts, attempts=tuple(attempts), dissent=dissent)


def failed(task: Task, reasons: Sequence[str], attempts: Sequence[Attempt] = ()) -> TaskResult:
    return TaskResult(
        kind=task.kind,
        title=task.title,
        findings=tuple(finding.id for finding in task.findings),
        outcome="failed",
        reasons=tuple(reasons),
        attempts=tuple(attempts),
    )


async def result_of(task: Task, trial: Trial, trials: Trials) -> TaskResult:
    """The result of a candidate that was not refused."""
    files = {**trial.candidate.files, **task.given}
    before = await trials.read(files)
    return replace(
        failed(task, trial.reasons),
        outcome="fixed" if trial.outcome == "fixed" else "suggested",
        author=trial.candidate.author,
        tree=trial.tree,
        evidence=trial.evidence,
        files=files,
        diff=_diff(before, files),
        explanation=trial.candidate.explanation,
        facts=trial.judgement.facts,
    )


async def _objections(
    task: Task, files: Mapping[str, bytes], trial: Trial, number: int, trials: Trials
) -> list[tuple[str, Objection]]:
    """What all but the author say against lines of the change.

    If others accept it, the moderator rules, or where that is the model of a panelist, who may have
    written the change, those who accept it.
    """
    phase = f"judge_{task.id}_{number}"
    lines = {(file.path, shown) for file in trial.changed for shown in file.shown}
    rows = list[str]()
    for file in trial.changed:
        both = (each.get(file.path, b"") for each in (files, trial.candidate.files))
        old, new = (shown(content).split("\n") for content in both)
        rows += ["", file.path]
        for line in (line for hunk in file.hunks for line in hunk.lines):
            text = new[line.head - 1] if line.head else old[(line.base or 0) - 1]
            rows.append(f"{line.head or line.base}{line.marker}{text}")
    given = {"task": task, "rows": rows, "judgement": trial.judgement}
    judges = [name for name in trials.panel.names if name != trial.candidate.author]
    question = prompts.render("judge_fix", **given, objections=())
    answers = await trials.panel.ask_for(judges, phase, question, trials.brief, Objections)
    said = [(name, each) for name, answer in answers for each in answer.objections]
    found = [(name, each) for name, each in said if (each.path, each.line) in lines]
    unheard = sorted({name for name, _ in said} - {name for name, _ in found})
    trials.panel.absences += (Absence(n, phase, "it cites no line of the edit") for n in unheard)
    accepting = [name for name, answer in answers if not answer.objections]
    if found and accepting:
        question = prompts.render("judge_fix", **given, objections=[each for _, each in found])
        phase, who = f"{phase}_ruling", [MODERATOR] if trials.panel.has_moderator else accepting
        ruled = await trials.panel.ask_for(who, phase, question, trials.brief, Objections)
        upheld = {(each.path, each.line) for _, ruling in ruled for each in ruling.objections}
        found = [(n, each) for n, each in found if not ruled or (each.path, each.line) in upheld]
    return found


async def _simpler(task: Task, trial: Trial, files: Mapping[str, bytes], trials: Trials) -> Trial:
    """A version with less, if it is tried as well and nobody objects; else the same."""
    panel, optimizer = trials.panel, trials.panel.names[-1]
    now = trial.candidate.files
    diff = _diff(files, now)
    if task.kind == "tests" or len(re.findall(r"^[+-](?![+-])", diff, re.MULTILINE)) <= SMALL:
        return trial
    text = prompts.render("optimise_fix", title=task.title, diff=diff, files=_texts(now), paths=now)
    drafts = await panel.ask_for([optimizer], f"optimise_{task.id}", text, trials.brief, Draft)
    try:
        candidate = _candidate(*drafts[0], now, task)
    except (IndexError, ValueError):  # nobody answers, or the edits cannot be made
        return trial
    words = f"{trial.candidate.explanation} {candidate.explanation}".strip()
    candidate = replace(candidate, files={**now, **candidate.files}, explanation=words)
    if _diff(files, candidate.files).count("\n") >= diff.count("\n"):
        return trial
    better = await trials.try_out(candidate, task)
    if better.outcome != trial.outcome:
        return trial
    return trial if await _objections(task, files, better, MAX_ATTEMPTS + 1, trials) else better


def _candidate(author: str, draft: Draft, files: Mapping[str, bytes], task: Task) -> Candidate:
    """Raises ValueError if the edits cannot be made."""
    changed = apply_edits(draft, files)
    if touched := sorted(changed.keys() & task.given.keys()):
        raise ValueError(f"{touched[0]} is given, and stays as it is")
    return Candidate(author=author, files=changed, explanation=draft.explanation)


def apply_edits(draft: Draft, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """New content of the files. Raises ValueError with what is wrong, for the model to read."""
    changed: dict[str, bytes] = {}
    for edit in draft.edits:
        content = {**files, **changed}.get(edit.path)
        if not edit.find:
            if content or NO_FILE.search(edit.path):
                what = "exists: say what to find in it" if content else "is no path of a file"
                raise ValueError(f"{edit.path} {what}")
            changed[edit.path] = edit.replace.encode("utf-8", "surrogatepass")
            continue
        if content is None:
            raise ValueError(f"{edit.path} is none of the files that are shown")
        ends = "\r\n" if b"\r\n" in content else "\n"
        find, replacement = (
            text.replace("\r\n", "\n").replace("\n", ends).encode("utf-8", "surrogatepass")
            for text in (edit.find, edit.replace)
        )
        if (count := content.count(find)) != 1:
            times = "does not occur" if count == 0 else f"occurs {count} times"
            raise ValueError(f"what is to be found in {edit.path} {times}: {edit.find[:200]!r}")
        changed[edit.path] = content.replace(find, replacement)
    return changed


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    """Those that are not too large, as models may see them."""
    return {at: shown(text) for at, text in sorted(files.items()) if len(text) <= MAX_FILE}


def _diff(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """A unified diff with the lines as readers may see them."""
    parts: list[str] = []
    for path in sorted(after):
        old, new = (shown(text).splitlines() for text in (before.get(path, b""), after[path]))
        parts += difflib.unified_diff(old, new, path, path, lineterm="")
    return "\n".join(parts)
