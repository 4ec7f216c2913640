"""A pull request reviewed and published in one job: where the head may be trusted, or nothing of it is run."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.config import Configuration
from reviewbot.consensus import policy
from reviewbot.domain.evidence import Severity
from reviewbot.domain.forge import (
    PullRequest,
)
from reviewbot.domain.review import Review
from reviewbot.publish.labels import Labels
from reviewbot.publish.wanted import PublishOptions
from reviewbot.wiring import books
from reviewbot.wiring.github import consulted, documents, fixes, ground, orders, posts
from reviewbot.wiring.github.job import Job, Report
from reviewbot.wiring.github.situation import Hub, Situation
from reviewbot.wiring.reviewing import review as made

LABELS = Labels("reviewbot/changes", "reviewbot/comments", "reviewbot/clean", "reviewbot/incomplete")
"""No name that the workflows react to: putting one on must start no run."""


def review(at: Situation, hub: Hub, *, focus: str = "", whole: bool = False) -> Report:
    """Review what stands there and publish it. Raises ReviewbotError."""
    standing = at.standing
    assert standing is not None
    with ground.found(at.job, standing.pull, hub) as found:
        order = orders.order_of(at.job, found, standing, memory=at.memory, execute=at.decision.execute)
        outcome = made(orders.whole(order, focus) if whole else order)
        told = policy.limited(named(outcome.review, at.job, standing.pull), found.left_out)
        matter = posts.matter(told, order, options_of(outcome.configuration))
        documents.keep(at.job, told)
        books.keep_beside(told, at.job.state, consulted.project(at))
        return fixes.published(matter, order, at=at, hub=hub)


def options_of(configuration: Configuration) -> PublishOptions:
    """How findings are told on a pull request."""
    fail_on = configuration.get("review.fail_on", str)
    return PublishOptions(
        max_comments=configuration.get("review.max_comments", int),
        fail_on=None if fail_on == "none" else Severity[fail_on.upper()],
        allow_approve=configuration.get("github.allow_approve", bool),
        sticky_summary=configuration.get("github.sticky_summary", bool),
        resolve_outdated=configuration.get("github.resolve_outdated", bool),
        labels=LABELS if configuration.get("github.labels", bool) else Labels(),
    )


def named(review: Review, job: Job, pull: PullRequest) -> Review:
    """The review as one of this pull request, also where the forge told the change as a patch."""
    about = ground.as_of(review.revisions, pull)
    return replace(review, repository=job.repository, pull_request=pull.number, revisions=about)
