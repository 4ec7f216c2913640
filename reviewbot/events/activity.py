"""What a run should do: one table over what happened, how this job is set, and what is known so far.

The first row that holds decides that nothing is done; where none holds, the last table says what is done.

=====================  ============================  =======================================================================
skip_reason            events                        holds where
=====================  ============================  =======================================================================
unsupported_event      all others                    it is none of the events below
wrong_mode             all                           this event has no work in this ``mode``
edited_comment         comments                      only new comments command
unrelated_action       comments                      deleted
unrelated_action       workflow_run                  not yet completed
not_a_user             comments                      by a bot, an organisation, nobody: bots never command
not_a_command          comments                      it does not open with ``/debate``
not_a_pull_request     all about a pull request      it is an issue, a run of another event, or none was found
run_not_successful     workflow_run                  its evidence is not whole
head_gone              pull_request, workflow_run    there is no commit (any more); of a push, too
not_default_branch     push                          what is pushed elsewhere is reviewed in its pull request
closed                 all about a pull request      nothing can be changed any more
locked                 all about a pull request      nothing can be said any more
unrelated_action       pull_request                  not opened, pushed to, reopened, made ready; no label of ours
head_moved             pull_request, workflow_run    a newer push has a run of its own
missing_permission     comments                      who writes may not write to the repository, or was not asked about yet
stopped                all about a pull request      ``/debate stop``; some commands still work (``command.py``)
fork_needs_two_stages  pull_request                  a fork's head, and secrets or a debate in this job
bot_author             pull_request, workflow_run    not among ``allowed_bots``
opt_out_label          pull_request, workflow_run    the label is on it
draft                  pull_request, workflow_run    and the review label is not on it
paused                 pull_request, workflow_run    ``/debate pause``
own_commit             pull_request, workflow_run    we pushed the head: fixes of ours do not start a review of themselves
already_reviewed       pull_request, workflow_run    this head has a whole review
=====================  ============================  =======================================================================

**What was cut off is gone on with.** A run that wrote fixes and was killed between two of its commits left the head moved by
ourselves, and reviewed. The rows ``head_moved``, ``own_commit`` and ``already_reviewed`` do not hold then: the next run for that
head writes what is missing, and reviews nothing.

**An issue** knows one command, ``/debate fix``; every other one is about no pull request there.

Who asks in person (a command, a dispatch) gets a review of a draft, of a bot's change, and in spite of the label, of a pause, and
of an earlier review of the same head.

**What may run.** ``execute`` says whether code of the change may run in this job, in the sandbox (``security.md``, decision 1):

- Never in a run that a comment or another run started, also without keys of models: such runs belong to the default branch, their
  token may write, and trusted runs read the caches that they leave.
- In a job without secrets always: there is nothing to steal. A fork's own ``pull_request`` run is of that kind.
- Beside secrets only for a head of the repository itself whose author may write to it and is not Dependabot, and for the tree of
  an audit. A permission that was not asked for is none.

**Why a fork beside secrets is refused**, and not just reviewed without running anything: GitHub gives a fork's run no secrets
unless a repository was set to do so, and then that job holds models, the write token and the author's checkout in one process
tree. The three zones may share one only for a trusted head. In two jobs the same review is to be had. A command or a dispatch for
a fork's pull request is obeyed without running anything beside secrets: somebody who may write answers for it, and the job's
checkout is not the fork's.

What is not known yet (:class:`~reviewbot.events.facts.Facts`) holds nothing back but a permission: decide once with the payload,
and again with what the forge says. :func:`asks` tells whether a permission would change the answer, so that it costs a call only
where it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from reviewbot.domain.forge import (
    Permission,
)
from reviewbot.events.facts import Facts, Mode, Subject


class Act(StrEnum):
    """What a run does."""

    REVIEW = "review"
    FIX = "fix"
    ISSUE = "issue"
    COLLECT = "collect"
    DEBATE = "debate"
    PUBLISH = "publish"
    COMMAND = "command"
    AUDIT = "audit"
    NOTHING = "nothing"


class SkipReason(StrEnum):
    """Why nothing is done: the output ``skip_reason``."""

    UNSUPPORTED_EVENT = "unsupported_event"
    WRONG_MODE = "wrong_mode"
    EDITED_COMMENT = "edited_comment"
    UNRELATED_ACTION = "unrelated_action"
    NOT_A_USER = "not_a_user"
    NOT_A_COMMAND = "not_a_command"
    NOT_A_PULL_REQUEST = "not_a_pull_request"
    RUN_NOT_SUCCESSFUL = "run_not_successful"
    HEAD_GONE = "head_gone"
    NOT_DEFAULT_BRANCH = "not_default_branch"
    CLOSED = "closed"
    LOCKED = "locked"
    HEAD_MOVED = "head_moved"
    MISSING_PERMISSION = "missing_permission"
    STOPPED = "stopped"
    FORK_NEEDS_TWO_STAGES = "fork_needs_two_stages"
    BOT_AUTHOR = "bot_author"
    OPT_OUT_LABEL = "opt_out_label"
    DRAFT = "draft"
    PAUSED = "paused"
    OWN_COMMIT = "own_commit"
    ALREADY_REVIEWED = "already_reviewed"


@dataclass(frozen=True, slots=True)
class Decision:
    """``skip_reason`` is there exactly where ``act`` is ``NOTHING``. ``execute``: code of the change may run in this job."""

    act: Act
    skip_reason: SkipReason | None = None
    execute: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """``why`` is for who wonders that nothing happened, and says what to do about it where something is to be done."""

    reason: SkipReason
    subjects: frozenset[Subject]
    holds: Callable[[Facts], bool]
    why: str


_ALL = frozenset(Subject)
_PULL, _RUN, _COMMENT, _PUSH = (frozenset({subject}) for subject in (Subject.PULL, Subject.RUN, Subject.COMMENT, Subject.PUSH))
_SAID = _COMMENT | {Subject.ISSUE}
_UNASKED = _PULL | _RUN
_ABOUT_PULL = _UNASKED | _SAID | {Subject.REQUEST}


def _has_no_act(facts: Facts) -> bool:
    return (facts.subject, facts.options.mode) not in ACTS


ROWS: tuple[Row, ...] = (
    Row(
        SkipReason.UNSUPPORTED_EVENT,
        frozenset({Subject.NONE}),
        lambda _: True,
        "reviewbot has nothing to do with this event; take it out of the workflow's 'on:'",
    ),
    Row(SkipReason.WRONG_MODE, _ALL, _has_no_act, "this event has no work in this mode; set the input 'mode' to another one"),
    Row(SkipReason.EDITED_COMMENT, _SAID, Facts.is_edited, "only new comments command; write it again"),
    Row(SkipReason.UNRELATED_ACTION, _SAID, Facts.is_not_created, "only new comments command"),
    Row(SkipReason.UNRELATED_ACTION, _RUN, Facts.is_not_completed, "the run has not ended"),
    Row(SkipReason.NOT_A_USER, _SAID, Facts.is_not_by_a_user, "only people command"),
    Row(SkipReason.NOT_A_COMMAND, _SAID, Facts.is_no_command, "the comment does not open with a command"),
    Row(SkipReason.NOT_A_PULL_REQUEST, _ABOUT_PULL, Facts.has_no_pull, "this is about no open pull request"),
    Row(SkipReason.RUN_NOT_SUCCESSFUL, _RUN, Facts.is_run_bad, "the run that collects evidence did not succeed; look into it"),
    Row(SkipReason.HEAD_GONE, _UNASKED | _PUSH, Facts.is_head_gone, "there is no commit to look at"),
    Row(
        SkipReason.NOT_DEFAULT_BRANCH,
        _PUSH,
        Facts.is_other_branch,
        "only pushes to the default branch are audited; others are reviewed in their pull request",
    ),
    Row(SkipReason.CLOSED, _ABOUT_PULL, Facts.is_closed, "the pull request is closed"),
    Row(SkipReason.LOCKED, _ABOUT_PULL, Facts.is_locked, "the conversation is locked; unlock it first"),
    Row(SkipReason.UNRELATED_ACTION, _PULL, Facts.is_unrelated, "nothing that is reviewed changed"),
    Row(SkipReason.HEAD_MOVED, _UNASKED, Facts.is_head_moved, "the head moved on; the newer push has a run of its own"),
    Row(
        SkipReason.MISSING_PERMISSION,
        _SAID,
        Facts.may_not_write,
        "only who may write to the repository commands",
    ),
    Row(SkipReason.STOPPED, _ABOUT_PULL, Facts.is_stopped, "reviewbot was told to stop here; `/debate resume` lifts it"),
    Row(
        SkipReason.FORK_NEEDS_TWO_STAGES,
        _PULL,
        Facts.needs_two_stages,
        "the head is a fork's: collect without secrets on pull_request, debate and publish on workflow_run",
    ),
    Row(SkipReason.BOT_AUTHOR, _UNASKED, Facts.is_by_a_bot, "a bot's pull request; name it in the input 'allowed_bots'"),
    Row(
        SkipReason.OPT_OUT_LABEL,
        _UNASKED,
        Facts.is_opted_out,
        "a label says to leave it alone; take it off, and ask with `/debate`",
    ),
    Row(SkipReason.DRAFT, _UNASKED, Facts.is_draft, "a draft; mark it ready, or ask with `/debate`"),
    Row(SkipReason.PAUSED, _UNASKED, Facts.is_paused, "reviews are paused here; `/debate resume` lifts it"),
    Row(SkipReason.OWN_COMMIT, _UNASKED, Facts.is_own_commit, "the newest commit is reviewbot's own"),
    Row(SkipReason.ALREADY_REVIEWED, _UNASKED, Facts.is_reviewed, "this commit is reviewed; `/debate full` does it again"),
)
"""Why nothing is done. The first row that holds decides."""

ACTS: Mapping[tuple[Subject, Mode], Act] = MappingProxyType(
    {
        (Subject.PULL, Mode.ALL): Act.REVIEW,
        (Subject.PULL, Mode.COLLECT): Act.COLLECT,
        (Subject.PULL, Mode.DEBATE): Act.DEBATE,
        (Subject.PULL, Mode.PUBLISH): Act.PUBLISH,
        (Subject.REQUEST, Mode.ALL): Act.REVIEW,
        (Subject.REQUEST, Mode.COLLECT): Act.COLLECT,
        (Subject.REQUEST, Mode.DEBATE): Act.DEBATE,
        (Subject.REQUEST, Mode.PUBLISH): Act.PUBLISH,
        (Subject.RUN, Mode.DEBATE): Act.DEBATE,
        (Subject.RUN, Mode.PUBLISH): Act.PUBLISH,
        (Subject.COMMENT, Mode.ALL): Act.COMMAND,
        (Subject.ISSUE, Mode.ALL): Act.ISSUE,
        (Subject.TREE, Mode.ALL): Act.AUDIT,
        (Subject.PUSH, Mode.ALL): Act.AUDIT,
    }
)
"""What is done where nothing speaks against it. A finished run never does all: what it reads is the author's word."""

