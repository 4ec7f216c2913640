"""What is to be done so that under a pull request stands what should.

A pure function of both. Whatever part of a plan was carried out, the next plans come to the same
end, where a plan is empty. The summary comes last: it says that a commit was reviewed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.github import actions
from reviewbot.github.actions import Action, PostReview, ReviewEvent
from reviewbot.github.snapshot import BOT, Snapshot
from reviewbot.github.state import (
    CLOSED_MARKER,
    REVIEW_MARKER,
    OwnReview,
    OwnThread,
    State,
    decode_state,
    reviews_of,
    state_of,
    summaries_of,
    threads_of,
)

OPINIONS = ("APPROVED", "CHANGES_REQUESTED")
NO_LONGER = "No longer found."


class Desired(Struct, frozen=True, kw_only=True):
    """What should stand under a pull request after a review.

    Attributes:
        may_judge: GitHub takes more than comments from this account.
        body: of the pull request review, without its marker.
        open_keys: of all findings that are reported.
        known_keys: of those that were looked at, or looked up; a thread about another one is not
            touched unless the review is complete.
        closed: what is said about a finding that is gone, by key.
        managed_labels: those of them that are not in `labels` go.
        links: addresses that the summary shows once they exist.
    """

    commit: str
    is_complete: bool
    event: ReviewEvent
    may_judge: bool = True
    body: str
    comments: tuple[actions.InlineComment, ...]
    open_keys: frozenset[str]
    known_keys: frozenset[str]
    closed: Mapping[str, str] = {}
    check: actions.PostCheckRun
    labels: frozenset[str] = frozenset()
    managed_labels: frozenset[str] = frozenset()
    state: State
    summary: str
    links: tuple[str, ...] = ()

    def is_gone(self, key: str) -> bool:
        return key not in self.open_keys and (self.is_complete or key in self.known_keys)


def plan(desired: Desired, snapshot: Snapshot) -> list[Action]:
    """What is to be done, in order. New comments are posted before a summary can link to them."""
    review, opinions = list(_review(desired, snapshot)), list(_opinions(desired, snapshot))
    todo: list[Action] = [
        *_pending(snapshot),
        *review,
        # Doubles first: once the first one is folded, the second would count.
        *sorted(_threads(desired, snapshot), key=lambda a: not isinstance(a, actions.Delete)),
        *opinions,
        *_check_run(desired, snapshot),
        *_labels(desired, snapshot),
        *_doubles(snapshot, {opinion.id for opinion in opinions}),
    ]
    if not any(action.comments for action in review):
        todo += _summary(desired, snapshot)
    return todo


def _pending(snapshot: Snapshot) -> Iterator[Action]:
    """A review that was never submitted stands in the way of any other.

    One without our marker stays if the account is a person's: they may be writing it.
    """
    for posted in snapshot.reviews:
        is_ours = snapshot.me.endswith(BOT) or "<!-- reviewbot:review" in posted.body
        if posted.is_own and posted.state == "PENDING" and is_ours:
            yield actions.Delete("pending review", posted.id)


def _review(desired: Desired, snapshot: Snapshot) -> Iterator[PostReview]:
    """One review, if a comment is missing or the verdict was not given yet."""
    threads, reviews = threads_of(snapshot), list(reviews_of(snapshot))
    new = tuple(c for c in desired.comments if not _is_posted(c.key, desired, threads, reviews))
    is_due = _is_verdict_due(desired, reviews, state_of(snapshot).head)
    if new or is_due:
        event = desired.event if is_due else "COMMENT"
        keys = ",".join(comment.key for comment in new)
        marker = REVIEW_MARKER.format(commit=desired.commit, event=event, keys=keys)
        yield PostReview(desired.commit, event, f"{marker}\n{desired.body}", new)


def _is_posted(
    key: str, desired: Desired, threads: list[OwnThread], reviews: list[OwnReview]
) -> bool:
    """A thread about it is there, or a review of this commit had it without making a thread."""
    about = [own for own in threads if own.key == key]
    if any(not own.is_folded for own in about):
        return True
    named = sum(own.commit == desired.commit and key in own.keys for own in reviews)
    return named > sum(own.commit == desired.commit for own in about)


def _is_verdict_due(desired: Desired, reviews: list[OwnReview], last_commit: str) -> bool:
    """An approval is of one commit. A request for changes stands until it is dismissed.

    One of this commit that was dismissed counts, as a person's decision, unless another commit was
    reviewed since: then the change came back, and what was said of it holds again.
    """
    if desired.event == "COMMENT" or not desired.may_judge:
        return False
    came_back = last_commit not in ("", desired.commit)
    for own in reviews:
        is_same = (own.commit, own.event) == (desired.commit, desired.event)
        if is_same and not (came_back and own.posted.state == "DISMISSED"):
            return False
    states = [own.posted.state for own in reviews if own.posted.state in OPINIONS]
    return not (desired.event == "REQUEST_CHANGES" and states[-1:] == ["CHANGES_REQUESTED"])


def _threads(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """Close threads about what is gone, reopen those about what came back, remove doubles.

    Where others wrote, or resolved it, a thread is theirs.
    """
    seen: set[str] = set()
    for own in threads_of(snapshot):
        if own.is_folded:
            continue
        thread, first = own.thread, own.thread.comments[0]
        is_ours = thread.resolved_by.removesuffix(BOT) == snapshot.me.removesuffix(BOT) != ""
        is_double = own.key in seen
        seen.add(own.key)
        if is_double and not own.is_answered:
            yield actions.Delete("thread", first.id)
        elif desired.is_gone(own.key) and not own.is_closed and not own.is_answered:
            words = desired.closed.get(own.key, NO_LONGER)
            reply = f"{CLOSED_MARKER.format(key=own.key)}\n{words}"
            yield actions.ResolveThread(thread.node_id, first.node_id, first.id, reply)
        elif own.key in desired.open_keys and is_ours and not is_double:
            yield actions.ReopenThread(thread.node_id)


def _opinions(desired: Desired, snapshot: Snapshot) -> Iterator[actions.DismissReview]:
    """Take back what no longer holds: no review that failed takes back a request for changes."""
    for own in reviews_of(snapshot):
        # What it named and nobody could look at again is carried, and would still block.
        is_met = desired.event != "REQUEST_CHANGES" and (
            desired.is_complete or (own.keys and own.keys <= desired.known_keys)
        )
        if own.posted.state == "CHANGES_REQUESTED" and is_met:
            yield actions.DismissReview(own.posted.id, "What was asked for is done.")
        is_outdated = own.commit != desired.commit or desired.event != "APPROVE"
        if own.posted.state == "APPROVED" and is_outdated:
            yield actions.DismissReview(
                own.posted.id, "It was about an earlier state of the change."
            )


def _check_run(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    """One for each commit, the newest."""
    check, app = desired.check, snapshot.me.removesuffix(BOT).lower()
    own = [
        run
        for run in snapshot.checks
        if (run.name, run.external_id) == (actions.CHECK_NAME, check.head_sha)
        and app in ("", run.app.lower())
    ]
    newest = max(own, key=lambda run: run.id, default=None)
    if newest is None:
        yield check
    elif (newest.title, newest.conclusion) != (check.title, check.conclusion):
        yield replace(check, id=newest.id)


def _labels(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    there = {label.lower(): label for label in snapshot.pull.labels}
    if missing := tuple(sorted(label for label in desired.labels if label.lower() not in there)):
        yield actions.AddLabels(missing)
    for label in sorted(desired.managed_labels - desired.labels):
        if label.lower() in there:
            yield actions.RemoveLabel(there[label.lower()])


def _doubles(snapshot: Snapshot, dismissed: Collection[int]) -> Iterator[Action]:
    """What two runs posted at the same time: the first one stays."""
    for comment in summaries_of(snapshot)[1:]:
        yield actions.Delete("comment", comment.id)
    threads = Counter((own.key, own.commit) for own in threads_of(snapshot))
    seen: Counter[object] = Counter()
    for own in sorted(reviews_of(snapshot), key=lambda own: own.posted.id):
        if own.posted.state == "DISMISSED" or own.posted.id in dismissed:
            continue
        about = (own.commit, own.event, own.keys)
        # Two reviews may each have a thread about a finding that came back.
        is_double = all(seen[about] >= max(1, threads[key, own.commit]) for key in own.keys or "-")
        if is_double and not own.posted.is_minimized:
            yield actions.HideReview(own.posted.node_id)
        seen[about] += 1


def _summary(desired: Desired, snapshot: Snapshot) -> Iterator[Action]:
    found = summaries_of(snapshot)
    if not found:
        yield actions.WriteComment(desired.summary)
        return
    there, wanted = found[0].body.split("\n", 3), desired.summary.split("\n", 3)
    state = decode_state(there[1]) if len(there) > 1 else None
    is_same = state is not None and _essence(state) == _essence(desired.state)
    # The third line is the verdict.
    is_same = is_same and "".join(there[2:3]).rstrip("\r") == "".join(wanted[2:3])
    links = (link for link in desired.links if link in desired.summary)
    if not is_same or any(link not in found[0].body for link in links):
        yield actions.WriteComment(desired.summary, found[0].id)


def _essence(state: State) -> State:
    """What of a state is worth a write: not how often, nor for how much, nor in which run."""
    return replace(state, reviews=0, cost_usd=0, run_id=0)
