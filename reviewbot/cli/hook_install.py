"""``reviewbot hook install`` and ``uninstall``: the hooks of a repository, written and taken away."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from reviewbot.cli.options import REPO, SEVERITIES, TOLD, Common, gathered
from reviewbot.cli.output import say
from reviewbot.errors import UsageError
from reviewbot.publish import plain
from reviewbot.wiring import hooks
from reviewbot.wiring.hooks import RefusedError, Wish

Command = Callable[..., Any]

_WHICH = (
    click.option("--pre-commit/--no-pre-commit", default=True, help="The hook before a commit."),
    click.option("--pre-push/--no-pre-push", default=True, help="The hook before a push."),
    click.option("--shared", is_flag=True, help="Also in a folder of hooks that other repositories use as well."),
)


def _told_where(command: Callable[..., int]) -> Callable[..., int]:
    return gathered(command, Common, (REPO, *TOLD))


def _which(command: Command) -> Command:
    for decorate in reversed(_WHICH):
        command = decorate(command)
    return command


@click.command("install", short_help="Write the hooks of this repository; what is there already is kept.")
@_which
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="Block for findings this bad or worse.")
@click.option("--strict", is_flag=True, help="Block also where the review could not run.")
@click.option("--force", is_flag=True, help="Also over a hook that was changed by hand, or beside a hook manager's.")
@_told_where
def install(arguments: Common, *, fail_on: str | None, strict: bool, force: bool, **which: bool) -> int:
    """Write the hooks of this repository.

    They are written where git looks for them (`core.hooksPath` counts). A hook that is there already is kept: it runs first, and
    where it fails, so does the whole. Hooks warn; with --fail-on they block. A second install brings them up to date.

    \b
    Examples:
      reviewbot hook install
      reviewbot hook install --no-pre-push --fail-on high
    """
    said = ("--fail-on", fail_on) if fail_on else ()
    options = (*said, *(("--strict",) if strict else ()))
    wish = Wish(_names(which), options, which["shared"], force)
    return _told(lambda: hooks.install(arguments.repo, os.environ, wish), arguments)


@click.command("uninstall", short_help="Take them away again, and put back what was there.")
@_which
@click.option("--force", is_flag=True, help="Also a hook that was changed by hand since.")
@_told_where
def uninstall(arguments: Common, *, force: bool, **which: bool) -> int:
    """Take the hooks of this repository away.

    What was there before the install is put back as it was. A hook of somebody else is not touched.

    \b
    Examples:
      reviewbot hook uninstall
      reviewbot hook uninstall --no-pre-commit
    """
    wish = Wish(_names(which), (), which["shared"], force)
    return _told(lambda: hooks.uninstall(arguments.repo, os.environ, wish), arguments)


def _names(which: dict[str, bool]) -> tuple[str, ...]:
    names = tuple(name for name in hooks.NAMES if which[name.replace("-", "_")])
    if not names:
        raise UsageError("no hook is left", hint="leave out --no-pre-commit or --no-pre-push")
    return names


def _told(act: Callable[[], tuple[str, ...]], arguments: Common) -> int:
    """What became of it, a line for each hook; the text that a refusal comes with stands before it."""
    try:
        lines = act()
    except RefusedError as refused:
        if refused.snippet:
            say(refused.snippet)
        raise
    if not arguments.quiet:
        for line in lines:
            say(plain.line(line))
    return 0
