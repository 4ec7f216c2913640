"""The mutations of GraphQL that the fake knows."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.forge.hub import rules
from tests.forge.hub.graph_paging import forbidden, nowhere, refused
from tests.forge.hub.problem import Problem

if TYPE_CHECKING:
    from tests.forge.hub.graph_reading import Node, Reader
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.state import Comment, Review, ReviewComment, Thread

Input = dict[str, Any]


def need(reader: Reader, home: Repository, *permissions: str) -> None:
    """One of the permissions, to write."""
    if not reader.token.may(home, tuple((permission, "write") for permission in permissions)):
        raise forbidden()


def thread_of(reader: Reader, node_id: str) -> Thread:
    for home in reader.hub.repositories.values():
        for pull in home.pulls:
            for thread in pull.threads:
                if thread.node_id == node_id:
                    return thread
    raise nowhere(f"Could not resolve to a node with the global id of '{node_id}'")


def resolve(reader: Reader, asked: Input) -> Node:
    """An app needs ``contents: write`` beside ``pull_requests: write`` for this, whatever GitHub's pages say."""
    thread = thread_of(reader, asked["threadId"])
    need(reader, thread.pull.repository, "pull_requests")
    if reader.hub.resolving_needs_contents:
        need(reader, thread.pull.repository, "contents")
    thread.resolved_by = thread.resolved_by or reader.token.user
    return {"thread": reader.thread(thread)}


def unresolve(reader: Reader, asked: Input) -> Node:
    thread = thread_of(reader, asked["threadId"])
    need(reader, thread.pull.repository, "pull_requests")
    thread.resolved_by = None
    return {"thread": reader.thread(thread)}


def reply(reader: Reader, asked: Input) -> Node:
    thread = thread_of(reader, asked["pullRequestReviewThreadId"])
    need(reader, thread.pull.repository, "pull_requests")
    try:
        said = rules.answered(thread.pull, reader.token.user, asked["body"], thread.comments[0])
    except Problem as problem:
        raise refused("UNPROCESSABLE", str(problem.body["message"])) from None
    return {"comment": reader.review_comment(said)}


def minimizable(reader: Reader, node_id: str) -> tuple[Comment | ReviewComment | Review, Repository, Callable[[Any], Node]]:
    for home in reader.hub.repositories.values():
        for parent in home.talks:
            found = next((c for c in parent.comments if c.node_id == node_id), None)
            if found:
                return found, home, reader.comment
        for pull in home.pulls:
            for review in pull.reviews:
                if review.node_id == node_id:
                    return review, home, reader.review
            for comment in pull.review_comments:
                if comment.node_id == node_id:
                    return comment, home, reader.review_comment
    raise nowhere(f"Could not resolve to a node with the global id of '{node_id}'")


def minimize(reader: Reader, asked: Input) -> Node:
    found, home, show = minimizable(reader, asked["subjectId"])
    need(reader, home, "issues", "pull_requests")
    found.minimized = asked["classifier"]
    return {"minimizedComment": show(found)}


def unminimize(reader: Reader, asked: Input) -> Node:
    found, home, show = minimizable(reader, asked["subjectId"])
    need(reader, home, "issues", "pull_requests")
    found.minimized = None
    return {"unminimizedComment": show(found)}


def commit(reader: Reader, asked: Input) -> Node:
    """G19, G20: refused where the branch moved, or where a workflow would change."""
    told = asked["branch"]
    home = reader.hub.repositories.get(str(told.get("repositoryNameWithOwner", "")).lower())
    branch = str(told.get("branchName", "")).removeprefix("refs/heads/")
    now = home.code.sha(f"refs/heads/{branch}") if home else None
    if home is None or now is None:
        raise nowhere(f"Could not resolve to a branch with the name '{branch}'.")
    need(reader, home, "contents")
    if now != asked["expectedHeadOid"]:
        raise refused(
            "STALE_DATA", f'Expected branch to point to "{asked["expectedHeadOid"]}" but it did not.  Pull and try again.'
        )
    files = asked.get("fileChanges") or {}
    changes: dict[str, bytes | None] = {told["path"]: None for told in files.get("deletions", ())}
    try:
        changes |= {told["path"]: base64.b64decode(told["contents"], validate=True) for told in files.get("additions", ())}
    except binascii.Error:
        raise refused("UNPROCESSABLE", "A file's contents are not Base64.") from None
    if any(path.startswith(".github/workflows/") for path in changes) and not reader.token.has("workflows", "write"):
        raise forbidden()
    message = asked["message"]
    text = message["headline"] + (f"\n\n{message['body']}" if message.get("body") else "")
    made = home.commit(branch, changes, text, author=reader.token.user.login)
    return {"commit": reader.commit(home, made), "ref": reader.ref(home, f"refs/heads/{branch}")}


MUTATIONS: dict[str, Callable[[Reader, Input], Node]] = {
    "resolveReviewThread": resolve,
    "unresolveReviewThread": unresolve,
    "addPullRequestReviewThreadReply": reply,
    "minimizeComment": minimize,
    "unminimizeComment": unminimize,
    "createCommitOnBranch": commit,
}
