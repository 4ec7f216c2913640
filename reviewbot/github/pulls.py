"""What stands under a pull request, read by one GraphQL query and a page more where there is a lot,
and what of it is kept there by us: a hidden line in the summary, and hidden markers.

A marker counts where it opens a comment that this account wrote: anybody can write such a line.
The state holds what people decided, numbers, and what panelists read; never what is open or fixed.
"""

import base64
import json
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, Self
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from reviewbot.github.client import CallError, Client, as_described, graphql_error
from reviewbot.severity import RANK
from reviewbot.text.markdown import whole_lines
from reviewbot.text.plain import first_line, shortened
from reviewbot.verdict.document import Memory

ReviewEvent = Literal["COMMENT", "APPROVE", "REQUEST_CHANGES"]
PAGE = 100
MAX_PAGES = 60  # of a list
BOT = "[bot]"

SUMMARY = "<!-- reviewbot:summary -->"
MAX_CHARACTERS, MAX_INFLATED = 20_000, 400_000  # of the line; bytes of what is in it
MAX_BODY = 65_000  # bytes of a comment; GitHub refuses 65,537 characters
MAX_TITLE = 120
STATE = re.compile(r"<!-- reviewbot:state ([A-Za-z0-9+/=]+) -->")
ID = re.compile(r"F[0-9]{1,6}")
# The first line of a comment that is about a finding, of an answer in its thread when it is gone,
# of a review, and of an answer to a command; and how they are read.
FINDING_MARKER = "<!-- reviewbot:finding key={key} id={id} commit={commit} -->"
CLOSED_MARKER = "<!-- reviewbot:closed key={key} -->"
REVIEW_MARKER = "<!-- reviewbot:review commit={commit} event={event} keys={keys} -->"
ANSWER_MARKER = "<!-- reviewbot:answer comment={comment} -->"
EVENT = "(COMMENT|APPROVE|REQUEST_CHANGES)"
FINDING = re.compile(FINDING_MARKER.format(key=r"([\w-]+)", id="(F[0-9]{1,6})", commit=r"(\w*)"))
CLOSED = re.compile(CLOSED_MARKER.format(key=r"([\w-]+)"))
REVIEW = re.compile(REVIEW_MARKER.format(commit=r"(\w+)", event=EVENT, keys=r"([\w,-]*)"))
ANSWER = re.compile(ANSWER_MARKER.format(comment=r"(\d{1,20})"))

