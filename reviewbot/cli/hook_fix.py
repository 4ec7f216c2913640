"""``reviewbot hook run fix``: the fixes of what is staged, written into the files as a formatter does."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path

import click

from reviewbot.cli.options import CHECKS, COMMON, PANEL, FixArguments, gathered
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import say
from reviewbot.cli.watch import watching
from reviewbot.domain.review import Conclusion, Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import WriteError
from reviewbot.wiring import Order, fixing
from reviewbot.wiring.fixing import Steps
from reviewbot.wiring.hook_order import StagedOrder

OPTIONS = (*PANEL, *CHECKS, *COMMON)
WRITTEN = 1
"""The exit code where files were changed: look at them, stage them, commit again."""


@click.command("fix", short_help="Write the fixes of the index that proved themselves; 1 where something was written.")
@lambda handler: gathered(handler, FixArguments, OPTIONS)
def fix(arguments: FixArguments) -> int:
    """Review what is staged and write every fix that proved itself into the files of the work tree.

    The index stays as it is, so that `git diff` shows what was written. Ends with 1 where something was, so that a commit stops
    there. A file that is staged only in part is not written to. `reviewbot fix --undo` takes everything back.

    \b
    Examples:
      reviewbot hook run fix
      pre-commit run --hook-stage manual reviewbot-fix
    """
    order = _order(arguments)
    if told := fixing.recover(order):
        say(f"reviewbot: a run that was killed before was {'completed' if told.completed else 'taken back'}")
    with watching(arguments, order) as observer:
        outcome = fixing.fix(order, (), observer)
    if outcome.review.conclusion is Conclusion.NOT_REVIEWED:
        say(f"NOT REVIEWED: {'; '.join(outcome.review.notes) or 'the review could not run'}")
        return 0
    steps = fixing.steps(order, outcome.review.revisions, fixing.ready(outcome))
    if not steps.steps:
        say("reviewbot: nothing that is staged has a fix that proved itself")
        return 0
    for line in _written(order, outcome.review, steps):
        say(line)
    return WRITTEN


def _order(arguments: FixArguments) -> StagedOrder:
    """What is asked for: the index that git hands to a hook, where it hands one."""
    order = order_of(arguments, Target(TargetKind.STAGED))
    index = os.environ.get("GIT_INDEX_FILE") if arguments.repo == Path() else None
    said = {field.name: getattr(order, field.name) for field in fields(order)}
    return StagedOrder(**said, index=Path(index) if index else None)


def _written(order: Order, review: Review, steps: Steps) -> list[str]:
    """Write them; what is said of it. What was reviewed is the index, and what is written to the work tree, where it is the same.
    Raises WriteError, and then nothing is changed."""
    try:
        written = fixing.write(order, replace(review.revisions, kind=TargetKind.WORKTREE), steps, commit=False)
    except WriteError as exc:
        whole = "a file that is staged only in part is not written to: stage all of it, or put the rest away"
        raise WriteError(exc.message, hint=f"{exc.hint}; {whole}") from exc
    mended = [f"reviewbot: {step.repair.id} ({step.repair.title}) is mended" for step in steps.steps]
    paths = ", ".join(written.paths)
    return [
        *written.notes,
        *mended,
        f"reviewbot: {paths} written: see `git diff`, stage and commit again; or `reviewbot fix --undo`",
    ]
