"""What is asked for: the request around a target, and what a forge tells of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reviewbot.domain.dismissal import Dismissals
from reviewbot.domain.forge import Author, PullRequest
from reviewbot.domain.history import History
from reviewbot.domain.target import Target


class Source(StrEnum):
    """What kind of words somebody said about a change."""

    DESCRIPTION = "description"
    COMMIT = "commit"
    ISSUE = "issue"
    THREAD = "thread"
    CI = "ci"


@dataclass(frozen=True, slots=True)
class Told:
    """What people or other programs said about a change: untrusted words. ``who`` names it for a reader, as in ``issue #12``."""

    source: Source
    who: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviewRequest:
    """One review to do. ``title``, ``focus`` and ``background`` are untrusted words: they direct attention, never the rules.
    ``history`` is what earlier reviews of the same pull request left behind, ``dismissals`` what its repository remembers."""

    target: Target
    title: str = ""
    focus: str = ""
    background: tuple[Told, ...] = ()
    history: History = History()
    pull_request: int | None = None
    dismissals: Dismissals = Dismissals()


class Happening(StrEnum):
    """What a forge tells of: the name of its event."""

    PULL_REQUEST = "pull_request"
    COMMENT = "issue_comment"
    REVIEW_COMMENT = "pull_request_review_comment"
    RUN_FINISHED = "workflow_run"
    DISPATCH = "workflow_dispatch"
    SCHEDULE = "schedule"
    PUSH = "push"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SaidComment:
    """A comment that an event is about. ``inline``: it is one about lines. ``replies_to`` is the first comment of its thread."""

    id: int
    node_id: str
    body: str
    author: Author | None
    inline: bool = False
    replies_to: int | None = None


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A workflow run that ended. ``head_repository`` is ``None`` where it was deleted."""

    id: int
    event: str
    conclusion: str | None
    head_repository: str | None
    head_ref: str
    head_sha: str


@dataclass(frozen=True, slots=True)
class Event:
    """What a forge told, read from its payload; every field that the payload lacks is empty. Nothing of it is believed but who
    acted and what it is about: the rest is asked for again.

    ``number`` is the pull request's (or the issue's, then ``on_issue``). ``sender`` is who acted. ``label`` is the one of a
    ``labeled`` event. ``before``/``after`` are the ends of a push. ``pull`` is the pull request as the payload tells it,
    ``inputs`` those of a dispatch, or ``schedule`` with when it strikes.
    """

    kind: Happening
    action: str = ""
    repository: str = ""
    number: int | None = None
    on_issue: bool = False
    sender: Author | None = None
    label: str = ""
    pull: PullRequest | None = None
    comment: SaidComment | None = None
    run: FinishedRun | None = None
    ref: str = ""
    before: str = ""
    after: str = ""
    default_branch: str = ""
    inputs: tuple[tuple[str, str], ...] = ()
