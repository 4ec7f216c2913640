"""``reviewbot config show`` and ``reviewbot config validate``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot.cli.environment import surroundings
from reviewbot.cli.options import Common, common_options
from reviewbot.cli.output import deliver, say
from reviewbot.cli.settings import effective, nearest_file, read_file
from reviewbot.config import Configuration, validate
from reviewbot.errors import ConfigError
from reviewbot.screen import secrets
from reviewbot.wiring.places import user_file

_CREDENTIALS = re.compile(r"(?<=:)//\S*@")


@click.group("config")
def config() -> None:
    """Show the effective configuration, or validate a file.

    Flags outrank the environment (REVIEWBOT__SECTION__KEY), which outranks the repository's .reviewbot.yml or pyproject.toml,
    which outranks the user's ~/.config/reviewbot/config.yml.
    """


@config.command("show")
@common_options
def show(arguments: Common) -> int:
    """Print every key, its value, and where the value came from.

    The repository's file is read from HEAD: what is not committed does not count yet.
    """
    from reviewbot import wiring

    around = surroundings(arguments, os.environ, is_private=wiring.is_private_file)
    variables = around.variables
    held = effective(arguments, variables, repository_files=lambda: wiring.repository_files(arguments.repo, variables))
    deliver(table(held))
    tell((*around.notices, *held.notices), quiet=arguments.quiet)
    return 0


@config.command("validate")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@common_options
def check(arguments: Common, file: Path | None) -> int:
    """Check a file of configuration.

    FILE is by default the .reviewbot.yml or pyproject.toml of this work tree. One that is valid and says what a repository may
    not decide is told by a notice.

    \b
    Exit codes:
      0  valid
      2  not valid: one line says where, and what was meant
    """
    path = file or arguments.config or nearest_file(arguments.repo)
    if path is None:
        raise ConfigError("there is no .reviewbot.yml here", hint="write one with 'reviewbot init', or name a file")
    is_users = path.resolve() == user_file(os.environ).resolve()
    notices = validate(read_file(path), operator=is_users)
    if not arguments.quiet:
        deliver(f"{path}: valid")
    tell(notices, quiet=arguments.quiet)
    return 0


def table(configuration: Configuration) -> str:
    """Key, value and origin in columns; known secret formats and credentials of addresses are redacted."""
    rows = [(name, _CREDENTIALS.sub("//***@", _shown(setting.value)), setting.origin) for name, setting in configuration.rows()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    widest = min(widths[1], 40)
    lines = (f"{name:<{widths[0]}}  {value:<{widest}}  # {origin}" for name, value, origin in rows)
    text, _ = secrets.redact("\n".join(lines))
    return text


def tell(notices: tuple[str, ...], *, quiet: bool) -> None:
    """Say on stderr what is configured and does not hold."""
    for notice in () if quiet else notices:
        say(f"reviewbot: notice: {notice}")


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)
