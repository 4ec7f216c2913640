"""How records look in GraphQL, as one token sees them.

A field is the attribute of the same name in snake_case unless a table below has it: as the path
of another attribute, or as a function of viewer, record and arguments.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLResolveInfo

from tests.fake_github.bare_repository import CommitFields
from tests.fake_github.pull import Pull
from tests.fake_github.records import CheckRun, Comment, Issue, Review, ReviewComment, Thread, User
from tests.fake_github.repository import GITHUB

if TYPE_CHECKING:
    from tests.fake_github.github import GitHub
    from tests.fake_github.permissions import Token
    from tests.fake_github.repository import Repository

MOST_PER_PAGE = 100
CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

Field = str | Callable[..., Any]


def failure(kind: str, message: str) -> GraphQLError:
    """An error with a type, as GitHub's have."""
    return GraphQLError(message, extensions={"type": kind})


def forbidden() -> GraphQLError:
    return failure("FORBIDDEN", "Resource not accessible by integration")


def not_found(message: str) -> GraphQLError:
    return failure("NOT_FOUND", message)


@dataclass(frozen=True)
class Viewer:
    """Who asks."""

    github: GitHub
    token: Token

    def need_read(self, home: Repository, permission: str) -> None:
        if not self.token.may(home, f"{permission}:read"):
            raise forbidden()

    def need_in_public(self, permission: str) -> None:
        """Checks and statuses need a permission in a public repository, too."""
        if not self.token.has(permission, "read"):
            raise forbidden()

    def find_repository(self, full_name: str) -> Repository:
        found = self.github.repositories.get(full_name.lower())
        if found is None or (found.private and not self.token.reaches(found)):
            raise not_found(f"Could not resolve to a Repository with the name '{full_name}'.")
        return found


@dataclass(frozen=True)
class Commit:
    repository: Repository
    sha: str

    @property
    def fields(self) -> CommitFields:
        return self.repository.bare.read_commit(self.sha)

    @property
    def url(self) -> str:
        return f"{self.repository.url}/commit/{self.sha}"


def resolve(source: Any, info: GraphQLResolveInfo, **arguments: Any) -> Any:
    """The value of a field. One that the fake lacks is a violation."""
    viewer: Viewer = info.context
    field = FIELDS.get(info.parent_type.name, {}).get(info.field_name)
    field = COMMON.get(info.field_name) if field is None else field
    if callable(field):
        return field(viewer, source, **arguments)
    if isinstance(source, Mapping) and info.field_name in source:
        return source[info.field_name]
    name = field or CAPITAL.sub("_", info.field_name).lower()
    try:
        for part in name.split("."):
            source = getattr(source, part)
    except AttributeError:
        problem = f"the fake does not have {info.parent_type.name}.{info.field_name}"
        viewer.github.violations.append(problem)
        raise GraphQLError(problem) from None
    return source


def resolve_type(value: Any, *_: Any) -> str:
    if isinstance(value, Mapping):
        return str(value["__typename"])
    return value.kind if isinstance(value, User) else TYPES[type(value)]


def page(
    name: str,
    items: Sequence[Any],
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    **_: Any,
) -> dict[str, Any]:
    """A connection."""
    if first is None and last is None:
        message = f"value to properly paginate the `{name}` connection."
        message = f"You must provide a `first` or `last` {message}"
        raise failure("MISSING_PAGINATION_BOUNDARIES", message)
    for word, value in (("first", first), ("last", last)):
        if value is not None and value > MOST_PER_PAGE:
            limit = f"exceeds the `{word}` limit of {MOST_PER_PAGE} records."
            message = f"Requesting {value} records on the `{name}` connection {limit}"
            raise failure("EXCESSIVE_PAGINATION", message)
    start, stop = read_cursor(after) if after else 0, len(items)
    if first is not None:
        stop = min(stop, start + first)
    elif last is not None:
        start = max(start, stop - last)
    info = {"hasNextPage": stop < len(items), "hasPreviousPage": start > 0}
    info |= {"startCursor": write_cursor(start), "endCursor": write_cursor(stop)}
    if start >= stop:
        info |= {"startCursor": None, "endCursor": None}
    return {"totalCount": len(items), "nodes": items[start:stop], "pageInfo": info}


def write_cursor(position: int) -> str:
    return base64.b64encode(f"cursor:v2:{position}".encode()).decode()


def read_cursor(cursor: str) -> int:
    try:
        return int(base64.b64decode(cursor).decode().rsplit(":", 1)[1])
    except (binascii.Error, ValueError, IndexError):
        message = f"`{cursor}` does not appear to be a valid cursor."
        raise failure("INVALID_CURSOR_ARGUMENTS", message) from None


def connection(name: str, items: Callable[[Any], Sequence[Any]]) -> Field:
    return lambda _, source, **arguments: page(name, items(source), **arguments)


