"""How what stands on the fake looks in REST answers: what is known; the description's required rest is filled in later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.forge.hub.state import Artifact, CheckRun, Comment, Issue, Reaction, Review, ReviewComment, Run, Status, User

if TYPE_CHECKING:
    from tests.forge.hub.code import ChangedFile
    from tests.forge.hub.hub import Hub
    from tests.forge.hub.pull import Pull
    from tests.forge.hub.repository import Repository

Shown = dict[str, Any]
#: Who commits what is made on GitHub itself; it signs with its own key.
GITHUB = ("GitHub", "noreply@github.com")
WEB_FLOW = User("web-flow", 19_864_447)
SITE_ROLES = {"maintain": "write", "triage": "read"}


def association(repository: Repository, account: User) -> str:
    if account.login.lower() == repository.owner.lower():
        return "OWNER"
    return "COLLABORATOR" if account.login.lower() in repository.roles else "NONE"


def user(hub: Hub, known: User) -> Shown:
    page = f"{hub.server_url}/{known.login.removesuffix('[bot]')}"
    url = f"{hub.api_url}/users/{known.login}"
    return {
        "login": known.login,
        "id": known.id,
        "node_id": known.node_id,
        "type": known.kind,
        "html_url": page,
        "url": url,
        "site_admin": False,
    }


def repository(known: Repository) -> Shown:
    hub = known.hub
    return {
        "id": known.id,
        "node_id": known.node_id,
        "name": known.name,
        "full_name": known.full_name,
        "private": known.private,
        "owner": user(hub, hub.user(known.owner)),
        "html_url": f"{hub.server_url}/{known.full_name}",
        "url": f"{hub.api_url}/repos/{known.full_name}",
        "clone_url": f"{hub.server_url}/{known.full_name}.git",
        "fork": known.parent is not None,
        "default_branch": "main",
        "visibility": "private" if known.private else "public",
    }


def side(home: Repository | None, owner: User, hub: Hub, ref: str, sha: str) -> Shown:
    """A ``head`` or ``base`` of a pull request; the repository is null where it was deleted."""
    login = home.owner if home else owner.login
    told = {"label": f"{login}:{ref}", "ref": ref, "sha": sha, "user": user(hub, hub.user(login))}
    return told | {"repo": repository(home) if home else None}


def pull_simple(known: Pull) -> Shown:
    hub, home = known.hub, known.repository
    url = f"{hub.api_url}/repos/{home.full_name}/pulls/{known.number}"
    page = f"{hub.server_url}/{home.full_name}/pull/{known.number}"
    issues = url.replace("/pulls/", "/issues/")
    return {
        "id": known.id,
        "node_id": known.node_id,
        "number": known.number,
        "url": url,
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issues,
        "comments_url": f"{issues}/comments",
        "review_comments_url": f"{url}/comments",
        "review_comment_url": f"{url}/comments{{/number}}",
        "commits_url": f"{url}/commits",
        "statuses_url": f"{hub.api_url}/repos/{home.full_name}/statuses/{known.head_sha}",
        "state": known.state,
        "locked": known.locked,
        "title": known.title,
        "body": known.body or None,
        "user": user(hub, known.user),
        "labels": [label(home, name) for name in known.labels],
        "draft": known.draft,
        "created_at": known.created_at,
        "updated_at": known.updated_at,
        "merged_at": known.updated_at if known.merged else None,
        "closed_at": known.updated_at if known.state == "closed" else None,
        "head": side(known.head_repository, known.user, hub, known.head_ref, known.head_sha),
        "base": side(home, known.user, hub, known.base_ref, known.base_sha),
        "author_association": association(home, known.user),
    }


def pull(known: Pull) -> Shown:
    files = known.files
    return pull_simple(known) | {
        "merged": known.merged,
        "mergeable": True,
        "mergeable_state": "clean",
        "comments": len(known.comments),
        "review_comments": len(known.review_comments),
        "commits": len(known.commits),
        "additions": sum(file.additions for file in files),
        "deletions": sum(file.deletions for file in files),
        "changed_files": len(files),
    }


def file(known: ChangedFile, home: Repository, sha: str) -> Shown:
    told = {
        "sha": known.blob,
        "filename": known.path,
        "status": known.status,
        "additions": known.additions,
        "deletions": known.deletions,
        "changes": known.additions + known.deletions,
        "contents_url": f"{home.hub.api_url}/repos/{home.full_name}/contents/{known.path}?ref={sha}",
    }
    told |= {"patch": known.patch} if known.patch else {}
    return told | ({"previous_filename": known.previous} if known.previous else {})


def label(home: Repository, name: str) -> Shown:
    number = home.labels.get(name) or home.labels.setdefault(name, home.hub.next_id())
    return {"id": number, "node_id": f"LA_{number}", "name": name, "color": "ededed", "default": False, "description": None}


def comment(known: Comment) -> Shown:
    home = known.parent.repository
    hub = home.hub
    kind = "issues" if isinstance(known.parent, Issue) else "pull"
    return {
        "id": known.id,
        "node_id": known.node_id,
        "url": f"{hub.api_url}/repos/{home.full_name}/issues/comments/{known.id}",
        "html_url": f"{hub.server_url}/{home.full_name}/{kind}/{known.parent.number}#issuecomment-{known.id}",
        "issue_url": f"{hub.api_url}/repos/{home.full_name}/issues/{known.parent.number}",
        "body": known.body,
        "user": user(hub, known.user),
        "created_at": known.created_at,
        "updated_at": known.updated_at,
        "author_association": association(home, known.user),
    }


def review(known: Review) -> Shown:
    of, hub = known.pull, known.pull.hub
    told = {
        "id": known.id,
        "node_id": known.node_id,
        "user": user(hub, known.user),
        "body": known.body,
        "state": known.state,
        "html_url": f"{hub.server_url}/{of.repository.full_name}/pull/{of.number}#pullrequestreview-{known.id}",
        "pull_request_url": f"{hub.api_url}/repos/{of.repository.full_name}/pulls/{of.number}",
        "commit_id": known.commit_id,
        "author_association": association(of.repository, known.user),
    }
    return told | ({"submitted_at": known.submitted_at} if known.submitted_at else {})


def review_comment(known: ReviewComment) -> Shown:
    thread, of = known.thread, known.thread.pull
    hub, anchor = of.hub, known.thread.anchor
    told = {
        "id": known.id,
        "node_id": known.node_id,
        "pull_request_review_id": known.review.id,
        "diff_hunk": anchor.hunk,
        "path": anchor.path,
        "commit_id": of.head_sha if thread.line is not None else anchor.commit,
        "original_commit_id": anchor.commit,
        "user": user(hub, known.user),
        "body": known.body,
        "created_at": known.created_at,
        "updated_at": known.updated_at,
        "html_url": f"{hub.server_url}/{of.repository.full_name}/pull/{of.number}#discussion_r{known.id}",
        "url": f"{hub.api_url}/repos/{of.repository.full_name}/pulls/comments/{known.id}",
        "pull_request_url": f"{hub.api_url}/repos/{of.repository.full_name}/pulls/{of.number}",
        "author_association": association(of.repository, known.user),
        "original_line": anchor.line,
        "original_start_line": anchor.start_line,
        "start_line": thread.start_line,
        "start_side": anchor.start_side,
        "side": anchor.side,
        "subject_type": "file" if anchor.line is None else "line",
    }
    told |= {"line": thread.line} if thread.line is not None else {}
    told = {key: value for key, value in told.items() if value is not None or key.startswith("start")}
    return told | ({"in_reply_to_id": known.in_reply_to} if known.in_reply_to else {})


def reaction(hub: Hub, known: Reaction) -> Shown:
    return {
        "id": known.id,
        "node_id": f"REA_{known.id}",
        "user": user(hub, known.user),
        "content": known.content,
        "created_at": known.created_at,
    }


def issue(known: Issue | Pull) -> Shown:
    home = known.repository
    hub = home.hub
    url = f"{hub.api_url}/repos/{home.full_name}/issues/{known.number}"
    told = {
        "id": known.id,
        "node_id": known.node_id,
        "number": known.number,
        "url": url,
        "html_url": f"{hub.server_url}/{home.full_name}/{'issues' if isinstance(known, Issue) else 'pull'}/{known.number}",
        "title": known.title,
        "body": known.body,
        "comments_url": f"{url}/comments",
        "labels_url": f"{url}/labels{{/name}}",
        "repository_url": f"{hub.api_url}/repos/{home.full_name}",
        "state": known.state,
        "locked": known.locked,
        "user": user(hub, known.user),
        "labels": [label(home, name) for name in known.labels],
        "comments": len(known.comments),
        "created_at": known.created_at,
        "updated_at": known.created_at,
        "author_association": association(home, known.user),
    }
    if not isinstance(known, Issue):
        told["pull_request"] = {
            "url": url.replace("/issues/", "/pulls/"),
            "html_url": told["html_url"],
            "diff_url": None,
            "patch_url": None,
        }
        told["draft"] = known.draft
    return told


def check_run(known: CheckRun) -> Shown:
    home = known.repository
    hub = home.hub
    return {
        "id": known.id,
        "node_id": known.node_id,
        "name": known.name,
        "head_sha": known.head_sha,
        "external_id": known.external_id,
        "status": known.status,
        "conclusion": known.conclusion,
        "details_url": known.details_url,
        "html_url": f"{hub.server_url}/{home.full_name}/runs/{known.id}",
        "url": f"{hub.api_url}/repos/{home.full_name}/check-runs/{known.id}",
        "started_at": known.started_at,
        "completed_at": known.completed_at,
        "app": {"id": 15368, "slug": known.app, "name": known.app, "permissions": {}, "events": []},
        "output": {
            **{key: known.output.get(key) for key in ("title", "summary", "text")},
            "annotations_count": len(known.annotations),
            "annotations_url": f"{hub.api_url}/repos/{home.full_name}/check-runs/{known.id}/annotations",
        },
        "check_suite": {"id": 1},
        "pull_requests": [],
    }


def status(hub: Hub, known: Status) -> Shown:
    told = {
        "id": known.id,
        "node_id": f"SC_{known.id}",
        "context": known.context,
        "state": known.state,
        "description": known.description,
    }
    return told | {
        "target_url": known.target_url,
        "created_at": known.created_at,
        "updated_at": known.created_at,
        "creator": user(hub, known.user),
    }


def commit(home: Repository, sha: str) -> Shown:
    told = home.code.told(sha)
    url = f"{home.hub.api_url}/repos/{home.full_name}/commits/{sha}"
    people = home.hub.users
    signed = (told["committer"], told["committer_email"]) == GITHUB
    committer = WEB_FLOW if signed else people.get(told["committer"])
    seal = {
        "verified": signed,
        "reason": "valid" if signed else "unsigned",
        "signature": None,
        "payload": None,
        "verified_at": None,
    }
    return {
        "sha": sha,
        "node_id": f"C_{sha}",
        "url": url,
        "html_url": f"{home.hub.server_url}/{home.full_name}/commit/{sha}",
        "commit": {
            "author": {"name": told["author"], "email": told["email"], "date": told["date"]},
            "committer": {"name": told["committer"], "email": told["committer_email"], "date": told["committed"]},
            "message": told["message"].rstrip("\n"),
            "tree": {"sha": told["tree"]},
            "verification": seal,
        },
        "author": user(home.hub, people[told["author"]]) if told["author"] in people else None,
        "committer": user(home.hub, committer) if committer else None,
        "parents": [{"sha": parent, "url": url, "html_url": url} for parent in told["parents"].split()],
    }


def run(known: Run) -> Shown:
    home, hub = known.repository, known.repository.hub
    return {
        "id": known.id,
        "node_id": f"WFR_{known.id}",
        "name": known.name,
        "event": known.event,
        "status": known.status,
        "conclusion": known.conclusion,
        "head_branch": known.head_branch,
        "head_sha": known.head_sha,
        "head_repository": repository(known.head_repository) if known.head_repository else None,
        "repository": repository(home),
        "actor": user(hub, known.actor),
        "triggering_actor": user(hub, known.actor),
        "path": known.path,
        "run_number": 1,
        "run_attempt": 1,
        "workflow_id": 1,
        "url": f"{hub.api_url}/repos/{home.full_name}/actions/runs/{known.id}",
        "html_url": f"{hub.server_url}/{home.full_name}/actions/runs/{known.id}",
        "artifacts_url": f"{hub.api_url}/repos/{home.full_name}/actions/runs/{known.id}/artifacts",
        "created_at": known.created_at,
        "updated_at": known.created_at,
        "pull_requests": [
            {
                "id": pull.id,
                "number": pull.number,
                "url": f"{hub.api_url}/repos/{home.full_name}/pulls/{pull.number}",
                "head": {"ref": pull.head_ref, "sha": pull.head_sha, "repo": {"id": home.id, "url": "", "name": home.name}},
                "base": {"ref": pull.base_ref, "sha": pull.base_sha, "repo": {"id": home.id, "url": "", "name": home.name}},
            }
            for pull in known.pulls
        ],
    }


def artifact(known: Artifact) -> Shown:
    home, hub = known.run.repository, known.run.repository.hub
    url = f"{hub.api_url}/repos/{home.full_name}/actions/artifacts/{known.id}"
    return {
        "id": known.id,
        "node_id": f"MDg_{known.id}",
        "name": known.name,
        "size_in_bytes": len(known.content),
        "url": url,
        "archive_download_url": f"{url}/zip",
        "expired": known.expired,
        "created_at": known.created_at,
        "updated_at": known.created_at,
        "expires_at": hub.later(86_400),
        "workflow_run": {
            "id": known.run.id,
            "repository_id": home.id,
            "head_repository_id": known.run.head_repository.id if known.run.head_repository else 0,
            "head_branch": known.run.head_branch,
            "head_sha": known.run.head_sha,
        },
    }
