"""What a person reads on a pull request."""

from __future__ import annotations

from typing import Any

from each import each
from msgspec.structs import replace
from test_reports import AGREED, BROKEN, CLEAN, INTENDED, LINT, PANEL, PROVEN, QUESTION, REVIEWS

from reviewbot.git.change import Location
from reviewbot.reports import markdown, render
from reviewbot.reports.markdown import MAX_BYTES, MAX_SHOWN, Page, comment, summary
from reviewbot.verdict.document import Finding, Remembered, Review

THREAD = "https://github.com/octo/app/pull/7#discussion_r"
RUN = "https://github.com/octo/app/actions/runs/5"
TOKEN = "ghp_" + "a1B2c3D4e5" * 4
SECRET = REVIEWS["mixed"].findings[0]
ONE = replace(BROKEN.result, tests=(BROKEN.rule,)) if BROKEN.result else None
UNCHANGED = "its lines did not change since it was found"
CARRIED = replace(QUESTION, id="F1", carried=UNCHANGED, opposed_by_author="x")


def blocked(*findings: Finding) -> Review:
    numbered = (replace(finding, id=f"F{n}") for n, finding in enumerate(findings, start=1))
    return replace(PANEL, verdict="request_changes", findings=tuple(numbered))


def by_check(name: str) -> Finding:
    return replace(SECRET, result=replace(SECRET.result, check=name))


def known(id: str, title: str, dismissed: str = "") -> Remembered:
    about: Any = {"key": id, "severity": "low", "status": "agreed", "reason": ""}
    return Remembered(id=id, title=title, dismissed=dismissed, dismissed_by="octocat", **about)


def check_summary(review: Review) -> str:
    return summary(review, Page(has_commands=False))


def many(count: int) -> Review:
    finding = replace(PROVEN, consequence="many words " * 50)
    return blocked(*(replace(finding, title=f"Defect {n}") for n in range(1, count + 1)))


def test_a_review_with_nothing_to_say_has_four_lines() -> None:
    shown = summary(replace(PANEL, verdict="approve"), Page(run_url=RUN))
    assert [line for line in shown.split("\n") if line] == [
        "**Approved**: no findings.",
        "2 changed files: 1 reviewed, 1 with nothing to review; tests executed 12 of 15 changed"
        " lines. Checks passed: secrets, ruff (4 before), pytest (214 passed).",
        "Panel: critic, reviewer, optimizer (anthropic:claude-sonnet-5). 14 calls, 44,300 tokens"
        " (67 % cached), 38 s.",
        f"Reviewed `2222222222` in [this run]({RUN}). Comment `/debate help` to see what you can"
        " ask for.",
    ]
    assert markdown.review_body(CLEAN) == "**Reviewed**: no findings."


def test_without_models_one_line_says_so() -> None:
    lines = summary(CLEAN, Page()).split("\n")
    assert [line for line in lines if "model" in line] == [
        "No language model reads along: add the secret ANTHROPIC_API_KEY to have a panel."
    ]
    assert lines[-1].startswith("Reviewed `2222222222`. Comment `/debate help`")
    assert "add the secret ANTHROPIC_API_KEY" in check_summary(CLEAN)
    shown = summary(CLEAN, Page(has_panel=False))
    assert "No language model is asked in this job." in shown
    assert "ANTHROPIC_API_KEY" not in shown
    # Where one is configured and left out, a note says why.
    left_out = replace(CLEAN, notes=("openai is not asked: OPENAI_API_KEY is not set.",))
    for shown in (summary(left_out, Page()), render(left_out, "text")):
        assert "ANTHROPIC_API_KEY" not in shown
        assert "No language model was asked: only executed checks decide." in shown


@each(
    ("findings", "sentence"),
    [
        ([replace(BROKEN, result=ONE), QUESTION, QUESTION],
         "a test that passed fails now, and 2 questions"),
        ([BROKEN], "2 tests that passed fail now"),
        ([replace(BROKEN, result=replace(ONE, kind="failing_test"))], "a new test fails"),
        ([replace(BROKEN, result=replace(ONE, at_import=True))],
         "a file of tests cannot be loaded"),
        ([SECRET, SECRET, LINT], "2 new problems (secrets), and 1 other finding"),
        ([by_check(n) for n in "abcd"], "4 new problems (a, b, c, d)"),
        ([PROVEN, QUESTION], "a test written for a claim fails, and 1 question"),
        ([PROVEN, PROVEN], "tests written for 2 claims fail"),
        ([replace(CARRIED, blocks=True)], "an earlier finding stands"),
    ],
)  # fmt: skip
def test_the_first_sentence_says_why_changes_are_requested(
    findings: list[Finding], sentence: str
) -> None:
    review = blocked(*findings)
    assert summary(review, Page()).split("\n")[0] == f"**Changes requested**: {sentence}."
    assert markdown.check_title(review) == f"Changes requested: {sentence}"
    assert markdown.review_body(review) == (
        f"**Changes requested**: {sentence}. The summary comment has the details."
    )


