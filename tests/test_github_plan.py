"""What is decided on GitHub before anything is written: plans, state, commands, decisions."""

from __future__ import annotations

import base64
import json
import time
import zlib
from collections.abc import Callable, Sequence
from typing import get_args

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.config.settings import GitHubSettings
from reviewbot.github import activity, state
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
from reviewbot.github.activity import ACTIVITIES, TABLE, Facts, decide, may_execute
from reviewbot.github.activity import needs_permission_of as asks_about
from reviewbot.github.command import FORMS, Command, Misunderstood, is_command, parse
from reviewbot.github.event import CommentEvent, Event, Subject
from reviewbot.github.plan import Desired, plan
from reviewbot.github.snapshot import (
    Author,
    CheckRun,
    Comment,
    PostedReview,
    PullRequest,
    Snapshot,
    Thread,
)
from reviewbot.github.state import SUMMARY, State, decode_state, encode_state
from reviewbot.reports.markdown import Annotation
from reviewbot.verdict.document import Memory, Remembered

BOT, ANN = "github-actions[bot]", Author("ann")
HEAD, OLD = "a" * 40, "b" * 40
KEYS = ("k1", "k2", "k3")
STATES = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
SUBSETS = st.sets(st.sampled_from(KEYS)).map(frozenset)
PULL = PullRequest(
    number=1,
    title="Change",
    state="OPEN",
    is_draft=False,
    is_locked=False,
    url="",
    changed_files=1,
    author=ANN,
    base_ref="main",
    base_sha="c" * 40,
    head_ref="topic",
    head_sha=HEAD,
    head_repository="octo/app",
)


def comment(id: int, body: str, *, own: bool = True, minimized: bool = False) -> Comment:
    return Comment(
        node_id=f"N{id}",
        id=id,
        author=Author(BOT, "Bot") if own else ANN,
        is_own=own,
        is_minimized=minimized,
        is_edited=False,
        body=body,
        created_at="",
        url=f"https://github.com/c/{id}",
    )


def thread(*comments: Comment, by: str = "") -> Thread:
    number = comments[0].id
    return Thread(
        node_id=f"T{number}",
        path="a.py",
        line=1,
        is_resolved=bool(by),
        resolved_by=by,
        comments=comments,
    )


def finding(key: str, commit: str = HEAD) -> str:
    return f"{state.finding_marker(key, f'F{key[1:]}', commit)}\nwords about {key}"


def posted(id: int, event: ReviewEvent, commit: str, keys: Sequence[str] = ()) -> PostedReview:
    body = f"{state.review_marker(commit, event, keys)}\nwords"
    return PostedReview(node_id=f"R{id}", id=id, is_own=True, state=STATES[event], body=body)


def snapshot(**parts: object) -> Snapshot:
    nothing = {"comments": (), "threads": (), "reviews": (), "checks": (), "unread": ()}
    found = {"repository": "octo/app", "me": BOT, "pull": PULL, "hides_own": False}
    return Snapshot(**(found | nothing | parts))  # type: ignore[arg-type]


def act(action: Action, at: Snapshot, may_resolve: bool) -> Snapshot:
    """What stands there after an action, as GitHub has it."""
    inner = (c.id for each in at.threads for c in each.comments)
    ids = (*(x.id for x in (*at.comments, *at.reviews, *at.checks)), *inner)
    id = max(ids, default=0) + 1
    match action:
        case DeletePendingReview(id=gone):
            return replace(at, reviews=tuple(r for r in at.reviews if r.id != gone))
        case PostReview():
            bodies = [c.body for c in action.comments]
            new = [thread(comment(id + n, body)) for n, body in enumerate(bodies, start=1)]
            review = PostedReview(
                node_id=f"R{id}", id=id, is_own=True, state=STATES[action.event], body=action.body
            )
            return replace(at, reviews=(*at.reviews, review), threads=(*at.threads, *new))
        case DismissReview(id=gone):
            (review,) = [r for r in at.reviews if r.id == gone]
            assert review.state in ("APPROVED", "CHANGES_REQUESTED")
            return edit(at, "reviews", review, state="DISMISSED")
        case HideReview(node_id=node):
            (review,) = [r for r in at.reviews if r.node_id == node]
            return edit(at, "reviews", review, is_minimized=True)
        case ResolveThread(node_id=node):
            (found,) = [t for t in at.threads if t.node_id == node]
            if may_resolve:
                return edit(at, "threads", found, is_resolved=True, resolved_by=BOT[:-5])
            answer = comment(id, action.reply)
            return edit(at, "threads", found, comments=(*found.comments, answer))
        case ReopenThread(node_id=node):
            (found,) = [t for t in at.threads if t.node_id == node]
            return edit(at, "threads", found, is_resolved=False, resolved_by="")
        case DeleteThread(comment_id=gone):
            left = tuple(t for t in at.threads if t.comments[0].id != gone)
            return replace(at, threads=left)
        case PostCheckRun():
            run = CheckRun(
                id=action.id or id,
                name=action.name,
                conclusion=action.conclusion,
                title=action.title,
                external_id=action.external_id,
                app=BOT[:-5],
            )
            return replace(at, checks=(*(c for c in at.checks if c.id != action.id), run))
        case AddLabels(labels):
            return replace(at, pull=replace(at.pull, labels=(*at.pull.labels, *labels)))
        case RemoveLabel(label):
            kept = tuple(each for each in at.pull.labels if each != label)
            return replace(at, pull=replace(at.pull, labels=kept))
        case PostComment(body):
            return replace(at, comments=(*at.comments, comment(id, body)))
        case EditComment(id=there, body=body):
            (old,) = [c for c in at.comments if c.id == there]
            return edit(at, "comments", old, body=body)
        case DeleteComment(id=gone):
            return replace(at, comments=tuple(c for c in at.comments if c.id != gone))
    raise AssertionError(action)


