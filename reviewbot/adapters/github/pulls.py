"""Which pull request a branch belongs to."""

from __future__ import annotations

from typing import Any

from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.reading import fields, number, text
from reviewbot.adapters.github.session import Session
from reviewbot.errors import NotPermittedError

MOST_PAGES = 3


def pull_of(session: Session, repository: str, head: tuple[str, str, str]) -> int | None:
    """The newest open pull request whose head is ``(repository, branch, sha)``, by number. Raises ForgeError."""
    head_repository, branch, _ = head
    call = Call(
        "GET",
        f"/repos/{repository}/pulls",
        "find the pull request of a branch",
        query=(("state", "open"), ("head", f"{head_repository.partition('/')[0]}:{branch}"), ("per_page", "100")),
        is_read=True,
        missing=NotPermittedError,
    )
    found = [
        number(pull, "number")
        for page in session.pages(call, most=MOST_PAGES)
        for pull in (fields(entry, "a pull request") for entry in page)
        if _is_head(fields(pull.get("head"), "head"), head)
    ]
    return max(found, default=None)


def _is_head(node: dict[str, Any], head: tuple[str, str, str]) -> bool:
    """GitHub leaves out a filter that it does not understand, so every entry is looked at."""
    repository, branch, sha = head
    if text(node, "sha") != sha or text(node, "ref") != branch or node.get("repo") is None:
        return False
    return text(fields(node["repo"], "repo"), "full_name").lower() == repository.lower()
