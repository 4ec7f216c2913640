"""Words, paths and names of branches on their way to GitHub: what it could not take, or would take for something else, is
refused before it is sent."""

from __future__ import annotations

from reviewbot.errors import InvalidError

MOST_CHARACTERS = 65_536
"""Of one body. GitHub does not say what it counts; UTF-16 units are never fewer than characters."""

#: Parts of a path that git takes in no tree.
_NO_PARTS = frozenset({"", ".", "..", ".git"})


def sendable(text: str) -> str:
    """A text that GitHub takes: half a surrogate pair (a file name that is no UTF-8) replaced. Raises InvalidError for one
    that is too long, before it is sent."""
    written = text.encode("utf-8", "replace").decode("utf-8")
    units = len(written.encode("utf-16-le")) // 2
    if units <= MOST_CHARACTERS:
        return written
    words = f"a text of {units} characters is longer than the {MOST_CHARACTERS} that GitHub takes"
    raise InvalidError(words, hint="say less, or say it in parts", reasons=(words,))


def check_path(path: str) -> None:
    """Raises InvalidError for a path that no tree can have, or that GitHub's API cannot be told."""
    if not _is_utf8(path):
        raise invalid(f"{path!r}, a name that is no UTF-8")
    if "\0" in path or any(part.casefold() in _NO_PARTS for part in path.split("/")):
        raise invalid(f"{path!r}, a name that git does not take")


def check_branch(name: str) -> None:
    """Raises InvalidError for a name that would be another branch to GitHub, which leaves a ``refs/heads/`` away, or that it
    cannot be told."""
    if not _is_utf8(name) or not name or name.startswith("refs/"):
        raise invalid(f"{name!r}, the name of a branch that GitHub cannot be told")


def invalid(what: str) -> InvalidError:
    """The error for what is not sent."""
    words = f"GitHub is not asked for this: {what}"
    return InvalidError(words, hint="suggest the change instead", reasons=(what,))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
