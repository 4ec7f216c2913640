"""Which pull request a branch belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.reading import fields, number, text
from reviewbot.adapters.github.session import Session
from reviewbot.errors import NotPermittedError

MOST_PAGES = 3

Head = tuple[str, str, str]
"""Repository, branch and commit."""


def pull_of(session: Session, repository: str, head: Head) -> int | None:
    """The newest open pull request with this head, by number. A repository that was deleted since, or is empty, is known by its
    branch and commit. Raises ForgeError."""
    owner, branch = head[0].partition("/")[0], head[1]
    if owner and (found := _newest(session, repository, head, fits=_is_head, label=f"{owner}:{branch}")) is not None:
        return found
    return _newest(session, repository, head, fits=_was_head)


def _newest(
    session: Session, repository: str, wanted: Head, *, fits: Callable[[dict[str, Any], Head], bool], label: str = ""
) -> int | None:
    call = Call(
        "GET",
        f"/repos/{repository}/pulls",
        "find the pull request of a branch",
        query=(("state", "open"), *((("head", label),) if label else ()), ("per_page", "100")),
        is_read=True,
        missing=NotPermittedError,
    )
    found = [
        number(pull, "number")
        for page in session.pages(call, most=MOST_PAGES)
        for pull in (fields(entry, "a pull request") for entry in page)
        if fits(fields(pull.get("head"), "head"), wanted)
    ]
    return max(found, default=None)


def _is_head(node: dict[str, Any], head: Head) -> bool:
    """GitHub leaves out a filter that it does not understand, so every entry is looked at."""
    repository, branch, sha = head
    if text(node, "sha") != sha or text(node, "ref") != branch or node.get("repo") is None:
        return False
    return text(fields(node["repo"], "repo"), "full_name").lower() == repository.lower()


def _was_head(node: dict[str, Any], head: Head) -> bool:
    return node.get("repo") is None and (text(node, "ref"), text(node, "sha")) == head[1:]
