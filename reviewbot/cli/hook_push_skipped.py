"""Which pushes, and which refs of one, are not looked at, and how that is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reviewbot.publish import plain

WORD = "reviewbot-push"
"""The id of this hook for pre-commit."""

SKIP = ("reviewbot", WORD)
"""Words of the variable ``SKIP`` that mean this hook."""

MOST_LINES = 5
"""About refs with nothing to look at: a push of all tags may have hundreds."""


def skipped(environ: Mapping[str, str]) -> bool:
    """The user's variable ``SKIP`` names this hook, among others, as pre-commit reads it."""
    return any(word.strip() in SKIP for word in environ.get("SKIP", "").split(","))


def nothing_in(refs: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A line for each ref that brings nothing to look at: its name, and why."""
    for name, why in refs[:MOST_LINES]:
        yield f"reviewbot: nothing to review in {plain.line(name)}: {plain.line(why)}"
    if len(refs) > MOST_LINES:
        yield f"reviewbot: nothing to review in {len(refs) - MOST_LINES} more refs"
    if not refs:
        yield "reviewbot: nothing to review: no ref is pushed"