_RUNS_CODE = frozenset({Act.REVIEW, Act.COLLECT, Act.AUDIT})
_NEVER_RUNS_CODE = _SAID | _RUN


def decide(facts: Facts) -> Decision:
    """What this run does."""
    row = _first(facts)
    if row:
        return Decision(Act.NOTHING, row.reason)
    act = ACTS[facts.subject, facts.options.mode]
    if act is Act.REVIEW and facts.is_unfinished:
        return Decision(Act.FIX)
    return Decision(act, execute=act in _RUNS_CODE and _may_execute(facts))


def why(facts: Facts) -> str:
    """Why nothing is done, and what to do about it, in words of ours; empty where something is done."""
    row = _first(facts)
    return row.why if row else ""


def asks(facts: Facts) -> str | None:
    """Whose permission is to be asked for, by login; ``None`` where it is known or changes nothing."""
    if facts.permission is not None or facts.person is None:
        return None
    able, unable = (decide(replace(facts, permission=permission)) for permission in (Permission.ADMIN, Permission.NONE))
    return facts.person.login if able != unable else None


def _first(facts: Facts) -> Row | None:
    return next((row for row in ROWS if facts.subject in row.subjects and row.holds(facts)), None)


def _may_execute(facts: Facts) -> bool:
    """As the module says. A pull request that is not known may be anybody's."""
    pull = facts.known_pull
    if facts.subject in _NEVER_RUNS_CODE or (facts.subject in _ABOUT_PULL and pull is None):
        return False
    if not facts.options.has_secrets:
        return True
    if facts.is_by_dependabot():
        return False
    return pull is None or (not pull.is_fork and facts.may_write())