def edit(at: Snapshot, name: str, old: object, **changes: object) -> Snapshot:
    entries = tuple(replace(x, **changes) if x is old else x for x in getattr(at, name))
    return replace(at, **{name: entries})


def settle(desired: Desired, at: Snapshot, may_resolve: bool) -> Snapshot:
    for _ in range(4):
        actions = plan(desired, at)
        for action in actions:
            at = act(action, at, may_resolve)
    assert plan(desired, at) == []
    return at


def portrait(at: Snapshot) -> object:
    """All that stands there, without the numbers that things got."""
    return (
        sorted((t.resolved_by, [c.body for c in t.comments]) for t in at.threads),
        sorted((r.is_own, r.state, r.is_minimized, r.body) for r in at.reviews),
        sorted((c.is_own, c.is_minimized, c.body) for c in at.comments),
        sorted((c.name, c.app, c.external_id, c.conclusion, c.title) for c in at.checks),
        sorted(at.pull.labels),
    )


def others(at: Snapshot) -> object:
    return (
        [t for t in at.threads if not t.comments[0].is_own or len(t.comments) > 1],
        [r for r in at.reviews if not r.is_own],
        [c for c in at.comments if not c.is_own or SUMMARY != c.body.split("\n")[0]],
        [c for c in at.checks if c.app != "github-actions" or c.name != "reviewbot"],
        [label for label in at.pull.labels if not label.lower().startswith("reviewbot:")],
    )


@st.composite
def wanted(draw: st.DrawFn) -> Desired:
    keys = draw(SUBSETS)
    conclusion = draw(st.sampled_from(("success", "failure", "neutral")))
    note = Annotation("a.py", 1, 1, "warning", "t", "m")
    kept = State(head=HEAD, stopped_by=draw(st.sampled_from(("", "ann"))))
    label = draw(st.sampled_from(("reviewbot:approved", "reviewbot:reviewed")))
    links = ("https://github.com/c/1",) if draw(st.booleans()) else ()
    body = f"{SUMMARY}\n{encode_state(kept)}\n**{conclusion}**: because.\n{' '.join(links)}"
    return Desired(
        commit=HEAD,
        is_complete=draw(st.booleans()),
        event=draw(st.sampled_from(get_args(ReviewEvent))),
        may_judge=draw(st.integers(0, 3)) > 0,
        body="words",
        comments=tuple(
            InlineComment(
                key=key, path="a.py", line=1, start_line=1, side="RIGHT", body=finding(key)
            )
            for key in sorted(keys & draw(SUBSETS))
        ),
        open_keys=keys,
        known_keys=keys | draw(SUBSETS),
        check=PostCheckRun(
            name="reviewbot",
            head_sha=HEAD,
            external_id=HEAD,
            conclusion=conclusion,
            title=f"{conclusion}: because",
            summary="",
            annotations=(note,) * draw(st.sampled_from((0, 1, 120))),
        ),
        labels=frozenset([label]),
        managed_labels=frozenset(["reviewbot:approved", "reviewbot:reviewed"]),
        state=kept,
        summary=body,
        links=(*links, "https://github.com/there/is/no/room"),
    )


