"""One node of GraphQL into one value of ``domain.forge``. Every odd shape is one ForgeError."""

from __future__ import annotations

import re
from typing import Any

from reviewbot.adapters.github.reading import fields, flag, items, line, number, odd, text
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    CheckState,
    Comment,
    Commit,
    Issue,
    PostedReview,
    PullRequest,
    PullState,
    Thread,
)

BOT = "[bot]"
"""What REST and webhooks put behind the login of a bot, and GraphQL does not."""

_KINDS = {kind.value: kind for kind in AuthorKind}
_STATES = {state.name: state for state in PullState}
_SIDES = ("LEFT", "RIGHT")

#: Commit statuses that did not end yet.
_RUNNING = ("PENDING", "EXPECTED")


def author(node: dict[str, Any], key: str = "author") -> Author | None:
    """An account, ``None`` where it was deleted."""
    if node.get(key) is None:
        return None
    who = fields(node[key], key)
    kind = _KINDS.get(text(who, "__typename"), AuthorKind.UNKNOWN)
    login = text(who, "login")
    is_bare_bot = kind is AuthorKind.BOT and not login.endswith(BOT)
    return Author(login + BOT if is_bare_bot else login, number(who, "databaseId", optional=True), kind)


def pull(node: dict[str, Any], repository: str, labels: list[dict[str, Any]]) -> PullRequest:
    """The pull request itself; ``repository`` is where it was made, as it is called now."""
    state = _STATES.get(text(node, "state"))
    if state is None:
        raise odd("state")
    head = node.get("headRepository")
    return PullRequest(
        repository=repository,
        number=number(node, "number"),
        title=text(node, "title"),
        body=text(node, "body", optional=True),
        author=author(node),
        state=state,
        is_draft=flag(node, "isDraft"),
        is_locked=flag(node, "locked"),
        labels=tuple(text(label, "name") for label in labels),
        base_ref=text(node, "baseRefName"),
        base_sha=text(node, "baseRefOid"),
        head_ref=text(node, "headRefName"),
        head_sha=text(node, "headRefOid"),
        head_repository=None if head is None else text(fields(head, "headRepository"), "nameWithOwner"),
        changed_files=number(node, "changedFiles"),
        node_id=text(node, "id"),
        url=text(node, "url"),
    )


def comment(node: dict[str, Any]) -> Comment:
    """A comment, about lines or not."""
    return Comment(
        id=number(node, "fullDatabaseId", optional=True),
        node_id=text(node, "id"),
        author=author(node),
        is_own=flag(node, "viewerDidAuthor"),
        body=text(node, "body"),
        created_at=text(node, "createdAt"),
        url=text(node, "url"),
        is_minimized=flag(node, "isMinimized"),
    )


def thread(node: dict[str, Any]) -> Thread:
    """A conversation about lines."""
    side = text(node, "diffSide")
    if side not in _SIDES:
        raise odd("diffSide")
    comments = fields(node.get("comments"), "comments")
    entries = items(comments.get("nodes"), "comments")
    cut = flag(fields(comments.get("pageInfo"), "pageInfo"), "hasNextPage")
    return Thread(
        node_id=text(node, "id"),
        path=text(node, "path"),
        line=line(node, "line"),
        start_line=line(node, "startLine"),
        side=side,
        is_resolved=flag(node, "isResolved"),
        is_outdated=flag(node, "isOutdated"),
        comments=tuple(comment(fields(entry, "comments")) for entry in entries if entry is not None),
        is_cut=cut or None in entries,
    )


def review(node: dict[str, Any]) -> PostedReview:
    """A review that stands there."""
    return PostedReview(
        id=number(node, "fullDatabaseId", optional=True),
        node_id=text(node, "id"),
        is_own=flag(node, "viewerDidAuthor"),
        state=text(node, "state"),
        body=text(node, "body", optional=True),
    )


def suite(node: dict[str, Any]) -> tuple[CheckState, ...]:
    """The check runs of one app."""
    app = text(fields(node.get("app") or {}, "app"), "slug", optional=True)
    runs = items(fields(node.get("checkRuns") or {"nodes": []}, "check runs").get("nodes"), "check runs")
    return tuple(_run(fields(run, "a check run"), app) for run in runs if run is not None)


def is_cut(node: dict[str, Any]) -> bool:
    """An app has more check runs than are told."""
    info = fields(fields(node.get("checkRuns") or {}, "check runs").get("pageInfo") or {}, "check runs")
    return info.get("hasNextPage") is True


def _run(node: dict[str, Any], app: str) -> CheckState:
    return CheckState(
        name=text(node, "name"),
        conclusion=text(node, "conclusion", optional=True).lower() or None,
        id=number(node, "databaseId", optional=True) or _last_number(text(node, "url", optional=True)),
        external_id=text(node, "externalId", optional=True),
        app=app,
        title=text(node, "title", optional=True),
    )


def status(node: dict[str, Any]) -> CheckState:
    """A commit status."""
    state = text(node, "state")
    conclusion = None if state in _RUNNING else state.lower()
    return CheckState(text(node, "context"), conclusion, title=text(node, "description", optional=True))


def _last_number(url: str) -> int:
    """The check run's number at the end of its address (``…/runs/N``, ``…/job/N``), 0 for none: ``databaseId`` has 32 bits in
    the schema, and there are more check runs than that."""
    found = re.search(r"/(?:runs|job)/([0-9]{1,19})\Z", url)
    return int(found[1]) if found else 0


def commit(node: dict[str, Any]) -> Commit:
    """A commit: its author by login, by name where no account is known (bots have none here)."""
    who = fields(node.get("author") or {}, "author")
    user = fields(who.get("user") or {}, "user")
    parents = items(fields(node.get("parents") or {"nodes": []}, "parents").get("nodes"), "parents")
    signature = fields(node.get("signature") or {}, "signature")
    return Commit(
        sha=text(node, "oid"),
        message=text(node, "message"),
        author=text(user, "login", optional=True) or text(who, "name", optional=True),
        parents=tuple(text(fields(parent, "a parent"), "oid") for parent in parents if parent is not None),
        is_vouched=signature.get("isValid") is True and signature.get("wasSignedByGitHub") is True,
    )


def issue(node: dict[str, Any]) -> Issue:
    """An issue that the pull request closes."""
    return Issue(number(node, "number"), text(node, "title"), text(node, "body", optional=True))
