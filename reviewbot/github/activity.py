"""What a run does: a table over what happened, how the job is set, and what is known so far.

The first row that applies says that nothing is done, and why. Each row knows what it needs: those
about the payload come first, so that most events that are skipped cost no call of the API.
"""

from collections.abc import Callable, Mapping
from typing import get_args

from msgspec import Struct

from reviewbot.config.settings import GitHubSettings
from reviewbot.github.command import Command, Misunderstood, parse
from reviewbot.github.job import Event, Job, Mode, Subject
from reviewbot.github.pulls import BOT, PullRequest, Snapshot, State
from reviewbot.reports.text import TRAILER

MODES: Mapping[Subject, tuple[Mode, ...]] = {
    **dict.fromkeys(get_args(Subject), ("all",)),
    **{"pull_request": ("all", "collect"), "finished_run": ("debate", "publish")},
}
REVIEWED_ACTIONS = ("opened", "synchronize", "reopened", "ready_for_review")
DEPENDABOT = ("dependabot", "dependabot-preview")


class NothingToDo(Exception):
    """Why a run ends without doing anything: the output `skip_reason`, and a sentence."""

    def __init__(self, reason: str, words: str, exit_code: int = 0) -> None:
        super().__init__(words)
        self.reason, self.exit_code = reason, exit_code


class Facts(Struct, frozen=True, kw_only=True):
    """What is known. `settings` are those of the base; `may_write` is about whoever counts."""

    job: Job
    snapshot: Snapshot | None = None
    state: State = State()
    settings: GitHubSettings | None = None
    may_write: bool | None = None

    @property
    def event(self) -> Event:
        return self.job.event

    @property
    def pull(self) -> PullRequest | None:
        return self.snapshot.pull if self.snapshot else None

    @property
    def command(self) -> Command | Misunderstood | None:
        return parse(self.event.comment.body)

    def has_label(self, name: str) -> bool:
        return self.pull is not None and name.lower() in map(str.lower, self.pull.labels)

    @property
    def is_by_dependabot(self) -> bool:
        """Its runs have no secrets; somebody else may have pushed onto its branch."""
        accounts = (self.event.sender, self.pull.author if self.pull else None)
        logins = {account.login.lower().removesuffix(BOT) for account in accounts if account}
        is_on_its_branch = self.pull is not None and self.pull.head_ref.startswith("dependabot/")
        return is_on_its_branch or bool(logins & set(DEPENDABOT))


class Row(Struct, frozen=True):
    """Why nothing is done: where it applies, and what is said."""

    reason: str
    subjects: tuple[Subject, ...]
    applies: Callable[[Facts], object]
    words: str


def _is_other_action(facts: Facts) -> bool:
    event, settings = facts.event, facts.settings
    if event.subject == "finished_run":
        return event.action != "completed"
    if event.action in ("labeled", "unlabeled"):
        if settings is None:
            return not event.label.lower().startswith("reviewbot:")
        label = settings.review_label if event.action == "labeled" else settings.skip_label
        return event.label.lower() != label.lower()
    return event.action not in REVIEWED_ACTIONS and not event.is_retargeted


def _is_not_a_user(facts: Facts) -> bool:
    author = facts.event.comment.author
    return author is None or author.type != "User"


def _is_on_issue(facts: Facts) -> bool:
    """Of an issue that is no pull request, only a fix can be asked for."""
    is_fix = isinstance(facts.command, Command) and facts.command.verb == "fix"
    return not facts.event.number and not (facts.event.issue and is_fix)


def _is_reviewed(facts: Facts) -> bool:
    pull, state = facts.pull, facts.state
    is_same = pull and state.head == pull.head_sha and state.base in ("", pull.base_ref)
    return bool(is_same) and not facts.job.is_rerun


def _is_stopped(facts: Facts) -> bool:
    works_anyway = isinstance(facts.command, Command) and facts.command.form.while_stopped
    return bool(facts.state.stopped_by) and not works_anyway


def _needs_two_jobs(facts: Facts) -> bool:
    """A fork's head beside secrets: GitHub only gives them if a repository was set to do so."""
    head, snapshot = facts.event.head_repository, facts.snapshot
    is_fork = snapshot.is_fork if snapshot else head.lower() != facts.job.repository.lower()
    return is_fork and facts.job.mode == "all" and facts.job.has_keys


def _is_other_bot(facts: Facts) -> bool:
    author = facts.pull.author if facts.pull else None
    if author is None or facts.settings is None or not author.login.endswith(BOT):
        return False
    allowed = {login.lower().removesuffix(BOT) for login in facts.settings.bots}
    return author.login.lower().removesuffix(BOT) not in allowed


def _is_draft(facts: Facts) -> bool:
    if facts.pull is None or facts.settings is None or facts.settings.drafts:
        return False
    return facts.pull.is_draft and not facts.has_label(facts.settings.review_label)


def _is_own_commit(facts: Facts) -> bool:
    snapshot, sender = facts.snapshot, facts.event.sender
    if snapshot is None or sender is None or TRAILER not in snapshot.pull.message:
        return False
    return sender.login.removesuffix(BOT) == snapshot.me.removesuffix(BOT)


