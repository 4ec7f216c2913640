import os

import click

from reviewbot.cli.terminal import Command
from reviewbot.errors import UsageError, install_hint


@click.command(cls=Command)
def command() -> None:
    """Review a pull request in a job of a GitHub workflow.

    The Action runs it: everything comes from the variables of the runner and the inputs.
    """
    try:
        from reviewbot.github.action import main
    except ModuleNotFoundError as error:
        raise UsageError(f"{error.name} is not installed", hint=install_hint("github")) from error
    raise SystemExit(main(os.environ))
