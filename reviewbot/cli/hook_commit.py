"""``reviewbot hook run pre-commit``, as it is typed."""

from __future__ import annotations

import sys

import click

from reviewbot.cli import hook_work
from reviewbot.cli.options import HookArguments, hook_options


@click.command("pre-commit", short_help="Review what is about to be committed.")
@hook_options
def pre_commit(arguments: HookArguments) -> int:
    """Review what is about to be committed: the index, and nothing else.

    Analysers and linters of reviewbot's own read the staged files; nothing of the change is executed, and no model is asked
    unless --panel or --model says so. Findings are a warning, unless --fail-on, or review.fail_on in the configuration, stops
    the commit.
    """
    return hook_work.run(arguments, sys.argv[1:])
