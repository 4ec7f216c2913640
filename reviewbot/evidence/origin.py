"""Evidence by who gathered it: what the author's own workflow says may raise a finding, and carries nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum

from reviewbot.domain.evidence import CheckRun, Evidence, Ledger, Precision, TestRun

MOST_ITEMS, MOST_NOTES = 2_000, 20
"""Of the author's: as many results as a runner of our own would tell, and few words between the reviewer's."""

REASON = "the author's own workflow says it ran, which proves nothing"
SAID = "the evidence is the author's own word: it may raise findings; it proves, refutes and approves nothing"


class Origin(StrEnum):
    """Whose word evidence is: a runner's that nobody but the operator can steer, or the author's of the change."""

    RUNNER = "runner"
    AUTHOR = "author"


def of_author(ledger: Ledger, required: Iterable[str] = ()) -> Ledger:
    """The ledger as the author's word. What is new in it is a reason to look; no check counts as run, no test as passed, nothing
    as executed or as known before. ``required`` names the checks that configuration requires: the author does not decide that."""
    wanted = frozenset(required)
    runs = [replace(run, ran=False, reason=REASON, required=run.required or run.name in wanted) for run in ledger.checks]
    missing = wanted - {run.name for run in runs}
    new = ledger.new()
    left_out = (f"{len(new) - MOST_ITEMS} of the author's results are left out",) if len(new) > MOST_ITEMS else ()
    notes = tuple(f"the author's run says: {note}" for note in ledger.notes[:MOST_NOTES])
    return Ledger(
        items=tuple(_doubted(item) for item in new[:MOST_ITEMS]),
        checks=(*runs, *(CheckRun(name, ran=False, reason=REASON, required=True) for name in sorted(missing))),
        tests=TestRun(),
        sandbox="none",
        notes=(SAID, *left_out, *notes),
    )


def _doubted(item: Evidence) -> Evidence:
    return replace(item, result=replace(item.result, precision=Precision.HEURISTIC))


def beside(own: Ledger, told: Ledger) -> Ledger:
    """What was found here, and after it what the author's word (``of_author``) adds: results that were not found here, numbered
    on. A check that ran here ran, whatever the author says of it."""
    known = {_place(item) for item in own.items}
    added = (item for item in told.items if _place(item) not in known)
    items = (*own.items, *(replace(item, id=f"E{number}") for number, item in enumerate(added, start=len(own.items) + 1)))
    ran = {run.name for run in own.checks if run.ran}
    theirs = tuple(run for run in told.checks if run.name not in ran)
    named = {run.name for run in theirs}
    checks = (*(run for run in own.checks if run.name not in named), *theirs)
    return replace(own, items=items, checks=checks, notes=(*own.notes, *told.notes))


def _place(item: Evidence) -> tuple[object, ...]:
    result = item.result
    return (result.tool, result.rule, result.path, result.line, result.message)
