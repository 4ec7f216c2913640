"""What a run knows before it does anything: the event, what stands on the forge, what is remembered, and the decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from reviewbot.config import Configuration, load
from reviewbot.domain.event import Happening
from reviewbot.domain.forge import (
    Commit,
    PullRequest,
    Standing,
)
from reviewbot.domain.history import History, PullMemory
from reviewbot.domain.review import Conclusion
from reviewbot.events import activity, mended
from reviewbot.events.activity import Act, Decision, SkipReason
from reviewbot.events.facts import ActivityOptions, Facts
from reviewbot.ports import Archive, Board, Branches, Changes, Desk, Forge
from reviewbot.ports.forge import History as Deeds
from reviewbot.publish import own
from reviewbot.wiring.github.job import Job


class Hub(Desk, Changes, Board, Archive, Branches, Deeds, Forge, Protocol):
    """All that is done with one forge."""


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a run stands. ``standing`` is ``None`` where the event is about no pull request that could be found."""

    job: Job
    facts: Facts
    decision: Decision
    standing: Standing | None = None
    memory: PullMemory = PullMemory()

    @property
    def is_over(self) -> bool:
        """Nothing is to be done, whatever else could be found out."""
        return self.decision.act is Act.NOTHING and self.decision.skip_reason is not SkipReason.MISSING_PERMISSION


def options_of(job: Job, configuration: Configuration) -> ActivityOptions:
    """How the job is set."""
    return ActivityOptions(
        mode=job.inputs.mode,
        skip_label=configuration.get("github.skip_label", str),
        review_label=configuration.get("github.review_label", str),
        allowed_bots=configuration.texts("github.allowed_bots"),
        has_secrets=job.has_secrets,
    )


def at_first(job: Job) -> Situation:
    """What the event alone decides: most runs that have nothing to do end here, without a call. The settings are the operator's:
    a repository file has no say in them."""
    configuration = load(flags=job.inputs.flags(), environ=job.environment)
    facts = Facts(job.event, options_of(job, configuration))
    return Situation(job, facts, activity.decide(facts))


def looked_up(first: Situation, desk: Desk) -> Situation:
    """The same with what the forge says: first who may ask (anybody can comment), then what stands there. Raises ForgeError."""
    at = _permitted(first, desk)
    if at.decision.act in (Act.NOTHING, Act.ISSUE):
        return at
    number = _number(at.job, desk)
    if number is None:
        return _decided(at, replace(at.facts, is_pull_missing=at.job.event.kind is Happening.RUN_FINISHED))
    standing = desk.standing(number)
    own.expect_whole(standing)
    memory = _memory(standing)
    facts = replace(
        at.facts,
        pull=standing.pull,
        me=standing.me,
        head_commit=_head(standing),
        was_paused=bool(memory.paused_by),
        was_stopped=memory.stopped,
        was_reviewed=_is_reviewed(standing, memory),
        is_unfinished=_is_unfinished(at.job.event.pull, standing, memory),
    )
    return _permitted(_decided(replace(at, standing=standing, memory=memory), facts), desk)


def _permitted(at: Situation, desk: Desk) -> Situation:
    """The same with the permission of whoever's it is, where that changes anything."""
    login = activity.asks(at.facts)
    return at if login is None else _decided(at, replace(at.facts, permission=desk.permission(login)))


def _decided(at: Situation, facts: Facts) -> Situation:
    return replace(at, facts=facts, decision=activity.decide(facts))


def _number(job: Job, desk: Desk) -> int | None:
    """Which pull request it is about: the event's own word, or whose head the finished run was about, by the forge's word."""
    run = job.event.run
    if job.event.kind is not Happening.RUN_FINISHED:
        return job.event.number
    return desk.pull_of(run.head_repository or "", run.head_ref, run.head_sha) if run else None


def _memory(standing: Standing) -> PullMemory:
    """What is remembered. Where that was lost, numbers in threads of an earlier head are not given again: those of this head are
    of a run that was cut off, which this one repeats."""
    kept = own.remembered(standing).memory
    if kept is not None:
        return kept
    marks = [thread.mark for thread in own.threads(standing)]
    older = [int(mark.id[1:]) for mark in marks if mark.sha != standing.pull.head_sha and mark.id[1:].isdigit()]
    return PullMemory(History(next_number=max(older, default=0) + 1))


def _head(standing: Standing) -> Commit | None:
    return next((commit for commit in standing.commits if commit.sha == standing.pull.head_sha), None)


def _is_unfinished(told: PullRequest | None, standing: Standing, memory: PullMemory) -> bool:
    """A run was cut off while it wrote fixes for the head that the event tells, or for the one below: nothing but commits of ours
    came since."""
    upon = mended.upon(standing, memory.unfinished) if memory.unfinished else None
    return upon is not None and told is not None and told.head_sha in (memory.unfinished, *(commit.sha for commit in upon))


def _is_reviewed(standing: Standing, memory: PullMemory) -> bool:
    """The sticky comment is written last: what it says was reviewed is posted, too."""
    history = memory.history
    whole = history.conclusion is Conclusion.COMPLETE
    same_base = memory.base_ref in ("", standing.pull.base_ref)
    return whole and same_base and history.head == standing.pull.head_sha
