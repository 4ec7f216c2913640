"""One run of the GitHub Action, from its event to what it leaves behind: look, decide, do one thing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reviewbot.config import Configuration, load
from reviewbot.domain.change import ChangeSet
from reviewbot.domain.review import Review
from reviewbot.errors import ReviewbotError
from reviewbot.events.activity import Act
from reviewbot.posting import Outcome
from reviewbot.publish.sanitise import inline
from reviewbot.wiring.github import audits, commands, posts, pulls, zones
from reviewbot.wiring.github.job import KEYS as KEYS
from reviewbot.wiring.github.job import Inputs, Job, Place, Report
from reviewbot.wiring.github.situation import Hub, Situation, at_first, looked_up
from reviewbot.wiring.order import SystemClock

__all__ = ["KEYS", "Inputs", "Job", "Place", "Report", "handle", "publish", "told"]


def handle(job: Job) -> Report:
    """Do what the event asks for. Raises ReviewbotError."""
    first = at_first(job)
    if first.is_over:
        return _skipped(first)
    with opened(job.place) as hub:
        if first.decision.act is Act.COLLECT and first.facts.known_pull is not None:
            return zones.collect(first, first.facts.known_pull, hub)
        if first.decision.act is Act.AUDIT:
            return audits.audit(job, hub, execute=first.decision.execute)
        return _done(looked_up(first, hub), hub)


def told(error: ReviewbotError) -> str:
    """An error as safe Markdown."""
    return inline(str(error))


def _done(at: Situation, hub: Hub) -> Report:
    match at.decision.act:
        case Act.REVIEW:
            return pulls.review(at, hub)
        case Act.DEBATE:
            return zones.debate(at, hub)
        case Act.PUBLISH:
            return zones.publish(at, hub)
        case Act.COLLECT if at.standing is not None:
            return zones.collect(at, at.standing.pull, hub)
        case Act.COMMAND:
            configuration = load(flags=at.job.inputs.flags(), environ=at.job.environment)
            return commands.obey(at, hub, commands_per_hour=configuration.get("github.commands_per_hour", int))
        case _:
            return _skipped(at)


def _skipped(at: Situation) -> Report:
    reason = at.decision.skip_reason
    words = reason.value if reason else "nothing_to_do"
    return Report(skip_reason=words, summary=f"## Not reviewed\n\nskip_reason: `{words}`\n")


def publish(
    review: Review, change: ChangeSet, configuration: Configuration, *, place: Place, number: int
) -> tuple[Outcome, tuple[str, ...]]:
    """Post a finished review on pull request ``number``, and what is to be said of how that ended. Raises ReviewbotError."""
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
