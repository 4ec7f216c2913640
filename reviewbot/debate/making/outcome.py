"""A candidate that was tried, and what becomes of a task with it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from reviewbot.debate.making.delta import Delta
from reviewbot.debate.making.tree import Tree
from reviewbot.domain.repair import CodeVersion, Proven, Repair, RepairOutcome, Tried
from reviewbot.ports import Attempted, Task, Trialled

UNKNOWN = "no check shows that it works"


@dataclass(frozen=True, slots=True)
class Candidate:
    """What was written for a task, and what its trial said. ``after`` is the tree with it, as it was tried; ``attempt`` is 0 for
    what was there before anybody was asked."""

    author: str
    attempt: int
    explanation: str
    after: Tree
    delta: Delta
    trialled: Trialled
    versions: tuple[CodeVersion, ...] = ()

    @property
    def may_be_judged(self) -> bool:
        """It makes nothing worse, and no check says that it does not work."""
        return self.trialled.harmless and not self.trialled.red

    def is_shown(self, task: Task) -> bool:
        """A check shows that it works."""
        return self.may_be_judged and task.id not in self.trialled.unknown

    def tried(self, reason: str = "") -> Tried:
        """For the record: why it was not used, nothing where it was."""
        return Tried(self.author, self.attempt, self.trialled.patch, reason, self.versions)

    def attempted(self, told: str) -> Attempted:
        """For who writes the next one."""
        return Attempted(self.delta.text, told)


def stands(repair: Repair, *, unproven: bool) -> bool:
    """It will be written, so the next one is made on top of it. ``unproven``: an operator lets suggestions be written which
    nobody spoke against."""
    return repair.outcome is RepairOutcome.FIXED or (
        unproven and repair.outcome is RepairOutcome.SUGGESTED and repair.dissent is None
    )


def proven(task: Task, trialled: Trialled) -> Proven | None:
    """What shows that the task is done, by the trial that it passed."""
    if task.id in trialled.unknown:
        return None
    check = dict(trialled.checks).get(task.id)
    by_check = f"{check.label} failed before and passes with it" if check else "what reported it does so no more"
    return Proven(dict(trialled.shown).get(task.id, by_check), check, trialled.beside)


def unmade(task: Task, outcome: RepairOutcome, why: str, *, tries: tuple[Tried, ...] = ()) -> Repair:
    """A task for which there is no code to use."""
    return Repair(task.id, task.title, outcome, task.goal, why, tries=tries)


def taken_back(repair: Repair, why: str) -> Repair:
    """What was made, and may not be used after all."""
    tries = tuple(replace(one, reason=one.reason or why) for one in repair.tries)
    return Repair(repair.id, repair.title, RepairOutcome.FAILED, repair.goal, why, tries=tries)


def brief(told: str) -> str:
    """The first line of what was said of a candidate."""
    return told.split("\n", 1)[0]
