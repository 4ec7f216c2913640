"""Payloads of events, as a runner writes them to `GITHUB_EVENT_PATH` and webhooks bring them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.fake_github import rest_objects as objects

if TYPE_CHECKING:
    from tests.fake_github.pull import Pull
    from tests.fake_github.records import Comment, ReviewComment, WorkflowRun
    from tests.fake_github.repository import Repository

Payload = dict[str, Any]


def common(home: Repository, sender: str) -> Payload:
    account = objects.user(home.github.user(sender))
    return {"repository": objects.repository(home), "sender": account}


def pull_request(
    *, pull: Pull, action: str = "opened", sender: str = "", label: str = ""
) -> Payload:
    """`label`: the one added or removed."""
    described = objects.pull(pull)
    payload: Payload = {"action": action, "number": pull.number, "pull_request": described}
    if label:
        payload["label"] = objects.label(label)
    return payload | common(pull.repository, sender or pull.user.login)


def issue_comment(*, comment: Comment, action: str = "created") -> Payload:
    payload: Payload = {
        "action": action,
        "issue": objects.issue(comment.parent),
        "comment": objects.comment(comment),
    }
    return payload | common(comment.repository, comment.login)


def pull_request_review_comment(*, comment: ReviewComment, action: str = "created") -> Payload:
    shown, pull = objects.review_comment(comment), objects.pull(comment.thread.pull)
    payload: Payload = {"action": action, "comment": shown, "pull_request": pull}
    return payload | common(comment.repository, comment.login)


def workflow_run(*, run: WorkflowRun, action: str = "completed") -> Payload:
    """`pull_requests` is empty for a fork, as on GitHub."""
    path = ".github/workflows/reviewbot.yml"
    shown = objects.workflow_run(run) | {"path": path}
    payload = {
        "action": action,
        "workflow_run": shown,
        "workflow": {"name": run.name, "path": path},
    }
    return payload | common(run.repository, run.actor.login)


def workflow_dispatch(*, repository: Repository, inputs: Payload) -> Payload:
    workflow = ".github/workflows/reviewbot.yml"
    payload = {"inputs": inputs, "ref": "refs/heads/main", "workflow": workflow}
    return payload | common(repository, "octocat")


def schedule(*, repository: Repository) -> Payload:
    """No webhook: a runner writes the cron line, the workflow and the repository."""
    described = objects.repository(repository)
    workflow = ".github/workflows/reviewbot.yml"
    return {"schedule": "0 3 * * 1", "workflow": workflow, "repository": described}


EVENTS: dict[str, Callable[..., Payload]] = {
    "pull_request": pull_request,
    "issue_comment": issue_comment,
    "pull_request_review_comment": pull_request_review_comment,
    "workflow_run": workflow_run,
    "workflow_dispatch": workflow_dispatch,
    "schedule": schedule,
}
