"""What a run does: every row of the table, its place in it, and what must never be."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.event import Event, FinishedRun, Happening, SaidComment
from reviewbot.domain.forge import (
    Author,
    AuthorKind,
    Commit,
    Permission,
    PullRequest,
    PullState,
)
from reviewbot.events import activity
from reviewbot.events.activity import Act, Decision, SkipReason, asks, decide
from reviewbot.events.facts import ActivityOptions, Facts, Mode, Subject
from tests.events.samples import (
    ANN,
    DEPENDABOT,
    OWN,
    PULL,
    RENOVATE,
    WE,
    ZEROS,
    commented,
    dispatched,
    finished,
    opened,
    pushed,
    scheduled,
)
from tests.rings import examples

FORK = replace(PULL, head_repository="mallory/shop", author=Author("mallory", 66))
NO_SECRETS = ActivityOptions(has_secrets=False)


def mode(word: Mode, **more: Any) -> ActivityOptions:
    return ActivityOptions(word, **more)


def told(facts: Facts, **changes: Any) -> Facts:
    """The same with something else in the event."""
    return replace(facts, event=replace(facts.event, **changes))


def pulled(facts: Facts, **changes: Any) -> Facts:
    """The same with another pull request: as the payload tells it where it does, and as the forge does."""
    if facts.event.pull:
        facts = told(facts, pull=replace(facts.event.pull, **changes))
    if facts.pull or not facts.event.pull:
        facts = replace(facts, pull=replace(facts.pull or PULL, **changes))
    return facts


def ran(facts: Facts, **changes: Any) -> Facts:
    assert facts.event.run
    return told(facts, run=replace(facts.event.run, **changes))


def test_each_event_has_its_work_in_each_mode():
    work = {
        opened: "review collect debate publish",
        lambda options: dispatched(5, options=options): "review collect debate publish",
        commented: "command - - -",
        finished: "- - debate publish",
        dispatched: "audit - - -",
        scheduled: "audit - - -",
        pushed: "audit - - -",
    }
    for begun, acts in work.items():
        for word, act in zip(Mode, acts.split(), strict=True):
            decision = decide(begun(options=mode(word)))
            assert decision.act.value == act.replace("-", "nothing")
            assert (decision.skip_reason is SkipReason.WRONG_MODE) is (act == "-")


def test_an_event_that_is_not_known_is_said():
    assert decide(Facts(Event(Happening.OTHER))) == Decision(Act.NOTHING, SkipReason.UNSUPPORTED_EVENT)


# Who is reviewed

ON_A_PULL: list[tuple[SkipReason, Callable[[Facts], Facts]]] = [
    (SkipReason.NOT_A_PULL_REQUEST, lambda f: replace(f, is_pull_missing=True)),
    (SkipReason.HEAD_GONE, lambda f: pulled(f, head_sha="") if f.event.pull else ran(f, head_sha="")),
    (SkipReason.CLOSED, lambda f: pulled(f, state=PullState.CLOSED)),
    (SkipReason.CLOSED, lambda f: pulled(f, state=PullState.MERGED)),
    (SkipReason.LOCKED, lambda f: pulled(f, is_locked=True)),
    (SkipReason.HEAD_MOVED, lambda f: replace(f, pull=replace(f.known_pull or PULL, head_sha="c" * 40))),
    (SkipReason.STOPPED, lambda f: replace(f, was_stopped=True)),
    (SkipReason.BOT_AUTHOR, lambda f: pulled(f, author=RENOVATE)),
    (SkipReason.OPT_OUT_LABEL, lambda f: pulled(f, labels=("a", "Reviewbot:Skip"))),
    (SkipReason.DRAFT, lambda f: pulled(f, is_draft=True)),
    (SkipReason.PAUSED, lambda f: replace(f, was_paused=True)),
    (SkipReason.OWN_COMMIT, lambda f: told(replace(f, me=WE, head_commit=OWN), sender=WE)),
    (SkipReason.ALREADY_REVIEWED, lambda f: replace(f, was_reviewed=True)),
]
"""In the order of the table."""


@pytest.mark.parametrize(("reason", "change"), ON_A_PULL)
@pytest.mark.parametrize("begun", [opened(), finished(options=mode(Mode.DEBATE)), finished(options=mode(Mode.PUBLISH))])
def test_a_pull_request_is_left_alone_for_one_reason(begun: Facts, reason: SkipReason, change: Callable[[Facts], Facts]):
    assert decide(begun).act is not Act.NOTHING
    assert decide(change(begun)) == Decision(Act.NOTHING, reason)
    assert activity.why(change(begun))
    assert not activity.why(begun)


PAIRS = [pair for pair in itertools.combinations(ON_A_PULL, 2) if (pair[0][0], pair[1][0]) != ("head_gone", "head_moved")]
"""A head that is gone in the payload and there on the forge has moved."""


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0][0]}-{pair[1][0]}")
def test_of_two_reasons_the_earlier_one_is_said(pair: tuple[Any, Any]):
    (first, change), (_, also) = pair
    assert decide(also(change(opened()))).skip_reason is first


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened", "ready_for_review"])
def test_what_changes_the_code_or_asks_for_it_is_reviewed(action: str):
    assert decide(told(opened(), action=action)).act is Act.REVIEW


@pytest.mark.parametrize("action", ["", "closed", "edited", "assigned", "converted_to_draft", "labeled", "unlabeled", "locked"])
def test_what_changes_nothing_is_not_reviewed(action: str):
    assert decide(told(opened(), action=action, label="bug")).skip_reason is SkipReason.UNRELATED_ACTION


def test_labels_that_concern_a_review_start_one():
    asked = told(pulled(opened(), labels=("reviewbot:review",), is_draft=True), action="labeled", label="Reviewbot:review")
    assert decide(asked).act is Act.REVIEW
    assert decide(told(asked, action="synchronize")).act is Act.REVIEW, "the label stands"
    assert decide(told(asked, action="unlabeled")).skip_reason is SkipReason.UNRELATED_ACTION
    allowed = told(opened(), action="unlabeled", label="reviewbot:skip")
    assert decide(allowed).act is Act.REVIEW
    assert decide(told(allowed, action="labeled")).skip_reason is SkipReason.UNRELATED_ACTION
    assert decide(pulled(asked, labels=("reviewbot:review", "reviewbot:skip"))).skip_reason is SkipReason.OPT_OUT_LABEL


def test_labels_may_have_other_names_or_none():
    options = ActivityOptions(skip_label="no", review_label="")
    assert decide(pulled(opened(options=options), labels=("no",))).skip_reason is SkipReason.OPT_OUT_LABEL
    assert decide(pulled(opened(options=options), labels=("reviewbot:skip", ""))).act is Act.REVIEW
    assert decide(told(opened(options=options), action="labeled", label="")).skip_reason is SkipReason.UNRELATED_ACTION


@pytest.mark.parametrize("name", ["renovate[bot]", "renovate", "Renovate[bot]"])
def test_an_allowed_bot_is_reviewed_and_its_code_does_not_run_beside_secrets(name: str):
    begun = pulled(opened(options=ActivityOptions(allowed_bots=("x", name))), author=RENOVATE)
    assert decide(replace(begun, permission=Permission.NONE)) == Decision(Act.REVIEW)


def test_a_deleted_author_is_no_bot_and_may_not_write():
    assert decide(pulled(opened(), author=None)) == Decision(Act.REVIEW, execute=False)


def test_an_own_commit_wants_both_our_account_and_our_trailer():
    by_us = told(opened(me=WE, head_commit=OWN), sender=WE)
    assert decide(by_us).skip_reason is SkipReason.OWN_COMMIT
    assert decide(told(by_us, sender=ANN)).act is Act.REVIEW, "a trailer is anybody's"
    plain = Commit(OWN.sha, "Reviewbot-Finding: F1 is the reason\n\nThis is prose.", "reviewbot[bot]")
    assert decide(replace(by_us, head_commit=plain)).act is Act.REVIEW, "an account may be used by others"
    assert decide(told(by_us, sender=replace(WE, id=0, login="Reviewbot"))).skip_reason is SkipReason.OWN_COMMIT
    assert decide(told(by_us, sender=replace(WE, id=10))).act is Act.REVIEW, "another account of that name"
    assert decide(replace(by_us, me=Author("reviewbot[bot]", 0, AuthorKind.BOT))).skip_reason is SkipReason.OWN_COMMIT
    for unknown in (replace(by_us, me=None), replace(by_us, head_commit=None), told(by_us, sender=None)):
        assert decide(unknown).act is Act.REVIEW


def test_what_is_not_known_yet_holds_nothing_back():
    begun = finished(options=mode(Mode.DEBATE))
    assert begun.known_pull is None
    assert decide(begun).act is Act.DEBATE
    assert decide(told(replace(opened(), pull=PULL), pull=None)).act is Act.REVIEW


def test_what_the_forge_says_now_outdoes_the_payload():
    begun = pulled(opened(), is_draft=True)
    assert decide(replace(begun, pull=PULL)).act is Act.REVIEW
    assert decide(opened(pull=replace(PULL, is_draft=True))).skip_reason is SkipReason.DRAFT


def test_a_payload_without_its_pull_request_is_none():
    assert decide(told(opened(), pull=None)).skip_reason is SkipReason.NOT_A_PULL_REQUEST


# Forks and what may run


def test_a_fork_without_secrets_is_reviewed_and_may_run():
    for word, act in ((Mode.ALL, Act.REVIEW), (Mode.COLLECT, Act.COLLECT)):
        begun = told(opened(options=mode(word, has_secrets=False)), pull=FORK)
        assert decide(replace(begun, permission=None)) == Decision(act, execute=True)


def test_a_fork_beside_secrets_needs_two_stages():
    begun = told(opened(), pull=FORK)
    assert decide(begun).skip_reason is SkipReason.FORK_NEEDS_TWO_STAGES
    assert decide(pulled(opened(), head_repository=None)).skip_reason is SkipReason.FORK_NEEDS_TWO_STAGES
    for word in (Mode.DEBATE, Mode.PUBLISH):
        for has_secrets in (True, False):
            options = mode(word, has_secrets=has_secrets)
            assert decide(replace(begun, options=options)).skip_reason is SkipReason.FORK_NEEDS_TWO_STAGES
    assert decide(replace(begun, options=mode(Mode.COLLECT))) == Decision(Act.COLLECT, execute=False)
    assert decide(finished(pull=FORK, options=mode(Mode.DEBATE))) == Decision(Act.DEBATE)


def test_code_runs_beside_secrets_only_where_its_author_may_write():
    for permission in Permission:
        assert decide(opened(permission=permission)) == Decision(Act.REVIEW, execute=permission >= Permission.WRITE)
    assert decide(opened(permission=None)) == Decision(Act.REVIEW)


def test_dependabots_code_does_not_run_beside_secrets():
    allowed = ActivityOptions(allowed_bots=("dependabot",))
    by_it = pulled(opened(options=allowed, permission=Permission.ADMIN), author=DEPENDABOT)
    assert decide(by_it) == Decision(Act.REVIEW)
    assert decide(replace(by_it, options=replace(allowed, has_secrets=False))) == Decision(Act.REVIEW, execute=True)
    assert decide(told(opened(), sender=DEPENDABOT)) == Decision(Act.REVIEW)
    assert decide(pulled(opened(), head_ref="dependabot/npm/x-1")) == Decision(Act.REVIEW), "somebody took it over"
    assert decide(told(pushed(), sender=DEPENDABOT)) == Decision(Act.AUDIT)


def test_an_audit_may_run():
    for begun in (scheduled(), dispatched(), pushed()):
        assert decide(begun) == Decision(Act.AUDIT, execute=True)


def test_a_debate_and_its_publication_run_nothing():
    for word in (Mode.DEBATE, Mode.PUBLISH):
        for has_secrets in (True, False):
            assert not decide(opened(options=mode(word, has_secrets=has_secrets))).execute


# Dispatches and pushes


def test_who_asks_with_a_dispatch_is_answered():
    begun = dispatched(5, permission=Permission.WRITE, pull=replace(PULL, is_draft=True, labels=("reviewbot:skip",)))
    assert decide(replace(begun, was_paused=True, was_reviewed=True)) == Decision(Act.REVIEW, execute=True)
    assert decide(replace(begun, pull=FORK)) == Decision(Act.REVIEW)
    assert decide(replace(begun, pull=FORK, options=NO_SECRETS)) == Decision(Act.REVIEW, execute=True)
    assert decide(replace(begun, pull=None)) == Decision(Act.REVIEW), "it may be anybody's"
    assert decide(replace(begun, pull=None, options=NO_SECRETS)) == Decision(Act.REVIEW)
    assert decide(replace(begun, pull=replace(PULL, author=RENOVATE))).act is Act.REVIEW
    assert decide(replace(begun, was_stopped=True)).skip_reason is SkipReason.STOPPED
    assert decide(replace(begun, is_pull_missing=True)).skip_reason is SkipReason.NOT_A_PULL_REQUEST
    assert decide(pulled(begun, state=PullState.CLOSED)).skip_reason is SkipReason.CLOSED


@pytest.mark.parametrize("after", ["", ZEROS])
def test_a_deleted_branch_is_not_audited(after: str):
    assert decide(told(pushed(), after=after)).skip_reason is SkipReason.HEAD_GONE


def test_only_the_default_branch_is_audited():
    for ref, default in (("refs/heads/more", "main"), ("refs/tags/main", "main"), ("main", "main"), ("refs/heads/", "")):
        assert decide(told(pushed(), ref=ref, default_branch=default)).skip_reason is SkipReason.NOT_DEFAULT_BRANCH


# Comments


def test_only_who_may_write_commands():
    for permission in Permission:
        decision = decide(commented(permission=permission))
        if permission >= Permission.WRITE:
            assert decision == Decision(Act.COMMAND)
        else:
            assert decision == Decision(Act.NOTHING, SkipReason.MISSING_PERMISSION)
    assert decide(commented(permission=None)).skip_reason is SkipReason.MISSING_PERMISSION


@pytest.mark.parametrize("author", [None, RENOVATE, WE, *(Author("x", 4, kind) for kind in AuthorKind if kind != "User")])
def test_only_people_command(author: Author | None):
    options = ActivityOptions(allowed_bots=("renovate", "reviewbot", "x"))
    assert decide(commented(author=author, options=options)).skip_reason is SkipReason.NOT_A_USER


@pytest.mark.parametrize("kind", [Happening.COMMENT, Happening.REVIEW_COMMENT])
def test_a_comment_commands_or_not(kind: Happening):
    begun = told(commented(), kind=kind)
    assert decide(begun) == Decision(Act.COMMAND)
    assert decide(told(begun, action="edited")).skip_reason is SkipReason.EDITED_COMMENT
    assert decide(told(begun, action="deleted")).skip_reason is SkipReason.UNRELATED_ACTION
    assert decide(told(begun, on_issue=True)).skip_reason is SkipReason.NOT_A_PULL_REQUEST
    assert decide(told(begun, number=None)).skip_reason is SkipReason.NOT_A_PULL_REQUEST
    assert decide(told(begun, comment=None)).skip_reason is SkipReason.NOT_A_USER
    assert decide(commented("thanks\n/debate")).skip_reason is SkipReason.NOT_A_COMMAND
    assert decide(replace(begun, pull=replace(PULL, state=PullState.MERGED))).skip_reason is SkipReason.CLOSED
    assert decide(replace(begun, pull=replace(PULL, is_locked=True))).skip_reason is SkipReason.LOCKED


def test_a_command_that_is_nearly_one_is_answered_to_who_may_write():
    assert decide(commented("/debate paus")) == Decision(Act.COMMAND)
    assert decide(commented("/debate paus", permission=Permission.READ)).skip_reason is SkipReason.MISSING_PERMISSION


def test_a_command_holds_for_a_draft_a_bots_change_and_a_fork_and_runs_nothing():
    for pull in (replace(PULL, is_draft=True, labels=("reviewbot:skip",)), replace(PULL, author=RENOVATE), FORK):
        for options in (ActivityOptions(), NO_SECRETS):
            begun = commented(pull=pull, options=options, was_paused=True, was_reviewed=True)
            assert decide(begun) == Decision(Act.COMMAND, execute=False)


def test_after_stop_only_what_looks_or_lifts_it_works():
    works = ("resume", "status", "help", "cost", "config", "explain F1", "stop")
    for word in (*works, "", "full", "fix", "pause", "undo", "resolve", "ask why", "the parser", "paus", "dismiss F1"):
        decision = decide(commented(f"/debate {word}", was_stopped=True))
        assert decision.skip_reason is (None if word in works else SkipReason.STOPPED)


# Finished runs


def test_a_finished_run_is_debated_where_it_is_whole():
    begun = finished(options=mode(Mode.DEBATE))
    assert decide(begun) == Decision(Act.DEBATE)
    assert decide(told(begun, action="requested")).skip_reason is SkipReason.UNRELATED_ACTION
    for conclusion in ("failure", "cancelled", "skipped", "neutral", "action_required", None):
        assert decide(ran(begun, conclusion=conclusion)).skip_reason is SkipReason.RUN_NOT_SUCCESSFUL
    for event in ("push", "pull_request_target", "schedule", ""):
        assert decide(ran(begun, event=event)).skip_reason is SkipReason.NOT_A_PULL_REQUEST
    assert decide(told(begun, run=None)).skip_reason is SkipReason.NOT_A_PULL_REQUEST
    assert decide(ran(begun, head_repository=None)).act is Act.DEBATE


# Whom to ask


def test_a_permission_is_asked_for_only_where_it_decides():
    assert asks(opened(permission=None)) == "ann"
    assert asks(commented(permission=None)) == "ann"
    assert asks(dispatched(5, pull=replace(PULL, author=Author("bob")))) == "bob"
    for settled in (
        opened(),
        commented(),
        commented("thanks", permission=None),
        commented(permission=None, pull=replace(PULL, state=PullState.CLOSED)),
        opened(permission=None, options=NO_SECRETS),
        opened(permission=None, options=mode(Mode.DEBATE)),
        opened(permission=None, was_paused=True),
        told(opened(permission=None), pull=FORK),
        pulled(opened(permission=None, options=ActivityOptions(allowed_bots=("dependabot",))), author=DEPENDABOT),
        pulled(opened(permission=None), author=None),
        dispatched(5),
        dispatched(),
        scheduled(),
        pushed(),
        finished(options=mode(Mode.DEBATE)),
    ):
        assert asks(settled) is None


# The table as a whole


def test_the_table_that_people_read_is_the_one_that_decides():
    assert activity.__doc__
    rows = activity.__doc__.split("holds where\n")[1].splitlines()[1:]
    written = [row.split()[0] for row in itertools.takewhile(lambda row: not row.startswith("="), rows)]
    assert written == [row.reason.value for row in activity.ROWS]


def test_every_reason_has_a_row_and_words_for_people():
    assert {row.reason for row in activity.ROWS} == set(SkipReason)
    assert all(row.why and not row.why.startswith("/") and row.subjects for row in activity.ROWS)


def test_every_subject_of_a_known_event_has_work():
    assert {subject for subject, _ in activity.ACTS} == set(Subject) - {Subject.NONE}


LOGINS = st.sampled_from(["ann", "mallory", "dependabot[bot]", "renovate[bot]", "reviewbot[bot]", "Dependabot"])
AUTHORS = st.none() | st.builds(Author, LOGINS, st.integers(0, 3), st.sampled_from(AuthorKind))
LABELS = st.sampled_from(["", "bug", "reviewbot:skip", "reviewbot:review"])
SHAS = st.sampled_from(["", "a" * 40, ZEROS])
PULLS = st.none() | st.builds(
    replace,
    st.just(PULL),
    author=AUTHORS,
    state=st.sampled_from(PullState),
    is_draft=st.booleans(),
    is_locked=st.booleans(),
    labels=st.lists(LABELS, max_size=2).map(tuple),
    head_ref=st.sampled_from(["more", "dependabot/x", "main"]),
    head_sha=SHAS,
    head_repository=st.sampled_from([None, "octo/shop", "OCTO/shop", "mallory/shop", ""]),
)
RUNS = st.none() | st.builds(
    FinishedRun,
    id=st.just(1),
    event=st.sampled_from(["pull_request", "push"]),
    conclusion=st.sampled_from([None, "success", "failure"]),
    head_repository=st.sampled_from([None, "octo/shop", "mallory/shop"]),
    head_ref=st.just("more"),
    head_sha=SHAS,
)
BODIES = st.sampled_from(["/debate", "/debate resume", "/debate paus", "hello", "> /debate"])
EVENTS = st.builds(
    Event,
    kind=st.sampled_from(Happening),
    action=st.sampled_from(["", "opened", "synchronize", "labeled", "unlabeled", "created", "edited", "completed"]),
    repository=st.just("octo/shop"),
    number=st.none() | st.just(5),
    on_issue=st.booleans(),
    sender=AUTHORS,
    label=LABELS,
    pull=PULLS,
    comment=st.none() | st.builds(SaidComment, st.just(3), st.just("c"), BODIES, AUTHORS),
    run=RUNS,
    ref=st.sampled_from(["", "refs/heads/main"]),
    after=SHAS,
    default_branch=st.sampled_from(["", "main"]),
)
FACTS = st.builds(
    Facts,
    event=EVENTS,
    options=st.builds(
        ActivityOptions,
        mode=st.sampled_from(Mode),
        skip_label=LABELS,
        review_label=LABELS,
        allowed_bots=st.lists(LOGINS, max_size=2).map(tuple),
        has_secrets=st.booleans(),
    ),
    pull=PULLS,
    is_pull_missing=st.booleans(),
    permission=st.none() | st.sampled_from(Permission),
    me=AUTHORS,
    head_commit=st.none() | st.just(OWN),
    was_paused=st.booleans(),
    was_stopped=st.booleans(),
    was_reviewed=st.booleans(),
)


def is_strange(pull: PullRequest | None) -> bool:
    return pull is None or pull.head_repository is None or pull.head_repository.lower() != "octo/shop"


@settings(max_examples=examples(3_000))
@given(FACTS)
def test_whatever_is_known_these_hold(facts: Facts):
    decision = decide(facts)
    event, options = facts.event, facts.options
    pull = facts.pull or event.pull
    about_pull = event.kind is Happening.PULL_REQUEST or (event.kind is Happening.DISPATCH and event.number is not None)
    assert (decision.act is Act.NOTHING) == (decision.skip_reason is not None) == bool(activity.why(facts))
    if decision.execute:
        assert decision.act in (Act.REVIEW, Act.COLLECT, Act.AUDIT)
        assert event.kind not in (Happening.COMMENT, Happening.REVIEW_COMMENT, Happening.RUN_FINISHED)
    if decision.execute and options.has_secrets:
        actors = [event.sender, pull.author if pull and about_pull else None]
        assert not any(actor and actor.login.lower().startswith("dependabot") for actor in actors)
        if about_pull:
            assert pull is not None
            assert not is_strange(pull)
            assert pull.author is not None
            assert facts.permission is not None
            assert facts.permission >= Permission.WRITE
    if decision.act is Act.COMMAND:
        assert event.comment is not None
        assert event.comment.author is not None
        assert event.comment.author.kind is AuthorKind.USER
        assert event.action == "created"
        assert event.comment.body.startswith("/debate")
        assert facts.permission is not None
        assert facts.permission >= Permission.WRITE
    if decision.act in (Act.REVIEW, Act.DEBATE, Act.PUBLISH) and event.kind is Happening.PULL_REQUEST and is_strange(pull):
        assert (decision.act, options.has_secrets) == (Act.REVIEW, False)
    if event.kind is Happening.RUN_FINISHED and decision.act is not Act.NOTHING:
        assert options.mode in (Mode.DEBATE, Mode.PUBLISH)
    if asks(facts):
        assert facts.permission is None


@settings(max_examples=examples(1_000))
@given(FACTS, st.sampled_from(Permission), st.sampled_from(Permission))
def test_more_permission_never_means_less(facts: Facts, some: Permission, more: Permission):
    if some > more:
        some, more = more, some
    less, able = (decide(replace(facts, permission=permission)) for permission in (some, more))
    assert less.execute <= able.execute
    assert less.act in (able.act, Act.NOTHING)
    assert decide(replace(facts, permission=None)) == decide(replace(facts, permission=Permission.NONE))


@settings(max_examples=examples(1_000))
@given(FACTS)
def test_secrets_never_make_code_run(facts: Facts):
    with_secrets, without = (decide(replace(facts, options=replace(facts.options, has_secrets=has))) for has in (True, False))
    assert with_secrets.execute <= without.execute
