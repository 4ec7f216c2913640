"""Options that every command has, before or after its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])

FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
PASSES = "reviewbot.passes"


def common(command: Command) -> Command:
    """Add -C, -v, -q and --color to a command."""
    folder = click.Path(exists=True, file_okay=False)
    colors = click.Choice(("auto", "always", "never"))
    for decorate in (
        click.option("--color", type=colors, expose_value=False, callback=_remember),
        click.option(
            *("-q", "--quiet"),
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print less.",
        ),
        click.option(
            *("-v", "--verbose"),
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print more.",
        ),
        click.option(
            *("-C", "directory"),
            type=folder,
            metavar="DIR",
            is_eager=True,
            expose_value=False,
            callback=_change_directory,
            help="Run as if started in DIR.",
        ),
    ):
        command = decorate(command)
    return command


def state_option(command: Command) -> Command:
    return click.option(
        "--state", type=FOLDER, metavar="DIR", help="Keep reviews and results in DIR."
    )(command)


def is_given(name: str) -> bool:
    """Whether "quiet" or "verbose" was given, before or after the name of the command."""
    return bool(click.get_current_context().meta.get(f"reviewbot.{name}"))


def let_git_go_on(ctx: click.Context) -> None:
    """From here on, what reviewbot cannot do stops neither commit nor push."""
    ctx.meta[PASSES] = True


def passes(ctx: click.Context) -> bool:
    return bool(ctx.meta.get(PASSES))


def _remember(ctx: click.Context, parameter: click.Parameter, value: object) -> None:
    if value:
        ctx.meta[f"reviewbot.{parameter.name}"] = value


def _change_directory(_: click.Context, __: click.Parameter, value: str | None) -> None:
    if value is not None:
        os.chdir(value)