def test_a_finding_with_a_thread_is_one_line_and_the_others_are_in_full() -> None:
    review = blocked(BROKEN, PROVEN, QUESTION, INTENDED)
    shown = summary(review, Page(links={"F1": f"{THREAD}1", "F3": f"{THREAD}3"}))
    assert shown.split("\n")[2:4] == [
        f"- [F1]({THREAD}1) (high): assert 33.0 == 27.0, `cart.py:4` (proven)",
        f"- [F3]({THREAD}3) (high): Two workers can sell the last item twice, `shop/stock.py:31`"
        " (question; optimizer disagrees)",
    ]
    assert [line for line in shown.split("\n") if line.startswith("### ")] == [
        "### F2 (high): The discount raises the price",
        "### F4 (medium): Prices are no longer rounded to cents",
    ]
    folded = shown[shown.index("<summary>The test that was written for it</summary>") :]
    assert folded.index("assert total([100], 0.5) == 50") < folded.index("</details>")
    assert "- The change ignores it inline: callers round" in shown
    assert "</details>\n\n---\n\n2 changed files" in shown
    assert "- reviewer finds it intended: CHANGELOG.md:3: Totals keep all digits" in shown


@each("url", ["javascript:alert(1)", f"{RUN}) @octocat", "https://x", ""])
def test_only_an_address_becomes_a_link(url: str) -> None:
    shown = summary(blocked(PROVEN), Page(links={"F1": url}, run_url=url))
    assert "](" not in shown
    assert "### F1 (high): The discount raises the price" in shown


def test_what_is_gone_is_listed() -> None:
    fixed = (known("F2", "A _bad_ default"),)
    dismissed = (known("F3", "Slow loop", "runs once"), known("F4", "Odd name", "why not"))
    review = replace(CLEAN, findings=(replace(AGREED, status="recorded"),))
    lines = summary(review, Page(fixed=fixed, dismissed=dismissed)).split("\n")
    assert lines[2] == r"**No longer found:** F2: A \_bad\_ default"
    assert lines[4:8] == [
        *("**Dismissed:**", ""),
        *("- F3: Slow loop (octocat: runs once)", "- F4: Odd name (octocat: why not)"),
    ]
    assert lines[9].endswith(" 1 recorded finding is not reported.")


@each(
    ("gaps", "shown"),
    [
        (("a.js was not reviewed",), "**Not complete:** a.js was not reviewed\n"),
        (tuple("abc"), "**Not complete:**\n\n- a\n- b\n- c\n\n"),
        (tuple("abcd"), "<details>\n<summary>Not complete (4)</summary>\n\n- a\n- b\n- c\n- d\n"),
    ],
)
def test_a_long_list_is_folded(gaps: tuple[str, ...], shown: str) -> None:
    page = summary(replace(CLEAN, complete=False, gaps=gaps), Page())
    assert page.startswith(f"**Incomplete**: no findings.\n\n{shown}")


def test_checks_that_did_not_pass_are_counted_above_a_table() -> None:
    stopped = replace(PANEL.checks[0], state="incomplete", text="is incomplete: no results")
    shown = summary(replace(PANEL, checks=(replace(stopped, check="jest"),)), Page())
    assert "| jest | incomplete | no results |" in shown
    shown = summary(REVIEWS["incomplete"], Page())
    title = "<summary>Checks: 3 passed, 1 not run, 1 failed before</summary>"
    assert f"{title}\n\n| check | result | |\n|---|---|---|\n| secrets | passed |" in shown
    assert "| mypy | not run | bubblewrap is not installed |" in shown
    assert "Checks passed" not in shown


def test_a_carried_finding_says_why_it_stands() -> None:
    why = f"It stands from an earlier review: {UNCHANGED}."
    review = replace(PANEL, findings=(CARRIED,), read_earlier=("cart.py",))
    shown = summary(review, Page())
    assert why in shown
    assert why in comment(CARRIED)
    assert why in render(review).replace("\n    ", " ")
    assert "changed lines. What earlier reviews read in 1 file was not read again." in shown
    line = summary(review, Page(links={"F1": f"{THREAD}1"})).split("\n")[2]
    assert line.endswith("; the change ignores it inline; from an earlier review)")