def viewer_user(viewer: Viewer, _: Any) -> dict[str, Any]:
    """`viewer` cannot be null: without one, `data` as a whole is. Its login has `[bot]`."""
    if not viewer.token.has_viewer:
        raise forbidden()
    user = viewer.token.user
    return {"login": user.login, "databaseId": user.id, "id": user.node_id}


def find_pull(viewer: Viewer, home: Repository, number: int) -> Pull:
    viewer.need_read(home, "pull_requests")
    found = home.pulls_by_number.get(number)
    if found is None or found.deleted:
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return found


def pulls(viewer: Viewer, home: Repository, **page_arguments: Any) -> Any:
    viewer.need_read(home, "pull_requests")
    states, ref = page_arguments.get("states"), page_arguments.get("headRefName")
    found = [pull for pull in home.pulls if not pull.deleted]
    found = [pull for pull in found if not states or pull.state.upper() in states]
    found = [pull for pull in found if ref in (None, pull.head_ref)]
    if (page_arguments.get("orderBy") or {}).get("direction") == "DESC":
        found.reverse()
    return page("pullRequests", found, **page_arguments)


def find_issue(viewer: Viewer, home: Repository, number: int) -> Issue:
    viewer.need_read(home, "issues")
    if number not in home.issues_by_number:
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return home.issues_by_number[number]


def closing_issues(viewer: Viewer, pull: Pull, **page_arguments: Any) -> Any:
    viewer.need_read(pull.repository, "issues")
    return page("closingIssuesReferences", pull.closes, **page_arguments)


def reviews(viewer: Viewer, pull: Pull, **page_arguments: Any) -> Any:
    states, author = page_arguments.get("states"), page_arguments.get("author")
    found = [r for r in pull.reviews if r.state != "PENDING" or r.user is viewer.token.user]
    found = [r for r in found if not states or r.state in states]
    found = [r for r in found if author in (None, r.login, r.user.graphql_login)]
    return page("reviews", found, **page_arguments)


def threads(viewer: Viewer, pull: Pull, **page_arguments: Any) -> Any:
    found = [each for each in pull.all_threads if each.is_visible_to(viewer.token.user)]
    return page("reviewThreads", found, **page_arguments)


def thread_comments(viewer: Viewer, thread: Thread, **page_arguments: Any) -> Any:
    me = viewer.token.user
    found = [each for each in thread.comments if not each.is_pending or each.user is me]
    return page("comments", found, **page_arguments)


def commit_at(viewer: Viewer, home: Repository, name: str) -> Commit | None:
    viewer.need_read(home, "contents")
    sha = home.bare.sha(name)
    return Commit(home, sha) if sha else None


def ref(home: Repository, name: str) -> dict[str, Any] | None:
    sha = home.bare.sha(name)
    target = Commit(home, sha) if sha else None
    return {"name": name.removeprefix("refs/heads/"), "target": target} if sha else None


def tree_entry(viewer: Viewer, commit: Commit, path: str) -> dict[str, Any] | None:
    viewer.need_read(commit.repository, "contents")
    entry = commit.repository.bare.entry(commit.sha, path)
    if entry is None:
        return None
    return {"path": path, "mode": int(entry[0], 8), "type": entry[1], "oid": entry[2]}


def git_actor(viewer: Viewer, name: str, email: str, date: str) -> dict[str, Any]:
    """`user` is the account; there is none for a bot."""
    account = viewer.github.users.get(name)
    user = account if account and account.kind == "User" else None
    return {"name": name, "email": email, "date": date, "user": user}


def author(viewer: Viewer, commit: Commit) -> dict[str, Any]:
    fields = commit.fields
    return git_actor(viewer, fields.author, fields.email, fields.date)


def committer(viewer: Viewer, commit: Commit) -> dict[str, Any]:
    fields = commit.fields
    return git_actor(viewer, fields.committer, fields.committer_email, fields.committed)


def signature(_: Viewer, commit: Commit) -> dict[str, Any] | None:
    if (commit.fields.committer, commit.fields.committer_email) != GITHUB:
        return None
    valid = {"isValid": True, "wasSignedByGitHub": True, "state": "VALID"}
    return {"__typename": "GpgSignature", **valid}


def check_suites(viewer: Viewer, commit: Commit, **page_arguments: Any) -> Any:
    """By app, each with its newest run of a name."""
    viewer.need_in_public("checks")
    runs: dict[str, dict[str, CheckRun]] = {}
    for run in commit.repository.check_runs(commit.sha):
        runs.setdefault(run.app, {})[run.name] = run
    suites = [{"app": {"slug": app, "name": app}, "runs": each} for app, each in runs.items()]
    return page("checkSuites", suites, **page_arguments)


def status(viewer: Viewer, commit: Commit) -> dict[str, Any] | None:
    viewer.need_in_public("statuses")
    found = [each for each in commit.repository.statuses if each.sha == commit.sha]
    return {"contexts": list({each.context: each for each in found}.values())} if found else None


def edited_at(_: Viewer, comment: Comment | ReviewComment) -> str | None:
    return comment.updated_at if comment.editor else None


