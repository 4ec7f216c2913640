"""One run of the GitHub Action, from its event to what it leaves behind: look, decide, do one thing.

Most runs have nothing to do: what does something is imported when there is something to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reviewbot.config import Configuration, load
from reviewbot.errors import ReviewbotError
from reviewbot.events.activity import Act
from reviewbot.wiring.clock import SystemClock
from reviewbot.wiring.github.job import KEYS as KEYS
from reviewbot.wiring.github.job import Inputs, Job, Place, Report
from reviewbot.wiring.github.situation import Hub, Situation, at_first, looked_up

if TYPE_CHECKING:
    from reviewbot.domain.change import ChangeSet
    from reviewbot.domain.review import Review
    from reviewbot.posting import Outcome

__all__ = ["KEYS", "Inputs", "Job", "Place", "Report", "handle", "publish", "told"]


def handle(job: Job) -> Report:
    """Do what the event asks for. Raises ReviewbotError."""
    first = at_first(job)
    if first.is_over:
        return _skipped(first)
    with opened(job.place) as hub:
        if first.decision.act is Act.COLLECT and first.facts.known_pull is not None:
            from reviewbot.wiring.github import zones

            return zones.collect(first, first.facts.known_pull, hub)
        if first.decision.act is Act.AUDIT:
            from reviewbot.wiring.github import audits

            return audits.audit(job, hub, execute=first.decision.execute)
        at = looked_up(first, hub)
        return _skipped(at) if at.decision.act is Act.NOTHING else _done(at, hub)


def told(error: ReviewbotError) -> str:
    """An error as safe Markdown."""
    from reviewbot.publish.sanitise import inline

    return inline(str(error))


def _done(at: Situation, hub: Hub) -> Report:
    from reviewbot.wiring.github import commands, pulls, requested, resumed, zones

    done = {
        Act.REVIEW: pulls.review,
        Act.FIX: resumed.fixes,
        Act.ISSUE: requested.of_issue,
        Act.DEBATE: zones.debate,
        Act.PUBLISH: zones.publish,
    }
    act = at.decision.act
    if act in done:
        return done[act](at, hub)
    if act is Act.COLLECT and at.standing is not None:
        return zones.collect(at, at.standing.pull, hub)
    if act is Act.COMMAND:
        configuration = load(flags=at.job.inputs.flags(), environ=at.job.environment)
        return commands.obey(at, hub, commands_per_hour=configuration.get("github.commands_per_hour", int))
    return _skipped(at)


def _skipped(at: Situation) -> Report:
    reason = at.decision.skip_reason
    words = reason.value if reason else "nothing_to_do"
    return Report(skip_reason=words, summary=f"## Not reviewed\n\nskip_reason: `{words}`\n")


def publish(
    review: Review, change: ChangeSet, configuration: Configuration, *, place: Place, number: int
) -> tuple[Outcome, tuple[str, ...]]:
    """Post a finished review on pull request ``number``, and what is to be said of how that ended. Raises ReviewbotError."""
    from reviewbot.wiring.github import posts, pulls

    with opened(place) as hub:
        made = posts.alone(review, change, pulls.options_of(configuration), hub=hub, number=number)
    ending = (posts.ENDINGS[made.ending],) if made.ending in posts.ENDINGS else ()
    return made, (*ending, *made.notes)


@contextmanager
def opened(place: Place) -> Iterator[Hub]:
    """The forge. Raises ConfigError for a token that is none, and where its library is not installed."""
    from reviewbot.adapters import github

    credential = github.App(*place.app) if place.app else github.Token(place.token)
    hub = github.Hub.open(place.api_url, place.repository, credential, clock=SystemClock())
    try:
        yield hub
    finally:
        hub.close()
