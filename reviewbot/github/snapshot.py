"""What stands under a pull request: one GraphQL query, and a page more where there is a lot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from reviewbot.github.client import Client, GitHubError, GraphqlFault, graphql_error, one_line

PAGE = 100
MAX_FURTHER_PAGES = 60  # of all lists together
BOT = "[bot]"

WHO = "author { __typename login }"
# Ids of comments have long left the 32 bits of databaseId. Check runs and commit statuses are asked
# for apart, because each needs a permission of its own.
COMMENT = f"id fullDatabaseId {WHO} viewerDidAuthor isMinimized body createdAt lastEditedAt url"
# Each list under a pull request: its words for a reader, and what is read of it.
LISTS: Mapping[str, tuple[str, str]] = {
    "labels": ("labels", "name"),
    "comments": ("comments", COMMENT),
    "reviewThreads": (
        "review threads",
        "id path line isResolved resolvedBy { login }"
        f" comments(first: 50) {{ nodes {{ {COMMENT} }} }}",
    ),
    "reviews": ("reviews", "id fullDatabaseId viewerDidAuthor state body isMinimized"),
    "checkSuites": (
        "checks of the head",
        "app { slug } checkRuns(first: 100, filterBy: {checkType: LATEST})"
        " { nodes { databaseId url name conclusion title externalId } }",
    ),
}
# Something of ours may be in these.
OWN = ("comments", "reviewThreads", "reviews")
PULL = (
    f"number title body state isDraft locked url changedFiles {WHO}"
    " baseRefName baseRefOid headRefName headRefOid headRepository { nameWithOwner }"
    " lastCommit: commits(last: 1) { nodes { commit { message } } }"
)


class Author(Struct, frozen=True):
    """An account. The login of a bot ends in [bot], as REST and webhooks have it."""

    login: str
    type: str = "User"


class PullRequest(Struct, frozen=True, kw_only=True, rename="camel"):
    """A pull request.

    Attributes:
        head_repository: `owner/name`; empty if it was deleted.
        message: of the newest commit.
    """

    number: int
    title: str
    body: str = ""
    state: str
    is_draft: bool
    is_locked: bool = msgspec.field(name="locked")
    url: str
    changed_files: int
    author: Author | None
    base_ref: str = msgspec.field(name="baseRefName")
    base_sha: str = msgspec.field(name="baseRefOid")
    head_ref: str = msgspec.field(name="headRefName")
    head_sha: str = msgspec.field(name="headRefOid")
    head_repository: str = ""
    labels: tuple[str, ...] = ()
    message: str = ""


class Comment(Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment, or one of a thread. `is_own` if this account wrote it."""

    node_id: str = msgspec.field(name="id")
    id: int = msgspec.field(name="fullDatabaseId", default=0)
    author: Author | None
    is_own: bool = msgspec.field(name="viewerDidAuthor")
    is_minimized: bool
    is_edited: bool
    body: str
    created_at: str
    url: str


class Thread(Struct, frozen=True, kw_only=True, rename="camel"):
    """A conversation about lines; `line` is None once they are outdated."""

    node_id: str = msgspec.field(name="id")
    path: str
    line: int | None
    is_resolved: bool
    resolved_by: str = ""
    comments: tuple[Comment, ...]


class PostedReview(Struct, frozen=True, kw_only=True, rename="camel"):
    """`state` is PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED."""

    node_id: str = msgspec.field(name="id")
    id: int = msgspec.field(name="fullDatabaseId", default=0)
    is_own: bool = msgspec.field(name="viewerDidAuthor")
    is_minimized: bool = False
    state: str
    body: str = ""


class CheckRun(Struct, frozen=True, kw_only=True):
    """A check run of the head. `conclusion` is empty until it ends."""

    id: int
    name: str
    conclusion: str
    title: str
    external_id: str
    app: str


class Snapshot(Struct, frozen=True, kw_only=True):
    """A pull request, and all that stands under it.

    Attributes:
        repository: `owner/name` as it is called now.
        me: our login; empty if GitHub does not say.
        unread: what could not be read, and why.
        hides_own: something of ours may be among that.
    """

    repository: str
    me: str
    pull: PullRequest
    comments: tuple[Comment, ...] = ()
    threads: tuple[Thread, ...] = ()
    reviews: tuple[PostedReview, ...] = ()
    checks: tuple[CheckRun, ...] = ()
    unread: tuple[str, ...] = ()
    hides_own: bool = False

    @property
    def is_fork(self) -> bool:
        return self.pull.head_repository.lower() != self.repository.lower()


def read_snapshot(client: Client, number: int) -> Snapshot:
    """Raises GitHubError."""
    try:
        return _read(client, number, f"read pull request {number}")
    except (msgspec.ValidationError, AttributeError, KeyError, TypeError) as error:
        words = one_line(f"{type(error).__name__}: {error}")
        message = f"GitHub's answer about pull request {number} has another shape: {words}"
        raise GitHubError("failed", message) from error


def may_write(client: Client, login: str) -> bool:
    """Whether somebody may write to the repository now. Whoever is not surely known may not.

    A role of an organisation's own counts as the least that its base permission stands for.
    """
    try:
        path = f"/collaborators/{quote(login, safe='')}/permission"
        found = client.read(path, "tell what somebody may do")
    except GitHubError as error:
        if error.kind in ("not_authorized", "deferred"):
            raise
        return False
    return isinstance(found, dict) and found.get("permission") in ("admin", "write")


