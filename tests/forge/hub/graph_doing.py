"""The mutations of GraphQL that the fake knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.forge.hub import graph_committing, rules
from tests.forge.hub.graph_paging import need, nowhere, refused
from tests.forge.hub.problem import Problem

if TYPE_CHECKING:
    from tests.forge.hub.graph_reading import Node, Reader
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.state import Comment, Review, ReviewComment, Thread

Input = dict[str, Any]


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


MUTATIONS: dict[str, Callable[[Reader, Input], Node]] = {
    "resolveReviewThread": resolve,
    "unresolveReviewThread": unresolve,
    "addPullRequestReviewThreadReply": reply,
    "minimizeComment": minimize,
    "unminimizeComment": unminimize,
    "createCommitOnBranch": graph_committing.commit,
    "updateRefs": graph_committing.update_refs,
}
