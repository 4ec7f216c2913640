"""The patterns of `review.ignore`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reviewbot.errors import ConfigError

MAX_PATTERN = 256


def ignored(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a path matches, as in a .gitignore at the root. Raises ConfigError.

    Unlike git, `!docs/keep` re-includes a file below an ignored `docs/`.
    """
    if not patterns:
        return lambda _: False
    from pathspec import GitIgnoreSpec  # its import takes as long as a whole review of a small file

    for pattern in patterns:
        if len(pattern) > MAX_PATTERN:
            raise ConfigError(f"A pattern of review.ignore is longer than {MAX_PATTERN} characters")
        parts = pattern.split("/")
        if parts[:-1].count("**") > 2 or any(part.count("*") > 3 for part in parts):
            # The regular expression takes time to the power of their number.
            raise ConfigError(f"The pattern {pattern!r} of review.ignore has too many wildcards")
    try:
        return GitIgnoreSpec.from_lines(patterns).match_file
    except ValueError as error:
        raise ConfigError(f"review.ignore: {error}") from error
