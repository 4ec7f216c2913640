"""Payloads of webhooks, as they lie at ``GITHUB_EVENT_PATH``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.forge.hub import shown
from tests.forge.hub.contract import HOME, contract

if TYPE_CHECKING:
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.pull import Pull
    from tests.forge.hub.repository import Repository
    from tests.forge.hub.state import Comment, ReviewComment, Run

Payload = dict[str, Any]
ZERO = "0" * 40


def full(name: str, known: Payload) -> Payload:
    """A value with all that its schema asks for."""
    filled = contract().fill({"$ref": f"{HOME}#/components/schemas/{name}"}, known)
    assert isinstance(filled, dict)
    return filled


def around(hub: Hub, home: Repository, sender: str) -> Payload:
    return {
        "repository": full("full-repository", shown.repository(home)),
        "sender": full("simple-user", shown.user(hub, hub.user(sender))),
    }


def pull_request(
    hub: Hub,
    *,
    pull: Pull,
    action: str = "opened",
    sender: str | None = None,
    before: str | None = None,
    label: str | None = None,
) -> Payload:
    """``before``: the head that was, for ``synchronize``. ``label``: the one that was put on or taken away."""
    told = {"action": action, "number": pull.number, "pull_request": full("pull-request", shown.pull(pull))}
    told |= {"before": before or ZERO, "after": pull.head_sha} if action == "synchronize" else {}
    told |= {"label": full("label", shown.label(pull.repository, label))} if label else {}
    return told | around(hub, pull.repository, sender or pull.user.login)


def issue_comment(hub: Hub, *, comment: Comment, action: str = "created", before: str | None = None) -> Payload:
    """``before``: the words that were, for ``edited``."""
    told = {
        "action": action,
        "issue": full("issue", shown.issue(comment.parent)),
        "comment": full("issue-comment", shown.comment(comment)),
    }
    told |= {"changes": {"body": {"from": before or ""}}} if action == "edited" else {}
    return told | around(hub, comment.parent.repository, comment.login)


def review_comment(hub: Hub, *, comment: ReviewComment, action: str = "created", before: str | None = None) -> Payload:
    pull = comment.thread.pull
    told: Payload = {"action": action, "comment": full("pull-request-review-comment", shown.review_comment(comment))}
    told["pull_request"] = full("pull-request-simple", shown.pull_simple(pull))
    told |= {"changes": {"body": {"from": before or ""}}} if action == "edited" else {}
    return told | around(hub, pull.repository, comment.login)


def workflow_run(hub: Hub, *, run: Run, action: str = "completed") -> Payload:
    """For a fork ``pull_requests`` is empty, as on GitHub."""
    return {
        "action": action,
        "workflow_run": full("workflow-run", shown.run(run)),
        "workflow": {"name": run.name, "path": run.path},
    } | around(hub, run.repository, run.actor.login)


def workflow_dispatch(
    hub: Hub,
    *,
    repository: Repository,
    inputs: dict[str, str] | None = None,
    ref: str = "refs/heads/main",
    sender: str = "octocat",
) -> Payload:
    return {"inputs": inputs or {}, "ref": ref, "workflow": ".github/workflows/review.yml"} | around(hub, repository, sender)


def schedule(hub: Hub, *, repository: Repository, cron: str = "0 3 * * 1") -> Payload:
    """Not a webhook: a runner writes the cron line and the repository."""
    return {
        "schedule": cron,
        "workflow": ".github/workflows/review.yml",
        "repository": full("full-repository", shown.repository(repository)),
    }


def push(
    hub: Hub,
    *,
    repository: Repository,
    ref: str = "refs/heads/main",
    before: str = ZERO,
    after: str | None = None,
    sender: str = "octocat",
) -> Payload:
    code = repository.code
    now = after or code.sha(ref) or ZERO
    commits = [] if now == ZERO else code.log(None if before == ZERO else before, now)
    told = [
        {
            "id": sha,
            "message": code.told(sha)["message"].rstrip("\n"),
            "author": {"name": code.told(sha)["author"]},
            "distinct": True,
        }
        for sha in commits
    ]
    facts: Payload = {
        "ref": ref,
        "before": before,
        "after": now,
        "created": before == ZERO,
        "deleted": now == ZERO,
        "forced": False,
        "base_ref": None,
    }
    facts |= {"commits": told, "head_commit": told[-1] if told else None, "compare": "", "pusher": {"name": sender}}
    return facts | around(hub, repository, sender)


PAYLOADS = {
    "pull_request": pull_request,
    "pull_request_target": pull_request,
    "issue_comment": issue_comment,
    "pull_request_review_comment": review_comment,
    "workflow_run": workflow_run,
    "workflow_dispatch": workflow_dispatch,
    "schedule": schedule,
    "push": push,
}


def payload(hub: Hub, name: str, **told: Any) -> Payload:
    return PAYLOADS[name](hub, **told)  # type: ignore[no-any-return,operator]
