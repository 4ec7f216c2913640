import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import click

from reviewbot.checks.languages import all_languages, configured_checks
from reviewbot.cli.host import find_root, open_repository, read_layers
from reviewbot.cli.terminal import FILE, Group, deliver, say
from reviewbot.config.dismissals import ignored
from reviewbot.config.load import Loaded, describe, load_settings, read_layer
from reviewbot.debate.panel import choose_members
from reviewbot.errors import GitError
from reviewbot.git.repository import Repository
from reviewbot.services import CONFIG_FILES, repository_layers


@click.group(cls=Group, invoke_without_command=True)
def command() -> None:
    """Show or check the configuration. Without a command, it is shown."""


@command.command
async def show() -> None:
    """Show the settings that count for uncommitted work, and where each comes from."""
    with open_repository() as repository:
        loaded, committed = await load_committed(repository)
    rows = describe(loaded)
    keys = max(len(key) for key, _, _ in rows)
    deliver("\n".join(f"{key:<{keys}}  {value:<40}  {origin}" for key, value, origin in rows))
    for notice in loaded.notices:
        say(f"reviewbot: {notice}")
    for path in await _files():
        old, new = committed.get(path.name, b""), path.read_bytes()
        if old != new and (path.suffix != ".toml" or b"tool.reviewbot" in old + new):
            say(f"reviewbot: {path.name} in the work tree differs; what is committed counts")


@command.command
@click.argument("file", type=FILE, required=False)
async def check(file: Path | None) -> None:
    """Check a configuration file, by default that of the work tree."""
    layers = [
        read_layer(str(f), "repository" if f.name in CONFIG_FILES else "user", f.read_bytes())
        for f in ([file] if file else await _files())
    ]
    loaded = load_settings([*read_layers(os.environ), *layers])
    for notice in loaded.notices:
        say(f"reviewbot: {notice}")
    choose_members(loaded.settings, os.environ, {})  # refuses providers that nobody knows
    configured_checks(all_languages(), loaded.settings.checks)
    ignored(loaded.settings.review.ignore)
    # Most projects in Python have a pyproject.toml, few with [tool.reviewbot].
    names = [each.name for each in layers if each.document.value or not each.name.endswith("toml")]
    deliver(f"{', '.join(names)}: valid" if names else "no file configures reviewbot")


async def load_committed(repository: Repository) -> tuple[Loaded, Mapping[str, bytes]]:
    """The settings that count for uncommitted work, and the files of HEAD by name.

    There are none outside of a repository and before the first commit. Raises ConfigError.
    """
    files: Mapping[str, bytes] = {}
    with suppress(GitError):
        head = await repository.load_change("HEAD..HEAD")  # it may be shallow
        files = await repository.read_files(head.head_tree, CONFIG_FILES)
    return load_settings([*read_layers(os.environ), *repository_layers(files)]), files


async def _files() -> list[Path]:
    """Configuration files of the work tree, the one that counts first."""
    root = await find_root()
    return [root / name for name in CONFIG_FILES if (root / name).is_file()] if root else []
