"""Where reviewbot keeps what is its own and looks for what is the user's (XDG base directories)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def state_directory(environ: Mapping[str, str]) -> Path:
    """Crash reports and later the ledger: ``$XDG_STATE_HOME/reviewbot``, by default ``~/.local/state/reviewbot``."""
    return _base(environ, "XDG_STATE_HOME", ".local/state") / "reviewbot"


def user_file(environ: Mapping[str, str]) -> Path:
    """The user's configuration: ``$XDG_CONFIG_HOME/reviewbot/config.yml``, by default below ``~/.config``."""
    return _base(environ, "XDG_CONFIG_HOME", ".config") / "reviewbot" / "config.yml"


def _base(environ: Mapping[str, str], variable: str, below_home: str) -> Path:
    """The specification ignores relative values. A user without a home keeps nothing there: ``/nonexistent``."""
    named = Path(environ.get(variable, ""))
    return named if named.is_absolute() else Path(environ.get("HOME") or "/nonexistent") / below_home