def upper(name: str) -> Field:
    """GraphQL writes words of REST as constants."""
    return lambda _, record: value.upper() if (value := getattr(record, name)) else None


COMMON: dict[str, Field] = {
    "id": "node_id",
    "databaseId": lambda *_: None,  # comments are above 32 bits
    "fullDatabaseId": lambda _, record: str(record.id),
    "author": "user",
    "viewerDidAuthor": lambda viewer, record: record.user is viewer.token.user,
    "isMinimized": lambda _, record: record.minimized is not None,
    "minimizedReason": lambda _, record: record.minimized and record.minimized.lower(),
    "lastEditedAt": edited_at,
}
ACCOUNT: dict[str, Field] = {
    "databaseId": "id",
    "login": "graphql_login",
    "url": lambda viewer, user: f"{viewer.github.server_url}/{user.graphql_login}",
}
LABELS = connection("labels", lambda record: [{"name": name} for name in record.labels])
COMMENTS = connection("comments", lambda record: record.comments)
FIELDS: dict[str, dict[str, Field]] = {
    "Query": {
        "viewer": viewer_user,
        "repository": lambda viewer, _, owner, name, **__: viewer.find_repository(
            f"{owner}/{name}"
        ),
    },
    "User": ACCOUNT,
    "Bot": ACCOUNT,
    "Repository": {
        "nameWithOwner": "full_name",
        "isPrivate": "private",
        "owner": lambda viewer, home: viewer.github.user(home.owner),
        "viewerPermission": lambda viewer, home: home.role(viewer.token.user.login).upper(),
        "defaultBranchRef": lambda _, home: ref(home, "refs/heads/main"),
        "ref": lambda _, home, qualifiedName: ref(home, qualifiedName),
        "object": lambda viewer, home, oid=None, expression=None: commit_at(
            viewer, home, oid or expression
        ),
        "pullRequest": find_pull,
        "pullRequests": pulls,
        "issue": find_issue,
    },
    "PullRequest": {
        "state": lambda _, pull: "MERGED" if pull.merged else pull.state.upper(),
        "isDraft": "draft",
        "labels": LABELS,
        "baseRepository": "repository",
        "baseRefName": "base_ref",
        "baseRefOid": "base_sha",
        "headRefName": "head_ref",
        "headRefOid": "head_sha",
        "isCrossRepository": lambda _, pull: pull.head_repository is not pull.repository,
        "comments": COMMENTS,
        "reviews": reviews,
        "reviewThreads": threads,
        "commits": connection(
            "commits",
            lambda pull: [{"commit": Commit(pull.repository, sha)} for sha in pull.commits],
        ),
        "closingIssuesReferences": closing_issues,
    },
    "Issue": {"state": upper("state"), "labels": LABELS, "comments": COMMENTS},
    "PullRequestReview": {
        "comments": COMMENTS,
        "commit": lambda _, review: Commit(review.repository, review.commit_id),
    },
    "PullRequestReviewThread": {
        "diffSide": "anchor.side",
        "startDiffSide": "anchor.start_side",
        "originalLine": "anchor.line",
        "originalStartLine": "anchor.start_line",
        "comments": thread_comments,
    },
    "PullRequestReviewComment": {
        "path": "thread.path",
        "diffHunk": "thread.anchor.hunk",
        "line": "thread.line",
        "startLine": "thread.start_line",
        "originalLine": "thread.anchor.line",
        "outdated": "thread.is_outdated",
        "state": lambda _, comment: "PENDING" if comment.is_pending else "SUBMITTED",
        "replyTo": lambda _, comment: (
            comment.thread.comments[0] if comment.in_reply_to_id else None
        ),
        "pullRequestReview": "review",
    },
    "Commit": {
        "id": lambda _, commit: f"C_{commit.sha}",
        "oid": "sha",
        "message": "fields.message",
        "messageHeadline": lambda _, commit: commit.fields.message.split("\n")[0],
        "author": author,
        "committer": committer,
        "committedDate": "fields.committed",
        "authoredDate": "fields.date",
        "signature": signature,
        "parents": connection(
            "parents",
            lambda commit: [Commit(commit.repository, sha) for sha in commit.fields.parents],
        ),
        "file": tree_entry,
        "checkSuites": check_suites,
        "status": status,
    },
    "CheckSuite": {
        "checkRuns": connection("checkRuns", lambda suite: list(suite["runs"].values()))
    },
    "CheckRun": {
        "databaseId": "id",
        "status": upper("status"),
        "conclusion": upper("conclusion"),
        "title": lambda _, run: run.output.get("title"),
        "summary": lambda _, run: run.output.get("summary"),
        "text": lambda _, run: run.output.get("text"),
    },
    "StatusContext": {"state": upper("state")},
}
TYPES: dict[type, str] = {
    Comment: "IssueComment",
    ReviewComment: "PullRequestReviewComment",
    Review: "PullRequestReview",
    Issue: "Issue",
    Pull: "PullRequest",
    CheckRun: "CheckRun",
    Commit: "Commit",
}
