"""Payloads of events, as a runner writes them to `GITHUB_EVENT_PATH` and webhooks bring them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.fake_github import rest_objects as objects
from tests.fake_github.contract import contract

if TYPE_CHECKING:
    from tests.fake_github.pull import Pull
    from tests.fake_github.records import Comment, ReviewComment, WorkflowRun
    from tests.fake_github.repository import Repository

Payload = dict[str, Any]
NO_COMMIT = "0" * 40


def common(home: Repository, sender: str) -> Payload:
    account = objects.user(home.github.user(sender))
    return {
        "repository": contract().component("full-repository", objects.repository(home)),
        "sender": contract().component("simple-user", account),
    }


def pull_request(
    *, pull: Pull, action: str = "opened", sender: str = "", before: str = "", label: str = ""
) -> Payload:
    """`before`: the head before a `synchronize`. `label`: the one added or removed."""
    described = contract().component("pull-request", objects.pull(pull))
    payload: Payload = {"action": action, "number": pull.number, "pull_request": described}
    if action == "synchronize":
        payload |= {"before": before or NO_COMMIT, "after": pull.head_sha}
    if label:
        payload["label"] = contract().component("label", objects.label(label))
    return payload | common(pull.repository, sender or pull.user.login)


def issue_comment(
    *, comment: Comment, action: str = "created", sender: str = "", before: str = ""
) -> Payload:
    """`before`: the body before an `edited`."""
    payload: Payload = {
        "action": action,
        "issue": contract().component("issue", objects.issue(comment.parent)),
        "comment": contract().component("issue-comment", objects.comment(comment)),
    }
    if action == "edited":
        payload["changes"] = {"body": {"from": before}}
    return payload | common(comment.repository, sender or comment.login)


def pull_request_review_comment(
    *, comment: ReviewComment, action: str = "created", sender: str = ""
) -> Payload:
    shown, pull = objects.review_comment(comment), objects.pull_simple(comment.thread.pull)
    payload: Payload = {
        "action": action,
        "comment": contract().component("pull-request-review-comment", shown),
        "pull_request": contract().component("pull-request-simple", pull),
    }
    return payload | common(comment.repository, sender or comment.login)


def workflow_run(
    *, run: WorkflowRun, action: str = "completed", path: str = ".github/workflows/reviewbot.yml"
) -> Payload:
    """`pull_requests` is empty for a fork, as on GitHub."""
    shown = contract().component("workflow-run", objects.workflow_run(run) | {"path": path})
    payload = {
        "action": action,
        "workflow_run": shown,
        "workflow": {"name": run.name, "path": path},
    }
    return payload | common(run.repository, run.actor.login)


def workflow_dispatch(
    *,
    repository: Repository,
    inputs: Payload | None = None,
    ref: str = "refs/heads/main",
    workflow: str = ".github/workflows/reviewbot.yml",
    sender: str = "octocat",
) -> Payload:
    payload = {"inputs": inputs or {}, "ref": ref, "workflow": workflow}
    return payload | common(repository, sender)


def schedule(*, repository: Repository, cron: str = "0 3 * * 1") -> Payload:
    """No webhook: a runner writes the cron line, the workflow and the repository."""
    described = contract().component("full-repository", objects.repository(repository))
    workflow = ".github/workflows/reviewbot.yml"
    return {"schedule": cron, "workflow": workflow, "repository": described}


def push(
    *,
    repository: Repository,
    ref: str = "refs/heads/main",
    before: str = NO_COMMIT,
    after: str = "",
    sender: str = "octocat",
) -> Payload:
    bare = repository.bare
    after = after or bare.sha(ref) or NO_COMMIT
    base = None if before == NO_COMMIT else before
    shas = [] if after == NO_COMMIT else bare.log(base, after)
    commits = [
        {
            "id": sha,
            "message": bare.read_commit(sha).message,
            "author": {"name": bare.read_commit(sha).author},
            "distinct": True,
        }
        for sha in shas
    ]
    payload: Payload = {
        "ref": ref,
        "before": before,
        "after": after,
        "created": before == NO_COMMIT,
        "deleted": after == NO_COMMIT,
        "forced": False,
        "base_ref": None,
        "commits": commits,
        "head_commit": commits[-1] if commits else None,
        "compare": "",
        "pusher": {"name": sender},
    }
    return payload | common(repository, sender)


EVENTS: dict[str, Callable[..., Payload]] = {
    "pull_request": pull_request,
    "pull_request_target": pull_request,
    "issue_comment": issue_comment,
    "pull_request_review_comment": pull_request_review_comment,
    "workflow_run": workflow_run,
    "workflow_dispatch": workflow_dispatch,
    "schedule": schedule,
    "push": push,
}
