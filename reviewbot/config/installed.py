"""Names that installed packages add to those that a key may hold."""

from __future__ import annotations

from reviewbot.errors import ConfigError


def names(group: str) -> tuple[str, ...]:
    """The names under a group of entry points. Reads the metadata of every package and imports none. Raises ConfigError where
    it cannot be read."""
    from importlib import metadata  # brings a parser of mail along, and is needed for names that are not ours alone

    try:
        return tuple(sorted({point.name for point in metadata.entry_points(group=group)}))
    except (OSError, ValueError, TypeError) as exc:  # a line that is no entry point is a TypeError
        raise ConfigError(f"what an installed package says of itself cannot be read: {exc}", hint="install it again") from exc
