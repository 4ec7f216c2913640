"""What comments ask for, and what a job does about an event."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from github import Auth
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reviewbot.config.settings import GitHubSettings
from reviewbot.github.activity import MODES, TABLE, Facts, NothingToDo, may_execute
from reviewbot.github.activity import decide as decide_or_raise
from reviewbot.github.activity import needs_permission_of as asks_about
from reviewbot.github.client import Client, GitHubError
from reviewbot.github.command import FORMS, Command, Misunderstood, parse
from reviewbot.github.commands import ORDERED, answer_here
from reviewbot.github.job import INPUTS, CommentEvent, Event, Job, Mode, Subject
from reviewbot.github.pulls import SUMMARY, Author, State, encode_state
from reviewbot.github.steps import check_open
from reviewbot.verdict.document import Memory, Remembered
from tests.test_github_plan import ANN, BOT, HEAD, OLD, PULL, SHA, comment, snapshot

FULL = (
    "/debate full|/DEBATE Full|\n\n  \n/debate full|\r\n\t\r\n/debate full\r\n|"
    "\u00a0\n/debate full|/debate\tfull|/debate\u00a0full\u00a0|/debate\u3000 full!|"
    "/debate full\rthanks|/debate full\n /debate stop|/debate full\n\n> /debate\n```|/debate `full`"
)
COMMANDS: dict[str, tuple[str, str, str]] = {
    **dict.fromkeys(FULL.split("|"), ("full", "", "")),
    **dict.fromkeys(("/debate", "/debate  ", "/Debate review"), ("review", "", "")),
    **{f"/debate {form.verb}": (form.verb, "", "") for form in FORMS if form.arguments == "none"},
    "/debate the locking in store.py\nand more": ("review", "", "the locking in store.py"),
    "/debate fix": ("fix", "", ""),
    "/debate explain f12.": ("explain", "F12", ""),
    "/debate dismiss F10: it is meant, see #3\nsorry": ("dismiss", "F10", "it is meant, see #3"),
    "/debate ask why?\r\n\r\nAnd how?\n": ("ask", "", "why?\n\nAnd how?"),
    "/debate ask\nwhy?": ("ask", "", "why?"),
    "/debate dispute F3 No.\n/debate stop": ("dispute", "F3", "No.\n/debate stop"),
}
FOCUSES = (
    "costs of the loop|task scheduling|tests|security|check F1 again|explains too little|Ärger"
)
TALK = (
    "| \n\t\n\u200b|\ufeff/debate|\u200b\n/debate|"
    " /debate|\t/debate|    /debate full|\u00a0/debate|\u200b/debate|\u202e/debate|"
    "> /debate|>/debate|```\n/debate\n```|`/debate`|- /debate|1. /debate|# /debate|/debate.|"
    "<!-- -->\n/debate|Please /debate|thanks\n/debate full|@reviewbot /debate|/debated|"
    "/debate-full|/debate/full|/debate\u200bfull|//debate|/ debate|/de\u200bbate|debate"
)
NEAR = {
    "/debate pause": "paus|puase|pau\u200bse",
    "/debate help": "halp|?|--",
    "/debate status": "statsu|status now",
    "/debate resume": "unpause",
    "/debate stop": "cancel|stop it",
    "/debate full": "full of bugs",
    "/debate explain F1": "explan F1|explane|why F1|F1|explain|explain F0|explain F1 F2",
    "/debate dismiss F1 reason": "dismis F1 because|ignore F1|dismiss F1|dismiss F1 F2|dismiss it",
    "/debate dispute F1 argument": "disput F1 it is locked|dispute F1|dispute it is locked",
    "/debate ask question": "ask|ask  \n ",
    "longer than 2,000 characters": "x" * 2_001,
    "longer than 300 characters": "dismiss F1 " + "x" * 301,
    "longer than 10,000 characters": "ask " + "x" * 10_001,
    "/debate fix [F1 F2]": "FIX the parser|fix F1 please|fixx|fixes F1",
    "/debate undo": "undo F1|revert",
    "a comment of its own": "status\n/debate cost|\n\n/Debate fix|the locks\r\n/debate",
}


def test_what_each_comment_asks_for() -> None:
    for body, meant in COMMANDS.items():
        said = parse(body)
        assert isinstance(said, Command), body
        assert (said.verb, said.finding, said.text) == meant, body
    for focus in FOCUSES.split("|"):
        assert parse(f"/debate {focus}") == Command(FORMS[0], text=focus)
    for body in TALK.split("|"):
        assert parse(body) is None, body
    for words, bodies in NEAR.items():
        for body in bodies.split("|"):
            near = parse(f"/debate {body}")
            assert isinstance(near, Misunderstood), body
            assert words in near.words, body
    assert {verb for verb, _, _ in COMMANDS.values()} == {form.verb for form in FORMS}


def test_which_findings_are_to_be_fixed() -> None:
    two = {"fix f2, F10 F2": ("F2", "F10"), "fix `F3`.": ("F3",), "fix\u2028F1": ("F1",)}
    for body, findings in ({"fix": (), "fix all": ()} | two).items():
        assert parse(f"/debate {body}") == Command(FORMS[2], findings=findings)


PIECES = ["/debate", " ", "\n", "\ufeff", ">", "`", "F1", "f22,", "?", "é", "fix", "\u0130"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([*PIECES, *(f.verb for f in FORMS)]) | st.text(max_size=5)))
@example(["/debate ", "\u0130" * 30])
@example(["/debate ", "pause" * 9_000])
def test_any_text_is_a_command_nearly_one_or_none(pieces: Sequence[str]) -> None:
    said = parse("".join(pieces))
    if isinstance(said, Misunderstood):
        assert parse(said.words) is None
        assert len(said.words) < 100


RENOVATE, TALK_ONLY = Author("renovate[bot]", "Bot"), CommentEvent(id=1, body="Hi", author=ANN)
TRAILER = "Fix\n\nReviewbot-Finding: F1"
# What each row of the table is about: its reason, the subjects that it skips, and an example.
PUSH, RUN, ASKED = ("pull_request",), ("finished_run",), ("comment",)
PUSHED, ON_PULL = (*PUSH, *RUN), (*PUSH, *RUN, *ASKED, "dispatch")
ALL = (*ON_PULL, "issue", "merge_group", "audit")
SKIPS: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("unsupported_event", ALL, {"event": {"subject": "nothing"}}),
    ("wrong_mode", ALL, {"mode": "none"}),
    ("unrelated_action", PUSHED, {"event": {"action": "labeled", "label": "bug"}}),
    ("unrelated_action", ASKED, {"event": {"action": "edited"}}),
    ("not_a_user", ASKED, {"event": {"comment": replace(TALK_ONLY, author=RENOVATE)}}),
    ("not_a_command", ASKED, {"event": {"comment": TALK_ONLY}}),
    ("not_a_pull_request", ASKED, {"event": {"number": 0}}),
    ("not_a_pull_request", RUN, {"event": {"run_event": "push"}}),
    ("run_not_successful", RUN, {"event": {"conclusion": "failure"}}),
    ("head_gone", (*PUSHED, "merge_group"), {"event": {"head_sha": ""}}),
    ("closed", ON_PULL, {"pull": {"state": "MERGED"}}),
    ("locked", ON_PULL, {"pull": {"is_locked": True}}),
    ("head_moved", PUSHED, {"pull": {"head_sha": OLD}}),
    ("missing_permission", ASKED, {"may_write": False}),
    ("stopped", ON_PULL, {"state": State(stopped_by="ann")}),
    ("fork_needs_two_jobs", PUSH, {"pull": {"head_repository": ""}, "has_keys": True}),
    ("bot_author", PUSHED, {"pull": {"author": RENOVATE}}),
    ("skip_label", PUSHED, {"pull": {"labels": ("Reviewbot:Skip",)}}),
    ("draft", PUSHED, {"pull": {"is_draft": True}}),
    ("paused", PUSHED, {"state": State(paused_by="ann")}),
    ("own_commit", PUSHED, {"event": {"sender": Author(BOT)}, "pull": {"message": TRAILER}}),
    ("already_reviewed", PUSHED, {"state": State(head=HEAD)}),
]


def facts(
    subject: str, mode: str = "all", event: Any = None, pull: Any = None, **more: Any
) -> Facts:
    said = CommentEvent(id=1, body="/debate full", author=ANN)
    action = {"comment": "created", "finished_run": "completed"}.get(subject, "opened")
    about: dict[str, Any] = {"subject": subject, "action": action, "comment": said, "number": 1}
    about |= {"sender": ANN, "run_event": "pull_request", "conclusion": "success"}
    known = {"snapshot": snapshot(pull=replace(PULL, **(pull or {}))), "settings": GitHubSettings()}
    happened = Event(**(about | SHA | (event or {})))
    keys = more.pop("has_keys", False)
    variables = {"SOME_API_KEY": "key"} if keys is True else {}
    given: dict[str, Any] = {"inputs": dict.fromkeys(INPUTS, ""), "mode": mode, "autofix": "off"}
    given |= dict.fromkeys(("api_url", "server_url", "token"), "") | {"repository": "octo/app"}
    given |= dict.fromkeys(("workspace", "documents"), Path()) | {"variables": variables}
    job = Job(event=happened, app=("1", "key") if keys == "of an app" else None, **given)
    return Facts(**({"job": job, **known, "may_write": True} | more))


def decide(known: Facts) -> NothingToDo | None:
    try:
        decide_or_raise(known)
    except NothingToDo as reason:
        return reason
    return None


PAIRS = [
    (subject, mode)
    for subject in get_args(Subject)
    for mode in MODES.get(subject, ("all",))
    if subject != "nothing"
]


def test_every_row_of_the_table_decides() -> None:
    assert [reason for reason, _, _ in SKIPS] == [row.reason for row in TABLE]
    for row, (reason, subjects, change) in zip(TABLE, SKIPS, strict=True):
        for subject, mode in PAIRS:
            found = decide(facts(subject, **({"mode": mode} | change)))
            if subject not in subjects or (reason == "fork_needs_two_jobs" and mode == "collect"):
                assert found is None or found.reason == reason == "unrelated_action", subject
            else:
                assert isinstance(found, NothingToDo), (reason, subject)
                assert (found.reason, str(found), found.exit_code) == (reason, row.words, 0)
    for form in FORMS:
        said = {"comment": replace(TALK_ONLY, body=form.usage)}
        stopped = decide(facts("comment", event=said, state=State(stopped_by="ann")))
        assert (stopped is None) == form.while_stopped


def test_what_is_done_with_a_pull_request_starts_a_review_or_not() -> None:
    for action, label, is_reviewed, is_looked_up in [
        *((action, "", True, True) for action in ("opened", "synchronize", "reopened")),
        ("ready_for_review", "", True, True),
        ("edited", "", False, False),
        ("closed", "", False, False),
        ("labeled", "bug", False, False),
        ("labeled", "reviewbot:approved", False, True),
        ("labeled", "Reviewbot:Review", True, True),
        ("labeled", "reviewbot:skip", False, True),
        ("unlabeled", "reviewbot:skip", True, True),
        ("unlabeled", "reviewbot:review", False, True),
    ]:
        event = {"action": action, "label": label}
        assert (decide(facts("pull_request", event=event)) is None) == is_reviewed, event
        payload = facts("pull_request", event=event, settings=None)
        assert (decide(payload) is None) == is_looked_up, event


def test_each_command_is_ordered_or_answered_here() -> None:
    known = Remembered(
        **dict.fromkeys(("key", "title", "path", "reason", "text"), "-"),
        **{"id": "F1", "severity": "low", "status": "agreed"},  # type: ignore[arg-type]
    )
    state, client = State(memory=Memory(findings=(known,))), Client(Auth.Token("t"), "octo/app")
    for form in FORMS:
        command = Command(form, finding="F1", text="because")
        assert form.verb in ORDERED or answer_here(client, snapshot(), state, command).words


def test_each_subject_has_its_activity_and_nothing_runs_beside_keys() -> None:
    for subject in get_args(Subject):
        for mode in get_args(Mode):
            assert (decide(facts(subject, mode)) is None) == ((subject, mode) in PAIRS)
    fork, dependabot = {"head_repository": "eve/app"}, {"head_ref": "dependabot/pip/x"}
    by_dependabot = {"author": Author("Dependabot[bot]", "Bot")}
    for subject, has_keys, may_write, pull, runs, asked in [
        ("pull_request", False, None, fork, True, ""),
        ("pull_request", False, False, {}, True, ""),
        ("pull_request", True, None, {}, False, "ann"),
        ("pull_request", True, True, {}, True, ""),
        ("pull_request", True, True, dependabot, False, ""),
        ("pull_request", True, None, dependabot, False, ""),
        ("pull_request", True, True, by_dependabot, False, ""),
        ("pull_request", True, True, fork, False, ""),
        ("pull_request", "of an app", True, fork, False, ""),
        ("pull_request", "of an app", None, {}, False, "ann"),
        ("pull_request", True, None, {"author": None}, False, ""),
        ("dispatch", False, None, {}, False, "ann"),
        ("dispatch", False, True, {}, True, ""),
        ("dispatch", False, True, fork, False, ""),
        ("dispatch", False, None, fork, False, ""),
        ("comment", False, None, {}, False, "ann"),
        ("comment", False, True, {}, False, ""),
        ("finished_run", False, True, {}, False, ""),
    ]:
        mode = "debate" if subject == "finished_run" else "all"
        known = facts(subject, mode, pull=pull, has_keys=has_keys, may_write=may_write)
        assert may_execute(known) is runs, (subject, has_keys, may_write, pull)
        assert asks_about(known) == asked, (subject, has_keys, may_write, pull)
    assert not may_execute(facts("pull_request", snapshot=None))
    pushed = {"sender": Author("dependabot[bot]", "Bot")}
    assert not may_execute(facts("pull_request", event=pushed, has_keys=True))


def test_nothing_is_posted_on_what_was_closed_or_moved_or_stopped_meanwhile() -> None:
    stopped = comment(1, f"{SUMMARY}\n{encode_state(State(stopped_by='ann'))}\n")
    check_open(snapshot(), HEAD)
    for about, error, said in (
        ({"pull": replace(PULL, state="CLOSED")}, NothingToDo, "was closed meanwhile"),
        ({"pull": replace(PULL, is_locked=True)}, NothingToDo, "conversation is locked"),
        ({"pull": replace(PULL, head_sha=OLD)}, NothingToDo, "newer commit was pushed"),
        ({"comments": (stopped,)}, NothingToDo, "told to stop"),
        ({"hides_own": True}, GitHubError, "cannot be read whole"),
    ):
        with pytest.raises(error, match=said):
            check_open(snapshot(**about), HEAD)
