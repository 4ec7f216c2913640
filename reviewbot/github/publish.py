"""Bring a review to its pull request, and leave there what should stand there, however it goes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from reviewbot.git.change import Change
from reviewbot.github import actions
from reviewbot.github.actions import Action, InlineComment, PostCheckRun, PostReview, ReviewEvent
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
VERDICTS: dict[Verdict, tuple[ReviewEvent, str]] = {  # with the label that says it
    "approve": ("APPROVE", "reviewbot:approved"),
    "comment": ("COMMENT", "reviewbot:reviewed"),
    "request_changes": ("REQUEST_CHANGES", "reviewbot:changes-requested"),
}
# Three refusals of a review, the review, its summary, a look, and two answers that are lost.
APPROVAL_HINT = "the repository's settings under Actions may allow approvals"
ATTEMPTS = 8
MAX_BODY = 55_000  # bytes, of findings in the body of a review
# What GitHub says of a review if it refuses one of its lines, and not its verdict.
LINES = re.compile(r"review thread|could not be resolved|diff", re.IGNORECASE)

Ending = Literal[
    "posted", "closed", "locked", "head_moved", "stopped", "not_permitted", "deferred", "failed"
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
        suggestions: proven new lines of findings, by their ids.
    """

    fail_on: Threshold = "none"
    max_comments: int = 10
    has_labels: bool = False
    run_url: str = ""
    run_id: int = 0
    suggestions: Mapping[str, str] = {}


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
    refused: set[Action | type[Action]] = set()
    notes: dict[str, None] = {}
    resolved = 0
    has_lines = may_judge = True
    ending: Ending = "failed"
    last = ""
    for _ in range(ATTEMPTS):
        snapshot = read_snapshot(client, number)
        if hindrance := _hindrance(snapshot, review.head_commit):
            return Outcome(ending=hindrance, resolved=resolved, notes=tuple(notes))
        desired = replace(make_desired(review, change, snapshot, options), may_judge=may_judge)
        if PostReview in refused:
            desired = replace(desired, comments=(), may_judge=False)
        todo = [a for a in plan(desired, snapshot) if refused.isdisjoint((a, type(a)))]
        if not todo:
            ending = "posted"
            break
        for action in todo:
            if isinstance(action, PostReview) and not has_lines:
                action = _without_lines(action)
            try:
                actions.perform(client, number, action)
                resolved += isinstance(action, actions.ResolveThread)
            except GitHubError as error:
                if error.kind == "not_authorized":
                    raise
                if error.kind in ("deferred", "stale"):
                    ending = "deferred" if error.kind == "deferred" else "head_moved"
                    return Outcome(ending=ending, notes=(*notes, str(error)))
                if error.kind in ("unsure", "failed"):
                    last = str(error)
                    break  # look what is there before anything is written again
                if isinstance(action, PostReview) and error.kind == "invalid":
                    is_verdict = action.event != "COMMENT"
                    if action.comments and (LINES.search(str(error)) or not is_verdict):
                        has_lines = False
                    elif is_verdict:
                        may_judge = False
                        if action.event == "APPROVE":
                            review = replace(review, verdict="comment")
                            notes[f"{error}: {APPROVAL_HINT}"] = None
                    else:
                        refused.add(PostReview)
                        notes[str(error)] = None
                    break
                if error.kind == "gone":
                    refused.add(action)  # somebody was faster
                else:
                    refused.add(type(action) if error.kind == "not_permitted" else action)
                    notes[str(error)] = None
    if ending == "failed" and last:
        notes[last] = None
    found = summaries_of(snapshot)
    if refused & {actions.PostComment, actions.EditComment}:
        ending = "not_permitted"
    return Outcome(
        ending=ending if found or ending != "posted" else "failed",
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
    open_keys = frozenset(finding.key for finding in reported)
    threads = [own for own in threads_of(snapshot) if own.key in open_keys and not own.is_folded]
    links = {own.id: own.thread.comments[0].url for own in reversed(threads)}
    left = options.max_comments - len({own.key for own in threads if not own.is_closed})
    without = [finding for finding in reported if finding.key not in {own.key for own in threads}]
    gone = [known for known in state.memory.findings if known.key not in open_keys]
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
    event, label = VERDICTS[review.verdict]
    managed = frozenset(each for _, each in VERDICTS.values() if options.has_labels)
    return Desired(
        commit=review.head_commit,
        is_complete=review.complete,
        event=event,
        body=markdown.review_body(review),
        comments=tuple(_inline_comments(without, change, review.head_commit, left, options)),
        open_keys=open_keys,
        known_keys=frozenset(state.memory.numbers if state.head else ())
        | {finding.key for finding in review.findings},
        closed={k.key: inline(f"Dismissed: {k.dismissed}") for k in memory.findings if k.dismissed},
        check=make_check_run(review, options),
        labels=managed & {label},
        managed_labels=managed,
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
    findings: Sequence[Finding],
    change: Change,
    commit: str,
    most: int,
    options: PublishOptions,
) -> Iterator[InlineComment]:
    """The worst findings whose lines GitHub shows, each where its lines end."""
    files = {file.path_at(side): file for file in change.files for side in ("base", "head")}
    count = 0
    for finding in findings:
        place = finding.location
        file = files.get(place.path) if place else None
        if not place or not file or count >= most:
            continue
        for hunk in file.hunks:
            numbers = {number for number, _ in hunk.at(place.side)}
            if place.side == "base":
                numbers &= set(hunk.removed)
            shown = [n for n in range(place.line, place.end_line + 1) if n in numbers]
            if place.line in shown:
                count += 1
                marker = finding_marker(finding.key, finding.id, commit)
                is_whole = shown[-1] == place.end_line
                suggestion = options.suggestions.get(finding.id) if is_whole else None
                yield InlineComment(
                    key=finding.key,
                    path=file.path,
                    line=shown[-1],
                    start_line=place.line,
                    side="LEFT" if place.side == "base" else "RIGHT",
                    body=f"{marker}\n{markdown.comment(finding, suggestion)}",
                )
                break


def make_check_run(review: Review, options: PublishOptions) -> PostCheckRun:
    conclusion: actions.Conclusion = "success" if review.complete else "neutral"
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
