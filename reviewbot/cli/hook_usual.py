"""Whether the configuration leaves it to the content of files what a review says of a commit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reviewbot.cli.arguments import HookArguments
from reviewbot.cli.glance import Sight
from reviewbot.errors import ConfigError
from reviewbot.wiring.places import user_file

_TOP = (".reviewbot.yml", "pyproject.toml")
"""As ``wiring.order.REPOSITORY_FILES``."""


def is_usual(arguments: HookArguments, sight: Sight, environ: Mapping[str, str]) -> bool:
    """It can be read, and bounds nothing that is shown. Where there is none, nothing that reads it is loaded."""
    held = {name: identity for name, identity in sight.rules() if name in _TOP}
    if not (held or user_file(environ).is_file() or any(name.startswith("REVIEWBOT__") for name in environ)):
        return True
    try:
        return _is_unbounded(held, arguments, sight, environ=environ)
    except (ConfigError, KeyError):
        return False


def _is_unbounded(held: Mapping[str, str], arguments: HookArguments, sight: Sight, *, environ: Mapping[str, str]) -> bool:
    from reviewbot import config
    from reviewbot.cli.settings import read_user_file
    from reviewbot.wiring import hook_quiet

    files = hook_quiet.contents(tuple(held.values()), Path(sight.toplevel), environ)
    sources = tuple(config.Source(name, files[held[name]]) for name in _TOP if name in held)
    user = read_user_file(environ)
    settings = config.load(flags=arguments.overrides(), environ=environ, repository=sources, user=user)
    return settings.setting("limits.tokens").origin == "default"
