"""How records look in REST responses and events.

Only what is known is written here: `Contract.fill` adds what GitHub's schemas require beside it.
"""

from __future__ import annotations

import zlib
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
DAY = 86_400


def pick(record: Any, names: str, **more: Any) -> Object:
    """The attributes of a record that have the names of REST, and others."""
    return {name: getattr(record, name) for name in names.split()} | more


def user(account: User) -> Object:
    return pick(account, "login id node_id", type=account.kind)


def repository(home: Repository) -> Object:
    return pick(
        home,
        "id node_id name full_name private",
        owner=user(home.github.user(home.owner)),
        html_url=home.url,
        url=home.api_url,
        clone_url=f"{home.url}.git",
        fork=home.is_fork,
        default_branch="main",
        visibility="private" if home.private else "public",
    )


def side(home: Repository | None, account: User, ref: str, sha: str) -> Object:
    """The `head` or `base` of a pull request; `repo` is null where it was deleted (G30)."""
    login = home.owner if home else account.login
    owner = user(home.github.user(login) if home else account)
    repo = repository(home) if home else None
    return {"label": f"{login}:{ref}", "ref": ref, "sha": sha, "user": owner, "repo": repo}


def pull_simple(pull: Pull) -> Object:
    home, url = pull.repository, f"{pull.repository.api_url}/pulls/{pull.number}"
    return pick(
        pull,
        "id node_id number state locked title draft created_at updated_at author_association",
        url=url,
        html_url=pull.url,
        diff_url=f"{pull.url}.diff",
        issue_url=url.replace("/pulls/", "/issues/"),
        body=pull.body or None,
        user=user(pull.user),
        labels=[label(name) for name in pull.labels],
        merged_at=pull.updated_at if pull.merged else None,
        closed_at=pull.updated_at if pull.state == "closed" else None,
        head=side(pull.head_repository, pull.user, pull.head_ref, pull.head_sha),
        base=side(home, pull.user, pull.base_ref, pull.base_sha),
    )


def pull(pull: Pull) -> Object:
    counts = pick(
        pull,
        "merged",
        mergeable=True,
        mergeable_state="clean",
        comments=len(pull.comments),
        review_comments=len(pull.review_comments),
        commits=len(pull.commits),
    )
    return pull_simple(pull) | counts


def label(name: str) -> Object:
    number = zlib.crc32(name.encode())
    return {"id": number, "node_id": f"LA_{number}", "name": name, "color": "ededed"}


def comment(comment: Comment) -> Object:
    api_url = comment.repository.api_url
    return pick(
        comment,
        "id node_id body created_at updated_at author_association",
        url=f"{api_url}/issues/comments/{comment.id}",
        html_url=comment.url,
        issue_url=f"{api_url}/issues/{comment.parent.number}",
        user=user(comment.user),
    )


def review(review: Review) -> Object:
    more = {"submitted_at": review.submitted_at} if review.submitted_at else {}
    names = "id node_id body state commit_id author_association"
    more["pull_request_url"] = f"{review.repository.api_url}/pulls/{review.pull.number}"
    return pick(review, names, user=user(review.user), html_url=review.url, **more)


def review_comment(comment: ReviewComment) -> Object:
    thread, anchor, line = comment.thread, comment.thread.anchor, comment.thread.line
    api_url = comment.repository.api_url
    # GitHub's schema has no null for these.
    more = {"line": line} if line is not None else {}
    more |= {"in_reply_to_id": comment.in_reply_to_id} if comment.in_reply_to_id else {}
    return pick(
        comment,
        "id node_id body created_at updated_at author_association",
        pull_request_review_id=comment.review.id,
        **pick(anchor, "path side start_side"),
        diff_hunk=anchor.hunk,
        commit_id=thread.pull.head_sha if line is not None else anchor.commit,
        original_commit_id=anchor.commit,
        user=user(comment.user),
        html_url=comment.url,
        url=f"{api_url}/pulls/comments/{comment.id}",
        pull_request_url=f"{api_url}/pulls/{thread.pull.number}",
        start_line=thread.start_line,
        original_line=anchor.line,
        original_start_line=anchor.start_line,
        subject_type="line",
        **more,
    )


def reaction(reaction: Reaction) -> Object:
    return pick(reaction, "id node_id content created_at", user=user(reaction.user))


def issue(issue: Issue | Pull) -> Object:
    url = f"{issue.repository.api_url}/issues/{issue.number}"
    more: Object = {}
    if isinstance(issue, Pull):
        urls = {"url": url.replace("/issues/", "/pulls/"), "html_url": issue.url}
        urls |= {"diff_url": f"{issue.url}.diff", "patch_url": f"{issue.url}.patch"}
        more = {"pull_request": urls, "draft": issue.draft}
    return pick(
        issue,
        "id node_id number title body state locked created_at author_association",
        url=url,
        html_url=issue.url,
        user=user(issue.user),
        labels=[label(name) for name in issue.labels],
        comments=len(issue.comments),
        **more,
    )


def check_run(run: CheckRun) -> Object:
    texts = {key: run.output.get(key) for key in ("title", "summary", "text")}
    return pick(
        run,
        "id node_id name head_sha external_id status conclusion details_url",
        **{"started_at": None, "completed_at": None},
        url=f"{run.repository.api_url}/check-runs/{run.id}",
        html_url=run.url,
        app={"slug": run.app, "name": run.app},
        output=texts | {"annotations_count": len(run.annotations)},
        check_suite={"id": 1},
    )


def commit(home: Repository, sha: str) -> Object:
    details = {"message": home.bare.message(sha)}
    url = f"{home.url}/commit/{sha}"
    return {"sha": sha, "html_url": url, "commit": details, "author": None, "committer": None}


def workflow_run(run: WorkflowRun) -> Object:
    home = run.repository
    pulls = [
        {
            "id": pull.id,
            "number": pull.number,
            "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": {"id": home.id}},
            "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": {"id": home.id}},
        }
        for pull in run.pulls
    ]
    return pick(
        run,
        "id node_id name event conclusion head_branch head_sha created_at",
        status="completed",
        head_repository=repository(run.head_repository) if run.head_repository else None,
        repository=repository(home),
        actor=user(run.actor),
        triggering_actor=user(run.actor),
        run_number=1,
        run_attempt=1,
        html_url=f"{home.url}/actions/runs/{run.id}",
        url=f"{home.api_url}/actions/runs/{run.id}",
        artifacts_url=f"{home.api_url}/actions/runs/{run.id}/artifacts",
        pull_requests=pulls,
    )


def artifact(artifact: Artifact) -> Object:
    run, home = artifact.run, artifact.run.repository
    url = f"{home.api_url}/actions/artifacts/{artifact.id}"
    return pick(
        artifact,
        "id node_id name created_at",
        expired=False,
        size_in_bytes=len(artifact.content),
        url=url,
        archive_download_url=f"{url}/zip",
        updated_at=artifact.created_at,
        expires_at=home.github.later(DAY),
        workflow_run=pick(run, "id head_branch head_sha", repository_id=home.id),
    )
