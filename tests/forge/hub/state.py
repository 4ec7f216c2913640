"""What stands on the fake beside the code: people, comments, reviews, threads, checks, issues."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.forge.hub.pull import Pull
    from tests.forge.hub.repository import Repository

#: What closes an issue when it stands in a pull request's body.
CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)", re.IGNORECASE)


@dataclass
class User:
    """An account. A bot's login ends in ``[bot]`` (REST tells it so, GraphQL without)."""

    login: str
    id: int
    kind: str = "User"

    @property
    def node_id(self) -> str:
        return f"{'BOT' if self.kind == 'Bot' else 'U'}_{self.id}"


@dataclass
class Reaction:
    id: int
    user: User
    content: str
    created_at: str


@dataclass
class Comment:
    """A comment under a pull request or an issue. ``minimized`` is the reason why it is folded, ``None`` where it is not."""

    id: int
    user: User
    body: str
    parent: Pull | Issue
    created_at: str
    updated_at: str
    minimized: str | None = None
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return f"IC_{self.id}"

    @property
    def login(self) -> str:
        return self.user.login


@dataclass
class ReviewComment:
    """A comment in a thread. ``is_pending`` while its review is."""

    id: int
    user: User
    body: str
    thread: Thread
    review: Review
    created_at: str
    updated_at: str
    in_reply_to: int | None = None
    minimized: str | None = None
    reactions: list[Reaction] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return f"PRRC_{self.id}"

    @property
    def login(self) -> str:
        return self.user.login

    @property
    def is_pending(self) -> bool:
        return self.review.state == "PENDING"


@dataclass(frozen=True)
class Anchor:
    """Where a thread was begun: lines of ``side`` in the diff ``base``..``commit``. ``line`` is ``None`` for a whole file."""

    path: str
    line: int | None
    start_line: int | None
    side: str
    start_side: str | None
    commit: str
    base: str
    hunk: str


@dataclass
class Thread:
    """A conversation about lines; where it stands now is computed by the pull request."""

    id: int
    pull: Pull
    anchor: Anchor
    comments: list[ReviewComment] = field(default_factory=list)
    resolved_by: User | None = None

    @property
    def node_id(self) -> str:
        return f"PRRT_{self.id}"

    @property
    def path(self) -> str:
        return self.anchor.path

    @property
    def is_resolved(self) -> bool:
        return self.resolved_by is not None

    @property
    def line(self) -> int | None:
        return self.pull.line_now(self.anchor, self.anchor.line)

    @property
    def start_line(self) -> int | None:
        start = self.anchor.start_line
        return None if start is None or self.line is None else self.pull.line_now(self.anchor, start)

    @property
    def is_outdated(self) -> bool:
        return self.anchor.line is not None and self.line is None


@dataclass
class Review:
    """``state``: PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED. ``commit_id`` is re-pointed after a force-push (G25),
    ``reviewed`` is not."""

    id: int
    user: User
    pull: Pull
    state: str
    body: str
    commit_id: str
    reviewed: str
    submitted_at: str | None = None
    comments: list[ReviewComment] = field(default_factory=list)
    minimized: str | None = None

    @property
    def node_id(self) -> str:
        return f"PRR_{self.id}"

    @property
    def login(self) -> str:
        return self.user.login


@dataclass
class CheckRun:
    """``output`` has title, summary and text; annotations are gathered over all updates."""

    id: int
    name: str
    head_sha: str
    app: str
    repository: Repository
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    details_url: str | None = None
    output: dict[str, Any] = field(default_factory=dict)
    annotations: list[dict[str, Any]] = field(default_factory=list)
    started_at: str | None = None
    completed_at: str | None = None

    @property
    def node_id(self) -> str:
        return f"CR_{self.id}"


@dataclass
class Status:
    id: int
    user: User
    sha: str
    context: str
    state: str
    description: str | None
    target_url: str | None
    created_at: str


@dataclass
class Issue:
    id: int
    number: int
    repository: Repository
    user: User
    title: str
    body: str
    created_at: str
    state: str = "open"
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    reactions: list[Reaction] = field(default_factory=list)
    locked: bool = False
    deleted: bool = False

    @property
    def node_id(self) -> str:
        return f"I_{self.id}"


@dataclass
class Artifact:
    id: int
    name: str
    content: bytes
    run: Run
    created_at: str
    expired: bool = False


@dataclass
class Run:
    """A run of a workflow."""

    id: int
    name: str
    repository: Repository
    event: str
    head_branch: str
    head_sha: str
    head_repository: Repository | None
    actor: User
    created_at: str
    status: str = "completed"
    conclusion: str | None = "success"
    path: str = ".github/workflows/review.yml"
    pulls: list[Pull] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