def _read(client: Client, number: int, doing: str) -> Snapshot:
    owner, _, name = client.repository.partition("/")
    variables = {"owner": owner, "name": name, "number": number, "after": None}
    data, faults = client.query(_query(LISTS, PULL, "viewer { login }"), variables, doing)
    if not data and any(fault.path[:1] == ("viewer",) for fault in faults):
        # The viewer cannot be null: where a token has none, there is no data at all.
        data, faults = client.query(_query(LISTS, PULL), variables, doing)
    found = (data.get("repository") or {}).get("pullRequest")
    if not found:
        raise graphql_error(faults, doing)
    unread = [*map(_unread_words, faults)]
    lists: dict[str, list[Any]] = {}
    left, hides_own = MAX_FURTHER_PAGES, False
    for key, (words, _) in LISTS.items():
        entries: list[Any] = []
        page = _page(found, key)
        while page:
            entries += page.get("nodes") or []
            if not page["pageInfo"]["hasNextPage"]:
                break
            left -= 1
            if left < 0:
                unread.append(f"{words}: there are too many")
                page = None
                break
            variables["after"] = page["pageInfo"]["endCursor"]
            more, faults = client.query(_query([key]), variables, doing)
            unread += map(_unread_words, faults)
            page = _page((more.get("repository") or {}).get("pullRequest") or {}, key)
        lists[key] = [entry for entry in entries if entry is not None]
        within = [(entry.get("comments") or {}).get("nodes") or [] for entry in lists[key]]
        is_torn = any(None in nodes for nodes in (entries, *within))
        unread += [f"some {words}"] if is_torn else []
        hides_own |= (page is None or is_torn) and key in OWN
    comments = [_comment(node) for node in lists["comments"]]
    own = next((c["author"]["login"] for c in comments if c["viewerDidAuthor"] and c["author"]), "")
    about = {
        **found,
        "author": _author(found.get("author")),
        "body": found.get("body") or "",
        "labels": [label["name"] for label in lists["labels"]],
        "headRepository": (found.get("headRepository") or {}).get("nameWithOwner") or "",
        "message": "".join(node["commit"]["message"] for node in _nodes(found.get("lastCommit"))),
    }
    threads = [
        {
            **node,
            "resolvedBy": (node.get("resolvedBy") or {}).get("login") or "",
            "comments": [_comment(comment) for comment in _nodes(node["comments"])],
        }
        for node in lists["reviewThreads"]
    ]
    plain = {
        "repository": data["repository"]["nameWithOwner"],
        "me": (data.get("viewer") or {}).get("login") or own,
        "pull": about,
        "comments": comments,
        "threads": threads,
        "reviews": [{**node, "body": node.get("body") or ""} for node in lists["reviews"]],
        "checks": [run for suite in lists["checkSuites"] for run in _check_runs(suite)],
        "unread": list(dict.fromkeys(unread)),
        "hides_own": hides_own,
    }
    return msgspec.convert(plain, Snapshot, strict=False)


def _query(keys: Iterable[str], pull: str = "", viewer: str = "") -> str:
    page = f"(first: {PAGE}, after: $after) {{ pageInfo {{ hasNextPage endCursor }} nodes"
    lists = {key: f"{key}{page} {{ {LISTS[key][1]} }} }}" for key in keys}
    if checks := lists.pop("checkSuites", ""):
        lists["head"] = f"head: commits(last: 1) {{ nodes {{ commit {{ {checks} }} }} }}"
    return f"""query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  {viewer}
  repository(owner: $owner, name: $name) {{
    nameWithOwner
    pullRequest(number: $number) {{ {pull} {" ".join(lists.values())} }}
  }}
}}"""


def _page(pull: Mapping[str, Any], key: str) -> Any:
    """One page of a list; None if it may not be read, or if the head has no checks."""
    if key != "checkSuites":
        return pull.get(key)
    return next((node["commit"].get(key) for node in _nodes(pull.get("head"))), None)


def _nodes(page: Mapping[str, Any] | None) -> list[Any]:
    return [node for node in (page or {}).get("nodes") or [] if node is not None]


def _unread_words(fault: GraphqlFault) -> str:
    part = next((LISTS[key][0] for key in fault.path if key in LISTS), "")
    return one_line(f"{part or '.'.join(fault.path[2:]) or 'something'}: {fault.message}")


def _author(node: Mapping[str, Any] | None) -> dict[str, str] | None:
    """None if the account was deleted."""
    if node is None:
        return None
    login, kind = node["login"], node["__typename"]
    is_bare = kind == "Bot" and not login.endswith(BOT)
    return {"login": f"{login}{BOT}" if is_bare else login, "type": kind}


def _comment(node: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **node,
        "author": _author(node.get("author")),
        "fullDatabaseId": node.get("fullDatabaseId") or 0,
        "isEdited": node.get("lastEditedAt") is not None,
    }


def _check_runs(suite: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The id is at the end of the address: databaseId has 32 bits, and there are more runs."""
    app = (suite.get("app") or {}).get("slug") or ""
    for node in _nodes(suite.get("checkRuns")):
        number = re.search(r"/(?:runs|job)/([0-9]{1,18})\Z", node.get("url") or "")
        yield {
            "id": node.get("databaseId") or (int(number[1]) if number else 0),
            "name": node["name"],
            "conclusion": (node.get("conclusion") or "").lower(),
            "title": node.get("title") or "",
            "external_id": node.get("externalId") or "",
            "app": app,
        }