@st.composite
def standing(draw: st.DrawFn) -> Snapshot:
    flags = st.booleans()
    commits = st.sampled_from((HEAD, OLD))
    threads, reviews, comments, checks = [], [], [], []
    for id in range(100, 100 + 10 * draw(st.integers(0, 5)), 10):
        key = draw(st.sampled_from(KEYS))
        later = [
            comment(id + 1, state.closed_marker(key)),
            comment(id + 2, "I do not think so", own=False),
            comment(id + 3, state.closed_marker(key), own=False),
        ]
        said = comment(id, finding(key, draw(commits)), own=draw(st.integers(0, 4)) > 0)
        more = [each for each in later if draw(st.integers(0, 3)) == 0]
        threads.append(thread(said, *more, by=draw(st.sampled_from(("", "", BOT[:-5], "ann")))))
    for id in range(200, 200 + draw(st.integers(0, 4))):
        review = posted(id, draw(st.sampled_from(tuple(STATES))), draw(commits), draw(SUBSETS))
        status = draw(st.sampled_from((review.state, review.state, "DISMISSED", "PENDING")))
        reviews.append(replace(review, state=status, is_own=draw(st.integers(0, 4)) > 0))
    for id in range(300, 300 + draw(st.integers(0, 3))):
        line = draw(st.sampled_from((encode_state(State(head=OLD)), encode_state(State()), "no")))
        body = draw(st.sampled_from((f"{SUMMARY}\n{line}\nwords", f"Hello\n{SUMMARY}\n{line}")))
        comments.append(comment(id, body, own=draw(flags), minimized=draw(flags)))
    for id in range(400, 400 + draw(st.integers(0, 3))):
        run = CheckRun(
            id=id,
            name=draw(st.sampled_from(("reviewbot", "tests"))),
            conclusion=draw(st.sampled_from(("", "success"))),
            title=draw(st.sampled_from(("", "50 of 120 annotations", "success: because"))),
            external_id=draw(commits),
            app=draw(st.sampled_from(("github-actions", "other"))),
        )
        checks.append(run)
    labels = draw(st.sets(st.sampled_from(("bug", "Reviewbot:Approved", "reviewbot:other"))))
    return snapshot(
        pull=replace(PULL, labels=tuple(labels)),
        threads=tuple(threads),
        reviews=tuple(reviews),
        comments=tuple(comments),
        checks=tuple(checks),
    )


@settings(max_examples=50, deadline=None)
@given(wanted(), standing(), st.booleans(), st.data())
def test_whatever_part_of_a_plan_is_done_the_end_is_the_same(
    desired: Desired, at: Snapshot, may_resolve: bool, data: st.DataObject
) -> None:
    whole = settle(desired, at, may_resolve)
    broken = at
    for _ in range(data.draw(st.integers(1, 2))):
        actions = plan(desired, broken)
        for action in actions[: data.draw(st.integers(0, len(actions)))]:
            broken = act(action, broken, may_resolve)
    assert portrait(settle(desired, broken, may_resolve)) == portrait(whole)


@settings(max_examples=50, deadline=None)
@given(wanted(), standing(), st.booleans())
def test_a_plan_leaves_one_of_each_and_what_is_not_ours(
    desired: Desired, at: Snapshot, may_resolve: bool
) -> None:
    before = others(at)
    end = settle(desired, at, may_resolve)

    for now, then in zip(others(end), before, strict=True):  # type: ignore[call-overload]
        if then and isinstance(then[0], Thread):
            theirs = [t for t in now if not t.comments[0].is_own]
            assert theirs == [t for t in then if not t.comments[0].is_own]
            said = [c for t in now for c in t.comments if not c.is_own]
            assert said == [c for t in then for c in t.comments if not c.is_own]
        elif not then or not isinstance(then[0], Thread):
            assert [x for x in now if x in then] == then
    (summary,) = state.summaries_of(end)
    assert decode_state(summary.body.split("\n")[1]) == desired.state
    for key in KEYS:
        open_ = [t for t in state.threads_of(end) if t.key == key and not t.is_closed]
        silent = [t for t in open_ if not t.is_answered]
        assert len(silent) <= 1
        assert not silent or len(open_) == 1
        assert not (silent and desired.is_gone(key))
    said_keys = {key for own in state.reviews_of(end) for key in own.keys}
    said_keys |= {own.key for own in state.threads_of(end)}
    assert said_keys >= {c.key for c in desired.comments}
    before_runs = [c for c in at.checks if (c.name, c.app) == ("reviewbot", "github-actions")]
    runs = [c for c in end.checks if (c.name, c.app) == ("reviewbot", "github-actions")]
    new = [c for c in runs if c.external_id == HEAD]
    assert len(new) == max(1, sum(c.external_id == HEAD for c in before_runs))
    newest = max(new, key=lambda run: run.id)
    assert (newest.title, newest.conclusion) == (desired.check.title, desired.check.conclusion)
    approvals = [own for own in state.reviews_of(end) if own.posted.state == "APPROVED"]
    assert all(own.commit == HEAD and desired.event == "APPROVE" for own in approvals)
    assert [r.state for r in end.reviews if r.is_own].count("PENDING") == 0
