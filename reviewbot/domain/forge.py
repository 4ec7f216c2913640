"""What stands on a forge: a pull request, and what was said under it. Lines are 1-based."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class AuthorKind(StrEnum):
    """Who writes: GitHub's ``type`` of an account."""

    USER = "User"
    BOT = "Bot"
    ORGANIZATION = "Organization"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Author:
    """An account. ``id`` is the forge's number for it, 0 where it is not told. A bot's login is told with ``[bot]``."""

    login: str
    id: int = 0
    kind: AuthorKind = AuthorKind.USER


class Permission(IntEnum):
    """What somebody may do in a repository, in order."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class PullState(StrEnum):
    """Whether a pull request is still to be decided."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as the forge tells it. ``head_repository`` is ``None`` where it was deleted; ``author`` where the account
    was. ``changed_files`` is the forge's own count."""

    repository: str
    number: int
    title: str
    body: str
    author: Author | None
    state: PullState
    is_draft: bool
    is_locked: bool
    labels: tuple[str, ...]
    base_ref: str
    base_sha: str
    head_ref: str
    head_sha: str
    head_repository: str | None
    changed_files: int
    node_id: str = ""
    url: str = ""

    @property
    def is_fork(self) -> bool:
        """The head is not a branch of the repository itself, or of none any more."""
        return self.head_repository is None or self.head_repository.lower() != self.repository.lower()


@dataclass(frozen=True, slots=True)
class Comment:
    """Something said under a pull request. ``id`` is the forge's number, ``node_id`` its GraphQL id; ``is_own``: by us.
    ``is_minimized``: it was folded away."""

    id: int
    node_id: str
    author: Author | None
    is_own: bool
    body: str
    created_at: str = ""
    url: str = ""
    is_minimized: bool = False


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation about lines. ``comments`` are in order, the first one began it; ``is_cut``: there are more than these.
    ``line`` is ``None`` where the lines are gone from the change."""

    node_id: str
    path: str
    line: int | None
    start_line: int | None
    side: str
    is_resolved: bool
    is_outdated: bool
    comments: tuple[Comment, ...]
    is_cut: bool = False

    @property
    def is_own(self) -> bool:
        """It was begun by us."""
        return bool(self.comments) and self.comments[0].is_own

    @property
    def is_answered(self) -> bool:
        """Somebody else said something in it (who is cut off may have, too)."""
        return self.is_cut or any(not comment.is_own for comment in self.comments[1:])


@dataclass(frozen=True, slots=True)
class PostedReview:
    """A review that stands there. ``state``: PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED or DISMISSED."""

    id: int
    node_id: str
    is_own: bool
    state: str
    body: str


@dataclass(frozen=True, slots=True)
class CheckState:
    """A check or commit status of the head. ``conclusion`` is the forge's word in lower case, ``None`` while it runs. ``id`` is
    a check run's number, 0 for a commit status; ``app`` the slug of the app that made it."""

    name: str
    conclusion: str | None
    id: int = 0
    external_id: str = ""
    app: str = ""
    title: str = ""

    @property
    def is_red(self) -> bool:
        """It ended, and not well."""
        return self.conclusion in ("failure", "error", "timed_out", "startup_failure", "action_required")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit: its id, message and author's login (or name). ``is_vouched``: the forge itself made and signed it, so that its
    author is who it says; a message anybody can write."""

    sha: str
    message: str
    author: str
    parents: tuple[str, ...] = ()
    is_vouched: bool = False


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a commit changed: the ids of its blob in the commit's parent (``before``), in the commit (``after``) and at a
    head (``now``), ``None`` where it is not there."""

    path: str
    before: str | None
    after: str | None
    now: str | None

    @property
    def is_intact(self) -> bool:
        """The head has it as the commit left it."""
        return self.now == self.after

    @property
    def is_taken_back(self) -> bool:
        """The head has it as it was before the commit."""
        return self.now == self.before


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue that the pull request says it closes."""

    number: int
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Standing:
    """All that stands under a pull request at one moment. ``me`` is who we are there. ``unread`` says what could not be read;
    ``hides_own``: there may be comments, threads or reviews of ours among it."""

    pull: PullRequest
    me: Author
    comments: tuple[Comment, ...] = ()
    threads: tuple[Thread, ...] = ()
    reviews: tuple[PostedReview, ...] = ()
    checks: tuple[CheckState, ...] = ()
    commits: tuple[Commit, ...] = ()
    issues: tuple[Issue, ...] = ()
    unread: tuple[str, ...] = ()
    hides_own: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """An open issue of ours."""

    number: int
    body: str
    url: str = ""
