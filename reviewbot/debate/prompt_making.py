"""What a question about code that is made brings along: the task, the files as they are now, what was tried, candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reviewbot.debate import prompt_case
from reviewbot.debate.prompt_fence import block, cut, indented, one_line, screened
from reviewbot.domain.debate import Check
from reviewbot.domain.repair import Goal
from reviewbot.ports import Appraisal, Arbitration, Attempted, Diagnosis, Drafting, Refinement, Sheet, Shown, Task

Making = Drafting | Appraisal | Refinement | Arbitration | Diagnosis
"""The questions of the making cycle, and the one before it about a report."""

MOST_REPORT = 30_000


@dataclass(frozen=True, slots=True)
class _Caps:
    """Characters of one text, by what it is, how many of what was tried are told (the newest), and how many paths."""

    wish: int = 12_000
    check: int = 8_000
    patch: int = 30_000
    output: int = 6_000
    attempts: int = 3
    paths: int = 60


WIDE = _Caps()
"""A patch gate lets less through than is shown of a candidate."""
NARROW = _Caps(wish=3_000, check=3_000, patch=5_000, output=1_500, attempts=1, paths=15)
"""For a local model, which has a window of some thousand tokens and reads slowly."""


def values(question: Making, *, brief: bool = False) -> dict[str, object]:
    """What the question's template is given: blocks, and plain words of our own."""
    if isinstance(question, Diagnosis):
        return {"report": block("report", cut(screened(question.report.strip()), MOST_REPORT)), "most": question.most}
    task, most = question.task, NARROW if brief else WIDE
    known: dict[str, object] = {
        "goal": task.goal.value,
        "mends": task.goal in (Goal.FIX, Goal.REPORT),
        "claim": block("claim", prompt_case.packet(task.packet)),
        "wish": block("wish", cut(screened(task.wish.strip()), most.wish)) if task.wish.strip() else "",
        "check": block("check", _check(task.check, most)) if task.check else "",
    }
    if isinstance(question, Drafting):
        tried = question.tried[-most.attempts :]
        attempts = [block("attempt", _attempt(one, most)) for one in tried]
        return known | _files(question.sheets, task, most) | {"attempts": attempts}
    if isinstance(question, Appraisal):
        return known | {"candidates": [(one_line(one.letter), *_candidate(one, most)) for one in question.candidates]}
    patch, told = _candidate(question.candidate, most)
    known |= {"patch": patch, "told": told}
    if isinstance(question, Refinement):
        points = block("points", _listed(question.points)) if question.points else ""
        return known | _files(question.sheets, task, most) | {"points": points}
    first, *others = question.points
    return known | {"point": block("point", _listed((first,))), "others": block("points", _listed(others)) if others else ""}


def _files(sheets: Iterable[Sheet], task: Task, most: _Caps) -> dict[str, object]:
    shown = "\n\n".join(_sheet(sheet) for sheet in sheets) or "no file is shown"
    return {"files": block("files", shown), "paths": block("paths", _paths(task, most)), "may_add": task.may_add}


def _sheet(sheet: Sheet) -> str:
    """A file with its lines numbered as they stand now."""
    last = sheet.start + len(sheet.lines) - 1
    lines = f"lines {sheet.start}-{last} of {sheet.of}" if sheet.lines else "empty"
    width = len(str(last))
    rows = (f"{number:>{width}} |{_row(text)}" for number, text in enumerate(sheet.lines, sheet.start))
    return "\n".join((f"=== {one_line(sheet.path)}, {lines}", *rows))


def _row(text: str) -> str:
    """A line of a file comes screened; one that is more than a line cannot be one."""
    return text if "\n" not in text else one_line(text)


def _paths(task: Task, most: _Caps) -> str:
    """What may be changed, the task's own file first."""
    listed = sorted(task.paths, key=lambda path: (path != task.packet.path, path))
    more = len(listed) - most.paths
    rows = [*map(one_line, listed[: most.paths]), *([f"and {more} more"] if more > 0 else [])]
    return "\n".join(rows) or "no file that is there"


def _check(check: Check, most: _Caps) -> str:
    source = f"\n{cut(screened(check.source), most.check)}" if check.source.strip() else ""
    output = f"\nIt printed:\n{cut(screened(check.output), most.output)}" if check.output.strip() else ""
    return f"{check.kind.value}: {cut(one_line(check.label), most.check)}{source}{output}"


def _attempt(tried: Attempted, most: _Caps) -> str:
    patch, told = cut(screened(tried.patch), most.patch), cut(screened(tried.told), most.output)
    return f"{patch or 'nothing that could be shown'}\n\nWhat came of it:\n{told}"


def _candidate(one: Shown, most: _Caps) -> tuple[str, str]:
    """The patch and the sandbox's words, each in a block."""
    return block("candidate", cut(screened(one.patch), most.patch)), block("outcome", cut(screened(one.told), most.output))


def _listed(points: Iterable[str]) -> str:
    return "\n".join(f"- {cut(indented(point), prompt_case.MOST_FIELD)}" for point in points)
