"""What stands under a pull request: one GraphQL query, and a page more where there is a lot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.github.client import CallError, Client, graphql_error, one_line

PAGE = 100
MAX_PAGES = 60  # of a list
BOT = "[bot]"

# Fields are asked for by the names that they have below. Ids of comments have long left the 32 bits
# of databaseId. Check runs and commit statuses are asked for apart, because each needs a permission
# of its own.
WHO = "author { type: __typename login }"
POST = "nodeId: id id: fullDatabaseId isOwn: viewerDidAuthor isMinimized body"
COMMENT = f"{POST} {WHO} createdAt lastEditedAt url"
# What is read of each list under a pull request.
LISTS: Mapping[str, str] = {
    "labels": "name",
    "comments": COMMENT,
    "reviewThreads": "nodeId: id isResolved resolvedBy { login }"
    f" comments(first: 50) {{ nodes {{ {COMMENT} }} }}",
    "reviews": f"{POST} state",
    "checkSuites": "app { slug } checkRuns(first: 100, filterBy: {checkType: LATEST})"
    " { nodes { databaseId url name conclusion title externalId } }",
}
# Something of ours may be in these.
OWN = ("comments", "reviewThreads", "reviews")
PULL = (
    f"number title body state isDraft isLocked: locked {WHO}"
    " baseRef: baseRefName baseSha: baseRefOid headRef: headRefName headSha: headRefOid"
    " headRepository { nameWithOwner } message: commits(last: 1) { nodes { commit { message } } }"
)


class Author(Struct, frozen=True):
    """An account. The login of a bot ends in [bot], as REST and webhooks have it."""

    login: str
    type: str = "User"

    def __post_init__(self) -> None:
        if self.type == "Bot" and not self.login.endswith(BOT):
            msgspec.structs.force_setattr(self, "login", f"{self.login}{BOT}")


class PullRequest(Struct, frozen=True, kw_only=True, rename="camel"):
    """`head_repository` is empty if it was deleted; `message` is that of the newest commit."""

    number: int
    title: str
    body: str = ""
    state: str
    is_draft: bool
    is_locked: bool
    author: Author | None = None
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: str = ""
    labels: tuple[str, ...] = ()
    message: str = ""


class Comment(Struct, frozen=True, kw_only=True, rename="camel"):
    """A comment, or one of a thread. `is_own` if this account wrote it."""

    node_id: str
    id: int = 0
    author: Author | None = None
    is_own: bool
    is_minimized: bool
    body: str
    created_at: str
    last_edited_at: str = ""
    url: str


class Thread(Struct, frozen=True, kw_only=True, rename="camel"):
    """A conversation about lines."""

    node_id: str
    is_resolved: bool
    resolved_by: str = ""
    comments: tuple[Comment, ...]


class PostedReview(Struct, frozen=True, kw_only=True, rename="camel"):
    """`state` is PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED."""

    node_id: str
    id: int = 0
    is_own: bool
    is_minimized: bool = False
    state: str
    body: str = ""


class CheckRun(Struct, frozen=True, kw_only=True, rename="camel"):
    """A check run of the head. `conclusion` is empty until it ends."""

    id: int
    name: str
    conclusion: str
    title: str = ""
    external_id: str = ""
    app: str


class Snapshot(Struct, frozen=True, kw_only=True):
    """A pull request, and all that stands under it.

    `me` is our login, or empty. `hides_own`: something could not be read that may be ours.
    """

    repository: str
    me: str
    pull: PullRequest
    comments: tuple[Comment, ...] = ()
    threads: tuple[Thread, ...] = ()
    reviews: tuple[PostedReview, ...] = ()
    checks: tuple[CheckRun, ...] = ()
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
        raise CallError("failed", message) from error


def may_write(client: Client, login: str) -> bool:
    """Whether somebody may write to the repository now. Whoever is not surely known may not.

    A role of an organisation's own counts as the least that its base permission stands for.
    """
    try:
        path = f"/collaborators/{quote(login, safe='')}/permission"
        found = client.read(path, "tell what somebody may do")
    except CallError:
        return False
    return isinstance(found, dict) and found.get("permission") in ("admin", "write")


def _read(client: Client, number: int, doing: str) -> Snapshot:
    owner, _, name = client.repository.partition("/")
    variables = {"owner": owner, "name": name, "number": number, "after": None}
    data, faults = client.query(_query(LISTS, PULL, "viewer { login }"), variables, doing)
    if not data:  # the viewer cannot be null: where a token has none, there is no data at all
        data, faults = client.query(_query(LISTS, PULL), variables, doing)
    found = (data.get("repository") or {}).get("pullRequest")
    if not found:
        raise graphql_error(faults, doing)
    lists: dict[str, list[Any]] = {}
    hides_own = False
    for key in LISTS:
        entries: list[Any] = []
        page = _page(found, key)
        for _ in range(MAX_PAGES):
            entries += (page or {}).get("nodes") or []
            if not page or not page["pageInfo"]["hasNextPage"]:
                break
            variables["after"] = page["pageInfo"]["endCursor"]
            more, _ = client.query(_query([key]), variables, doing)
            page = _page((more.get("repository") or {}).get("pullRequest") or {}, key)
        else:
            page = None
        lists[key] = [entry for entry in entries if entry is not None]
        within = [(entry.get("comments") or {}).get("nodes") or [] for entry in lists[key]]
        is_torn = any(None in nodes for nodes in (entries, *within))
        hides_own |= (page is None or is_torn) and key in OWN
    pull = _plain(found | lists)
    pull["message"] = "".join(pull.get("message", ()))
    plain = {
        "repository": data["repository"]["nameWithOwner"],
        "me": (data.get("viewer") or {}).get("login") or "",
        "pull": pull,
        "comments": pull["comments"],
        "threads": pull["reviewThreads"],
        "reviews": pull["reviews"],
        "checks": [run for suite in pull["checkSuites"] for run in _check_runs(suite)],
        "hides_own": hides_own,
    }
    snapshot = msgspec.convert(plain, Snapshot, strict=False)
    own = (c.author.login for c in snapshot.comments if c.is_own and c.author)
    return snapshot if snapshot.me else replace(snapshot, me=next(own, ""))


def _plain(node: Any) -> Any:
    """What GraphQL answers, without null: a page as its list, and an object of one field as it."""
    if isinstance(node, list):
        return [_plain(each) for each in node if each is not None]
    if not isinstance(node, dict):
        return node
    if "nodes" in node:
        return _plain(node["nodes"] or [])
    found = {name: _plain(value) for name, value in node.items() if value is not None}
    return found if len(node) > 1 else next(iter(found.values()), "")


def _query(keys: Iterable[str], pull: str = "", viewer: str = "") -> str:
    page = f"(first: {PAGE}, after: $after) {{ pageInfo {{ hasNextPage endCursor }} nodes"
    lists = {key: f"{key}{page} {{ {LISTS[key]} }} }}" for key in keys}
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
    heads = (pull.get("head") or {}).get("nodes") or []
    return next((node["commit"].get(key) for node in heads if node is not None), None)


def _check_runs(suite: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The id is at the end of the address: databaseId has 32 bits, and there are more runs."""
    for run in suite.get("checkRuns", ()):
        number = re.search(r"/(?:runs|job)/([0-9]{1,18})\Z", run.get("url", ""))
        id = run.get("databaseId") or (int(number[1]) if number else 0)
        conclusion = run.get("conclusion", "").lower()
        yield run | {"id": id, "conclusion": conclusion, "app": suite.get("app", "")}
