"""Bring a review to its pull request, and leave there what should stand there, however it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.git.change import Change
from reviewbot.github.actions import (
    Action,
    Conclusion,
    DeleteComment,
    DeletePendingReview,
    DeleteThread,
    InlineComment,
    PostCheckRun,
    PostReview,
    ResolveThread,
    ReviewEvent,
    perform,
)
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.plan import Desired, plan
from reviewbot.github.snapshot import Snapshot, read_snapshot
from reviewbot.github.state import (
    SUMMARY,
    State,
    decode_state,
    encode_state,
    finding_marker,
    state_of,
    summaries_of,
    threads_of,
)
from reviewbot.reports import markdown
from reviewbot.severity import Threshold, reaches
from reviewbot.text.markdown import inline
from reviewbot.verdict.document import Finding, Memory, Review, Verdict
from reviewbot.verdict.memory import with_dismissals

CHECK_NAME = "reviewbot"
EVENTS: dict[Verdict, ReviewEvent] = {
    "approve": "APPROVE",
    "comment": "COMMENT",
    "request_changes": "REQUEST_CHANGES",
}
LABELS: dict[Verdict, str] = {
    "approve": "reviewbot:approved",
    "comment": "reviewbot:reviewed",
    "request_changes": "reviewbot:changes-requested",
}
ATTEMPTS = 5
MAX_BODY = 55_000  # bytes, of findings in the body of a review

Ending = Literal[
    "posted",
    "closed",
    "locked",
    "head_moved",
    "stopped",
    "not_permitted",  # this token may not comment
    "deferred",  # a rate limit holds longer than the run can wait
    "failed",
]
ENDINGS: dict[Ending, str] = {
    "closed": "The pull request was closed meanwhile: nothing is posted.",
    "locked": "The conversation is locked: nothing is posted.",
    "head_moved": "A newer commit was pushed meanwhile: its own run reviews it.",
    "stopped": "reviewbot was told to stop here: nothing is posted.",
    "not_permitted": "The token of this job may not comment: the review is in the job summary.",
    "deferred": "GitHub's rate limit holds longer than this job can wait: run the job again.",
    "failed": "GitHub did not take everything: run the job again to post what is missing.",
}


class PublishOptions(Struct, frozen=True, kw_only=True):
    """How a review is posted.

    Attributes:
        fail_on: from which severity on the check run fails.
        max_comments: the most comments on lines, all together.
        has_labels: whether a label says what the verdict is.
        run_url: address of this run of the workflow.
    """

    fail_on: Threshold = "none"
    max_comments: int = 10
    has_labels: bool = False
    run_url: str = ""
    run_id: int = 0


class Outcome(Struct, frozen=True, kw_only=True):
    """What became of a review.

    Attributes:
        comments: on lines, open now.
        resolved: how many threads were closed.
        notes: what GitHub did not take, a sentence each.
    """

    ending: Ending
    summary_url: str = ""
    comments: int = 0
    resolved: int = 0
    notes: tuple[str, ...] = ()


def publish(
    client: Client, number: int, review: Review, change: Change, options: PublishOptions
) -> Outcome:
    """Read what is there, do what is missing, and look again until nothing is.

    Raises GitHubError if the pull request cannot be read, or the token is none.
    """

    def desired_of(snapshot: Snapshot) -> Desired:
        return make_desired(review, change, snapshot, options)

    return settle(client, number, review.head_commit, desired_of)


def settle(
    client: Client, number: int, commit: str, desired_of: Callable[[Snapshot], Desired]
) -> Outcome:
    """The same for anything that should stand there."""
    refused: set[type[Action]] = set()
    notes: dict[str, None] = {}
    resolved = 0
    has_opinion = has_lines = True
    ending: Ending = "failed"
    for _ in range(ATTEMPTS):
        snapshot = read_snapshot(client, number)
        if hindrance := _hindrance(snapshot, commit):
            return Outcome(ending=hindrance)
        desired = desired_of(snapshot)
        desired = desired if has_opinion else replace(desired, event="COMMENT")
        actions = [a for a in plan(desired, snapshot) if type(a) not in refused]
        if not has_lines:
            actions = [_without_lines(a) if isinstance(a, PostReview) else a for a in actions]
        if not actions:
            ending = "posted"
            break
        for action in actions:
            try:
                perform(client, number, action)
                resolved += isinstance(action, ResolveThread)
            except GitHubError as error:
                if error.kind == "not_authorized":
                    raise
                if error.kind == "deferred":
                    return Outcome(ending="deferred", notes=(*notes, str(error)))
                if error.kind == "stale":
                    return Outcome(ending="head_moved")
                if error.kind in ("unsure", "failed"):
                    break  # look what is there before anything is written again
                deletes = isinstance(action, DeleteComment | DeletePendingReview | DeleteThread)
                if error.kind == "gone" and deletes:
                    continue  # another run was faster
                if isinstance(action, PostReview) and error.kind == "invalid":
                    if has_opinion and action.event != "COMMENT":
                        has_opinion = False
                    elif has_lines and action.comments:
                        has_lines = False
                    else:
                        refused.add(PostReview)
                        notes[str(error)] = None
                    break
                refused.add(type(action))
                notes[str(error)] = None
    found = summaries_of(snapshot)
    if not found:
        ending = "not_permitted" if refused else "failed"
    return Outcome(
        ending=ending,
        summary_url=found[0].url if found else "",
        comments=sum(not own.is_closed for own in threads_of(snapshot)),
        resolved=resolved,
        notes=tuple(notes),
    )


def make_desired(
    review: Review, change: Change, snapshot: Snapshot, options: PublishOptions
) -> Desired:
    """What should stand there. People may have dismissed findings while the review was made."""
    state = state_of(snapshot)
    review = with_dismissals(review, state.memory)
    memory = review.memory or Memory()
    reported = review.reported
    earlier = {known.key: known for known in state.memory.findings}
    open_keys = frozenset(finding.key for finding in reported)
    links = {
        own.id: own.thread.comments[0].url for own in threads_of(snapshot) if own.key in open_keys
    }
    gone = [known for known in earlier.values() if known.key not in open_keys]
    kept = replace(
        state,
        memory=memory,
        head=review.head_commit,
        base=review.base_commit,
        run_id=options.run_id,
        reviews=state.reviews + 1,
        cost_usd=round(state.cost_usd + review.usage.cost_usd, 6),
    )
    line = encode_state(kept)
    page = markdown.Page(
        links=links,
        fixed=tuple((k.id, k.title, "no longer found") for k in gone if not k.dismissed),
        dismissed=tuple(
            (k.id, k.title, k.dismissed, k.dismissed_by) for k in memory.findings if k.dismissed
        ),
        run_url=options.run_url,
    )
    room = markdown.MAX_BYTES - len(line) - len(SUMMARY)
    labels = frozenset([LABELS[review.verdict]] if options.has_labels else [])
    return Desired(
        commit=review.head_commit,
        is_complete=review.complete,
        event=EVENTS[review.verdict],
        body=markdown.review_body(review),
        comments=tuple(
            _inline_comments(reported, change, review.head_commit, options.max_comments)
        ),
        open_keys=open_keys,
        known_keys=frozenset(earlier) | {finding.key for finding in review.findings},
        closed={k.key: inline(f"Dismissed: {k.dismissed}") for k in memory.findings if k.dismissed},
        check=make_check_run(review, options),
        labels=labels,
        managed_labels=frozenset(LABELS.values() if options.has_labels else ()),
        state=decode_state(line) or State(),
        summary=f"{SUMMARY}\n{line}\n{markdown.summary(review, page, room)}",
        links=tuple(links.values()),
    )


def _hindrance(snapshot: Snapshot, commit: str) -> Ending | None:
    if snapshot.pull.state != "OPEN":
        return "closed"
    if snapshot.pull.is_locked:
        return "locked"
    if snapshot.pull.head_sha != commit:
        return "head_moved"
    if snapshot.hides_own:
        # What is ours would be posted again, and what it keeps would be forgotten.
        words = "what stands under the pull request cannot be read whole"
        raise GitHubError("not_permitted", words, hint="give the token pull-requests: read")
    return "stopped" if state_of(snapshot).stopped_by else None


def _without_lines(review: PostReview) -> PostReview:
    """GitHub refuses one of the lines and does not say which: all comments move into the body."""
    body, more = review.body, 0
    for comment in review.comments:
        text = comment.body.partition("\n")[2]  # its marker stands in a thread only
        if len(f"{body}{text}".encode()) < MAX_BODY:
            body += f"\n\n{text}"
        else:
            more += 1
    body += f"\n\nAnd {more} more: see the summary." if more else ""
    return replace(review, body=body, comments=())


def _inline_comments(
    reported: Sequence[Finding], change: Change, commit: str, most: int
) -> Iterator[InlineComment]:
    """The worst findings whose lines GitHub shows, each where its lines end."""
    files = {file.path_at(side): file for file in change.files for side in ("base", "head")}
    count = 0
    for finding in reported:
        place = finding.location
        file = files.get(place.path) if place else None
        if not place or not file or count == most:
            continue
        for hunk in file.hunks:
            numbers = {number for number, _ in hunk.at(place.side)}
            if place.side == "base":
                numbers &= set(hunk.removed)
            shown = [n for n in range(place.line, place.end_line + 1) if n in numbers]
            if place.line in shown:
                count += 1
                marker = finding_marker(finding.key, finding.id, commit)
                yield InlineComment(
                    key=finding.key,
                    path=file.path,
                    line=shown[-1],
                    start_line=place.line,
                    side="LEFT" if place.side == "base" else "RIGHT",
                    body=f"{marker}\n{markdown.comment(finding)}",
                )
                break


def make_check_run(review: Review, options: PublishOptions) -> PostCheckRun:
    conclusion: Conclusion = "success" if review.complete else "neutral"
    if any(reaches(finding.severity, options.fail_on) for finding in review.reported):
        conclusion = "failure"
    return PostCheckRun(
        name=CHECK_NAME,
        head_sha=review.head_commit,
        external_id=review.head_commit,
        conclusion=conclusion,
        title=markdown.check_title(review),
        summary=markdown.check_summary(review),
        annotations=markdown.annotations(review),
    )
