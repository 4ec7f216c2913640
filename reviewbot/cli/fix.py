"""``reviewbot fix``: a review, code for what it accepted, and whatever of it is wanted, written where it belongs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click

from reviewbot import wiring
from reviewbot.cli import goals
from reviewbot.cli.options import FixArguments, fix_options
from reviewbot.cli.orders import order_of
from reviewbot.cli.output import deliver, say
from reviewbot.cli.review import exit_code, read_patch, report
from reviewbot.cli.sections import Sectioned
from reviewbot.cli.watch import watching
from reviewbot.domain.repair import Repair
from reviewbot.domain.review import Review
from reviewbot.domain.target import Target, TargetKind
from reviewbot.errors import OutputError, UsageError
from reviewbot.wiring import fixing
from reviewbot.wiring.fixing import Steps

CHOICES = "y: write it, n: leave it, a: write it and all after it, q: leave it and all after it"


@click.command("fix", cls=Sectioned, short_help="Review a change, and write the fixes that proved themselves.")
@fix_options
def fix(arguments: FixArguments) -> int:
    """Review a change and write fixes for what the panel accepted, each proved by a check that failed before.

    TARGET is as for `reviewbot review`. Every fix is shown with its proof and asked about; --yes writes all that are proven.
    Without a terminal nothing is written but with --yes. What is written can be taken back with --undo.

    \b
    Examples:
      reviewbot fix                                ask about each fix
      reviewbot fix --yes --commit main...topic    a commit for each
      reviewbot fix --finding F1 --write-patch f1.patch
      reviewbot fix --report traceback.txt         mend what a report tells
      reviewbot fix --goal refactor shop.py --instruction "name the rules"
      reviewbot fix --undo

    Exit codes are those of `reviewbot review`, for what is left after the fixes.
    """
    if arguments.undo:
        return _undo(order_of(arguments))
    goal = goals.wanted(arguments)
    target = Target(TargetKind.AUTO) if goal is not None and goal.paths else arguments.chosen_target(read_patch)
    order = replace(order_of(arguments, target), goal=goal)
    _recover(order)
    with watching(arguments, order) as observer:
        outcome = fixing.fix(order, arguments.wanted(), observer)
    review = outcome.review
    deliver(report(review, arguments, outcome.configuration, environment=order.environment), arguments.output)
    ready = fixing.ready(outcome)
    chosen = _chosen(ready, arguments)
    if chosen:
        steps = _proved(order, review, chosen, alone=len(chosen) < len(ready))
        _deliver(order, review, steps, arguments=arguments)
        chosen = _done(chosen, steps, alone=len(chosen) < len(ready))
    return exit_code(_without(review, chosen), outcome.configuration.get("review.fail_on", str))


def _chosen(ready: list[Repair], arguments: FixArguments) -> list[Repair]:
    """The fixes that are wanted: all with ``--yes``, else those that somebody says yes to."""
    if not ready or arguments.yes:
        return ready
    if sys.stdin is None or not sys.stdin.isatty():
        if not arguments.write_patch:
            say(f"{_counted(ready)} proven; nothing was written: say --yes, --write-patch FILE, or run it at a terminal")
        return ready if arguments.write_patch else []
    return _asked(ready)


def _asked(ready: list[Repair]) -> list[Repair]:
    chosen: list[Repair] = []
    for number, repair in enumerate(ready):
        match _answer(f"Write the fix of {repair.id} ({repair.title})?"):
            case "y":
                chosen.append(repair)
            case "a":
                return [*chosen, *ready[number:]]
            case "q":
                return chosen
    return chosen


def _answer(question: str) -> str:
    """One of y, n, a and q. The end of input means q."""
    while True:
        print(f"{question} [y/n/a/q] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        said = line.strip().lower()[:1]
        if not line or said in ("y", "n", "a", "q"):
            return said or "q"
        say(CHOICES)


def _proved(order: wiring.Order, review: Review, chosen: list[Repair], *, alone: bool) -> Steps:
    """What is to be written. Where some of what was made is left out, the rest is tried once more without it. Raises UsageError
    where it does not hold alone."""
    steps = fixing.steps(order, review.revisions, chosen)
    for repair in steps.left:
        say(f"{repair.id} is not written: it builds on a fix that was left out")
    if alone and steps.steps:
        tried = fixing.proved(order, review, chosen=steps)
        checked = {step.repair.id for step in steps.steps if _is_checked(step.repair, review)}
        if not tried.harmless or tried.red or checked & set(tried.unknown):
            raise UsageError(f"without the fixes that were left out, the others do not hold: {tried.told}", hint="choose all")
        steps = fixing.as_tried(steps, tried)
    return steps


def _is_checked(repair: Repair, review: Review) -> bool:
    """Something is there that must show again that it works: a check, or what reported its finding."""
    told = any(finding.id == repair.id for finding in review.findings)
    return repair.proof is not None and (told or repair.proof.check is not None)


def _done(chosen: list[Repair], steps: Steps, *, alone: bool) -> list[Repair]:
    """What is mended by what was written: also those that another one mends, where nothing was left out."""
    written = [step.repair for step in steps.steps]
    twins = [] if alone or steps.left else [repair for repair in chosen if not repair.patch]
    return [*written, *twins]


def _deliver(order: wiring.Order, review: Review, steps: Steps, *, arguments: FixArguments) -> None:
    """Write it: as a patch, as commits, or into the files."""
    if not steps.steps:
        return
    if arguments.write_patch is not None:
        _write_patch(arguments.write_patch, steps.patch)
        say(f"{_counted([step.repair for step in steps.steps])} written to {arguments.write_patch}; apply it with `git apply`")
        return
    written = fixing.write(order, review.revisions, steps, commit=arguments.commit)
    for note in written.notes:
        say(note)
    ids = ", ".join(step.repair.id for step in steps.steps)
    where = f"as {', '.join(name[:10] for _, name in written.commits)}" if arguments.commit else f"to {', '.join(written.paths)}"
    say(f"{ids} written {where}; `reviewbot fix --undo` takes it back ({written.backup})")


def _write_patch(path: Path, patch: bytes) -> None:
    try:
        path.write_bytes(patch)
    except OSError as exc:
        raise OutputError(f"cannot write {path}: {exc.strerror}", hint="name another file with --write-patch") from exc


def _undo(order: wiring.Order) -> int:
    undone = fixing.undo(order)
    for note in undone.notes:
        say(note)
    commits = f"; gone from the branch: {', '.join(name[:10] for name in undone.commits)}" if undone.commits else ""
    say(f"as before: {', '.join(undone.paths)}{commits}")
    return 0


def _recover(order: wiring.Order) -> None:
    """Put right what a run that was killed left half done."""
    if (told := fixing.recover(order)) is None:
        return
    say(f"a run that was killed before was {'completed' if told.completed else 'taken back'}")
    for path in told.left:
        say(f"{path} was changed since and stays as it is; {told.backup} keeps how it was")


def _without(review: Review, chosen: Iterable[Repair]) -> Review:
    """The review of what is left."""
    ids = {repair.id for repair in chosen}
    return replace(review, findings=tuple(finding for finding in review.findings if finding.id not in ids))


def _counted(repairs: list[Repair]) -> str:
    return f"{len(repairs)} fix{'es' if len(repairs) != 1 else ''}"
