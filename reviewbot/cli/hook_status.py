"""``reviewbot hook status``: which hooks run in a repository."""

from __future__ import annotations

import os

import click

from reviewbot.cli.options import LISTINGS, REPO, TOLD, Common, gathered
from reviewbot.cli.output import deliver
from reviewbot.cli.tables import as_json
from reviewbot.publish import plain
from reviewbot.wiring import hooks
from reviewbot.wiring.hooks import HookReport


@click.command("status", short_help="Say which hooks run here, and what they call.")
@click.option("--format", type=click.Choice(LISTINGS), default="text", show_default=True, help="What to print.")
@lambda handler: gathered(handler, Common, (REPO, *TOLD))
def status(arguments: Common, format: str) -> int:  # noqa: A002 - the option's name
    """Say which hooks run here, and what they call.

    Each hook is installed, chained to one that was there before, somebody else's, or not there. What keeps it from its work is
    said below it.

    \b
    Examples:
      reviewbot hook status
      reviewbot hook status --format json
    """
    report = hooks.status(arguments.repo, os.environ)
    deliver(as_json(report) if format == "json" else _text(report))
    return 0


def _text(report: HookReport) -> str:
    why = f": {report.setting} says so" if report.setting else ""
    lines = [plain.line(f"git looks for hooks in {report.folder}{why}")]
    for hook in report.hooks:
        lines.append(f"{hook.name}: {hook.words}")
        lines += (f"  {plain.line(problem)}" for problem in hook.problems)
    return "\n".join((*lines, *map(plain.line, report.notes)))
