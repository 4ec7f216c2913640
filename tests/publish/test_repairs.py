"""The code that was made: in the review document byte by byte or not at all, and for people with its proof and its patch."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.debate import Check, CheckOutcome
from reviewbot.domain.repair import CodeVersion, Edit, Goal, Proven, Repair, RepairOutcome, Tried
from reviewbot.domain.review import Review
from reviewbot.errors import UsageError
from reviewbot.publish import html, load, markdown, repaired, terminal, transcript
from reviewbot.publish.document import document, dumps
from reviewbot.publish.document_repair import LARGE, MOST_PATCH, MOST_PATCHES, SECRET
from reviewbot.publish.load import REVIEW
from reviewbot.publish.repaired import Mark
from reviewbot.publish.sanitise import LINK_HOSTS
from tests.publish import github, samples
from tests.publish.test_document import REVIEW_SCHEMA
from tests.publish.test_html import check
from tests.publish.test_sanitise import ANYTHING
from tests.publish.test_terminal import SGR
from tests.publish.test_transcript import RECORD, SCHEMA
from tests.rings import examples

TOKEN = "ghp_" + "aB3dE6gH9j" * 4
PEM = "\n".join(["-----BEGIN PRIVATE " + "KEY-----", *["QUJD" * 12] * 3, "-----END PRIVATE " + "KEY-----"])
FIXED = samples.REPAIRS[0]


def having(*repairs: Repair) -> Review:
    return replace(samples.FULL, repairs=repairs)


def reread(*repairs: Repair) -> tuple[Repair, ...]:
    text = dumps(document(having(*repairs)))
    REVIEW_SCHEMA.validate(json.loads(text))
    return load.load_review(text).repairs


def a_patch(*lines: str) -> bytes:
    gone, come = (sum(line[:1] in f"{sign} " for line in lines) for sign in "-+")
    return "\n".join(("--- a/x.py", "+++ b/x.py", f"@@ -1,{gone} +1,{come} @@", *lines, "")).encode()


# The document


def test_all_but_whole_files_and_versions_comes_back() -> None:
    assert reread(*samples.REPAIRS) == samples.REPAIRS
    version = CodeVersion(1, "shop/cart.py", b"all of it", "proposer")
    more = replace(FIXED, edits=(Edit("shop/cart.py", b"all"),), tries=(replace(FIXED.tries[0], versions=(version,)),))
    (read,) = reread(more)
    assert read == replace(FIXED, tries=FIXED.tries[:1])


def test_a_document_of_an_earlier_version_has_none() -> None:
    written = document(samples.FULL)
    del written["repairs"]
    assert load.load_review(json.dumps(written)).repairs == ()
    assert document(samples.CLEAN)["repairs"] == []


def test_a_patch_is_written_as_text_where_it_is_one() -> None:
    (text, binary, *_) = document(samples.FULL)["repairs"]
    assert (text["encoding"], text["patch"]) == ("utf-8", samples.PATCH.decode())
    assert (binary["encoding"], binary["patch"][:8]) == ("base64", "ZGlmZiAt")


BYTES = st.one_of(st.binary(max_size=60), st.text(max_size=30).map(str.encode), st.sampled_from([b"+\0", b"\r\n", samples.PATCH]))
WORDS = st.text(max_size=8)
CHECKS = st.builds(Check, command=st.tuples(WORDS), source=WORDS, outcome=st.sampled_from(CheckOutcome), output=WORDS)
REPAIRS = st.builds(
    Repair,
    id=WORDS,
    title=WORDS,
    outcome=st.sampled_from(RepairOutcome),
    goal=st.sampled_from(Goal),
    why=WORDS,
    author=WORDS,
    explanation=WORDS,
    patch=BYTES,
    proof=st.none() | st.builds(Proven, told=WORDS, check=st.none() | CHECKS, beside=st.lists(WORDS, max_size=2).map(tuple)),
    tries=st.lists(st.builds(Tried, author=WORDS, attempt=st.integers(0, 9), patch=BYTES, reason=WORDS), max_size=2).map(tuple),
    dissent=st.none() | WORDS,
    withheld=st.just(""),
)


@settings(max_examples=examples(150))
@given(st.lists(REPAIRS, max_size=3))
def test_any_bytes_of_a_patch_survive(repairs: list[Repair]) -> None:
    read = reread(*repairs)
    assert [one.patch for one in read] == [one.patch for one in repairs]
    assert [[tried.patch for tried in one.tries] for one in read] == [[tried.patch for tried in one.tries] for one in repairs]
    assert reread(*read) == read


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=examples(200))
@given(st.data())
def test_whatever_stands_there_is_read_or_is_the_one_error(data: st.DataObject) -> None:
    written = document(samples.FULL)
    chosen = written["repairs"][data.draw(st.integers(0, 3))]
    for key in data.draw(st.sets(st.sampled_from(sorted(chosen)), max_size=2)):
        chosen[key] = data.draw(JSON)
    chosen |= data.draw(st.dictionaries(st.text(max_size=5), JSON, max_size=1))
    try:
        read = load.load_review(json.dumps(written)).repairs
    except UsageError:
        return
    assert reread(*read) == read
    assert REVIEW_SCHEMA.is_valid(written)


@pytest.mark.parametrize(
    ("key", "wrong", "place"),
    [
        ("patch", "+\ud800", "not valid JSON"),
        ("patch", "x" * (MOST_PATCH + 1), r"\$\.repairs\[0\]\.patch: at most 1000000 bytes"),
        ("encoding", "latin-1", r"\$\.repairs\[0\]\.encoding: one of utf-8, base64"),
        ("encoding", "base64", r"\$\.repairs\[0\]\.patch: bytes in base64"),
        ("withheld", "no", r"\$\.repairs\[0\]\.patch: nothing is expected where the patch is withheld"),
        ("outcome", "mended", r"\$\.repairs\[0\]\.outcome: one of fixed, suggested, skipped, failed"),
        ("tries", [{"author": "a", "attempt": -1, "reason": "", "patch": None, "encoding": "utf-8"}], r"tries\[0\]\.attempt"),
        (
            "tries",
            [{"author": "a", "attempt": 1, "reason": "", "patch": None, "encoding": "base64"}],
            r"tries\[0\]\.encoding: one of utf-8",
        ),
        ("edits", [], "the key 'edits' is unknown"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(key: str, wrong: Any, place: str) -> None:
    written = document(samples.FULL)
    written["repairs"][0][key] = wrong
    with pytest.raises(UsageError, match=place):
        load.load_review(json.dumps(written))


# What may not be told


@pytest.mark.parametrize(
    "lines",
    [
        ("+x = 1", f" key = '{TOKEN}'"),
        (f"-{TOKEN}",),
        (f"+{TOKEN}",),
        tuple(f"-{line}" for line in PEM.split("\n")),
        tuple(f" {line}" for line in PEM.split("\n")),
    ],
    ids=["context", "gone", "come", "a key that goes", "a key that stays"],
)
def test_a_patch_in_which_redaction_would_change_something_is_withheld_and_never_altered(lines: tuple[str, ...]) -> None:
    secret = replace(FIXED, patch=a_patch(*lines), tries=(Tried("a", 1, a_patch(*lines), "worse"),))
    text = dumps(document(having(secret, FIXED)))
    assert TOKEN not in text
    assert "QUJDQUJD" not in text
    first, second = reread(secret, FIXED)
    assert (first.patch, first.withheld, first.is_made) == (b"", SECRET, False)
    assert (second.patch, second.withheld, second.is_made) == (FIXED.patch, "", True)
    assert first.tries[0].patch == b""


def test_words_lose_their_secrets() -> None:
    told = replace(FIXED, why=TOKEN, explanation=TOKEN, dissent=TOKEN, tries=(Tried("a", 1, b"", TOKEN),))
    told = replace(told, proof=Proven(TOKEN, None, (TOKEN,)))
    text = dumps(document(having(told)))
    assert TOKEN not in text
    assert text.count("secret:github-token") == 6


def test_what_is_too_large_is_withheld_and_the_document_can_be_read() -> None:
    large = replace(FIXED, patch=a_patch("+" + "x" * MOST_PATCH))
    (one,) = reread(large)
    assert (one.withheld, one.is_made) == (LARGE, False)
    many = [
        replace(FIXED, id=f"F{n}", patch=a_patch("+" + "é" * 100_000), tries=(Tried("a", 1, b"+" + b"y" * 200_000),))
        for n in range(20)
    ]
    text = dumps(document(having(*many)))
    assert len(text) < REVIEW.max_bytes
    read = load.load_review(text).repairs
    shown = [one for one in read if one.patch]
    assert [one.id for one in shown] == [f"F{n}" for n in range(len(shown))], "the first of them, whole"
    assert 0 < len(shown) == MOST_PATCHES // 600_100
    assert {one.withheld for one in read if not one.patch} == {LARGE}
    assert 0 < sum(bool(one.tries[0].patch) for one in read) < 20


# For people


def test_a_person_sees_what_became_of_each() -> None:
    written = terminal.render(samples.FULL, width=100, color=False)
    for words in (
        "Fixes  1 fixed · 1 suggested · 1 skipped · 1 failed\n",
        "F1 ✓ fixed  shop/cart.py:41-42  by proposer\n",
        "    -    for index in range(len(items) - 1):\n    +    for index in range(len(items)):\n",
        "proof    its check failed before and passes with it; 12 tests pass as before\n",
        "check    pytest tests/test_cart.py::test_total (fails at head, passes at base)",
        "dissent  Optimizer: sum() would do.",
        "F2 ● suggested  shop/api/orders.py:118  by optimizer\n",
        "proof  no check shows that it works\n",
        "F3 ✗ failed  shop/cart.py:12\n",
        "why not  the check of F3 does not pass with it\n",
        "F4 ● skipped  shop/cart.py:12\n",
        "why not  time was up\n",
    ):
        assert words in written
    assert "Fixes" not in terminal.render(samples.CLEAN, width=100, color=False)


def test_colours_say_again_what_comes_and_what_goes() -> None:
    written = terminal.render(samples.FULL, width=100, color=True)
    assert "\x1b[31m-    for index in range(len(items) - 1):" in written
    assert "\x1b[32m+    for index in range(len(items)):" in written
    bare = terminal.render(samples.FULL, width=100, color=False)
    assert [line.rstrip() for line in SGR.sub("", written).split("\n")] == bare.split("\n")


def test_who_says_yes_to_a_patch_has_seen_the_ends_of_its_lines_and_knows_what_is_not_shown() -> None:
    long = replace(FIXED, patch=a_patch("+" + "x" * 300 + "END", *(f"+y{number}" for number in range(100))))
    written = terminal.render(having(long), width=60, color=False)
    assert "END" in written
    assert "… 44 more lines; -v shows all" in written
    assert "y99" not in written
    assert "y99" in terminal.render(having(long), width=60, color=False, verbose=True)


def test_tries_are_told_where_there_is_no_code_and_where_everything_is_asked_for() -> None:
    brief = terminal.render(samples.FULL, width=100, color=False)
    assert "ruff: nothing of it applies" not in brief
    assert "ruff: nothing of it applies" in terminal.render(samples.FULL, width=100, color=False, verbose=True)
    failed = replace(samples.REPAIRS[2], why="3 attempts failed", tries=samples.REPAIRS[0].tries)
    assert "tried    ruff: nothing of it applies" in terminal.render(having(failed), width=100, color=False)


def test_a_patch_that_is_withheld_is_said_to_be() -> None:
    (read,) = reread(replace(FIXED, patch=a_patch(f"+{TOKEN}")))
    for written in (
        terminal.render(having(read), width=100, color=False),
        markdown.render(having(read)),
        html.render(having(read)),
    ):
        assert "its patch is not shown: it holds what looks like a secret" in written


def test_a_patch_that_is_shown_hides_a_token_at_the_beginning_of_a_line() -> None:
    local = having(replace(FIXED, patch=a_patch(f"-{TOKEN}", f"+{TOKEN}")))
    record = replace(RECORD, repairs=local.repairs)
    for written in (
        terminal.render(local, width=140, color=False),
        markdown.render(local),
        html.render(local),
        transcript.text(record),
        transcript.json(record),
        transcript.html(record),
    ):
        assert TOKEN not in written
        assert "secret:github-token" in written


def test_other_goals_are_not_called_fixes() -> None:
    made = replace(FIXED, goal=Goal.PERFORMANCE)
    assert repaired.heading(having(made)) == "What was made"
    assert repaired.heading(having(FIXED, replace(FIXED, goal=Goal.REPORT))) == "Fixes"


def test_the_numbers_of_a_hunk_say_which_lines_are_of_a_file() -> None:
    patch = a_patch("--- sql comment", "+++ more", "-@@ -1 +1 @@", " same", "\\ No newline at end of file")
    patch += b"diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+new\n"
    marks = [row.mark for row in repaired.rows(replace(FIXED, patch=patch))]
    assert "".join(mark.value[0] for mark in marks) == "ffp-+- pfffp+".replace("pfff", "ffff")
    assert list(repaired.rows(replace(FIXED, patch=b""))) == []


@settings(max_examples=examples(200))
@given(st.binary(max_size=80) | ANYTHING.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_can_be_read(data: bytes) -> None:
    rows = list(repaired.rows(replace(FIXED, patch=data)))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e\ud800-\udfff]", "".join(row.text for row in rows))
    assert {row.mark for row in rows} <= set(Mark)


@pytest.mark.ci
@settings(max_examples=examples(60))
@given(ANYTHING)
def test_no_words_of_a_repair_come_to_life(text: str) -> None:
    hostile = Repair(
        text,
        text,
        RepairOutcome.FIXED,
        why=text,
        author=text,
        explanation=text,
        patch=a_patch(*(f"+{line}" for line in text.split("\n"))).replace(b"\r", b"")
        if text.isprintable()
        else text.encode("utf-8", "surrogatepass"),
        proof=Proven(text, Check((text,), text), (text,)),
        tries=(Tried(text, 1, text.encode("utf-8", "surrogatepass"), text, (CodeVersion(1, text, b"\xff\x1b[31m", text),)),),
        dissent=text,
    )
    review = having(hostile, replace(hostile, outcome=RepairOutcome.FAILED))
    assert github.dangers(markdown.render(review), LINK_HOSTS, own_html=True) == []
    check(html.render(review))
    written = terminal.render(review, width=60, color=False, verbose=True)
    assert "\x1b" not in written
    assert not any(line.lstrip().startswith("::") for line in written.split("\n"))
    record = replace(RECORD, repairs=review.repairs)
    check(transcript.html(record))
    assert "\x1b" not in transcript.text(record)
    json.loads(transcript.json(record))


def test_a_comment_tells_every_fix_and_folds_its_patch() -> None:
    written = markdown.render(samples.FULL)
    for words in (
        "## Fixes: 1 fixed · 1 suggested · 1 skipped · 1 failed\n",
        "✓ **F1 fixed:** The last item of a cart is never summed\n\n`shop/cart.py:41-42` · by proposer",
        "**Proof:** its check failed before and passes with it; 12 tests pass as before: `pytest tests/test_cart.py::test_total`",
        "**Dissent:** Optimizer: sum() would do.",
        "<details><summary>The patch</summary>\n\n```diff\n",
        "✗ **F3 failed:** A list is built only to be measured",
        "**Why not:** time was up",
    ):
        assert words in written


def test_fixes_are_told_where_findings_fill_the_comment_and_fill_it_not_themselves() -> None:
    written = markdown.render(samples.LONG)
    assert "✓ **F1 fixed:**" in written
    many = tuple(replace(FIXED, id=f"F{number}", patch=a_patch("+" + "x" * 5_000)) for number in range(100))
    written = markdown.render(replace(samples.LONG, repairs=many))
    assert len(written.encode()) <= markdown.BUDGET_BYTES
    shown = written.count(" fixed:** ")
    assert 0 < shown < 100
    assert f"**Left out for length:** {100 - shown} of 100." in written
    assert "### F" in written


def test_the_page_shows_every_fix() -> None:
    page = check(html.render(samples.FULL))
    for words in (
        "1 fixed · 1 suggested · 1 skipped · 1 failed",
        "+    for index in range(len(items)):",
        "12 tests pass as before",
        "time was up",
    ):
        assert words in page.words


# The record of a debate

WRITTEN = replace(
    FIXED,
    tries=(
        Tried(
            "proposer",
            1,
            samples.PATCH,
            "worse",
            (CodeVersion(1, "a.py", b"x = 1\n", "proposer"), CodeVersion(2, "b.py", None, "proposer")),
        ),
        Tried("proposer", 2, samples.PATCH, "", (CodeVersion(1, "a.py", b"\xff", "proposer"),)),
    ),
)


def test_a_record_has_every_try_and_every_version() -> None:
    record = replace(RECORD, repairs=(WRITTEN, samples.REPAIRS[3]))
    written = json.loads(transcript.json(record))
    assert not list(SCHEMA_OF_SESSIONS.iter_errors(written))
    first, second = written["repairs"][0]["tries"]
    assert first["versions"] == [
        {"number": 1, "path": "a.py", "by": "proposer", "content": "x = 1\n"},
        {"number": 2, "path": "b.py", "by": "proposer", "content": None},
    ]
    assert (second["reason"], second["versions"][0]["content"]) == ("", "\\xff")
    text = transcript.text(record)
    for words in (
        "════ F1 fixed by proposer: The last item of a cart is never summed",
        "     proof: its check failed before and passes with it; 12 tests pass as before",
        "  try 1 by proposer, attempt 1: worse",
        "  version 1 of a.py by proposer:\n    │ x = 1\n",
        "  version 2 of b.py by proposer: it went",
        "  try 2 by proposer, attempt 2: it was used",
        "════ F4 skipped: A name shadows a builtin",
    ):
        assert words in text
    page = check(transcript.html(record))
    assert "try 1 by proposer, attempt 1: worse" in page.words
    assert "x = 1" in page.words


SCHEMA_OF_SESSIONS = type(REVIEW_SCHEMA)(SCHEMA)
