"""Doing one thing on GitHub. Each action is a row of ``_ACTS``; each writes by one request, but for a long check run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from reviewbot.adapters.github import branches, checks, commits, graphql, reading
from reviewbot.adapters.github.exchange import Call
from reviewbot.adapters.github.names import check_branch, sendable
from reviewbot.adapters.github.session import Session
from reviewbot.domain.action import (
    Action,
    AddLabels,
    DeleteBranch,
    DeletePendingReview,
    DismissReview,
    Done,
    EditComment,
    EditIssue,
    InlineComment,
    MakeBranch,
    MakeCommit,
    MinimizeComment,
    OpenIssue,
    OpenPull,
    PostCheck,
    PostComment,
    PostReview,
    React,
    RemoveLabel,
    ReplyThread,
    ResolveThread,
)
from reviewbot.errors import ForgeError, NotPermittedError, UnsureError

_MAY_NOT = NotPermittedError
"""What a 404 means where something new is made: GitHub says it of a token that may read and not write."""


def do(session: Session, repository: str, action: Action) -> Done:
    """Do one thing in ``owner/name``, at most once. Raises ForgeError; UnsureError where nobody knows whether it was done."""
    if (making := _MAKING.get(type(action))) is not None:
        return making(session, repository, action)
    return _ACTS[type(action)](session, f"/repos/{repository}", action)


def _post_review(session: Session, root: str, action: PostReview) -> Done:
    body = {
        "commit_id": action.head_sha,
        "event": action.event.value,
        "body": sendable(action.body),
        "comments": [_inline(comment) for comment in action.comments],
    }
    return _done(session, Call("POST", f"{root}/pulls/{action.number}/reviews", "post a review", body=body, missing=_MAY_NOT))


def _delete_pending_review(session: Session, root: str, action: DeletePendingReview) -> Done:
    session.answer(Call("DELETE", f"{root}/pulls/{action.number}/reviews/{action.review_id}", "delete a pending review"))
    return Done(action.review_id)


def _dismiss_review(session: Session, root: str, action: DismissReview) -> Done:
    path = f"{root}/pulls/{action.number}/reviews/{action.review_id}/dismissals"
    return _done(session, Call("PUT", path, "dismiss a review", body={"message": sendable(action.message), "event": "DISMISS"}))


def _post_comment(session: Session, root: str, action: PostComment) -> Done:
    path = f"{root}/issues/{action.number}/comments"
    return _done(session, Call("POST", path, "post a comment", body={"body": sendable(action.body)}, missing=_MAY_NOT))


def _edit_comment(session: Session, root: str, action: EditComment) -> Done:
    path = f"{root}/issues/comments/{action.comment_id}"
    return _done(session, Call("PATCH", path, "edit a comment", body={"body": sendable(action.body)}))


def _post_check(session: Session, root: str, action: PostCheck) -> Done:
    done = Done(action.check_id or 0)
    for body in checks.bodies(action):
        verb, path = ("PATCH", f"{root}/check-runs/{done.id}") if done.id else ("POST", f"{root}/check-runs")
        done = _done(session, Call(verb, path, "post a check run", body=body, missing=_MAY_NOT))
    return done


def _resolve_thread(session: Session, root: str, action: ResolveThread) -> Done:
    del root
    variables = {"threadId": action.node_id}
    graphql.mutation(session, "resolveReviewThread", variables, selection="thread { isResolved }", doing="resolve a thread")
    return Done()


def _reply_thread(session: Session, root: str, action: ReplyThread) -> Done:
    path = f"{root}/pulls/{action.number}/comments/{action.comment_id}/replies"
    return _done(session, Call("POST", path, "answer in a thread", body={"body": sendable(action.body)}))


def _minimize_comment(session: Session, root: str, action: MinimizeComment) -> Done:
    del root
    variables = {"subjectId": action.node_id, "classifier": action.classifier}
    selection = "minimizedComment { isMinimized }"
    graphql.mutation(session, "minimizeComment", variables, selection=selection, doing="fold a comment away")
    return Done()


def _add_labels(session: Session, root: str, action: AddLabels) -> Done:
    body = {"labels": [sendable(label) for label in action.labels]}
    session.answer(Call("POST", f"{root}/issues/{action.number}/labels", "add labels", body=body, missing=_MAY_NOT))
    return Done()


def _remove_label(session: Session, root: str, action: RemoveLabel) -> Done:
    session.answer(Call("DELETE", f"{root}/issues/{action.number}/labels/{quote(action.label, safe='')}", "remove a label"))
    return Done()


def _react(session: Session, root: str, action: React) -> Done:
    kind = "pulls" if action.inline else "issues"
    path = f"{root}/{kind}/comments/{action.comment_id}/reactions"
    return _done(session, Call("POST", path, "react to a comment", body={"content": action.reaction.value}))


def _open_issue(session: Session, root: str, action: OpenIssue) -> Done:
    body = {
        "title": sendable(action.title),
        "body": sendable(action.body),
        "labels": [sendable(label) for label in action.labels],
    }
    return _done(session, Call("POST", f"{root}/issues", "open an issue", body=body, missing=_MAY_NOT))


def _edit_issue(session: Session, root: str, action: EditIssue) -> Done:
    path = f"{root}/issues/{action.number}"
    return _done(session, Call("PATCH", path, "edit an issue", body={"body": sendable(action.body)}))


def _open_pull(session: Session, root: str, action: OpenPull) -> Done:
    """Told by its number: a pull request's id is nothing that is asked by."""
    check_branch(action.head)
    check_branch(action.base)
    body = {"title": sendable(action.title), "body": sendable(action.body), "head": action.head, "base": action.base}
    return _done(session, Call("POST", f"{root}/pulls", "open a pull request", body=body, missing=_MAY_NOT), key="number")


_Act = Callable[[Session, str, Any], Done]

_ACTS: Mapping[type[Any], _Act] = {
    PostReview: _post_review,
    DeletePendingReview: _delete_pending_review,
    DismissReview: _dismiss_review,
    PostComment: _post_comment,
    EditComment: _edit_comment,
    PostCheck: _post_check,
    ResolveThread: _resolve_thread,
    ReplyThread: _reply_thread,
    MinimizeComment: _minimize_comment,
    AddLabels: _add_labels,
    RemoveLabel: _remove_label,
    React: _react,
    OpenIssue: _open_issue,
    EditIssue: _edit_issue,
    OpenPull: _open_pull,
}

#: What is made of code, told with the name of the repository.
_MAKING: Mapping[type[Any], _Act] = {
    MakeBranch: branches.make,
    DeleteBranch: branches.delete,
    MakeCommit: commits.make,
}


def _inline(comment: InlineComment) -> dict[str, Any]:
    """``start_line`` equal to ``line`` is refused by GitHub, so it is not sent."""
    entry = {"path": sendable(comment.path), "line": comment.line, "side": comment.side, "body": sendable(comment.body)}
    if comment.start_line is None or comment.start_line == comment.line:
        return entry
    return {**entry, "start_line": comment.start_line, "start_side": comment.side}


def _done(session: Session, call: Call, *, key: str = "id") -> Done:
    """Send it and read what came of it. Raises UnsureError for an answer that says it was done, and not what."""
    made = session.json(call)
    try:
        node = reading.fields(made, "what it made")
        return Done(reading.number(node, key), reading.text(node, "html_url", optional=True))
    except ForgeError as exc:
        raise UnsureError(exc.message, hint="look at the pull request first") from exc
