"""With which word a review is posted, and how its check run ends. Written rules (``security.md`` 8): errors never approve."""

from __future__ import annotations

from reviewbot.domain.action import (
    CheckConclusion,
    ReviewEvent,
)
from reviewbot.domain.evidence import Severity
from reviewbot.domain.forge import (
    Author,
    PullRequest,
    Standing,
)
from reviewbot.domain.review import Conclusion, FindingStatus, Review, Verdict
from reviewbot.publish import phrases


def event(review: Review, standing: Standing, *, allow_approve: bool, check_name: str) -> ReviewEvent:
    """The word for this review under this pull request. What is not sure is a comment."""
    if review.verdict is Verdict.REQUEST_CHANGES and _is_grave(review) and not is_own(standing.pull, standing.me):
        return ReviewEvent.REQUEST_CHANGES
    asked = allow_approve and review.verdict is Verdict.APPROVE
    return ReviewEvent.APPROVE if asked and not hindrances(review, standing, check_name) else ReviewEvent.COMMENT


def hindrances(review: Review, standing: Standing, check_name: str) -> tuple[str, ...]:
    """What stands against approving this pull request, whatever the panel says. Our own check does not count."""
    red = [check.name for check in standing.checks if check.is_red and check.name != check_name]
    against = {
        "the review is not complete": review.conclusion is not Conclusion.COMPLETE,
        "there are findings": bool(review.posted()),
        "it is our own pull request": is_own(standing.pull, standing.me),
        "it comes from a fork": standing.pull.is_fork,
        f"checks are red: {', '.join(red[:5])}": bool(red),
        "not everything that stands there could be read": bool(standing.unread),
    }
    return tuple(reason for reason, holds in against.items() if holds)


def conclusion(review: Review, fail_on: Severity | None) -> CheckConclusion:
    """How the check run ends: a failure only for accepted findings from ``fail_on`` on, a success only for a whole review with
    nothing to tell."""
    worst = review.worst()
    if fail_on is not None and worst is not None and worst >= fail_on:
        return CheckConclusion.FAILURE
    clean = review.conclusion is Conclusion.COMPLETE and not review.posted()
    return CheckConclusion.SUCCESS if clean else CheckConclusion.NEUTRAL


def title(review: Review) -> str:
    """The check run's headline: the same for the same review, whatever it took."""
    words = phrases.headline(review).words
    return f"{words}: {phrases.counts(review)}, {phrases.wholeness(review)}" if review.verdict else words


def is_own(pull: PullRequest, me: Author) -> bool:
    """The pull request is by who reviews it."""
    author = pull.author
    if author is None:
        return False
    return (author.id != 0 and author.id == me.id) or author.login.casefold() == me.login.casefold()


def _is_grave(review: Review) -> bool:
    """An accepted finding stands that can carry a request for changes."""
    return any(found.status is FindingStatus.ACCEPTED and found.severity >= Severity.HIGH for found in review.posted())
