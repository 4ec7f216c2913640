"""How records look in REST responses and events.

Only what is known is written here: `Contract.fill` adds what GitHub's schemas require beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.fake_github.pull import Pull
from tests.fake_github.records import (
    Artifact,
    CheckRun,
    Comment,
    Issue,
    Reaction,
    Review,
    ReviewComment,
    User,
    WorkflowRun,
)

if TYPE_CHECKING:
    from tests.fake_github.repository import Repository

Object = dict[str, Any]


def pick(record: Any, names: str, **more: Any) -> Object:
    """The attributes of a record that have the names of REST, and others."""
    return {name: getattr(record, name) for name in names.split()} | more


def user(account: User) -> Object:
    return pick(account, "login id node_id", type=account.kind)


def repository(home: Repository) -> Object:
    owner = user(home.github.user(home.owner))
    return pick(home, "id full_name private default_branch", owner=owner, fork=home.is_fork)


def side(home: Repository | None, account: User, ref: str, sha: str) -> Object:
    """The `head` or `base` of a pull request; `repo` is null where it was deleted (G30)."""
    login = home.owner if home else account.login
    repo = repository(home) if home else None
    return {"label": f"{login}:{ref}", "ref": ref, "sha": sha, "repo": repo}


def pull(pull: Pull) -> Object:
    return pick(
        pull,
        "id number state locked title draft",
        html_url=pull.url,
        body=pull.body or None,
        user=user(pull.user),
        labels=[label(name) for name in pull.labels],
        merged_at=pull.updated_at if pull.merged else None,
        head=side(pull.head_repository, pull.user, pull.head_ref, pull.head_sha),
        base=side(pull.repository, pull.user, pull.base_ref, pull.base_sha),
    )


def label(name: str) -> Object:
    return {"name": name, "color": "ededed"}


def comment(comment: Comment) -> Object:
    names, parent = "id node_id body created_at updated_at", comment.parent
    more = {"issue_url": f"{comment.repository.api_url}/issues/{parent.number}"}
    return pick(comment, names, html_url=comment.url, user=user(comment.user), **more)


def review(review: Review) -> Object:
    names = "id node_id body state commit_id"
    return pick(review, names, user=user(review.user), html_url=review.url)


def review_comment(comment: ReviewComment) -> Object:
    names = "id node_id body created_at updated_at"
    return pick(comment, names, user=user(comment.user), html_url=comment.url)


def reaction(reaction: Reaction) -> Object:
    return pick(reaction, "id node_id content created_at", user=user(reaction.user))


def issue(issue: Issue | Pull) -> Object:
    more: Object = {"pull_request": {"html_url": issue.url}} if isinstance(issue, Pull) else {}
    labels = [label(name) for name in issue.labels]
    names = "id number title body state locked created_at"
    return pick(issue, names, html_url=issue.url, user=user(issue.user), labels=labels, **more)


def check_run(run: CheckRun) -> Object:
    names = "id node_id name head_sha external_id status conclusion"
    return pick(run, names, html_url=run.url, output=run.output, app={"slug": run.app})


def commit(home: Repository, sha: str) -> Object:
    details = {"message": home.bare.message(sha)}
    url = f"{home.url}/commit/{sha}"
    return {"sha": sha, "html_url": url, "commit": details, "author": None, "committer": None}


def workflow_run(run: WorkflowRun) -> Object:
    home, head = run.repository, run.head_repository
    return pick(
        run,
        "id name event conclusion head_branch head_sha created_at",
        status="completed",
        head_repository=repository(head) if head else None,
        repository=repository(home),
        actor=user(run.actor),
        pull_requests=[{"id": pull.id, "number": pull.number} for pull in run.pulls],
    )


def artifact(artifact: Artifact) -> Object:
    return pick(artifact, "id name created_at", expired=False)
