"""What is known when it is decided what a run does, and what follows from it. Each question is answered by one method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from reviewbot.domain.event import Event, Happening
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    Commit,
    Permission,
    PullRequest,
    PullState,
)
from reviewbot.events import command, mended

_REVIEWED_ACTIONS = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})
_DEPENDABOT = frozenset({"dependabot", "dependabot-preview"})


class Mode(StrEnum):
    """Which part of the work this job does: the input ``mode``."""

    ALL = "all"
    COLLECT = "collect"
    DEBATE = "debate"
    PUBLISH = "publish"


class Subject(StrEnum):
    """What an event is about: a dispatch with the number of a pull request is another thing than one without, a comment on an
    issue than one under a pull request."""

    PULL = "pull request"
    REQUEST = "dispatch for a pull request"
    COMMENT = "comment"
    ISSUE = "comment on an issue"
    RUN = "finished run"
    TREE = "schedule or dispatch"
    PUSH = "push"
    NONE = "nothing we know"


_SUBJECTS: Mapping[Happening, Subject] = MappingProxyType(
    {
        Happening.PULL_REQUEST: Subject.PULL,
        Happening.COMMENT: Subject.COMMENT,
        Happening.REVIEW_COMMENT: Subject.COMMENT,
        Happening.RUN_FINISHED: Subject.RUN,
        Happening.DISPATCH: Subject.TREE,
        Happening.SCHEDULE: Subject.TREE,
        Happening.PUSH: Subject.PUSH,
    }
)


@dataclass(frozen=True, slots=True)
class ActivityOptions:
    """How this job is set. ``has_secrets``: a key of a model is in its environment. ``allowed_bots`` are logins with or without
    ``[bot]``; their pull requests are reviewed, their comments never command."""

    mode: Mode = Mode.ALL
    skip_label: str = "reviewbot:skip"
    review_label: str = "reviewbot:review"
    allowed_bots: tuple[str, ...] = ()
    has_secrets: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """What happened, and what is known by now; the defaults are for what is not known yet.

    ``pull`` is the pull request as the forge tells it now (the payload's stands in for it), ``is_pull_missing``: it was looked
    for, and there is none. ``permission`` is that of :meth:`person`. ``me`` is who we are, ``head_commit`` the head's commit.
    ``was_paused``, ``was_stopped``: by a command. ``was_reviewed``: this very head has a whole review. ``is_unfinished``: a run
    was cut off while it wrote fixes for this head, and only commits of ours came since.
    """

    event: Event
    options: ActivityOptions = ActivityOptions()
    pull: PullRequest | None = None
    is_pull_missing: bool = False
    permission: Permission | None = None
    me: Author | None = None
    head_commit: Commit | None = None
    was_paused: bool = False
    was_stopped: bool = False
    was_reviewed: bool = False
    is_unfinished: bool = False

    @property
    def subject(self) -> Subject:
        """What it is about."""
        if self.event.kind is Happening.DISPATCH and self.event.number is not None:
            return Subject.REQUEST
        if self.event.kind in (Happening.COMMENT, Happening.REVIEW_COMMENT) and self.event.on_issue:
            return Subject.ISSUE
        return _SUBJECTS.get(self.event.kind, Subject.NONE)

    @property
    def known_pull(self) -> PullRequest | None:
        """The pull request as well as it is known."""
        return self.pull or self.event.pull

    @property
    def person(self) -> Author | None:
        """Whose permission counts: who comments, else whose code it is."""
        if self.subject in (Subject.COMMENT, Subject.ISSUE):
            return self.event.comment.author if self.event.comment else None
        return self.known_pull.author if self.known_pull else None

    def may_write(self) -> bool:
        """That person may write to the repository, and was asked about."""
        return self.person is not None and self.permission is not None and self.permission >= Permission.WRITE

    def may_not_write(self) -> bool:
        """Or it is not known."""
        return not self.may_write()

    def is_edited(self) -> bool:
        """An old comment got other words."""
        return self.event.action == "edited"

    def is_not_created(self) -> bool:
        """A comment that was not just written."""
        return self.event.action != "created"

    def is_not_completed(self) -> bool:
        """A run that has not just ended."""
        return self.event.action != "completed"

    def is_unrelated(self) -> bool:
        """What happened to the pull request leaves its code and the wish for a review as they were."""
        if self.event.action not in ("labeled", "unlabeled"):
            return self.event.action not in _REVIEWED_ACTIONS
        wanted = self.options.review_label if self.event.action == "labeled" else self.options.skip_label
        return not wanted or self.event.label.lower() != wanted.lower()

    def is_not_by_a_user(self) -> bool:
        """Nobody whom the forge calls a user wrote the comment."""
        said = self.event.comment
        return said is None or said.author is None or said.author.kind is not AuthorKind.USER

    def is_no_command(self) -> bool:
        """The comment is said to people."""
        return self._said() is None

    def has_no_pull(self) -> bool:
        """There is no pull request to it, nor a command for an issue. Of a comment's and of a dispatch's only the number is
        told."""
        event = self.event
        if self.subject is Subject.ISSUE:
            said = self._said()
            return event.number is None or not (isinstance(said, command.Command) and said.verb is command.Verb.FIX)
        if self.subject is Subject.RUN:
            return self.is_pull_missing or event.run is None or event.run.event != Happening.PULL_REQUEST
        if self.subject is Subject.PULL:
            return self.is_pull_missing or self.known_pull is None
        return self.is_pull_missing or event.number is None

    def is_run_bad(self) -> bool:
        """The run did not end well."""
        return self.event.run is not None and self.event.run.conclusion != "success"

    def is_head_gone(self) -> bool:
        """No commit is told; a deleted branch is pushed as one of zeros. A deleted fork's commit is still there."""
        if self.subject is Subject.PUSH:
            return not self.event.after.strip("0")
        if self.event.run:
            return not self.event.run.head_sha
        return self.known_pull is not None and not self.known_pull.head_sha

    def is_head_moved(self) -> bool:
        """The forge tells another head now than the event did, and it is not commits of ours that moved it."""
        told = self.event.run or self.event.pull
        moved = self.pull is not None and told is not None and told.head_sha != self.pull.head_sha
        return moved and not self.is_unfinished

    def is_other_branch(self) -> bool:
        """A push to something else than the default branch."""
        return not self.event.default_branch or self.event.ref != f"refs/heads/{self.event.default_branch}"

    def is_closed(self) -> bool:
        """Or merged."""
        return self.known_pull is not None and self.known_pull.state is not PullState.OPEN

    def is_locked(self) -> bool:
        """Its conversation is."""
        return self.known_pull is not None and self.known_pull.is_locked

    def is_stopped(self) -> bool:
        """And this is none of the commands that work nevertheless."""
        said = self._said()
        return self.was_stopped and not (isinstance(said, command.Command) and command.BY_VERB[said.verb].runs_stopped)

    def is_paused(self) -> bool:
        """Nothing is to be reviewed unasked."""
        return self.was_paused

    def is_reviewed(self) -> bool:
        """There is nothing new, and nothing to be gone on with."""
        return self.was_reviewed and not self.is_unfinished

    def needs_two_stages(self) -> bool:
        """A fork's head in a job that does more than zone R."""
        mode = self.options.mode
        is_harmless = mode is Mode.COLLECT or (mode is Mode.ALL and not self.options.has_secrets)
        return self.known_pull is not None and self.known_pull.is_fork and not is_harmless

    def is_by_a_bot(self) -> bool:
        """By one that is not allowed."""
        author = self.known_pull.author if self.known_pull else None
        allowed = {_bare(login) for login in self.options.allowed_bots}
        return author is not None and author.kind is AuthorKind.BOT and _bare(author.login) not in allowed

    def is_by_dependabot(self) -> bool:
        """By who acted, by whose pull request it is, and by the branch: somebody else may have pushed onto it."""
        pull = self.known_pull
        logins = {_bare(author.login) for author in (self.event.sender, pull.author if pull else None) if author}
        return bool(logins & _DEPENDABOT) or (pull is not None and pull.head_ref.startswith("dependabot/"))

    def is_opted_out(self) -> bool:
        """The label says so."""
        return self._has(self.options.skip_label)

    def is_draft(self) -> bool:
        """And nobody asked with the label."""
        draft = self.known_pull is not None and self.known_pull.is_draft
        return draft and not self._has(self.options.review_label)

    def is_own_commit(self) -> bool:
        """Who pushed is the forge's word, the trailer is anybody's: only both together are ours. Our account alone is not enough:
        other programs and, with a personal token, a person use it, too."""
        me, sender, commit = self.me, self.event.sender, self.head_commit
        if me is None or sender is None or commit is None:
            return False
        same = me.id == sender.id if me.id and sender.id else _bare(me.login) == _bare(sender.login)
        return same and bool(mended.findings(commit)) and not self.is_unfinished

    def _said(self) -> command.Command | command.Misunderstood | None:
        return command.read(self.event.comment.body) if self.event.comment else None

    def _has(self, label: str) -> bool:
        return self.known_pull is not None and label.lower() in (found.lower() for found in self.known_pull.labels)


def _bare(login: str) -> str:
    return login.lower().removesuffix("[bot]")
