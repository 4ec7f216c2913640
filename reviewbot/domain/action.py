"""What may be done on a forge. Each action writes by one call, but for a check run with many annotations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.repair import Edit


class ReviewEvent(StrEnum):
    """With which word a review is posted."""

    COMMENT = "COMMENT"
    APPROVE = "APPROVE"
    REQUEST_CHANGES = "REQUEST_CHANGES"


class Level(StrEnum):
    """How loud an annotation is."""

    NOTICE = "notice"
    WARNING = "warning"
    FAILURE = "failure"


class CheckConclusion(StrEnum):
    """How a check run ends."""

    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"


class Reaction(StrEnum):
    """What is put under a command."""

    EYES = "eyes"
    ROCKET = "rocket"
    CONFUSED = "confused"


@dataclass(frozen=True, slots=True)
class InlineComment:
    """A comment on lines of the change. ``start_line`` is ``None`` for a single line; ``fingerprint`` says what it is about."""

    path: str
    line: int
    body: str
    fingerprint: str
    start_line: int | None = None
    side: str = "RIGHT"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A line of a check run. ``end_line`` is at least ``start_line``."""

    path: str
    start_line: int
    end_line: int
    level: Level
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class PostReview:
    """One review with all its inline comments."""

    number: int
    head_sha: str
    event: ReviewEvent
    body: str
    comments: tuple[InlineComment, ...] = ()


@dataclass(frozen=True, slots=True)
class DeletePendingReview:
    """Take away an own review that was begun and never submitted."""

    number: int
    review_id: int


@dataclass(frozen=True, slots=True)
class DismissReview:
    """An own request for changes no longer holds."""

    number: int
    review_id: int
    message: str


@dataclass(frozen=True, slots=True)
class PostComment:
    """A comment under a pull request or an issue."""

    number: int
    body: str


@dataclass(frozen=True, slots=True)
class EditComment:
    """Other words in an own comment."""

    comment_id: int
    body: str


@dataclass(frozen=True, slots=True)
class PostCheck:
    """A check run of a commit, or with ``check_id`` other words in it. All annotations are sent, in as many calls as it takes."""

    name: str
    head_sha: str
    external_id: str
    conclusion: CheckConclusion
    title: str
    summary: str
    annotations: tuple[Annotation, ...] = ()
    check_id: int | None = None


@dataclass(frozen=True, slots=True)
class ResolveThread:
    """Close an own thread."""

    node_id: str


@dataclass(frozen=True, slots=True)
class ReplyThread:
    """Answer in an own thread: ``comment_id`` is its first comment's number."""

    number: int
    comment_id: int
    body: str


@dataclass(frozen=True, slots=True)
class MinimizeComment:
    """Fold an own comment away. ``classifier``: RESOLVED, OUTDATED or DUPLICATE."""

    node_id: str
    classifier: str = "RESOLVED"


@dataclass(frozen=True, slots=True)
class AddLabels:
    """Put labels on a pull request."""

    number: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemoveLabel:
    """Take a label away."""

    number: int
    label: str


@dataclass(frozen=True, slots=True)
class React:
    """A reaction on a comment; ``inline``: it is one about lines."""

    comment_id: int
    reaction: Reaction
    inline: bool = False


@dataclass(frozen=True, slots=True)
class OpenIssue:
    """A new issue."""

    title: str
    body: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EditIssue:
    """Other words in an own issue."""

    number: int
    body: str


@dataclass(frozen=True, slots=True)
class MakeBranch:
    """A new branch at a commit that is there."""

    name: str
    sha: str


@dataclass(frozen=True, slots=True)
class DeleteBranch:
    """Take a branch away whose head is still ``sha``: refused (StaleError) where it is another."""

    name: str
    sha: str


@dataclass(frozen=True, slots=True)
class MakeCommit:
    """One commit on top of a branch whose head is still ``expected_head``: refused (StaleError) where it is another. ``headline``
    and ``body`` are its message."""

    branch: str
    expected_head: str
    headline: str
    body: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class OpenPull:
    """A new pull request from a branch of this repository into ``base``."""

    title: str
    body: str
    head: str
    base: str


Action = (
    PostReview
    | DeletePendingReview
    | DismissReview
    | PostComment
    | EditComment
    | PostCheck
    | ResolveThread
    | ReplyThread
    | MinimizeComment
    | AddLabels
    | RemoveLabel
    | React
    | OpenIssue
    | EditIssue
    | MakeBranch
    | DeleteBranch
    | MakeCommit
    | OpenPull
)


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an action: the number and the address of what was made, where there is one, and a commit's id."""

    id: int = 0
    url: str = ""
    sha: str = ""
