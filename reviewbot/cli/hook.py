import os
import sys
from pathlib import Path
from typing import get_args

import click

from reviewbot.cli.host import open_host
from reviewbot.cli.terminal import PASSES, Group, is_given, say, state_option
from reviewbot.hooks.install import Hook, HookFile, find_hooks, install_hooks, uninstall_hooks
from reviewbot.hooks.run import read_refs, refs_of_framework, review_commit, review_push


@click.group(cls=Group)
def command() -> None:
    """Install, remove, show or run the git hooks of this repository."""


@command.command
async def install() -> None:
    """Write pre-commit and pre-push hooks. A hook that is there already runs first."""
    print_hooks(await install_hooks(Path.cwd(), os.environ))


@command.command
async def uninstall() -> None:
    """Remove the hooks, and give back those that were there before."""
    print_hooks(await uninstall_hooks(Path.cwd(), os.environ))


@command.command
async def status() -> None:
    """Show which hooks run here."""
    for hook in await find_hooks(Path.cwd(), os.environ):
        click.echo(hook)


@command.command("run")
@click.argument("name", type=click.Choice(get_args(Hook)), metavar="HOOK")
@click.argument("arguments", nargs=-1)
@click.option("--strict", is_flag=True, help="Stop git if something cannot be reviewed.")
@state_option
async def run_(name: Hook, arguments: tuple[str, ...], strict: bool, **_: object) -> int:
    """Review what is about to be committed or pushed, as git calls it.

    HOOK is pre-commit or pre-push. ARGUMENTS are those of git: the remote and its address.
    """
    click.get_current_context().meta[PASSES] = not strict

    def tell(line: str) -> None:
        if not is_given("quiet") or not line.startswith("reviewbot: "):
            say(line)

    async with open_host() as (host, repository, state):
        if name == "pre-commit":
            code = await review_commit(host, repository, state, tell)
        else:
            remote = next(iter(arguments), os.environ.get("PRE_COMMIT_REMOTE_NAME", "origin"))
            untold = sys.stdin.isatty() or (os.environ.get("PRE_COMMIT") == "1" and not arguments)
            refs = refs_of_framework(os.environ) if untold else read_refs(sys.stdin.read())
            code = await review_push(host, repository, state, refs, remote, tell)
    # 1 is a finding that stops git, 3 that something was not reviewed.
    return code if strict or code == 1 else 0


def print_hooks(hooks: list[HookFile]) -> None:
    for hook in hooks:
        say(f"reviewbot: {hook}")
