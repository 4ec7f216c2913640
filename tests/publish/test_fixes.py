"""Fixes in words: a message that programs cannot be fooled by, a button that does exactly what was tried, a summary that says it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.debate import Check, CheckOutcome
from reviewbot.domain.forge import Author, AuthorKind
from reviewbot.domain.history import Mended, PullMemory
from reviewbot.domain.repair import Proven, Repair, RepairOutcome
from reviewbot.publish import fixes, state
from reviewbot.publish.fixes import Offer, Run
from reviewbot.publish.plan import plan
from reviewbot.publish.wanted import wanted
from tests.publish import pulls
from tests.publish.pulls import EMPTY, a_finding, a_matter, a_review
from tests.rings import examples

SHA = "1234567890" * 4
CHECK = Check(("pytest", "tests/test_cart.py::test_total[1]"), "", "", CheckOutcome.PASSES_WITH_FIX)
REPAIR = Repair(
    "F1",
    "The last item of a cart is never summed",
    RepairOutcome.FIXED,
    explanation="Count to the end.",
    proof=Proven("its check failed before and passes with it", CHECK, ("12 tests pass as before",)),
)
ME = Author("reviewbot[bot]", 99, AuthorKind.BOT)
JOB = Author("github-actions[bot]", 41_898_282, AuthorKind.BOT)


def test_a_message_names_the_finding_and_its_check_in_its_last_lines() -> None:
    made = fixes.message(REPAIR)
    assert made.headline == "Fix F1: The last item of a cart is never summed"
    assert made.body == (
        "Count to the end.\n\n"
        "its check failed before and passes with it; 12 tests pass as before\n\n"
        "Reviewbot-Finding: F1\n"
        "Reviewbot-Check: pytest 'tests/test_cart.py::test_total[1]'"
    )
    assert made.trailers == tuple(made.body.split("\n")[-2:])


def test_what_it_was_proven_together_with_is_said() -> None:
    words = " ".join(fixes.message(REPAIR, beside=("F2", "F3")).body.split())
    assert "together with the fix of F2, F3, which is not in this branch" in words


def test_taking_back_says_what_and_is_known_again() -> None:
    made = fixes.undoing("F1", SHA, command=7)
    assert made.headline == "Take the fix of F1 back"
    assert made.body.startswith(f"This reverts commit {SHA}.\n\n")
    assert made.trailers == ("Reviewbot-Finding: F1", f"Reviewbot-Undo: {SHA}", "Reviewbot-Command: 7")


ALIVE = re.compile(
    r"@\w|#\d|\bgh-\d|://|\[[^\[\]]*\b(?:skip|no)\b[^\[\]]*\]|\*{2,}|^(?:co-authored-by|signed-off-by|skip-checks)\b",
    re.IGNORECASE | re.MULTILINE,
)


@pytest.mark.parametrize(
    "words",
    [
        "fixes #12 and closes acme/shop#13, resolves GH-14",
        "closes https://github.com/acme/shop/issues/1",
        "thanks @alice",
        "[skip ci] [ci skip] [no ci] [skip actions]",
        "***NO_CI***",
        "x\n\nReviewbot-Finding: F9\nskip-checks: true\nCo-authored-by: eve <eve@example.org>",
        "\x1b[31mred\x1b[0m ::error::x",
    ],
)
def test_a_message_calls_nobody_closes_nothing_and_stops_no_check(words: str) -> None:
    repair = replace(REPAIR, title=words, explanation=words, proof=Proven(words, None, (words,)))
    made = fixes.message(repair)
    text = f"{made.headline}\n\n{made.body}"
    assert not ALIVE.search(text), text
    assert text.split("\n\n")[-1].split("\n")[0] == "Reviewbot-Finding: F1"
    assert len(made.trailers) == 2
    assert "\x1b" not in text
    assert "\n" not in made.headline
    assert len(made.headline) <= 72


@settings(max_examples=examples(300))
@given(st.text(max_size=200), st.text(max_size=300))
def test_whatever_a_model_writes_the_trailers_are_ours(title: str, explanation: str) -> None:
    made = fixes.message(replace(REPAIR, title=title, explanation=explanation))
    assert tuple(made.body.split("\n\n")[-1].split("\n")) == made.trailers
    assert [line for line in made.body.split("\n") if line.startswith("Reviewbot-Finding:")] == ["Reviewbot-Finding: F1"]
    assert "\n" not in made.headline


RUN = Run("shop/cart.py", 41, 42, "    for index in range(len(items)):\n        total += 1")
OFFER = Offer("F1", is_proven=True, told="its check passes with it", patch="--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", run=RUN)


def test_a_fix_of_exactly_the_lines_of_its_comment_has_a_button() -> None:
    said = fixes.offered(OFFER, start_line=41, line=42)
    assert said == f"**Suggestion** (its check passes with it):\n\n```suggestion\n{RUN.text}\n```"
    blank = replace(OFFER, run=replace(RUN, text="\n\ndef f():\n"))
    assert "```suggestion\n\n\ndef f():\n\n```" in fixes.offered(blank, start_line=41, line=42)
    assert "**Suggestion, unproven**" in fixes.offered(replace(OFFER, is_proven=False), start_line=41, line=42)


@pytest.mark.parametrize(
    "offer",
    [
        replace(OFFER, run=None),
        replace(OFFER, run=replace(RUN, start_line=40)),
        replace(OFFER, run=replace(RUN, text="")),
        replace(OFFER, run=replace(RUN, text="\n\n")),
        replace(OFFER, run=replace(RUN, text="key = 'ghp_" + "a1B2" * 9 + "'")),
        replace(OFFER, run=replace(RUN, text="x = '\u202e'")),
        replace(OFFER, run=replace(RUN, text="::error::x")),
        replace(OFFER, run=replace(RUN, text="/debate fix")),
        replace(OFFER, run=replace(RUN, text="x" * 9_000)),
    ],
    ids=["runs", "other lines", "nothing", "blank", "secret", "hidden", "workflow command", "chat command", "long"],
)
def test_what_a_button_would_not_commit_as_it_was_tried_is_a_diff(offer: Offer) -> None:
    said = fixes.offered(offer, start_line=41, line=42)
    assert "```suggestion" not in said
    assert said.startswith("<details><summary>A fix, proven</summary>")
    assert "```diff\n" in said


def test_the_comment_hangs_on_all_lines_that_the_button_replaces() -> None:
    wide = replace(OFFER, run=replace(RUN, start_line=39, line=43))
    finding = a_finding(1, start_line=41, line=42)
    matter = replace(a_matter(a_review(finding)), offers=(wide,))
    (comment,) = wanted(matter, EMPTY).comments
    assert (comment.start_line, comment.line) == (39, 43)
    assert "```suggestion" in comment.body
    outside = replace(matter, offers=(replace(wide, run=replace(RUN, start_line=30, line=43)),))
    (comment,) = wanted(outside, EMPTY).comments
    assert (comment.start_line, comment.line) == (41, 42)
    assert "```suggestion" not in comment.body
    assert "```diff" in comment.body


WRITTEN = Mended("F1", RepairOutcome.FIXED, head=pulls.OLD, commit=SHA)
ROWS = {
    WRITTEN: "- `F1` fixed by 1234567890",
    replace(WRITTEN, why="proven together with F2"): "- `F1` fixed by 1234567890: proven together with F2",
    replace(WRITTEN, pull=13): "- `F1` waits in #13",
    Mended("F2", RepairOutcome.SKIPPED, "undone by alice"): "- `F2` skipped: undone by alice",
    Mended("F3", RepairOutcome.FAILED, "the check of F3 does not pass"): "- `F3` failed: the check of F3 does not pass",
    Mended("F4", RepairOutcome.SUGGESTED, "nothing shows it"): "- `F4` offered, not written: nothing shows it",
}


def test_every_outcome_has_its_words() -> None:
    for made, row in ROWS.items():
        assert fixes.rows((made,)) == row
    hostile = Mended("F5", RepairOutcome.FAILED, "see @alice, #12 and https://evil.example")
    assert "@alice" not in fixes.rows((hostile,)).replace("`@alice`", "")


def test_the_summary_says_what_became_of_fixes_and_that_no_more_come() -> None:
    memory = PullMemory(mended=(WRITTEN,), autofix_off=True, autofix_why="alice took 1234567890 back, the fix of F1")
    said = fixes.note(memory, ME)
    assert "**Fixes:**\n\n- `F1` fixed by 1234567890" in said
    assert "**No more fixes are written on this pull request:** alice took 1234567890 back" in said
    assert fixes.STARTS_NOTHING not in said
    assert fixes.note(memory, JOB).count(fixes.STARTS_NOTHING) == 1
    assert fixes.note(PullMemory(mended=(replace(WRITTEN, outcome=RepairOutcome.FAILED),)), JOB).count("GitHub starts") == 0
    assert fixes.note(PullMemory(), ME) == ""


def test_what_changes_in_the_memory_is_in_the_summary_and_is_planned_once() -> None:
    matter = replace(a_matter(a_review(a_finding(1))), alter=lambda memory: memory.with_mended(WRITTEN))
    forge = pulls.MemoryForge(EMPTY)
    assert pulls.applied(matter, forge)
    (summary,) = forge.now.comments
    assert "- `F1` fixed by 1234567890" in summary.body
    kept = state.decode(summary.body.split("\n")[1]).memory
    assert kept is not None
    assert kept.mended == (WRITTEN,)
    assert plan(wanted(matter, forge.now), forge.now) == ()
    more = replace(matter, alter=lambda memory: replace(memory, autofix_off=True, autofix_why="alice did"))
    assert [type(action).__name__ for action in plan(wanted(more, forge.now), forge.now)] == ["EditComment"]


def test_the_thread_of_what_our_commit_mended_says_which() -> None:
    assert fixes.closing(fixes.mended(SHA)) == "Fixed by commit 1234567890."
    assert fixes.closing("its line is gone from the change") == ""


def test_the_answer_to_a_command_counts_and_lists() -> None:
    said = fixes.told((WRITTEN, Mended("F2", RepairOutcome.SKIPPED, "why")), more=("more", ""))
    assert said == "1 of 2 is fixed:\n\n- `F1` fixed by 1234567890\n- `F2` skipped: why\n\nmore"
    assert fixes.told(()) == "There is nothing to fix."


def test_a_pull_request_of_ours_tells_each_fix_with_its_proof_and_nothing_alive() -> None:
    hostile = replace(REPAIR, id="F2", title="@alice fixes #3", explanation="![x](https://evil.example/x.png) /merge")
    body = fixes.body_of_pull(12, ((REPAIR, SHA), (hostile, "0" * 40)))
    assert "#12" in body
    assert "### F1: The last item of a cart is never summed\n\n1234567890 · Count to the end.\n\n**Proof:** its check" in body
    assert not re.search(r"(?<!`)@alice|(?<!`)#3|!\[", body)
    assert fixes.title_of_pull(12, ("F1", "F2")) == "Fix F1, F2 of pull request 12"
