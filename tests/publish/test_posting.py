"""Publishing where things go wrong: answers that are lost, refusals, a head that moves. One review in the end, or a clear word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.action import (
    Action,
    DismissReview,
    EditComment,
    MinimizeComment,
    PostCheck,
    PostComment,
    PostReview,
    ReplyThread,
    ResolveThread,
)
from reviewbot.domain.forge import (
    PullState,
    Standing,
)
from reviewbot.domain.history import Fate
from reviewbot.errors import (
    DeferredError,
    ForgeError,
    GoneError,
    InvalidError,
    NotAuthorizedError,
    NotPermittedError,
    StaleError,
    UnsureError,
)
from reviewbot.posting import Ending, Outcome, post
from reviewbot.publish import markers, own, state
from reviewbot.publish.wanted import Matter, wanted
from reviewbot.testing import MemoryForge, a_standing
from tests.publish import pulls
from tests.publish.pulls import EMPTY, HEAD, a_finding, a_matter, a_review, a_thread, known
from tests.publish.test_plan import matters, portrait, standings
from tests.rings import examples

FINDINGS = [a_finding(number) for number in range(1, 4)]
MATTER = a_matter(a_review(*FINDINGS))
LINE = InvalidError("GitHub refused it", reasons=("Pull request review thread line must be part of the diff",))
NO = NotPermittedError("Resource not accessible by integration")
LOST = UnsureError("no answer")

Trouble = tuple[type[Action], ForgeError, bool]


def published(forge: MemoryForge, matter: Matter = MATTER) -> Outcome:
    return post(lambda standing: wanted(matter, standing), forge, forge, number=12, head_sha=HEAD)


def met(*troubles: Trouble, now: Standing = EMPTY) -> MemoryForge:
    return MemoryForge(now, troubles=troubles)


def kinds(outcome: Outcome) -> list[str]:
    return [type(action).__name__ for action in outcome.done]


def bodies(forge: MemoryForge) -> str:
    return "\n".join(comment.body for comment in forge.now.comments)


def test_a_review_is_posted_with_one_read_and_three_writes() -> None:
    forge = met()
    outcome = published(forge)
    assert outcome == Outcome(Ending.POSTED, inline=3, total=3, summary_url=forge.now.comments[0].url, done=tuple(forge.done))
    assert (forge.reads, kinds(outcome), outcome.exit_code) == (1, ["PostReview", "PostCheck", "PostComment"], 0)


def test_run_again_it_does_nothing() -> None:
    forge = met()
    first = published(forge)
    assert published(forge) == Outcome(Ending.POSTED, total=3, summary_url=first.summary_url)


@pytest.mark.parametrize(
    ("changes", "ending"),
    [
        ({"head_sha": "d" * 40}, Ending.SUPERSEDED),
        ({"state": PullState.CLOSED}, Ending.CLOSED),
        ({"state": PullState.MERGED}, Ending.CLOSED),
        ({"is_locked": True}, Ending.LOCKED),
    ],
)
def test_nothing_is_said_where_it_is_too_late(changes: dict[str, object], ending: Ending) -> None:
    forge = met(now=replace(EMPTY, pull=replace(EMPTY.pull, **changes)))  # type: ignore[arg-type]
    assert published(forge) == Outcome(ending)
    assert forge.done == []


def test_a_pull_request_that_is_gone_is_the_end() -> None:
    outcome = post(lambda standing: wanted(MATTER, standing), met(), met(), number=13, head_sha=HEAD)
    assert (outcome.ending, outcome.exit_code) == (Ending.GONE, 0)


def test_lines_that_the_forge_refuses_are_told_in_the_body_of_the_review() -> None:
    forge = met((PostReview, LINE, False))
    outcome = published(forge)
    assert (outcome.ending, outcome.inline, outcome.total) == (Ending.POSTED, 0, 3)
    (review,) = forge.now.reviews
    assert review.state == "CHANGES_REQUESTED"
    assert all(f"**{finding.id}** {finding.title}" in review.body for finding in FINDINGS)
    assert "On `shop/cart.py:39`: **F1** Thing 1" in review.body
    assert review.body.count("<!--") == 1
    assert forge.now.threads == ()
    assert published(forge).done == ()


def test_ten_long_findings_have_room_in_the_body_of_a_review() -> None:
    long = [a_finding(number, body="é " * 700, failure_scenario="é " * 700, dissent="é " * 250) for number in range(1, 11)]
    forge = met((PostReview, LINE, False))
    published(forge, a_matter(a_review(*long)))
    assert len(forge.now.reviews[0].body.encode()) < 60_000
    for finding in long:
        assert f"**{finding.id}**" in forge.now.reviews[0].body


def test_a_review_that_is_refused_twice_is_told_in_the_summary() -> None:
    forge = met((PostReview, LINE, False), (PostReview, LINE, False))
    outcome = published(forge)
    assert (outcome.ending, outcome.notes) == (Ending.POSTED, ("GitHub refused it",))
    assert all(f"### {finding.id}: {finding.title}" in bodies(forge) for finding in FINDINGS)
    assert forge.now.reviews == ()


def test_a_token_that_may_comment_and_not_review_tells_all_in_the_summary() -> None:
    forge = met((PostReview, NO, False), (PostCheck, NO, False))
    outcome = published(forge)
    assert (outcome.ending, kinds(outcome)) == (Ending.POSTED, ["PostComment"])
    assert all(f"### {finding.id}: {finding.title}" in bodies(forge) for finding in FINDINGS)


def test_a_token_that_may_nothing_is_said_and_is_no_failure() -> None:
    forge = met((PostReview, NO, False), (PostCheck, NO, False), (PostComment, NO, False))
    outcome = published(forge)
    assert (outcome.ending, outcome.fallback, outcome.exit_code, outcome.total) == (Ending.REFUSED, True, 0, 0)
    assert outcome.notes == ("Resource not accessible by integration",)


@pytest.mark.parametrize(
    "refused",
    [
        InvalidError("no", reasons=("Can not approve your own pull request",)),
        InvalidError("GitHub Actions is not permitted to approve pull requests."),
        NO,
    ],
)
def test_an_approval_that_is_refused_becomes_a_comment_and_is_not_tried_again(refused: ForgeError) -> None:
    matter = a_matter(a_review(), allow_approve=True)
    forge = met((PostReview, refused, False))
    assert published(forge, matter).ending is Ending.POSTED
    assert [review.state for review in forge.now.reviews] == ["COMMENTED"]
    assert published(forge, matter).done == ()


def test_a_pending_review_that_stands_in_the_way_is_looked_for_and_deleted() -> None:
    pending = InvalidError("no", reasons=("User can only have one pending review per pull request",))

    class Late(MemoryForge):
        """The pending review of another run of ours comes to light only when it is in the way."""

        def do(self, action: Action) -> object:  # type: ignore[override]
            if isinstance(action, PostReview) and not self.done:
                self.done.append(action)
                self.now = replace(self.now, reviews=(pulls.a_posted(900, "PENDING", ""),))
                raise pending
            return super().do(action)

    forge = Late(EMPTY)
    outcome = published(forge)
    assert kinds(outcome) == ["DeletePendingReview", "PostReview", "PostCheck", "PostComment"]
    assert [review.state for review in forge.now.reviews] == ["CHANGES_REQUESTED"]


def test_a_pending_review_that_cannot_be_seen_costs_the_lines_and_not_the_findings() -> None:
    pending = InvalidError("no", reasons=("User can only have one pending review per pull request",))
    forge = met(*[(PostReview, pending, False)] * 3)
    outcome = published(forge)
    assert outcome.ending is Ending.POSTED
    assert all(f"### {finding.id}: {finding.title}" in bodies(forge) for finding in FINDINGS)


@pytest.mark.parametrize("kind", [PostReview, PostCheck, PostComment])
@pytest.mark.parametrize("done", [True, False])
def test_a_lost_answer_is_looked_up_and_nothing_is_said_twice(kind: type[Action], done: bool) -> None:
    forge = met((kind, LOST, done))
    outcome = published(forge)
    assert (outcome.ending, outcome.inline, outcome.total) == (Ending.POSTED, 3, 3)
    assert [type(action).__name__ for action in forge.done] == ["PostReview", "PostCheck", "PostComment"]
    assert sorted(kinds(outcome)) == ["PostCheck", "PostComment", "PostReview"]
    assert forge.reads == 2
    assert outcome.summary_url


def test_a_forge_that_answers_nothing_is_given_up_with_the_review_kept() -> None:
    forge = met(*[(PostReview, LOST, False)] * 9)
    outcome = published(forge)
    assert (outcome.ending, outcome.exit_code, outcome.fallback, forge.reads) == (Ending.UNSURE, 3, True, 4)


@pytest.mark.parametrize("kind", [PostReview, PostCheck, PostComment])
def test_a_rate_limit_defers_the_rest_and_the_next_run_does_it(kind: type[Action]) -> None:
    forge = met((kind, DeferredError("wait"), False))
    outcome = published(forge)
    assert (outcome.ending, outcome.exit_code, outcome.fallback, outcome.notes) == (Ending.DEFERRED, 3, True, ("wait",))
    published(forge)
    assert [type(action).__name__ for action in forge.done] == ["PostReview", "PostCheck", "PostComment"]


def test_a_head_that_moves_between_two_writes_ends_it() -> None:
    forge = met((PostReview, StaleError("the head moved"), False))
    outcome = published(forge)
    assert (outcome.ending, outcome.exit_code, forge.done) == (Ending.SUPERSEDED, 0, [])


def test_a_token_that_is_none_is_an_error() -> None:
    with pytest.raises(NotAuthorizedError):
        published(met((PostReview, NotAuthorizedError("bad credentials"), False)))


@pytest.mark.parametrize("kind", [PostReview, PostComment])
def test_a_conversation_that_was_closed_meanwhile_is_left_quietly(kind: type[Action]) -> None:
    outcome = published(met((kind, GoneError("locked"), False)))
    assert (outcome.ending, outcome.exit_code) == (Ending.GONE, 0)


def test_a_summary_that_was_deleted_meanwhile_is_posted_anew() -> None:
    forge = met()
    published(forge)
    other = a_matter(a_review(*FINDINGS[:2]))

    class Deleting(MemoryForge):
        """Somebody deletes the summary just before it is edited."""

        def do(self, action: Action) -> object:  # type: ignore[override]
            if isinstance(action, EditComment) and self.now.comments:
                self.now = replace(self.now, comments=())
                raise GoneError("no such comment")
            return super().do(action)

    late = Deleting(forge.now)
    assert published(late, other).ending is Ending.POSTED
    assert len(late.now.comments) == 1


def test_a_summary_that_is_refused_as_it_is_is_a_failure() -> None:
    outcome = published(met((PostComment, InvalidError("Body is too long"), False)))
    assert (outcome.ending, outcome.fallback, outcome.exit_code, outcome.inline) == (Ending.FAILED, True, 3, 3)


def test_a_check_run_that_is_refused_keeps_nothing_back() -> None:
    outcome = published(met((PostCheck, InvalidError("Only 65535 characters are allowed"), False)))
    assert (outcome.ending, outcome.notes) == (Ending.POSTED, ("Only 65535 characters are allowed",))


def fixed(*threads: int) -> tuple[Matter, Standing]:
    standing = replace(EMPTY, threads=tuple(a_thread(10 * number, FINDINGS[number]) for number in threads))
    return a_matter(a_review(), *(known(FINDINGS[number], Fate.FIXED) for number in threads)), standing


def test_threads_that_may_not_be_resolved_are_answered_and_folded_once() -> None:
    matter, standing = fixed(0, 1, 2)
    forge = met((ResolveThread, NO, False), (ResolveThread, NO, False), now=standing)
    outcome = published(forge, matter)
    assert kinds(outcome)[:6] == ["MinimizeComment", "ReplyThread"] * 3
    assert outcome.resolved == 3
    for thread in forge.now.threads:
        assert thread.comments[0].is_minimized
        assert markers.is_closing(thread.comments[1].body)
        assert "Fixed at `c0ffee12c0`" in thread.comments[1].body
    assert published(forge, matter).done == ()
    assert len(forge.now.threads[0].comments) == 2


@pytest.mark.parametrize("kind", [MinimizeComment, ReplyThread])
def test_killed_between_folding_and_answering_it_is_answered_once(kind: type[Action]) -> None:
    matter, standing = fixed(0)
    forge = met((ResolveThread, NO, False), (kind, DeferredError("wait"), False), (ResolveThread, NO, False), now=standing)
    assert published(forge, matter).ending is Ending.DEFERRED
    published(forge, matter)
    (thread,) = forge.now.threads
    assert len(thread.comments) == 2
    assert thread.comments[0].is_minimized


def test_a_thread_that_somebody_deleted_keeps_nothing_back() -> None:
    matter, standing = fixed(0, 1)
    forge = met((ResolveThread, GoneError("no such thread"), False), now=standing)
    outcome = published(forge, matter)
    assert (outcome.ending, outcome.resolved) == (Ending.POSTED, 1)


def test_a_dismissal_that_is_not_permitted_is_said() -> None:
    body = f"{markers.review('0' * 40, pulls.want(MATTER, EMPTY).event, [])}\nwords"
    standing = replace(EMPTY, reviews=(pulls.a_posted(5, "CHANGES_REQUESTED", body),))
    outcome = published(met((DismissReview, NO, False), now=standing), a_matter(a_review()))
    assert (outcome.ending, outcome.notes) == (Ending.POSTED, ("Resource not accessible by integration",))


def test_why_an_approval_is_kept_back_is_told() -> None:
    standing = a_standing(HEAD, head_repository="mallory/shop")
    outcome = published(met(now=standing), a_matter(a_review(), allow_approve=True))
    assert outcome.notes == ("not approved: it comes from a fork",)


ERRORS = st.sampled_from((LOST, DeferredError("wait"), LINE, NO, GoneError("gone")))
TROUBLES = st.lists(
    st.tuples(st.sampled_from((PostReview, PostCheck, PostComment, EditComment, ResolveThread, ReplyThread)), ERRORS).flatmap(
        lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), st.booleans() if pair[1] is LOST else st.just(value=False))
    ),
    max_size=6,
)


@settings(max_examples=examples(200))
@given(matters(), standings(), TROUBLES)
def test_whatever_goes_wrong_runs_to_come_tell_everything_and_nothing_twice(
    matter: Matter, standing: Standing, troubles: list[Trouble]
) -> None:
    forge = MemoryForge(standing, troubles=troubles)
    if own.memory(standing).stopped:
        assert (published(forge, matter).ending, forge.now) == (Ending.STOPPED, standing)
        return
    for _ in range(8):
        published(forge, matter)
    assert published(forge, matter).done == ()
    assert len([said for said in own.summaries(forge.now) if not said.is_minimized]) <= 1
    told = wanted(matter, forge.now).told
    open_now = [thread.mark.fingerprint for thread in own.threads(forge.now) if not thread.is_closed]
    open_before = [thread.mark.fingerprint for thread in own.threads(standing) if not thread.is_closed]
    assert all(open_now.count(name) <= max(open_before.count(name), 1) for name in open_now)
    if matter.options.sticky_summary:
        (summary, *_) = own.summaries(forge.now)
        lined = {thread.mark.fingerprint for thread in own.threads(forge.now)}
        lined |= {name for review in own.reviews(forge.now) for name in review.mark.told}
        for finding in matter.review.posted():
            if finding.fingerprint in told:
                assert f"| {finding.id}" in summary.body
                assert f"### {finding.id}:" in summary.body or finding.fingerprint in lined


@settings(max_examples=examples(100))
@given(matters(), standings(), st.data())
def test_lost_answers_change_nothing_of_the_end(matter: Matter, standing: Standing, data: st.DataObject) -> None:
    kinds_ = st.sampled_from((PostReview, PostCheck, PostComment, EditComment, ResolveThread))
    lost = data.draw(st.lists(st.tuples(kinds_, st.just(LOST), st.booleans()), max_size=3))
    whole, shaken = MemoryForge(standing), MemoryForge(standing, troubles=lost)
    ending = published(whole, matter).ending
    assert ending is (Ending.STOPPED if own.memory(standing).stopped else Ending.POSTED)
    assert published(shaken, matter).ending is ending
    assert portrait(shaken.now) == portrait(whole.now)


def test_nothing_is_posted_where_our_own_words_may_be_hidden() -> None:
    forge = met(now=replace(EMPTY, unread=("comments beyond 100 further pages",), hides_own=True))
    outcome = published(forge)
    assert (outcome.ending, outcome.exit_code, outcome.done) == (Ending.FAILED, 3, ())
    assert "cannot be read whole" in outcome.notes[0]


def test_a_review_that_was_under_way_when_somebody_said_stop_is_not_posted() -> None:
    forge = met()
    published(forge)
    (said,) = forge.now.comments
    line = state.encode(replace(own.memory(forge.now), stopped=True))
    now = replace(forge.now, comments=(replace(said, body=own.with_state(said.body, line)),))
    again = published(stopped := met(now=now), a_matter(a_review(*FINDINGS, a_finding(4))))
    assert (again.ending, again.exit_code, stopped.done) == (Ending.STOPPED, 0, [])
