"""``reviewbot collect``: zone R. Runs checks of a change, or experiments of a debate about it, and writes down what they said."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot import wiring
from reviewbot.cli import handover
from reviewbot.cli.options import OUT, ReviewArguments, collect_options
from reviewbot.cli.output import say
from reviewbot.cli.review import read_patch
from reviewbot.cli.sections import Sectioned
from reviewbot.cli.settings import read_file, read_user_file, top_of
from reviewbot.cli.watch import watching
from reviewbot.config.layers import VARIABLE
from reviewbot.domain.counted import counted
from reviewbot.domain.evidence import Ledger
from reviewbot.publish import plain
from reviewbot.publish.load_proof import EXPERIMENTS, VERIFICATIONS
from reviewbot.wiring import collecting

KNOWN = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "TERM", "NO_COLOR", "COLUMNS")
"""Variables that this command looks at, beside its own. A key is not among them."""

_INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("collect", cls=Sectioned, short_help="Run the checks of a change and write down what a debate needs.")
@OUT
@click.option(
    "--experiments", type=_INPUT, help="Run the checks that a debate asked for in this file, and write verifications.json."
)
@collect_options
def collect(arguments: ReviewArguments, *, out: Path, experiments: Path | None) -> int:
    """Run the checks of a change in the sandbox, and write changeset.json and evidence.json.

    They are all that a debate elsewhere needs to know of it. Neither a key nor a language model is needed; no variable of this
    process reaches code of the change.

    With --experiments, run the checks that `reviewbot debate --await-runner` asked for over the same change instead, and write
    verifications.json; what that file tells of this change already is kept.

    TARGET is as for `reviewbot review`.

    \b
    Examples:
      reviewbot collect main...topic --out work
      reviewbot collect main...topic --experiments experiments.json

    \b
    Exit codes:
      0  written
      2  usage or configuration
      3  a check that configuration requires did not run
    """
    order = _order(arguments)
    if experiments is not None:
        return _conduct(arguments, order, experiments, out=out)
    with watching(arguments, order) as observer:
        made = collecting.collect(order, observer)
    paths = (handover.write(out, handover.CHANGESET, made.changeset), handover.write(out, handover.EVIDENCE, made.evidence))
    next_step = f"reviewbot debate --changeset {shlex.quote(str(paths[0]))} --evidence {shlex.quote(str(paths[1]))}"
    handover.tell(arguments, _summary(made.ledger), f"next: {next_step}")
    if made.revisions.kind == "worktree" and out.resolve().is_relative_to(top_of(arguments.repo)):
        words = f"the next look at uncommitted work will see what was written to {out}"
        handover.tell(arguments, f"note: {words}: name a folder outside with --out")
    missing = [run for run in made.ledger.checks if run.required and not run.ran]
    for run in missing:
        say(f"reviewbot: required check {run.name} did not run: {plain.line(run.reason)}")
    return 3 if missing else 0


def _conduct(arguments: ReviewArguments, order: wiring.Order, experiments: Path, *, out: Path) -> int:
    """Run what a debate asked for, beside what was run for it before."""
    earlier = out / handover.VERIFICATIONS
    known = handover.read(earlier, VERIFICATIONS.max_bytes) if earlier.is_file() else None
    with watching(arguments, order) as observer:
        text = handover.read(experiments, EXPERIMENTS.max_bytes)
        made = collecting.conduct(order, text, earlier=known, observer=observer)
    path = handover.write(out, handover.VERIFICATIONS, made.verifications)
    without = f", {made.without_result} without a result" if made.without_result else ""
    handover.tell(
        arguments,
        f"{counted(made.wanted, 'experiment')}{without}",
        f"next: run 'reviewbot debate' as before, with --verifications {shlex.quote(str(path))}",
    )
    return 0


def _order(arguments: ReviewArguments) -> wiring.Order:
    """The order, without any variable that could be a secret, and without a ``.env``."""
    environment = _known(os.environ)
    return wiring.Order(
        target=arguments.chosen_target(read_patch),
        directory=arguments.repo,
        environment=environment,
        flags=arguments.overrides(),
        config=read_file(arguments.config) if arguments.config else None,
        user=read_user_file(environment),
        execute=not arguments.no_exec,
    )


def _known(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name in KNOWN or name.startswith(VARIABLE)}


def _summary(ledger: Ledger) -> str:
    ran = sum(check.ran for check in ledger.checks)
    return f"{ran} of {len(ledger.checks)} checks ran: {counted(len(ledger.items), 'result')}, {len(ledger.new())} of them new"
