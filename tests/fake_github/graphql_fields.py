"""How records look in GraphQL, as one token sees them.

A field is the attribute of the same name in snake_case unless a table below has it: as the path
of another attribute, or as a function of viewer, record and arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLResolveInfo

from tests.fake_github.pull import Pull
from tests.fake_github.records import CheckRun, Comment, Issue, Review, ReviewComment, Thread, User

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
        """Checks need a permission in a public repository, too."""
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
    def message(self) -> str:
        return self.repository.bare.message(self.sha)


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
    if not 0 < (first or last or 0) <= MOST_PER_PAGE:
        message = f"You must provide a `first` or `last` up to {MOST_PER_PAGE} for `{name}`."
        raise failure("EXCESSIVE_PAGINATION", message)
    start, stop = int(after or 0), len(items)
    if first is not None:
        stop = min(stop, start + first)
    elif last is not None:
        start = max(start, stop - last)
    info = {"hasNextPage": stop < len(items), "endCursor": str(stop)}
    return {"totalCount": len(items), "nodes": items[start:stop], "pageInfo": info}


def connection(name: str, items: Callable[[Any], Sequence[Any]]) -> Field:
    return lambda _, source, **arguments: page(name, items(source), **arguments)


def viewer_user(viewer: Viewer, _: Any) -> dict[str, Any]:
    """Its login has `[bot]`."""
    user = viewer.token.user
    return {"login": user.login, "databaseId": user.id, "id": user.node_id}


def find_pull(viewer: Viewer, home: Repository, number: int) -> Pull:
    viewer.need_read(home, "pull_requests")
    found = home.pulls_by_number.get(number)
    if found is None:
        raise not_found(f"Could not resolve to a PullRequest with the number of {number}.")
    return found


def find_issue(viewer: Viewer, home: Repository, number: int) -> Issue:
    viewer.need_read(home, "issues")
    found = home.issues_by_number.get(number)
    if found is None:
        raise not_found(f"Could not resolve to an Issue with the number of {number}.")
    return found


def reviews(viewer: Viewer, pull: Pull, **page_arguments: Any) -> Any:
    found = [r for r in pull.reviews if r.state != "PENDING" or r.user is viewer.token.user]
    return page("reviews", found, **page_arguments)


def threads(viewer: Viewer, pull: Pull, **page_arguments: Any) -> Any:
    found = [each for each in pull.all_threads if each.is_visible_to(viewer.token.user)]
    return page("reviewThreads", found, **page_arguments)


def thread_comments(viewer: Viewer, thread: Thread, **page_arguments: Any) -> Any:
    me = viewer.token.user
    found = [each for each in thread.comments if not each.is_pending or each.user is me]
    return page("comments", found, **page_arguments)


def check_suites(viewer: Viewer, commit: Commit, **page_arguments: Any) -> Any:
    """By app, each with its newest run of a name."""
    viewer.need_in_public("checks")
    runs: dict[str, dict[str, CheckRun]] = {}
    name = (page_arguments.get("filterBy") or {}).get("checkName")
    for run in commit.repository.check_runs(commit.sha):
        if name in (None, run.name):
            runs.setdefault(run.app, {})[run.name] = run
    suites = [{"app": {"slug": app, "name": app}, "runs": each} for app, each in runs.items()]
    return page("checkSuites", suites, **page_arguments)


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
ACCOUNT: dict[str, Field] = {"databaseId": "id", "login": "graphql_login"}
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
    "Repository": {"nameWithOwner": "full_name", "pullRequest": find_pull, "issue": find_issue},
    "Issue": {"comments": COMMENTS},
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
    },
    "PullRequestReviewThread": {"comments": thread_comments},
    "Commit": {"oid": "sha", "checkSuites": check_suites},
    "CheckSuite": {
        "checkRuns": connection("checkRuns", lambda suite: list(suite["runs"].values()))
    },
    "CheckRun": {
        "databaseId": "id",
        "status": upper("status"),
        "conclusion": upper("conclusion"),
        "title": lambda _, run: run.output.get("title"),
        "summary": lambda _, run: run.output.get("summary"),
    },
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
