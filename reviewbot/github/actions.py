"""What can be done under a pull request, as values, and how each is done."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import quote

from msgspec import Struct, to_builtins

from reviewbot.github.client import CallError, Client
from reviewbot.reports.markdown import Annotation

ReviewEvent = Literal["COMMENT", "APPROVE", "REQUEST_CHANGES"]
Conclusion = Literal["success", "failure", "neutral"]
# GitHub takes so many of a request. The summary of the check run has all findings.
MAX_ANNOTATIONS = 50


CHECK_NAME = "reviewbot"


class Action(Struct, frozen=True):
    """One write, but for a thread to be folded."""


class InlineComment(Struct, frozen=True, kw_only=True):
    """A comment on lines of the diff, 1-based. `key` is that of its finding."""

    key: str
    path: str
    line: int
    start_line: int
    side: Literal["LEFT", "RIGHT"]
    body: str


class Delete(Action, frozen=True):
    """A review that was never submitted, a second summary, or a second thread about a finding."""

    what: Literal["pending review", "comment", "thread"]
    id: int


class PostReview(Action, frozen=True):
    commit: str
    event: ReviewEvent
    body: str
    comments: tuple[InlineComment, ...] = ()


class DismissReview(Action, frozen=True):
    id: int
    message: str


class HideReview(Action, frozen=True):
    """Fold away a review that another run had posted already."""

    node_id: str


class ResolveThread(Action, frozen=True):
    """`comment_id` and `comment_node` are of its first comment, for tokens that may not resolve."""

    node_id: str
    comment_node: str
    comment_id: int
    reply: str


class ReopenThread(Action, frozen=True):
    node_id: str


class PostCheckRun(Action, frozen=True, kw_only=True):
    """A check run; `id` is 0 for a new one, which alone gets annotations: GitHub only adds some."""

    id: int = 0
    head_sha: str
    conclusion: Conclusion
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()


class AddLabels(Action, frozen=True):
    labels: tuple[str, ...]


class RemoveLabel(Action, frozen=True):
    label: str


class WriteComment(Action, frozen=True):
    """A comment; `id` is 0 for a new one."""

    body: str
    id: int = 0


def perform(client: Client, number: int, action: Action) -> None:
    """Do it, at most once. Raises GitHubError; "unsure" if nobody knows whether it was done."""
    pull, issue = f"/pulls/{number}", f"/issues/{number}"
    match action:
        case Delete(what, id):
            paths = {"pending review": f"{pull}/reviews", "thread": "/pulls/comments"}
            path = paths.get(what, "/issues/comments")
            client.write("DELETE", f"{path}/{id}", f"delete a {what}")
        case PostReview(commit, event, body, comments):
            entries = [to_builtins(comment) for comment in comments]
            for entry in entries:
                del entry["key"]
                if entry["start_line"] == entry["line"]:  # GitHub refuses that
                    del entry["start_line"]
                else:
                    entry["start_side"] = entry["side"]
            content = {"commit_id": commit, "event": event, "body": body, "comments": entries}
            _create(client, f"{pull}/reviews", "post a review", content)
        case DismissReview(id, message):
            content = {"message": message, "event": "DISMISS"}
            client.write("PUT", f"{pull}/reviews/{id}/dismissals", "dismiss a review", content)
        case HideReview(node_id):
            _fold(client, node_id, "DUPLICATE")
        case ResolveThread():
            _resolve(client, pull, action)
        case ReopenThread(node_id):
            selection, thread = "thread { isResolved }", {"threadId": node_id}
            client.mutate("unresolveReviewThread", thread, selection, "reopen a thread")
        case PostCheckRun(id=0):
            _create(client, "/check-runs", "create a check run", _check_run(action))
        case PostCheckRun(id=id):
            content = _check_run(action)
            client.write("PATCH", f"/check-runs/{id}", "update a check run", content)
        case AddLabels(labels):
            _create(client, f"{issue}/labels", "add labels", {"labels": list(labels)})
        case RemoveLabel(label):
            path = f"{issue}/labels/{quote(label, safe='')}"
            client.write("DELETE", path, "remove a label")
        case WriteComment(body, 0):
            _create(client, f"{issue}/comments", "post a comment", {"body": body})
        case WriteComment(body, id):
            client.write("PATCH", f"/issues/comments/{id}", "edit a comment", {"body": body})


def _create(client: Client, path: str, doing: str, body: dict[str, Any]) -> None:
    """GitHub says 404 of a token that may read and not write."""
    try:
        client.write("POST", path, doing, body)
    except CallError as error:
        if error.kind == "gone" and " 404" in str(error):
            raise CallError("not_permitted", str(error), hint=error.hint or "") from error
        raise


def _resolve(client: Client, pull: str, action: ResolveThread) -> None:
    """Resolving needs `contents: write`. Without it the comment is folded away and answered.

    The answer comes last: the next run knows by it that nothing is left to do.
    """
    try:
        if not client.may_resolve:
            raise CallError("not_permitted", "threads may not be resolved")
        selection, thread = "thread { isResolved }", {"threadId": action.node_id}
        client.mutate("resolveReviewThread", thread, selection, "resolve a thread")
    except CallError as error:
        if error.kind != "not_permitted":
            raise
        client.may_resolve = False  # the others need not be tried
        _fold(client, action.comment_node, "RESOLVED")
        path = f"{pull}/comments/{action.comment_id}/replies"
        client.write("POST", path, "answer in a thread", {"body": action.reply})


def _fold(client: Client, node_id: str, classifier: str) -> None:
    subject = {"subjectId": node_id, "classifier": classifier}
    selection = "minimizedComment { isMinimized }"
    client.mutate("minimizeComment", subject, selection, "fold a text away")


def _check_run(check: PostCheckRun) -> dict[str, Any]:
    output: dict[str, Any] = {"title": check.title, "summary": check.summary}
    content = {
        "name": CHECK_NAME,
        "external_id": check.head_sha,
        "status": "completed",
        "conclusion": check.conclusion,
        "output": output,
    }
    if check.id:
        return content
    output["annotations"] = to_builtins(check.annotations[:MAX_ANNOTATIONS])
    return content | {"head_sha": check.head_sha}