@each(("room", "count"), [(3_000, 50), (40_000, 120), (MAX_BYTES, 300)])
def test_what_does_not_fit_is_counted(room: int, count: int) -> None:
    shown = summary(many(count), Page(), room)
    assert room / 4 < len(shown.encode()) <= room
    full, lines = shown.count("\n### F"), shown.count("\n- F")
    assert f"\n<summary>{count - full} more</summary>\n" in shown
    left = count - full - lines
    assert (f"\nand {left} more\n" in shown) == (left > 0)
    assert full <= MAX_SHOWN
    assert shown.endswith("to see what you can ask for.")


@each(("threads", "full"), [(0, 12), (10, 3), (4, 8)])
def test_what_has_no_thread_is_no_wall_of_text(threads: int, full: int) -> None:
    links = {f"F{n}": f"{THREAD}{n}" for n in range(1, threads + 1)}
    shown = summary(many(24), Page(links=links))
    assert shown.count("\n### F") == full
    assert f"\n<summary>{24 - threads - full} more</summary>\n\n- F{threads + full + 1} " in shown


def test_links_and_lists_that_do_not_fit_are_counted() -> None:
    links = {f"F{n}": f"{THREAD}{n}" for n in range(1, 401)}
    gone = (known("F800", "Title " * 9),) * 99
    shown = summary(many(400), Page(links=links, fixed=gone), 20_000)
    assert len(shown.encode()) <= 20_000
    assert f"\nand {400 - shown.count('- [F')} more\n" in shown
    assert "<summary>No longer found (99)</summary>" in shown
    assert f"\nand {99 - shown.count('- F')} more\n" in shown


def test_a_comment_that_is_too_long_says_so() -> None:
    assert PROVEN.proof
    output = "\u202e" * 10_000
    shown = comment(replace(PROVEN, proof=replace(PROVEN.proof, output=output)), "x\n" * 9_000)
    assert shown == f"{comment(PROVEN).partition(chr(10))[0]}\n\nThere is no room for more."


@each(
    ("text", "shown"),
    [
        ("    return 1\n", "```suggestion\n    return 1\n```"),
        ("a\n\n```\n@b #1", "````suggestion\na\n\n```\n@b #1\n````"),
        ("", "```suggestion\n```"),
        *((text, "") for text in ("/approve", "\nx", "x\n\n", "a\rb", "a\u202eb", "«secret:jwt»")),
        *((f"key = '{TOKEN}'", ""), ("x" * 40_000, "")),
    ],
)
def test_a_suggestion_is_shown_as_it_is_or_not_at_all(text: str, shown: str) -> None:
    offer = (
        f"\n\nAll checks and tests accept this with the other fixes of this review:\n\n{shown}"
        if shown
        else ""
    )
    assert comment(LINT, text) == f"{comment(LINT)}{offer}"


def test_a_check_run() -> None:
    review = REVIEWS["mixed"]
    end = "\n\nReviewed `2222222222`."
    assert check_summary(review) == render(review, "markdown") + end
    assert "/debate" not in check_summary(review)
    title = markdown.check_title(blocked(by_check("ümlaut" * 100)))
    assert title.startswith("Changes requested: 1 new problem (ümlaut")
    assert 250 < len(title.encode()) <= 255


def test_annotations_stand_at_lines_of_head() -> None:
    base = replace(PROVEN, location=Location("cart.py", 4, 4, "base"))
    whole = replace(PROVEN, location=Location("cart.py", 0, 0))
    review = blocked(SECRET, QUESTION, LINT, AGREED, INTENDED, base, whole)
    found = markdown.annotations(review)
    assert [
        (note.path, note.start_line, note.end_line, note.annotation_level) for note in found
    ] == [
        ("deploy/config.py", 2, 2, "failure"),
        ("shop/stock.py", 31, 33, "notice"),
        ("cart.py", 7, 7, "warning"),
        ("cart.py", 19, 19, "notice"),
    ]
    assert found[1].title == "F2 (high): Two workers can sell the last item twice"
    assert found[1].message == (
        "two customers pay for one item.\nQuestion: panelists disagree about something serious."
        " 2 of 3 panelists find it real.\noptimizer disagrees: the queue has one worker, so that"
        " sales never run at the same time"
    )


def test_no_secret_is_posted() -> None:
    finding = replace(PROVEN, title=TOKEN, excerpt=TOKEN, consequence="x" * 980 + TOKEN)
    page = Page(fixed=(known("F2", TOKEN),), dismissed=(known("F3", TOKEN, TOKEN),))
    review = replace(blocked(finding), notes=(TOKEN,), gaps=(TOKEN,))
    shown = summary(review, page) + comment(finding)
    shown += check_summary(review) + repr(markdown.annotations(review))
    assert "ghp_" not in shown
    assert "«secret:github-token»" in shown
