"""From what stands there to what should: nothing twice, nothing lost, nothing that is not ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.action import (
    AddLabels,
    DeletePendingReview,
    DismissReview,
    EditComment,
    MinimizeComment,
    PostCheck,
    PostComment,
    PostReview,
    RemoveLabel,
    ResolveThread,
    ReviewEvent,
)
from reviewbot.domain.evidence import Severity
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    CheckState,
    Standing,
)
from reviewbot.domain.history import Fate, PullMemory
from reviewbot.domain.money import Bill, Usage
from reviewbot.domain.review import Conclusion, FindingStatus, Lifecycle, RangeMode, Verdict
from reviewbot.publish import markdown, markers, own, state
from reviewbot.publish.labels import Labels
from reviewbot.publish.plan import plan, remembering
from reviewbot.publish.wanted import Matter
from reviewbot.testing import MemoryForge, a_standing
from tests.publish import pulls
from tests.publish.pulls import EMPTY, HEAD, OLD, a_finding, a_matter, a_posted, a_review, a_thread, known, said, want
from tests.rings import examples

NAMES = Labels(changes="review: changes", comments="review: comments", clean="review: clean")
FINDINGS = [a_finding(number) for number in range(1, 9)]
FOREIGN = [a_finding(number) for number in range(1, 9)]


def planned(matter: Matter, standing: Standing = EMPTY) -> tuple[object, ...]:
    return plan(want(matter, standing), standing)


def kinds(actions: tuple[object, ...]) -> list[str]:
    return [type(action).__name__ for action in actions]


def after(matter: Matter, standing: Standing = EMPTY) -> MemoryForge:
    forge = MemoryForge(standing)
    pulls.applied(matter, forge)
    return forge


def test_a_first_review_is_one_review_one_check_and_the_summary_last() -> None:
    actions = planned(a_matter(a_review(*FINDINGS[:3])))
    assert kinds(actions) == ["PostReview", "PostCheck", "PostComment"]
    review = actions[0]
    assert isinstance(review, PostReview)
    assert [comment.fingerprint for comment in review.comments] == [finding.fingerprint for finding in FINDINGS[:3]]
    assert (review.event, review.head_sha) == (ReviewEvent.REQUEST_CHANGES, HEAD)


def test_a_run_again_on_the_same_head_writes_nothing() -> None:
    forge = after(a_matter(a_review(*FINDINGS[:3]), labels=NAMES))
    carried = tuple(
        replace(f, lifecycle=Lifecycle.CARRIED, positions=(), body="", probability=0.5, code=()) for f in FINDINGS[:3]
    )
    again = a_review(
        *reversed(carried),
        run_id="another",
        range_mode=RangeMode.UNCHANGED,
        bill=Bill(Usage(1, cost_usd=0.5, paid_usd=0.5)),
        notes=("other words",),
        attendance=(),
    )
    assert planned(replace(a_matter(again, labels=NAMES), history=own.memory(forge.now).history), forge.now) == ()


def test_more_findings_than_have_lines_are_told_in_the_summary_and_not_later_on_lines() -> None:
    matter = a_matter(a_review(*FINDINGS), max_comments=3)
    forge = after(matter)
    assert len(forge.now.threads) == 3
    summary = forge.now.comments[0].body
    assert "3 of them are told on the lines they are about." in summary
    assert summary.count("worse findings have the lines") == 5
    assert planned(matter, forge.now) == ()
    carried = a_review(*(replace(finding, lifecycle=Lifecycle.CARRIED) for finding in FINDINGS))
    assert planned(a_matter(carried, max_comments=3), forge.now) == ()


def test_what_a_killed_run_told_keeps_its_line_though_the_order_is_another_now() -> None:
    first = a_matter(a_review(FINDINGS[0], replace(FINDINGS[1], probability=0.5)), max_comments=1)
    forge = MemoryForge(EMPTY)
    pulls.applied(first, forge, 1)
    again = a_matter(a_review(replace(FINDINGS[0], probability=0.4), FINDINGS[1]), max_comments=1)
    assert kinds(planned(again, forge.now)) == ["PostCheck", "PostComment"]


def test_a_finding_without_a_line_is_told_at_length_in_the_summary() -> None:
    lost = a_finding(9, path="shop/other.py", title="Nobody sees this line")
    wanted = want(a_matter(a_review(FINDINGS[0], lost)), EMPTY)
    assert [comment.path for comment in wanted.comments] == ["shop/cart.py"]
    assert "### F9: Nobody sees this line" in wanted.summary
    assert "its lines are not part of the diff" in wanted.summary
    assert "### F1" not in wanted.summary
    assert "### F1" in wanted.whole_summary


def test_a_push_that_fixes_three_findings_resolves_exactly_those() -> None:
    forge = after(a_matter(a_review(*FINDINGS[:6])))
    newer = replace(forge.now, pull=replace(forge.now.pull, head_sha="d" * 40))
    revisions = replace(pulls.CLEAN.revisions, head="d" * 40)
    left = [replace(finding, lifecycle=Lifecycle.CARRIED) for finding in FINDINGS[3:6]]
    gone = [replace(finding, lifecycle=Lifecycle.FIXED, status=FindingStatus.BELOW_THRESHOLD) for finding in FINDINGS[:3]]
    review = a_review(*left, *gone, revisions=revisions, range_mode=RangeMode.INCREMENTAL, verdict=Verdict.REQUEST_CHANGES)
    actions = planned(a_matter(review, *(known(finding, Fate.FIXED) for finding in FINDINGS[:3])), newer)
    assert kinds(actions) == ["ResolveThread"] * 3 + ["PostCheck", "EditComment"]
    assert [action.node_id for action in actions[:3]] == [thread.node_id for thread in newer.threads[:3]]  # type: ignore[attr-defined]
    edited = actions[-1]
    assert isinstance(edited, EditComment)
    assert "**Fixed:**\n\n- F1 Thing 1 is wrong" in edited.body
    assert "| F4 carried |" in edited.body


@pytest.mark.parametrize("answered", [True, False])
def test_a_thread_that_a_person_answered_is_left_to_people(answered: bool) -> None:
    thread = a_thread(1, FINDINGS[0], answer="no, it is not" if answered else "")
    standing = replace(EMPTY, threads=(thread,))
    actions = planned(a_matter(a_review(), known(FINDINGS[0], Fate.FIXED)), standing)
    assert (ResolveThread("T1") in actions) is not answered


def test_the_thread_of_a_dismissed_finding_is_closed() -> None:
    standing = replace(EMPTY, threads=(a_thread(1, FINDINGS[0]),))
    dismissed = replace(FINDINGS[0], status=FindingStatus.DISMISSED, lifecycle=Lifecycle.CARRIED)
    review = a_review(dismissed, verdict=Verdict.COMMENT, range_mode=RangeMode.INCREMENTAL)
    assert ResolveThread("T1") in planned(a_matter(review, known(dismissed, Fate.DISMISSED)), standing)


def test_nothing_is_resolved_where_that_is_switched_off() -> None:
    standing = replace(EMPTY, threads=(a_thread(1, FINDINGS[0]),))
    assert ResolveThread("T1") not in planned(
        a_matter(a_review(), known(FINDINGS[0], Fate.FIXED), resolve_outdated=False), standing
    )


@pytest.mark.parametrize(
    ("changes", "closes"),
    [
        ({}, True),
        ({"range_mode": RangeMode.INCREMENTAL}, False),
        ({"conclusion": Conclusion.PARTIAL}, False),
        ({"conclusion": Conclusion.NOT_REVIEWED, "verdict": None}, False),
    ],
)
def test_a_thread_that_nothing_is_known_of_is_closed_only_by_a_whole_look(changes: dict[str, object], closes: bool) -> None:
    standing = replace(EMPTY, threads=(a_thread(1, FINDINGS[0]),))
    assert (ResolveThread("T1") in planned(a_matter(a_review(**changes)), standing)) is closes


def test_what_was_dismissed_while_the_review_was_made_is_not_told() -> None:
    memory = PullMemory(
        replace(pulls.history_of(a_review()), findings=(known(FINDINGS[0], Fate.DISMISSED, by="alice", reason="meant"),))
    )
    standing = replace(EMPTY, comments=(said(1, f"{markers.SUMMARY}\n{state.encode(memory)}\n"),))
    wanted = want(a_matter(a_review(FINDINGS[0])), standing)
    assert wanted.comments == ()
    assert wanted.event is ReviewEvent.COMMENT
    assert "- F1 Thing 1 is wrong (by `alice`: meant)" in wanted.summary
    assert wanted.memory.history.findings[0].fate is Fate.DISMISSED


def test_a_finding_that_came_back_is_told_again_though_its_old_thread_is_closed() -> None:
    standing = replace(EMPTY, threads=(a_thread(1, FINDINGS[0], resolved=True),))
    back = a_matter(a_review(replace(FINDINGS[0], lifecycle=Lifecycle.REOPENED)))
    forge = after(back, standing)
    assert [thread.is_resolved for thread in forge.now.threads] == [True, False]
    assert planned(back, forge.now) == ()


def test_a_thread_that_a_person_closed_is_not_begun_again() -> None:
    for sha, lifecycle in ((HEAD, Lifecycle.NEW), (OLD, Lifecycle.CARRIED)):
        standing = replace(EMPTY, threads=(a_thread(1, FINDINGS[0], sha=sha, resolved=True),))
        actions = planned(a_matter(a_review(replace(FINDINGS[0], lifecycle=lifecycle))), standing)
        assert not any(isinstance(action, PostReview) and action.comments for action in actions)


def test_a_comment_that_a_person_deleted_is_not_posted_again_on_the_same_head() -> None:
    matter = a_matter(a_review(*FINDINGS[:2]))
    forge = after(matter)
    assert planned(matter, replace(forge.now, threads=forge.now.threads[:1])) == ()


@pytest.mark.parametrize(
    ("changes", "approves"),
    [
        ({}, True),
        ({"allow": False}, False),
        ({"conclusion": Conclusion.PARTIAL}, False),
        ({"verdict": Verdict.COMMENT}, False),
        ({"author": Author("reviewbot[bot]", 99)}, False),
        ({"author": Author("Reviewbot[bot]")}, False),
        ({"author": None}, True),
        ({"head_repository": "mallory/shop"}, False),
        ({"head_repository": None}, False),
        ({"red": "tests"}, False),
        ({"red": "reviewbot"}, True),
        ({"unread": ("checks",)}, False),
    ],
)
def test_an_approval_wants_everything_to_be_in_order(changes: dict[str, object], approves: bool) -> None:
    pull = {name: value for name, value in changes.items() if name in ("author", "head_repository")}
    review = {name: value for name, value in changes.items() if name in ("conclusion", "verdict")}
    checks = (CheckState(str(changes["red"]), "failure", 5),) if "red" in changes else ()
    standing = replace(a_standing(HEAD, **pull), checks=checks, unread=changes.get("unread", ()))  # type: ignore[arg-type]
    wanted = want(a_matter(a_review(**review), allow_approve=bool(changes.get("allow", True))), standing)
    assert wanted.event is (ReviewEvent.APPROVE if approves else ReviewEvent.COMMENT)


def test_what_keeps_an_approval_back_is_said() -> None:
    standing = replace(a_standing(HEAD, head_repository="mallory/shop"), checks=(CheckState("tests", "failure", 5),))
    assert want(a_matter(a_review(), allow_approve=True), standing).notes == (
        "not approved: it comes from a fork; checks are red: tests",
    )


def test_nobody_requests_changes_of_himself() -> None:
    standing = a_standing(HEAD, author=Author("reviewbot[bot]", 99))
    assert want(a_matter(a_review(FINDINGS[0])), standing).event is ReviewEvent.COMMENT


def test_a_request_for_changes_is_said_once_and_taken_back_once() -> None:
    asked = a_matter(a_review(FINDINGS[0]))
    forge = after(asked)
    assert [review.state for review in forge.now.reviews] == ["CHANGES_REQUESTED"]
    newer = replace(forge.now, pull=replace(forge.now.pull, head_sha="d" * 40))
    revisions = replace(pulls.CLEAN.revisions, head="d" * 40)
    still = a_review(replace(FINDINGS[0], lifecycle=Lifecycle.CARRIED), revisions=revisions, range_mode=RangeMode.INCREMENTAL)
    assert not any(isinstance(action, PostReview) for action in planned(a_matter(still), newer))
    failed = a_review(revisions=revisions, conclusion=Conclusion.NOT_REVIEWED, verdict=None)
    assert not any(isinstance(action, DismissReview) for action in planned(a_matter(failed), newer))
    clean = a_matter(a_review(revisions=revisions), known(FINDINGS[0], Fate.FIXED))
    assert kinds(planned(clean, newer)) == ["ResolveThread", "DismissReview", "PostCheck", "EditComment"]
    forge.now = newer
    pulls.applied(clean, forge)
    assert [review.state for review in forge.now.reviews] == ["DISMISSED"]
    assert planned(clean, forge.now) == ()


def test_half_a_look_takes_a_request_back_only_when_all_of_it_is_answered() -> None:
    body = f"{markers.review(OLD, ReviewEvent.REQUEST_CHANGES, [FINDINGS[0].fingerprint, FINDINGS[1].fingerprint])}\nwords"
    standing = replace(EMPTY, reviews=(a_posted(5, "CHANGES_REQUESTED", body),))
    for fixed, takes_back in ((1, False), (2, True)):
        gone = [known(finding, Fate.FIXED) for finding in FINDINGS[:fixed]]
        actions = planned(a_matter(a_review(conclusion=Conclusion.PARTIAL, verdict=Verdict.COMMENT), *gone), standing)
        assert any(isinstance(action, DismissReview) for action in actions) is takes_back


def test_an_approval_of_an_earlier_head_does_not_outlive_it() -> None:
    body = f"{markers.review(OLD, ReviewEvent.APPROVE, [])}\nwords"
    standing = replace(EMPTY, reviews=(a_posted(5, "APPROVED", body),))
    unsure = a_review(conclusion=Conclusion.NOT_REVIEWED, verdict=None)
    assert any(isinstance(action, DismissReview) for action in planned(a_matter(unsure), standing))
    again = planned(a_matter(a_review(), allow_approve=True), standing)
    assert [action.event for action in again if isinstance(action, PostReview)] == [ReviewEvent.APPROVE]
    assert not any(isinstance(action, DismissReview) for action in again)


def test_an_approval_is_said_once_for_a_head() -> None:
    matter = a_matter(a_review(), allow_approve=True)
    forge = after(matter)
    assert [review.state for review in forge.now.reviews] == ["APPROVED"]
    assert planned(matter, forge.now) == ()


@pytest.mark.parametrize(
    ("findings", "fail_on", "changes", "conclusion"),
    [
        (1, Severity.HIGH, {}, "failure"),
        (1, Severity.CRITICAL, {}, "neutral"),
        (1, None, {}, "neutral"),
        (1, Severity.HIGH, {"conclusion": Conclusion.PARTIAL}, "failure"),
        (0, Severity.LOW, {}, "success"),
        (0, Severity.LOW, {"conclusion": Conclusion.PARTIAL}, "neutral"),
        (0, None, {"conclusion": Conclusion.NOT_REVIEWED, "verdict": None}, "neutral"),
        (0, None, {"conclusion": Conclusion.PENDING, "verdict": None}, "neutral"),
    ],
)
def test_a_check_run_is_green_only_for_a_whole_look_at_nothing(
    findings: int, fail_on: Severity | None, changes: dict[str, object], conclusion: str
) -> None:
    wanted = want(a_matter(a_review(*FINDINGS[:findings], **changes), fail_on=fail_on), EMPTY)
    assert wanted.check.conclusion.value == conclusion


def test_a_question_fails_no_check() -> None:
    question = replace(FINDINGS[0], status=FindingStatus.CONTESTED)
    wanted = want(a_matter(a_review(question, verdict=Verdict.COMMENT), fail_on=Severity.LOW), EMPTY)
    assert wanted.check.conclusion.value == "neutral"


def test_a_check_run_of_ours_is_changed_and_one_of_somebody_else_is_not() -> None:
    matter = a_matter(a_review())
    title = want(matter, EMPTY).check.title
    ours = CheckState("reviewbot", None, 31, HEAD, "reviewbot", "")
    for check, expected in (
        (ours, 31),
        (replace(ours, app="other"), None),
        (replace(ours, external_id=OLD), None),
        (replace(ours, name="tests"), None),
        (replace(ours, id=0), None),
        (replace(ours, title=title, conclusion="success"), "nothing"),
    ):
        found = [action for action in planned(matter, replace(EMPTY, checks=(check,))) if isinstance(action, PostCheck)]
        assert (found[0].check_id if found else "nothing") == expected


def test_annotations_that_stand_in_a_check_run_are_not_sent_again() -> None:
    matter = a_matter(a_review(a_finding(1)))
    begun = CheckState("reviewbot", None, 31, HEAD, "reviewbot", "")
    for check, sent in ((begun, 1), (replace(begun, conclusion="failure"), 0)):
        found = [action for action in planned(matter, replace(EMPTY, checks=(check,))) if isinstance(action, PostCheck)]
        assert [len(action.annotations) for action in found] == [sent]


def test_labels_are_put_and_taken_only_where_they_were_configured() -> None:
    worn = a_standing(HEAD, labels=("Review: Clean", "bug", "review: unknown"))
    actions = planned(a_matter(a_review(FINDINGS[0]), labels=replace(NAMES, clean="Review: Clean")), worn)
    assert AddLabels(12, ("review: changes",)) in actions
    assert RemoveLabel(12, "Review: Clean") in actions
    assert not any(isinstance(action, AddLabels | RemoveLabel) for action in planned(a_matter(a_review(FINDINGS[0])), worn))


def test_of_two_summaries_the_older_one_is_kept() -> None:
    bodies = [f"{markers.SUMMARY}\n{state.encode(PullMemory(run_id=name))}\nwords" for name in "ab"]
    standing = replace(EMPTY, comments=(said(8, bodies[1]), said(3, bodies[0])))
    assert own.memory(standing).run_id == "a"
    actions = planned(a_matter(a_review()), standing)
    assert [action for action in actions if isinstance(action, MinimizeComment)] == [MinimizeComment("N8", "DUPLICATE")]
    assert isinstance(actions[-1], EditComment)
    assert actions[-1].comment_id == 3


def test_a_pending_review_of_ours_goes_first_and_one_that_a_person_is_writing_stays() -> None:
    marked = f"{markers.review(OLD, ReviewEvent.COMMENT, [])}\n"
    person = replace(EMPTY, me=Author("alice", 7, AuthorKind.USER))
    for standing, body, goes in ((EMPTY, "", True), (person, "", False), (person, marked, True)):
        actions = planned(a_matter(a_review()), replace(standing, reviews=(a_posted(5, "PENDING", body),)))
        assert isinstance(actions[0], DeletePendingReview) is goes
    foreign = replace(EMPTY, reviews=(a_posted(5, "PENDING", marked, own=False),))
    assert not isinstance(planned(a_matter(a_review()), foreign)[0], DeletePendingReview)


def test_a_memory_is_kept_without_a_review() -> None:
    (first,) = remembering(PullMemory(stopped=True), EMPTY)
    assert isinstance(first, PostComment)
    forge = MemoryForge(EMPTY)
    forge.do(first)
    assert own.memory(forge.now) == PullMemory(stopped=True)
    assert remembering(PullMemory(stopped=True), forge.now) == ()
    forge = after(a_matter(a_review(FINDINGS[0])))
    words = forge.now.comments[0].body.split("\n", 2)[2]
    (edit,) = remembering(replace(own.memory(forge.now), paused_by="alice"), forge.now)
    forge.do(edit)
    assert own.memory(forge.now).paused_by == "alice"
    assert forge.now.comments[0].body.split("\n", 2)[2] == words


def test_a_command_that_was_answered_is_worth_a_write_and_money_is_not() -> None:
    matter = a_matter(a_review(FINDINGS[0], bill=Bill(Usage(1, cost_usd=0.25, paid_usd=0.25))))
    forge = after(matter)
    assert own.memory(forge.now).cost_usd == 0.25
    later = replace(matter, review=replace(matter.review, run_id="later"))
    assert planned(later, forge.now) == ()
    other = replace(later, history=replace(later.history, seen=frozenset({"more"})))
    pulls.applied(other, forge)
    assert (own.memory(forge.now).cost_usd, own.memory(forge.now).runs) == (0.5, 2)
    same = replace(matter.review, run_id="later", conclusion=Conclusion.PARTIAL)
    pulls.applied(replace(other, review=same), forge)
    assert (own.memory(forge.now).cost_usd, own.memory(forge.now).runs) == (0.5, 2)


@pytest.mark.parametrize("size", [0, 1, 40, pytest.param(300, marks=pytest.mark.ci)])
def test_a_summary_fits_with_its_state(size: int) -> None:
    findings = [a_finding(number, path="elsewhere.py", body="é" * 1_400) for number in range(size)]
    earlier = [known(a_finding(number), Fate.FIXED, reason="gone") for number in range(1_000, 1_000 + size)]
    wanted = want(a_matter(a_review(*findings), *earlier), EMPTY)
    for body in (wanted.summary, wanted.whole_summary):
        assert len(body.encode()) <= markdown.BUDGET_BYTES
        assert state.decode(own.state_line(body)).memory is not None
    assert wanted.summary == want(a_matter(a_review(*findings), *earlier), EMPTY).summary


def test_a_short_summary_tells_the_verdict_and_keeps_the_memory() -> None:
    wanted = want(a_matter(a_review(*FINDINGS[:2]), sticky_summary=False), EMPTY)
    assert "Changes requested" in wanted.summary
    assert "Thing 1" not in wanted.summary
    assert state.decode(own.state_line(wanted.summary)).memory is not None


LIFE = st.sampled_from(Lifecycle)
SHAS = st.sampled_from((HEAD, OLD))
STATUSES = st.sampled_from(
    (FindingStatus.ACCEPTED, FindingStatus.CONTESTED, FindingStatus.DISMISSED, FindingStatus.BELOW_THRESHOLD)
)


@st.composite
def matters(draw: st.DrawFn) -> Matter:
    numbers = draw(st.lists(st.sampled_from(range(8)), unique=True, max_size=6))
    findings = []
    for number in numbers:
        lifecycle = draw(LIFE)
        status = FindingStatus.BELOW_THRESHOLD if lifecycle is Lifecycle.FIXED else draw(STATUSES)
        path = draw(st.sampled_from(("shop/cart.py", "shop/cart.py", "elsewhere.py")))
        findings.append(
            replace(FINDINGS[number], lifecycle=lifecycle, status=status, path=path, severity=draw(st.sampled_from(Severity)))
        )
    left = [number for number in range(8) if number not in numbers]
    gone = draw(st.lists(st.sampled_from(left), unique=True, max_size=3)) if left else []
    more = [known(FINDINGS[number], draw(st.sampled_from((Fate.FIXED, Fate.DISMISSED)))) for number in gone]
    conclusion = draw(st.sampled_from(Conclusion))
    verdict = None if conclusion in (Conclusion.NOT_REVIEWED, Conclusion.PENDING) else draw(st.sampled_from(Verdict))
    review = a_review(*findings, conclusion=conclusion, verdict=verdict, range_mode=draw(st.sampled_from(RangeMode)))
    return a_matter(
        review,
        *more,
        max_comments=draw(st.integers(0, 4)),
        allow_approve=draw(st.booleans()),
        sticky_summary=draw(st.booleans()),
        resolve_outdated=draw(st.booleans()),
        labels=draw(st.sampled_from((Labels(), NAMES))),
    )


@st.composite
def standings(draw: st.DrawFn) -> Standing:
    threads = []
    for index in range(draw(st.integers(0, 6))):
        thread = a_thread(
            100 + 2 * index,
            draw(st.sampled_from(FINDINGS)),
            sha=draw(SHAS),
            own=draw(st.booleans()),
            resolved=draw(st.booleans()),
            answer=draw(st.sampled_from(("", "", "no"))),
        )
        threads.append(thread)
    reviews = []
    for index in range(draw(st.integers(0, 4))):
        told = draw(st.lists(st.sampled_from(FINDINGS), max_size=2))
        body = markers.review(draw(SHAS), draw(st.sampled_from(ReviewEvent)), [finding.fingerprint for finding in told])
        stands = draw(st.sampled_from(("PENDING", "COMMENTED", "APPROVED", "CHANGES_REQUESTED", "DISMISSED")))
        reviews.append(a_posted(200 + index, stands, draw(st.sampled_from((f"{body}\nwords", "words"))), own=draw(st.booleans())))
    comments = []
    for index in range(draw(st.integers(0, 4))):
        memory = draw(
            st.sampled_from((PullMemory(), PullMemory(run_id=pulls.CLEAN.run_id, stopped=True), PullMemory(paused_by="bob")))
        )
        line = draw(st.sampled_from((state.encode(memory), "<!-- reviewbot:state v1 odd -->", "words")))
        body = draw(st.sampled_from((f"{markers.SUMMARY}\n{line}\nwords", f"hello\n{markers.SUMMARY}\n{line}")))
        folded = draw(st.booleans())
        comments.append(replace(said(300 + index, body, own=draw(st.booleans())), is_minimized=folded))
    checks = []
    for index in range(draw(st.integers(0, 3))):
        app, name = draw(st.sampled_from(("reviewbot", "other"))), draw(st.sampled_from(("reviewbot", "tests")))
        checks.append(CheckState(name, draw(st.sampled_from((None, "success", "failure"))), 400 + index, draw(SHAS), app))
    worn = draw(st.lists(st.sampled_from(("review: clean", "Review: Changes", "bug")), unique=True))
    found = a_standing(HEAD, labels=tuple(worn))
    return replace(found, threads=tuple(threads), reviews=tuple(reviews), comments=tuple(comments), checks=tuple(checks))


def portrait(standing: Standing) -> object:
    """All that stands there, without the numbers that things got."""
    return (
        sorted((t.path, t.line or 0, t.is_resolved, tuple(c.body for c in t.comments)) for t in standing.threads),
        sorted((review.is_own, review.state, review.body) for review in standing.reviews),
        sorted((c.is_own, c.is_minimized, c.body) for c in standing.comments),
        sorted((c.name, c.app, c.external_id, c.conclusion or "", c.title) for c in standing.checks),
        sorted(standing.pull.labels),
    )


def strangers(standing: Standing) -> object:
    """What is not ours."""
    return (
        [thread for thread in standing.threads if not thread.is_own],
        [review for review in standing.reviews if not review.is_own],
        [comment for comment in standing.comments if not comment.is_own],
        [check for check in standing.checks if check.app != "reviewbot"],
        [label for label in standing.pull.labels if label == "bug"],
    )


@settings(max_examples=examples(250))
@given(matters(), standings())
def test_posting_twice_is_posting_once(matter: Matter, standing: Standing) -> None:
    forge = after(matter, standing)
    assert planned(matter, forge.now) == ()
    assert strangers(forge.now) == strangers(standing)


@settings(max_examples=examples(250))
@given(matters(), standings(), st.data())
def test_killed_anywhere_and_run_again_it_ends_the_same(matter: Matter, standing: Standing, data: st.DataObject) -> None:
    whole = after(matter, standing)
    broken = MemoryForge(standing)
    for _ in range(data.draw(st.integers(1, 3))):
        actions = planned(matter, broken.now)
        pulls.applied(matter, broken, data.draw(st.integers(0, len(actions))))
    pulls.applied(matter, broken)
    assert planned(matter, broken.now) == ()
    assert portrait(broken.now) == portrait(whole.now)


@settings(max_examples=examples(250))
@given(matters(), standings())
def test_every_finding_is_told_and_none_twice(matter: Matter, standing: Standing) -> None:
    forge = after(matter, standing)
    before = Counter(thread.mark.fingerprint for thread in own.threads(standing) if not thread.is_closed)
    now = Counter(thread.mark.fingerprint for thread in own.threads(forge.now) if not thread.is_closed)
    assert all(count <= max(before[name], 1) for name, count in now.items())
    (summary, *_) = own.summaries(forge.now)
    if not matter.options.sticky_summary:
        return
    told = want(matter, forge.now).told
    lined = {thread.mark.fingerprint for thread in own.threads(forge.now)}
    lined |= {name for review in own.reviews(forge.now) for name in review.mark.told}
    for finding in matter.review.posted():
        if finding.fingerprint in told:
            assert f"| {finding.id}" in summary.body
            assert f"### {finding.id}:" in summary.body or finding.fingerprint in lined


@settings(max_examples=examples(150))
@given(matters(), standings())
def test_never_more_comments_at_once_than_were_asked_for(matter: Matter, standing: Standing) -> None:
    for action in planned(matter, standing):
        if isinstance(action, PostReview):
            assert len(action.comments) <= matter.options.max_comments
            assert len({comment.fingerprint for comment in action.comments}) == len(action.comments)


@settings(max_examples=examples(100))
@given(matters(), standings())
def test_the_summary_is_the_last_thing_that_is_written(matter: Matter, standing: Standing) -> None:
    actions = planned(matter, standing)
    writes = [index for index, action in enumerate(actions) if isinstance(action, EditComment | PostComment)]
    assert writes in ([], [len(actions) - 1])
