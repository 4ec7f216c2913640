from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import click

from reviewbot.cli.host import open_repository, read_layers
from reviewbot.cli.options import FILE, common
from reviewbot.cli.output import deliver, say
from reviewbot.config.load import Loaded, describe, load_settings, read_layer
from reviewbot.errors import GitError, UsageError
from reviewbot.git.target import Target
from reviewbot.services import CONFIG_FILES


@click.group(invoke_without_command=True)
@common
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show or check the configuration. Without a command, it is shown."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(show)


@command.command
@common
def show() -> None:
    """Show the settings that count for uncommitted work, and where each comes from."""
    loaded, is_changed = asyncio.run(_loaded(os.environ))
    rows = describe(loaded)
    keys, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    values = min(values, 40)
    lines = [f"{key:<{keys}}  {value:<{values}}  {origin}" for key, value, origin in rows]
    deliver("\n".join(lines), None)
    for notice in loaded.notices:
        say(f"reviewbot: {notice}")
    if is_changed:
        say(f"reviewbot: {is_changed} in the work tree differs; what is committed counts")


@command.command
@click.argument("file", type=FILE, required=False)
@common
def check(file: Path | None) -> None:
    """Check a configuration file, by default that of the work tree."""
    files = [file] if file else asyncio.run(_files(os.environ))
    layers = [read_layer(str(path), "repository", path.read_bytes()) for path in files]
    loaded = load_settings([*read_layers(os.environ, {}), *layers])
    for notice in loaded.notices:
        say(f"reviewbot: {notice}")
    names = ", ".join(map(str, files)) or "there is no file, so the defaults"
    deliver(f"{names}: valid", None)


async def _loaded(variables: Mapping[str, str]) -> tuple[Loaded, str]:
    """Settings with the files of HEAD, and the name of one that differs in the work tree."""
    layers = read_layers(variables, {})
    changed = ""
    committed = await committed_files(variables)
    layers += [read_layer(name, "repository", text) for name, text in committed.items()]
    for path in await _files(variables):
        if committed.get(path.name) != path.read_bytes():
            changed = path.name
    return load_settings(layers), changed


async def committed_files(variables: Mapping[str, str]) -> dict[str, bytes]:
    """Configuration files of HEAD by name; none outside of a repository or before a commit."""
    with open_repository(variables) as repository:
        try:
            head = await repository.load_change(Target(kind="revision", revision="HEAD"))
        except (GitError, UsageError):
            return {}
        found = await repository.read_files(head.head_tree, CONFIG_FILES)
        return {name: found[name] for name in CONFIG_FILES if name in found}


async def _files(variables: Mapping[str, str]) -> list[Path]:
    """Configuration files of the work tree, the one that counts first."""
    with open_repository(variables) as repository:
        try:
            root = await repository.root()
        except GitError:
            return []
    paths = [root / name for name in CONFIG_FILES] if root else []
    return [path for path in paths if path.is_file()]