# Fields get the names that they have below. Ids of comments do not fit the 32 bits of databaseId.
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
}
# Something of ours may be in these.
OWN = ("comments", "reviewThreads", "reviews")
CHECK_NAME = "reviewbot"
OURS = f'checkName: "{CHECK_NAME}"'
PULL = (
    f"number title body state isDraft isLocked: locked {WHO}"
    " baseRef: baseRefName baseSha: baseRefOid headRef: headRefName headSha: headRefOid"
    " headRepository { nameWithOwner } message: commits(last: 1) { nodes { commit { message } } }"
    f" head: commits(last: 1) {{ nodes {{ commit {{ checkSuites(first: 100, filterBy: {{{OURS}}})"
    f" {{ nodes {{ app {{ slug }} checkRuns(first: 1, filterBy: {{checkType: LATEST, {OURS}}})"
    " { nodes { databaseId url conclusion title externalId } } } } } } }"
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
    """A check run of ours at the head, or of another app. `conclusion` is empty until it ends."""

    id: int
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
    threads: tuple[Thread, ...] = msgspec.field(name="reviewThreads", default=())
    reviews: tuple[PostedReview, ...] = ()
    checks: tuple[CheckRun, ...] = ()
    hides_own: bool = False

    @property
    def is_fork(self) -> bool:
        return self.pull.head_repository.lower() != self.repository.lower()


@as_described()
def read_snapshot(client: Client, number: int) -> Snapshot:
    """Raises GitHubError."""
    doing = f"read pull request {number}"
    variables: dict[str, Any] = {"number": number, "after": None}
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
        page = found.get(key)
        for _ in range(MAX_PAGES):
            entries += (page or {}).get("nodes") or []
            if not page or not page["pageInfo"]["hasNextPage"]:
                break
            variables["after"] = page["pageInfo"]["endCursor"]
            more, _ = client.query(_query([key]), variables, doing)
            page = ((more.get("repository") or {}).get("pullRequest") or {}).get(key)
        else:
            page = None
        lists[key] = [entry for entry in entries if entry is not None]
        within = [(entry.get("comments") or {}).get("nodes") or [] for entry in lists[key]]
        is_torn = any(None in nodes for nodes in (entries, *within))
        hides_own |= (page is None or is_torn) and key in OWN
    pull = _plain(found | lists)
    pull["message"] = "".join(pull.get("message", ()))
    runs = []
    for suite in (suite for suites in pull.get("head", ()) for suite in suites):
        for run in suite.get("checkRuns", ()):
            # The id is at the end of the address: databaseId has 32 bits, and there are more runs.
            found_id = re.search(r"/(?:runs|job)/([0-9]{1,18})\Z", run.get("url", ""))
            id = run.get("databaseId") or (int(found_id[1]) if found_id else 0)
            conclusion = run.get("conclusion", "").lower()
            runs.append(run | {"id": id, "conclusion": conclusion, "app": suite.get("app", "")})
    plain = {
        "repository": data["repository"]["nameWithOwner"],
        "me": (data.get("viewer") or {}).get("login") or "",
        "pull": pull,
        **{name: pull[name] for name in OWN},
        "checks": runs,
        "hides_own": hides_own,
    }
    snapshot = msgspec.convert(plain, Snapshot, strict=False)
    own = (c.author.login for c in snapshot.comments if c.is_own and c.author)
    return snapshot if snapshot.me else replace(snapshot, me=next(own, ""))


def may_write(client: Client, login: str) -> bool:
    """Whether somebody may write to the repository now. Whoever is not surely known may not.

    A role of an organisation's own counts as the least that its base permission stands for.
    """
    try:
        path = f"/collaborators/{quote(login, safe='')}/permission"
        found = client.read(path, "tell what somebody may do")
    except CallError as error:
        if error.kind == "failed":  # GitHub's own trouble is no answer
            raise
        return False
    return isinstance(found, dict) and found.get("permission") in ("admin", "write")


@as_described()
def read_comments(client: Client, issue: int) -> tuple[Comment, ...]:
    """The newest comments on an issue that is no pull request. Raises GitHubError."""
    comments = f"issue(number: $number) {{ comments(last: {PAGE}) {{ nodes {{ {COMMENT} }} }} }}"
    text = f"""query($owner: String!, $name: String!, $number: Int!) {{
  repository(owner: $owner, name: $name) {{ {comments} }}
}}"""
    doing = "read comments of an issue"
    data, faults = client.query(text, {"number": issue}, doing)
    if not (found := (data.get("repository") or {}).get("issue")):
        raise graphql_error(faults, doing)
    return msgspec.convert(_plain(found), tuple[Comment, ...], strict=False)


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
    lists = " ".join(f"{key}{page} {{ {LISTS[key]} }} }}" for key in keys)
    return f"""query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  {viewer}
  repository(owner: $owner, name: $name) {{
    nameWithOwner
    pullRequest(number: $number) {{ {pull} {lists} }}
  }}
}}"""


class Fix(Struct, frozen=True, kw_only=True):
    commit: str
    findings: tuple[str, ...]


class State(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the next run needs to know.

    Attributes:
        head: the commit that was reviewed last, to be merged into the branch `base`.
        fails: `fail_on` was reached.
        gaps: a digest of what was not reviewed and why; another one is worth another summary.
        runs: for the id of a finding, the workflow run that keeps the review which debated it.
        fixes: commits that /debate undo can take back, the last one last.
        taken_back: findings whose fixes were taken back by it.
    """

    version: int = 1
    memory: Memory = Memory()
    head: str = ""
    base: str = ""
    fails: bool = False
    gaps: str = ""
    runs: Mapping[str, int] = {}
    paused_by: str = ""
    stopped_by: str = ""
    reviews: int = 0
    cost_usd: float = 0
    fixes: tuple[Fix, ...] = ()
    taken_back: tuple[str, ...] = ()

    def with_cost(self, cost_usd: float, reviews: int = 0) -> Self:
        """The state after something was paid for: so many reviews, or questions of people."""
        total = round(self.cost_usd + cost_usd, 6)
        return replace(self, cost_usd=total, reviews=self.reviews + reviews)


class OwnThread(Struct, frozen=True):
    """A thread that begins with a finding.

    Attributes:
        commit: the head when it was posted.
        is_folded: it was closed without being resolved, by a token that may not do that.
        is_answered: somebody else wrote in it.
    """

    thread: Thread
    key: str
    id: str
    commit: str
    is_folded: bool
    is_answered: bool

    @property
    def is_closed(self) -> bool:
        return self.thread.is_resolved or self.is_folded


class OwnReview(Struct, frozen=True):
    posted: PostedReview
    commit: str
    event: ReviewEvent
    keys: frozenset[str]


def encode_state(state: State) -> str:
    """The hidden line. What is too much goes by and by, and late what people dismissed.

    First go the parts that panelists read, so that they read them again, then the lowest numbers
    (the highest keeps any from being given twice), the mildest findings, and at last the fixes.
    """
    memory = state.memory
    parts = [*memory.parts.items()]  # those at head stand last
    numbers = sorted(memory.numbers.items(), key=lambda item: int(item[1][1:]))
    findings = [
        replace(known, title=shortened(known.title, MAX_TITLE), text=known.text[:MAX_TITLE])
        for known in memory.findings
    ]
    mildest = sorted(findings, key=lambda known: (bool(known.dismissed), RANK[known.severity]))
    early = len(parts) + len(numbers)

    def line(gone: int) -> str:
        """Without so many entries; empty if it is too long."""
        kept = replace(
            memory,
            parts=dict(parts[gone:]),
            numbers=dict(numbers[max(0, gone - len(parts)) :] or numbers[-1:]),
            findings=tuple(mildest[gone - early :] if gone > early else findings),
        )
        left = replace(state, memory=kept)
        if gone - early > len(findings):
            left = replace(left, runs={}, fixes=(), taken_back=())
        # Models write lone surrogates, which UTF-8 does not have.
        text = json.dumps(msgspec.to_builtins(left), ensure_ascii=False, separators=(",", ":"))
        content = text.encode("utf-8", "replace")
        found = f"<!-- reviewbot:state {base64.b64encode(zlib.compress(content, 9)).decode()} -->"
        return found if len(content) <= MAX_INFLATED and len(found) <= MAX_CHARACTERS else ""

    return line(bisect_left(range(early + len(findings) + 1), True, key=lambda n: line(n) != ""))


def decode_state(line: str) -> State | None:
    """None for a line that is none, or of another version."""
    match = STATE.fullmatch(line.strip())
    if match is None or len(line) > MAX_CHARACTERS + 100:
        return None
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(base64.b64decode(match[1], validate=True), MAX_INFLATED + 1)
        state = msgspec.json.decode(content, type=State)
    except (ValueError, zlib.error, RecursionError):
        return None
    ids = [*state.memory.numbers.values(), *(known.id for known in state.memory.findings)]
    return state if inflate.eof and state.version == 1 and all(map(ID.fullmatch, ids)) else None


def summaries_of(snapshot: Snapshot) -> list[Comment]:
    """Our summaries. The one that counts is first: the oldest that is not folded away."""
    found = [c for c in snapshot.comments if c.is_own and first_line(c.body) == SUMMARY]
    return sorted(found, key=lambda comment: (comment.is_minimized, comment.id))


def state_of(snapshot: Snapshot) -> State:
    """The state that is kept; what was given a number there and is lost has it in its thread."""
    found = summaries_of(snapshot)
    state = state_in(found[0].body if found else "")
    numbers = {own.key: own.id for own in reversed(threads_of(snapshot))}
    numbers |= {known.key: known.id for known in state.memory.findings}
    numbers |= state.memory.numbers
    return replace(state, memory=replace(state.memory, numbers=numbers))


def state_in(body: str) -> State:
    """That of a summary, or the one that nothing is known in."""
    return decode_state(body.partition("\n")[2].partition("\n")[0]) or State()


def with_state(body: str, state: State) -> str:
    words, line = body.partition("\n")[2], encode_state(state)
    if STATE.match(words):
        words = words.partition("\n")[2]
    return f"{SUMMARY}\n{line}\n{whole_lines(words, MAX_BODY - len(SUMMARY) - len(line) - 2)}"


def threads_of(snapshot: Snapshot) -> list[OwnThread]:
    """Those that are not folded, then those with answers, then the oldest come first.

    Of several about one finding the first one counts.
    """
    found = []
    for thread in filter(lambda thread: thread.comments, snapshot.threads):
        first, *later = thread.comments
        if match := _own(FINDING, first):
            is_folded = any(_own(CLOSED, comment) for comment in later)
            is_answered = any(not comment.is_own for comment in later)
            found.append(OwnThread(thread, match[1], match[2], match[3], is_folded, is_answered))
    found.sort(key=lambda own: (own.is_folded, not own.is_answered, own.thread.comments[0].id))
    return found


def reviews_of(snapshot: Snapshot) -> Iterator[OwnReview]:
    for posted in snapshot.reviews:
        match = _own(REVIEW, posted)
        if match and posted.state != "PENDING":
            event = msgspec.convert(match[2], ReviewEvent)
            yield OwnReview(posted, match[1], event, frozenset(filter(None, match[3].split(","))))


def answers_of(comments: Iterable[Comment]) -> dict[int, Comment]:
    """Our answers, by the id of the comment that they answer."""
    found = ((_own(ANSWER, comment), comment) for comment in comments)
    return {int(match[1]): comment for match, comment in found if match}


def _own(marker: re.Pattern[str], post: Comment | PostedReview) -> re.Match[str] | None:
    return marker.fullmatch(first_line(post.body)) if post.is_own else None