COMMENT: tuple[Subject, ...] = ("comment",)
RUN: tuple[Subject, ...] = ("finished_run",)
# Nobody asked for these.
PUSHED: tuple[Subject, ...] = ("pull_request", "finished_run")
WITH_HEAD: tuple[Subject, ...] = (*PUSHED, "merge_group")
ON_PULL: tuple[Subject, ...] = (*PUSHED, "comment", "dispatch")
EVERY: tuple[Subject, ...] = (*ON_PULL, "issue", "merge_group", "audit")
NO_EVENT = "reviewbot has nothing to do with this event: take it out of `on:` in the workflow."
WRONG_MODE = "The input `mode` is another than this event needs."
NO_COMMENT = "Only new comments command."
TALK = "The comment does not begin with /debate."
NO_EVIDENCE = "The run that collects evidence did not succeed."
NO_PULL = "The run that finished was not about a pull request."
TWO_JOBS = (
    "The change is a fork's, and this job has keys of models or an app: use the two workflows that"
    " `reviewbot init --workflow forks` writes."
)
BOT_AUTHOR = "A bot made the pull request: name it under github.bots to have it reviewed."
MOVED = "A newer commit was pushed: its own run reviews it."
SKIP = "It has the label of github.skip_label: remove that, then comment `/debate`."
CLOSED = "The pull request is closed."
REVIEWED = "This commit was reviewed; `/debate full` reviews it again."
TABLE: tuple[Row, ...] = (
    Row("unsupported_event", ("nothing",), lambda _: True, NO_EVENT),
    Row("wrong_mode", EVERY, lambda f: f.job.mode not in MODES[f.event.subject], WRONG_MODE),
    Row("unrelated_action", PUSHED, _is_other_action, "What happened needs no review."),
    Row("unrelated_action", COMMENT, lambda f: f.event.action != "created", NO_COMMENT),
    Row("not_a_user", COMMENT, _is_not_a_user, "Only people command."),
    Row("not_a_command", COMMENT, lambda f: f.command is None, TALK),
    Row("not_a_pull_request", COMMENT, _is_on_issue, "On an issue, only /debate fix works."),
    Row("not_a_pull_request", RUN, lambda f: f.event.run_event != "pull_request", NO_PULL),
    Row("run_not_successful", RUN, lambda f: f.event.conclusion != "success", NO_EVIDENCE),
    Row("head_gone", WITH_HEAD, lambda f: not f.event.head_sha, "There is no commit."),
    Row("closed", ON_PULL, lambda f: f.pull and f.pull.state != "OPEN", CLOSED),
    Row("locked", ON_PULL, lambda f: f.pull and f.pull.is_locked, "The conversation is locked."),
    Row("head_moved", PUSHED, lambda f: f.pull and f.pull.head_sha != f.event.head_sha, MOVED),
    Row("missing_permission", COMMENT, lambda f: f.may_write is False, "Only writers may command."),
    Row("stopped", ON_PULL, _is_stopped, "It was stopped here; `/debate resume` ends that."),
    Row("fork_needs_two_jobs", ("pull_request",), _needs_two_jobs, TWO_JOBS),
    Row("bot_author", PUSHED, _is_other_bot, BOT_AUTHOR),
    Row("skip_label", PUSHED, lambda f: f.settings and f.has_label(f.settings.skip_label), SKIP),
    Row("draft", PUSHED, _is_draft, "It is a draft: mark it ready, or comment /debate."),
    Row("paused", PUSHED, lambda f: f.state.paused_by, "Paused; `/debate resume` ends that."),
    Row("own_commit", PUSHED, _is_own_commit, "reviewbot made the newest commit."),
    Row("already_reviewed", PUSHED, _is_reviewed, REVIEWED),
)


def decide(facts: Facts) -> None:
    """Raises NothingToDo if nothing is to be done, as far as that is known by now."""
    for row in TABLE:
        if facts.event.subject in row.subjects and row.applies(facts):
            # A commit that failed does not pass because it is looked at again.
            exit_code = int(row.reason == "already_reviewed" and facts.state.fails)
            raise NothingToDo(row.reason, row.words, exit_code)


def may_execute(facts: Facts) -> bool:
    """Whether code of a pull request may run in this job, in the sandbox.

    Never in a run that a comment or another run started: it belongs to the default branch, its
    token may write, and other runs trust its caches. Beside secrets only for a head in the
    repository itself whose author may write to it.
    """
    subject, snapshot = facts.event.subject, facts.snapshot
    if subject in ("comment", "finished_run") or snapshot is None:
        return False
    if subject == "pull_request" and not facts.job.has_keys:
        return True
    return not snapshot.is_fork and not facts.is_by_dependabot and facts.may_write is True


def needs_permission_of(facts: Facts) -> str:
    """The login of whoever must be asked about before the decision is final; "" for nobody."""
    snapshot, author = facts.snapshot, None
    if facts.may_write is not None:
        return ""
    if facts.event.subject == "comment":
        author = facts.event.comment.author
    elif snapshot and not snapshot.is_fork and not facts.is_by_dependabot:
        is_asked = facts.event.subject == "dispatch" or facts.job.has_keys
        author = snapshot.pull.author if is_asked else None
    return author.login if author else ""
