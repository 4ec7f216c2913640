"""What people and programs leave on GitHub beside code: comments, reviews, checks, issues."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from tests.fake_github.pull import Pull
    from tests.fake_github.repository import Repository


@dataclass(eq=False)
class Record:
    """`id` is the number that REST has, `node_id` the text that GraphQL has."""

    prefix: ClassVar[str]
    id: int

    @property
    def node_id(self) -> str:
        return f"{self.prefix}_{self.id}"


@dataclass(eq=False)
class User(Record):
    """An account. A bot's login ends in `[bot]`; REST shows it so, GraphQL without."""

    prefix = "U"
    login: str
    kind: str = "User"

    @property
    def graphql_login(self) -> str:
        return self.login.removesuffix("[bot]")


@dataclass(eq=False)
class Authored(Record):
    repository: Repository
    user: User
    body: str
    created_at: str

    @property
    def login(self) -> str:
        return self.user.login


@dataclass(eq=False)
class Reaction(Record):
    prefix = "REA"
    user: User
    content: str
    created_at: str


@dataclass(eq=False)
class Editable(Authored):
    """A comment.

    Attributes:
        editor: who changed the body last; None while it is as first written.
        minimized: the reason (a GraphQL classifier), None where the comment is not minimized.
    """

    updated_at: str = field(default="", kw_only=True)
    editor: User | None = field(default=None, kw_only=True)
    minimized: str | None = field(default=None, kw_only=True)
    reactions: list[Reaction] = field(default_factory=list, kw_only=True)

    def __post_init__(self) -> None:
        self.updated_at = self.created_at

    def edit(self, editor: User, body: str, now: str) -> None:
        self.body, self.editor, self.updated_at = body, editor, now


@dataclass(eq=False)
class Comment(Editable):
    """A comment on a pull request or an issue."""

    prefix = "IC"
    parent: Pull | Issue

    @property
    def url(self) -> str:
        return f"{self.parent.url}#issuecomment-{self.id}"


@dataclass(eq=False)
class ReviewComment(Editable):
    """A comment in a review thread."""

    prefix = "PRRC"
    thread: Thread
    review: Review
    in_reply_to_id: int | None = None

    @property
    def url(self) -> str:
        return f"{self.review.pull.url}#discussion_r{self.id}"

    @property
    def is_pending(self) -> bool:
        return self.review.state == "PENDING"


@dataclass(frozen=True)
class Anchor:
    """Lines of one side in the diff `base`..`commit`."""

    path: str
    line: int
    start_line: int | None
    side: str
    start_side: str | None
    commit: str
    base: str
    hunk: str


@dataclass(eq=False)
class Thread(Record):
    """A review thread. Its lines are computed from git each time, as the head moves."""

    prefix = "PRRT"
    pull: Pull
    anchor: Anchor
    comments: list[ReviewComment] = field(default_factory=list)
    resolved_by: User | None = None

    @property
    def path(self) -> str:
        return self.anchor.path

    @property
    def is_resolved(self) -> bool:
        return self.resolved_by is not None

    @property
    def line(self) -> int | None:
        return self.pull.current_line(self.anchor, self.anchor.line)

    @property
    def start_line(self) -> int | None:
        start = self.anchor.start_line
        return self.pull.current_line(self.anchor, start) if start and self.line else None

    def is_visible_to(self, user: User | None) -> bool:
        """Comments of a pending review are visible to their author only."""
        return any(not comment.is_pending or comment.user is user for comment in self.comments)


@dataclass(eq=False)
class Review(Authored):
    """`state`: PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED.

    `commit_id` changes with a force-push (G25).
    """

    prefix = "PRR"
    pull: Pull
    state: str
    commit_id: str
    submitted_at: str | None = None
    comments: list[ReviewComment] = field(default_factory=list)
    minimized: str | None = None

    @property
    def url(self) -> str:
        return f"{self.pull.url}#pullrequestreview-{self.id}"


@dataclass(eq=False)
class Issue(Authored):
    prefix = "I"
    number: int
    title: str
    state: str = "open"
    labels: list[str] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    locked: bool = False

    @property
    def url(self) -> str:
        return f"{self.repository.url}/issues/{self.number}"


@dataclass(eq=False)
class CheckRun(Record):
    """`output` has title, summary and text; `annotations` are those of all requests."""

    prefix = "CR"
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

    @property
    def url(self) -> str:
        return f"{self.repository.url}/runs/{self.id}"


@dataclass(eq=False)
class WorkflowRun(Record):
    """A completed run."""

    prefix = "WFR"
    name: str
    repository: Repository
    event: str
    head_branch: str
    head_sha: str
    head_repository: Repository | None
    actor: User
    created_at: str
    conclusion: str | None = "success"
    pulls: list[Pull] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)


@dataclass(eq=False)
class Artifact(Record):
    """`content` is a zip."""

    prefix = "MDg"
    name: str
    content: bytes
    run: WorkflowRun
    created_at: str


@dataclass(frozen=True)
class Dispatch:
    """A `workflow_dispatch` that somebody asked for. `workflow` is the name of a file."""

    workflow: str
    ref: str
    inputs: dict[str, Any]
    login: str
