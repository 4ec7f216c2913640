"""``reviewbot hook run``: the work of one hook."""

from __future__ import annotations

import click

from reviewbot.cli.group import Commands

#: As :data:`reviewbot.cli.COMMANDS`.
RUNS = {
    "pre-commit": ("reviewbot.cli.hook_commit", "Review what is about to be committed: the index, and nothing else."),
    "pre-push": ("reviewbot.cli.hook_push", "Review what is about to be pushed, as git names it on standard input."),
    "fix": ("reviewbot.cli.hook_fix", "Write the fixes of the index that proved themselves; 1 where something was written."),
}


@click.group("run", cls=Commands, table=RUNS)
def run() -> None:
    """Do the work of one hook: what git, or pre-commit, calls.

    They may be run by hand, too. What a hook tells goes to standard error, where git shows it.
    """
