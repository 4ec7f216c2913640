from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reviewbot.cli.options import common, is_given, let_git_go_on, state_option
from reviewbot.cli.output import say
from reviewbot.errors import ReviewbotError

if TYPE_CHECKING:
    from reviewbot.hooks.push import PushedRef


@click.group
@common
def command() -> None:
    """Install, remove, show or run the git hooks of this repository."""


@command.command
@common
def install() -> None:
    """Write pre-commit and pre-push hooks. A hook that is there already runs first."""
    import asyncio

    from reviewbot.hooks.install import LeftToManager, install_hooks

    try:
        lines = asyncio.run(install_hooks(Path.cwd(), os.environ))
    except LeftToManager as error:
        click.echo(error.lines, nl=False)
        raise
    _print(lines)


@command.command
@common
def uninstall() -> None:
    """Remove the hooks, and give back those that were there before."""
    import asyncio

    from reviewbot.hooks.install import uninstall_hooks

    _print(asyncio.run(uninstall_hooks(Path.cwd(), os.environ)))


@command.command
@common
def status() -> None:
    """Show which hooks run here."""
    import asyncio

    from reviewbot.hooks.install import describe_hooks

    _print([line for _, line in asyncio.run(describe_hooks(Path.cwd(), os.environ))])


@command.command
@click.argument("name", type=click.Choice(("pre-commit", "pre-push")), metavar="HOOK")
@click.argument("arguments", nargs=-1)
@click.option("--strict", is_flag=True, help="Stop git if something cannot be reviewed.")
@state_option
@common
@click.pass_context
def run(
    ctx: click.Context, name: str, arguments: tuple[str, ...], strict: bool, state: Path | None
) -> None:
    """Review what is about to be committed or pushed, as git calls it.

    HOOK is pre-commit or pre-push. ARGUMENTS are those of git: the remote and its address.
    """
    import asyncio

    if not strict:
        let_git_go_on(ctx)
    ctx.exit(asyncio.run(_run(name, arguments, strict, state)))


async def _run(name: str, arguments: tuple[str, ...], strict: bool, folder: Path | None) -> int:
    from reviewbot.cli.host import make_host, open_repository
    from reviewbot.cli.progress import Progress
    from reviewbot.hooks.run import not_reviewed, review_commit, review_push
    from reviewbot.state import find_state

    def tell(line: str) -> None:
        if not is_given("quiet") or not line.startswith("reviewbot: "):
            say(line)

    progress = Progress()
    with open_repository(os.environ) as repository:
        try:
            state = await find_state(repository, os.environ, folder)
            host = make_host(repository, state, os.environ, emit=progress.emit)
            refs, remote = _pushed(arguments) if name == "pre-push" else ([], "")
        except ReviewbotError as error:
            return not_reviewed(error, tell, strict=strict)
        async with progress.shown():
            if name == "pre-commit":
                return await review_commit(host, repository, state, tell, strict=strict)
            return await review_push(host, repository, state, refs, remote, tell, strict=strict)


def _pushed(arguments: tuple[str, ...]) -> tuple[list[PushedRef], str]:
    """What is pushed, and the name of the remote: from git, from pre-commit, or the current commit."""
    from reviewbot.hooks.push import read_refs, refs_of_framework

    remote = next(iter(arguments), os.environ.get("PRE_COMMIT_REMOTE_NAME", "origin"))
    if os.environ.get("PRE_COMMIT") == "1" and not arguments or sys.stdin.isatty():
        return refs_of_framework(os.environ), remote
    return read_refs(sys.stdin.read()), remote


def _print(lines: list[str]) -> None:
    if not is_given("quiet"):
        for line in lines:
            click.echo(line)
