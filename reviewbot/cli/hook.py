"""``reviewbot hook``: the git hooks of a repository."""

from __future__ import annotations

import click

from reviewbot.cli.group import Commands

#: As :data:`reviewbot.cli.COMMANDS`.
HOOKS = {
    "install": ("reviewbot.cli.hook_install", "Write the hooks of this repository; what is there already is kept."),
    "uninstall": ("reviewbot.cli.hook_install", "Take them away again, and put back what was there."),
    "status": ("reviewbot.cli.hook_status", "Say which hooks run here, and what they call."),
    "run": ("reviewbot.cli.hook_run", "Do the work of one hook: what git, or pre-commit, calls."),
}


@click.group("hook", cls=Commands, table=HOOKS)
def hook() -> None:
    """Review in the hand: before a commit, and before a push.

    Before a commit linters and rules look at what is staged, in about the time that git takes; before a push all of a review runs
    within a limit of time, with models where they are configured. Both tell and let it pass, unless `--fail-on` says otherwise.
    `SKIP=reviewbot git commit` leaves one out.
    """
