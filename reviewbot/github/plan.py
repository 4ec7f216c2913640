"""What is to be done so that under a pull request stands what should.

A pure function of both. Whatever part of a plan was carried out, the next plan is the rest of it,
and it is empty in the end. The summary comes last: it says that a commit was reviewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.github.actions import (
    Action,
    AddLabels,
    DeleteComment,
    DeletePendingReview,
    DeleteThread,
    DismissReview,
    EditComment,
    HideReview,
    InlineComment,
    PostCheckRun,
    PostComment,
    PostReview,
    RemoveLabel,
    ReopenThread,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.github.snapshot import BOT, Snapshot
from reviewbot.github.state import (
    OwnReview,
    OwnThread,
    State,
    closed_marker,
    decode_state,
    review_marker,
    reviews_of,
    summaries_of,
    threads_of,
)

OPINIONS = ("APPROVED", "CHANGES_REQUESTED", "DISMISSED")
NO_LONGER = "No longer found."


class Desired(Struct, frozen=True, kw_only=True):
    """What should stand under a pull request after a review.

    Attributes:
        commit: the head that was reviewed.
        body: of the pull request review, without its marker.
        comments: findings on lines of the diff, worst first.
        open_keys: of all findings that are reported.
        known_keys: of those that were looked at, or looked up; a thread about another one is not
            touched unless the review is complete.
        closed: what is said about a finding that is gone, by key.
        labels, managed_labels: those that should be there; others of the managed ones go.
        summary: the whole comment, with marker and state.
        links: addresses that the summary shows once they exist.
    """

    commit: str
    is_complete: bool
    event: ReviewEvent
    body: str
    comments: tuple[InlineComment, ...]
    open_keys: frozenset[str]
    known_keys: frozenset[str]
    closed: Mapping[str, str] = {}
    check: PostCheckRun
    labels: frozenset[str] = frozenset()
    managed_labels: frozenset[str] = frozenset()
    state: State
    summary: str
    links: tuple[str, ...] = ()

    def is_gone(self, key: str) -> bool:
        return key not in self.open_keys and (self.is_complete or key in self.known_keys)


def plan(desired: Desired, snapshot: Snapshot) -> list[Action]:
    """What is to be done, in order. New comments are posted before a summary can link to them."""
    review = list(_review(desired, snapshot))
    actions = [
        *_pending(snapshot),
        *review,
        *_threads(desired, snapshot),
        *_opinions(desired, snapshot),
        *_check_run(desired, snapshot),
        *_labels(desired, snapshot),
        *_doubles(snapshot),
    ]
    if not any(action.comments for action in review):
        actions += _summary(desired, snapshot)
    return actions


def _pending(snapshot: Snapshot) -> Iterator[Action]:
    """A review that was never submitted stands in the way of any other.

    One without our marker stays if the account is a person's: they may be writing it.
    """
    for posted in snapshot.reviews:
        is_ours = snapshot.me.endswith(BOT) or "<!-- reviewbot:review" in posted.body
        if posted.is_own and posted.state == "PENDING" and is_ours:
            yield DeletePendingReview(posted.id)


def _review(desired: Desired, snapshot: Snapshot) -> Iterator[PostReview]:
    """One review, if a comment is missing or the verdict was not given yet."""
    threads = list(threads_of(snapshot))
    reviews = list(reviews_of(snapshot))
    new = tuple(c for c in desired.comments if not _is_posted(c, desired, threads, reviews))
    is_due = _is_verdict_due(desired, reviews)
    if new or is_due:
        event = desired.event if is_due else "COMMENT"
        marker = review_marker(desired.commit, event, [comment.key for comment in new])
        yield PostReview(desired.commit, event, f"{marker}\n{desired.body}", new)


def _is_posted(
    comment: InlineComment,
    desired: Desired,
    threads: list[OwnThread],
    reviews: list[OwnReview],
) -> bool:
    """A thread about it is there, or a review of this commit has it in its body."""
    return any(own.key == comment.key and not own.is_folded for own in threads) or any(
        own.commit == desired.commit and comment.key in own.keys for own in reviews
    )


def _is_verdict_due(desired: Desired, reviews: list[OwnReview]) -> bool:
    """An approval is of one commit. A request for changes stands until it is dismissed."""
    if desired.event == "COMMENT":
        return False
    if any((own.commit, own.event) == (desired.commit, desired.event) for own in reviews):
        return False
    states = [own.posted.state for own in reviews if own.posted.state in OPINIONS]
    return not (desired.event == "REQUEST_CHANGES" and states[-1:] == ["CHANGES_REQUESTED"])


def _threads(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """Close threads about what is gone, reopen those about what came back, remove doubles.

    Where others wrote, or resolved it, a thread is theirs.
    """
    seen: set[str] = set()
    for own in sorted(threads_of(snapshot), key=lambda own: own.thread.comments[0].id):
        if own.is_folded:
            continue
        thread, first = own.thread, own.thread.comments[0]
        is_ours = thread.resolved_by.removesuffix(BOT) == snapshot.me.removesuffix(BOT) != ""
        is_double = own.key in seen
        seen.add(own.key)
        if is_double and not own.is_answered:
            yield DeleteThread(first.id)
        elif (is_double or desired.is_gone(own.key)) and not own.is_closed and not own.is_answered:
            words = desired.closed.get(own.key, NO_LONGER)
            reply = f"{closed_marker(own.key)}\n{words}"
            yield ResolveThread(thread.node_id, first.node_id, first.id, reply)
        elif own.key in desired.open_keys and is_ours and not is_double:
            yield ReopenThread(thread.node_id)


def _opinions(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """Take back what no longer holds: no review that failed takes back a request for changes."""
    for own in reviews_of(snapshot):
        is_met = desired.event != "REQUEST_CHANGES" and (
            desired.is_complete or (own.keys and all(map(desired.is_gone, own.keys)))
        )
        if own.posted.state == "CHANGES_REQUESTED" and is_met:
            yield DismissReview(own.posted.id, "What was asked for is done.")
        is_outdated = own.commit != desired.commit or desired.event != "APPROVE"
        if own.posted.state == "APPROVED" and is_outdated:
            yield DismissReview(own.posted.id, "It was about an earlier state of the change.")


def _check_run(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """One for each commit. One that ended has its annotations: GitHub would add them again."""
    check, app = desired.check, snapshot.me.removesuffix(BOT).lower()
    own = [
        run
        for run in snapshot.checks
        if (run.name, run.external_id) == (check.name, check.external_id)
        and (not app or run.app.lower() == app)
    ]
    if not own:
        yield check
    elif (own[-1].title, own[-1].conclusion) != (check.title, check.conclusion):
        annotations = () if own[-1].conclusion else check.annotations
        yield replace(check, id=own[-1].id, annotations=annotations)


def _labels(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    there = {label.lower(): label for label in snapshot.pull.labels}
    if missing := tuple(sorted(label for label in desired.labels if label.lower() not in there)):
        yield AddLabels(missing)
    for label in sorted(desired.managed_labels - desired.labels):
        if label.lower() in there:
            yield RemoveLabel(there[label.lower()])


def _doubles(snapshot: Snapshot) -> Iterator[Action]:
    """What two runs posted at the same time: the first one stays."""
    for comment in summaries_of(snapshot)[1:]:
        yield DeleteComment(comment.id)
    seen = set()
    for own in sorted(reviews_of(snapshot), key=lambda own: own.posted.id):
        about = (own.commit, own.event, own.keys)
        if about in seen and not own.posted.is_minimized:
            yield HideReview(own.posted.node_id)
        seen.add(about)


def _summary(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    found = summaries_of(snapshot)
    if not found:
        yield PostComment(desired.summary)
        return
    line = found[0].body.split("\n", 2)[1:2]
    state = decode_state(line[0]) if line else None
    is_same = state is not None and _essence(state) == _essence(desired.state)
    if not is_same or any(link not in found[0].body for link in desired.links):
        yield EditComment(found[0].id, desired.summary)


def _essence(state: State) -> State:
    """What of a state is worth a write: not how often, nor for how much, nor in which run."""
    return replace(state, reviews=0, cost_usd=0, run_id=0)
