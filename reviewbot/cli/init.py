"""``reviewbot init``: a commented configuration that changes nothing until a line is uncommented."""

from __future__ import annotations

import click

from reviewbot.cli.options import Common, common_options
from reviewbot.cli.output import deliver, say
from reviewbot.cli.settings import top_of
from reviewbot.config.describe import commented_file
from reviewbot.errors import OutputError

NAME = ".reviewbot.yml"

NEXT_STEPS = """\
Next:
  reviewbot config validate     check the file after editing it
  reviewbot models list         who could sit on the panel, by the keys that are here
  git add .reviewbot.yml        it counts once it is committed
  reviewbot review              review what is uncommitted, or the last commit
Git hooks and the GitHub workflow come with a later version; until then a CI job can run
  reviewbot review --base origin/main --fail-on high"""


@click.command("init")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--stdout", is_flag=True, help="Print the file instead of writing it.")
@common_options
def init(arguments: Common, force: bool, stdout: bool) -> int:
    """Write a commented .reviewbot.yml at the top of this work tree."""
    if stdout:
        deliver(commented_file())
        return 0
    path = top_of(arguments.repo) / NAME
    if path.is_symlink() or (path.exists() and not force):
        raise OutputError(f"{path} is there already", hint="replace it with --force, or print the text with --stdout")
    deliver(commented_file(), path)
    if not arguments.quiet:
        say(f"Wrote {path}\n{NEXT_STEPS}")
    return 0
