"""The grammar of ``/debate`` comments: what is a command, what is nearly one, and what is talk."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reviewbot.events import command
from reviewbot.events.command import Command, Misunderstood, Verb, help_text, read

SHA = "deadbeefcafe"


@pytest.mark.parametrize(
    ("body", "meant"),
    [
        ("/debate", Command(Verb.REVIEW)),
        ("/debate   ", Command(Verb.REVIEW)),
        ("/DEBATE", Command(Verb.REVIEW)),
        ("/debate full", Command(Verb.FULL)),
        ("/debate the locking in store.py", Command(Verb.REVIEW, text="the locking in store.py")),
        ("/debate fix", Command(Verb.FIX)),
        ("/debate fix all", Command(Verb.FIX)),
        ("/debate fix ALL " + SHA, Command(Verb.FIX, sha=SHA)),
        ("/debate fix " + SHA.upper(), Command(Verb.FIX, sha=SHA)),
        ("/debate fix F1 F2", Command(Verb.FIX, ("F1", "F2"))),
        ("/debate fix f2, F1,F2 " + SHA, Command(Verb.FIX, ("F2", "F1"), SHA)),
        ("/debate fix `F1` `" + "a" * 40 + "`", Command(Verb.FIX, ("F1",), "a" * 40)),
        ("/debate fix F12345", Command(Verb.FIX, ("F12345",))),
        ("/debate fix F123456", Command(Verb.FIX, sha="f123456")),
        ("/debate explain F1", Command(Verb.EXPLAIN, ("F1",))),
        ("/debate dismiss F1", Command(Verb.DISMISS, ("F1",))),
        ("/debate dismiss F10: it is meant, see #3", Command(Verb.DISMISS, ("F10",), text="it is meant, see #3")),
        ("/debate ask why is this slow?", Command(Verb.ASK, text="why is this slow?")),
        ("/debate dispute F3 the lock is held", Command(Verb.DISPUTE, ("F3",), text="the lock is held")),
        *((f"/debate {verb}", Command(verb)) for verb in (Verb.UNDO, Verb.RESOLVE, Verb.PAUSE, Verb.RESUME, Verb.STOP)),
        *((f"/debate {verb}", Command(verb)) for verb in (Verb.STATUS, Verb.COST, Verb.CONFIG, Verb.HELP)),
        ("/debate Pause!", Command(Verb.PAUSE)),
        ("/debate `help`", Command(Verb.HELP)),
    ],
)
def test_each_form_of_the_grammar_is_read(body: str, meant: Command):
    assert read(body) == meant


@pytest.mark.parametrize(
    "body",
    [
        "/debate full",
        "\ufeff/debate full",
        "\n\n  \n/debate full",
        "\r\n\t\r\n/debate full\r\n",
        "\u200b\n\u00a0\n/debate full",
        "/debate\tfull",
        "/debate\u00a0full\u00a0",
        "/debate\u3000 full",
        "/debate full\rthanks",
        "/debate full\n/debate stop",
        "/debate full\n\n> /debate\n```",
    ],
)
def test_white_space_before_between_and_after_does_not_matter(body: str):
    assert read(body) == Command(Verb.FULL)


@pytest.mark.parametrize(
    "body",
    [
        "",
        " \n\t\n\u200b",
        " /debate",
        "\t/debate",
        "    /debate full",
        "\u00a0/debate",
        "\u200b/debate",
        "\u202e/debate",
        "> /debate",
        ">/debate",
        "```\n/debate\n```",
        "~~~\n/debate\n~~~",
        "`/debate`",
        "- /debate",
        "1. /debate",
        "# /debate",
        "<!-- -->\n/debate",
        "<!-- reviewbot:summary v1 -->\n/debate",
        "Please /debate",
        "thanks\n/debate full",
        "@reviewbot /debate",
        "/debated",
        "/debate-full",
        "/debate.",
        "/debate/full",
        "/debate\u200bfull",
        "//debate",
        "/ debate",
        "/de\u200bbate",
        "debate full",
        "/ｄebate",
    ],
)
def test_talk_about_a_command_is_none(body: str):
    assert read(body) is None


def test_the_lines_that_follow_belong_to_a_question_and_an_argument_only():
    assert read("/debate ask why?\r\n\r\nAnd how?\n") == Command(Verb.ASK, text="why?\n\nAnd how?")
    assert read("/debate ask\nwhy?") == Command(Verb.ASK, text="why?")
    assert read("/debate dispute F1\nIt is locked.\n/debate stop") == Command(
        Verb.DISPUTE, ("F1",), text="It is locked.\n/debate stop"
    )
    assert read("/debate dismiss F1 meant so\nsorry") == Command(Verb.DISMISS, ("F1",), text="meant so")
    assert read("/debate the parser\nand more") == Command(Verb.REVIEW, text="the parser")
    assert read("/debate pause\nuntil Monday") == Command(Verb.PAUSE)


@pytest.mark.parametrize(
    ("body", "nearest"),
    [
        ("/debate paus", Verb.PAUSE),
        ("/debate puase", Verb.PAUSE),
        ("/debate pau\u200bse", Verb.PAUSE),
        ("/debate halp", Verb.HELP),
        ("/debate statsu", Verb.STATUS),
        ("/debate unpause", Verb.RESUME),
        ("/debate cancel", Verb.STOP),
        ("/debate revert", Verb.UNDO),
        ("/debate explan F1", Verb.EXPLAIN),
        ("/debate explane", Verb.EXPLAIN),
        ("/debate dismis F1 because it is meant", Verb.DISMISS),
        ("/debate ignore F1", Verb.DISMISS),
        ("/debate why F1", Verb.EXPLAIN),
        ("/debate F1", Verb.EXPLAIN),
        ("/debate fixx all", Verb.FIX),
        ("/debate fixes F1,F2", Verb.FIX),
        ("/debate disput F1 it is locked", Verb.DISPUTE),
        ("/debate aks why is this slow?", Verb.ASK),
        ("/debate ?", Verb.HELP),
        ("/debate --", Verb.HELP),
    ],
)
def test_what_is_nearly_a_verb_is_answered_and_costs_no_review(body: str, nearest: Verb):
    said = read(body)
    assert isinstance(said, Misunderstood)
    assert said.nearest is nearest
    assert f"/debate {nearest}" in said.why


@pytest.mark.parametrize(
    "focus",
    [
        "costs of the loop",
        "task scheduling",
        "tests",
        "security",
        "performance",
        "check F1 again",
        "explains too little",
        "F1 was wrong",
        "all of it",
        "docs",
        "Ärger",
    ],
)
def test_what_only_resembles_a_verb_is_a_focus(focus: str):
    assert read(f"/debate {focus}") == Command(Verb.REVIEW, text=focus)


@pytest.mark.parametrize(
    ("body", "verb"),
    [
        ("/debate full of bugs", Verb.FULL),
        ("/debate config parsing", Verb.CONFIG),
        ("/debate stop it", Verb.STOP),
        ("/debate explain", Verb.EXPLAIN),
        ("/debate explain F0", Verb.EXPLAIN),
        ("/debate explain F1 F2", Verb.EXPLAIN),
        ("/debate explain F123456", Verb.EXPLAIN),
        ("/debate explain F\u0661", Verb.EXPLAIN),
        ("/debate dismiss", Verb.DISMISS),
        ("/debate dismiss it", Verb.DISMISS),
        ("/debate dismiss F1 F2", Verb.DISMISS),
        ("/debate dismiss F1, F2 meant so", Verb.DISMISS),
        ("/debate ask", Verb.ASK),
        ("/debate ask  \n ", Verb.ASK),
        ("/debate dispute F1", Verb.DISPUTE),
        ("/debate dispute it is locked", Verb.DISPUTE),
        ("/debate fix the parser", Verb.FIX),
        ("/debate fix all F1", Verb.FIX),
        ("/debate fix F1 all", Verb.FIX),
        (f"/debate fix {SHA} F1", Verb.FIX),
        (f"/debate fix F1 {SHA} {SHA}", Verb.FIX),
        ("/debate fix F1 abc123", Verb.FIX),
        ("/debate fix F1 " + "a" * 41, Verb.FIX),
        ("/debate fix " + " ".join(f"F{number}" for number in range(1, 52)), Verb.FIX),
    ],
)
def test_a_verb_with_other_words_than_it_takes_is_not_guessed(body: str, verb: Verb):
    said = read(body)
    assert isinstance(said, Misunderstood)
    assert said.nearest is verb
    assert said.why


def test_fifty_findings_are_fixed_at_once():
    named = tuple(f"F{number}" for number in range(1, command.MOST_FINDINGS + 1))
    assert read(f"/debate fix {' '.join(named)}") == Command(Verb.FIX, named)


@pytest.mark.parametrize(
    ("start", "most"),
    [
        ("/debate ", command.MOST_FOCUS),
        ("/debate dismiss F1 ", command.MOST_REASON),
        ("/debate ask ", command.MOST_PROSE),
        ("/debate dispute F1\n", command.MOST_PROSE),
    ],
)
def test_a_text_that_is_too_long_is_refused_not_cut(start: str, most: int):
    said = read(start + "x" * most)
    assert isinstance(said, Command)
    assert len(said.text) == most
    assert isinstance(read(start + "x" * (most + 1)), Misunderstood)


def test_every_verb_has_a_form_and_its_usage_is_understood():
    assert [form.verb for form in command.FORMS] == list(Verb)
    for form in command.FORMS:
        usage = form.usage.replace("[all|F1 F2 …] [<sha>]", f"F1 F2 {SHA}").replace("[focus text]", "the parser")
        said = read(usage)
        assert isinstance(said, Command)
        assert said.verb is form.verb


def test_the_help_names_every_form_and_holds_no_live_command():
    assert all(f"`{form.usage}`" in help_text() for form in command.FORMS)
    for text in (help_text(), *help_text().splitlines()):
        assert read(text) is None
        assert not any(line.lstrip().startswith("/") for line in text.splitlines())


def test_what_only_looks_works_where_reviewbot_was_stopped():
    assert {form.verb for form in command.FORMS if form.runs_stopped} == {
        Verb.RESUME,
        Verb.STOP,
        Verb.STATUS,
        Verb.COST,
        Verb.CONFIG,
        Verb.HELP,
        Verb.EXPLAIN,
    }


PIECES = st.sampled_from(
    [
        "/debate",
        "/DEBATE",
        " ",
        "\u00a0",
        "\n",
        "\r\n",
        "\ufeff",
        "\u200b",
        ">",
        "`",
        "F1",
        "f22,",
        "all",
        SHA,
        "?",
        "é",
        *list(Verb),
    ]
)


@given(st.lists(PIECES | st.text(max_size=5), max_size=12).map("".join))
@example("/debate " + "\u0130" * 30)
@example("/debate " + "x" * 65_536)
@example("/debate fix " + "F1 " * 20_000)
@example("/debate " + "pause" * 10_000)
def test_any_text_is_a_command_nearly_one_or_none(body: str):
    said = read(body)
    lines = body.removeprefix("\ufeff").replace("\r", "\n").split("\n")
    if said is None:
        return
    assert any(line.lower().startswith("/debate") for line in lines)
    if isinstance(said, Misunderstood):
        assert said.why.startswith("`") or said.why[0].isalpha()
        assert len(said.said) <= 80
        assert len(said.why) < 250
        assert read(said.why) is None
        return
    assert len(said.text) <= command.MOST_PROSE
    assert len(said.findings) <= command.MOST_FINDINGS
    assert all(finding[0] == "F" and finding[1:].isascii() and finding[1:].isdigit() for finding in said.findings)
    assert said.sha == "" or (7 <= len(said.sha) <= 40 and int(said.sha, 16) >= 0)
    if said.verb not in (Verb.REVIEW, Verb.DISMISS, Verb.ASK, Verb.DISPUTE):
        assert not said.text


@given(st.sampled_from(["> ", ">", "    ", "\t", " ", "- ", "`", "x "]), st.text(max_size=20))
def test_no_command_is_heard_behind_a_mark(mark: str, rest: str):
    assert read(f"{mark}/debate {rest}") is None
    assert read(f"```\n/debate {rest}\n```") is None
