"""Every format of a review: what it says, and that nothing in it is live."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
import jsonschema
import msgspec
import pytest
from click.testing import CliRunner
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from reviewbot.checks.evidence import CheckResult, CheckSummary
from reviewbot.cli.commands import reviewbot
from reviewbot.cli.schema import TYPES, schema_of
from reviewbot.debate.case import Claim, Intention, Position
from reviewbot.debate.first_pass import DroppedClaim
from reviewbot.debate.panel import Absence
from reviewbot.errors import UsageError
from reviewbot.git.change import Location
from reviewbot.llm.client import Totals
from reviewbot.proofs.proof import Proof, Reproduction
from reviewbot.reports import FORMATS, render
from reviewbot.reports.markdown import MAX_BYTES
from reviewbot.reports.sarif import LEVELS, SECURITY
from reviewbot.reports.text import COLORS, explanation
from reviewbot.reports.words import Style, sentence, why
from reviewbot.severity import RANK
from reviewbot.text.hidden import find_hidden
from reviewbot.verdict.document import Coverage, Finding, PanelMember, Review

DATA = Path(__file__).parent / "data"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2

REPRODUCTION = Reproduction(
    language="python",
    source="from cart import total\n\n\ndef test_it():\n    assert total([100], 0.5) == 50\n",
)
CLAIM = Claim(
    **{"by": "critic", "location": Location("cart.py", 4, 4)},
    quote="return round(sum(prices) * (1 + discount), 2)",
    **{"title": "The discount raises the price", "category": "correctness", "severity": "high"},
    trigger="total is called with a discount",
    consequence="the customer pays more than without the discount",
    **{"refuted_if": "discounts are negative", "reproduction": REPRODUCTION},
)
PROVEN = Finding(
    **{"id": "F1", "key": "0123456789ab", "title": CLAIM.title, "location": CLAIM.location},
    **{"rule": "correctness", "category": "correctness", "severity": "high"},
    excerpt="    return round(sum(prices) * (1 + discount), 2)",
    **{"consequence": CLAIM.consequence, "status": "proven"},
    reason="A test written for this claim passes before the change and fails with it, and nothing"
    " in the change says that this is intended.",
    **{"blocks": True, "support": "2 of 3 panelists", "result": None, "claims": (CLAIM,)},
    proof=Proof(
        **{"reproduction": REPRODUCTION, "by": "critic", "base": "passes", "head": "fails"},
        result="proven",
        output=">       assert total([100], 0.5) == 50\nE       assert 150.0 == 50",
    ),
    positions=(),
)
BROKEN = replace(
    PROVEN,
    **{"title": "assert 33.0 == 27.0", "location": Location("cart.py", 4, 4)},
    **{"rule": "tests/test_cart.py::test_total", "consequence": ""},
    **{"reason": "This test passed before the change and fails with it.", "support": ""},
    result=CheckResult(
        **{"id": "E1", "check": "pytest", "kind": "broken_test", "state": "new"},
        **{"name": "tests/test_cart.py::test_total", "message": "assert 33.0 == 27.0"},
        **{"severity": "high", "location": Location("cart.py", 4, 4)},
        tests=("tests/test_cart.py::test_total", "tests/test_cart.py::test_refund"),
        output="E       assert 33.0 == 27.0",
    ),
    **{"claims": (), "proof": None},
)
QUESTION = replace(
    PROVEN,
    **{"id": "F2", "key": "1123456789ab", "title": "Two workers can sell the last item twice"},
    location=Location("shop/stock.py", 31, 33),
    claims=(replace(CLAIM, location=Location("shop/stock.py", 31, 33)),),
    excerpt="if stock[item] > 0:\n    charge(customer, item)\n    stock[item] -= 1",
    **{"consequence": "two customers pay for one item", "status": "question"},
    **{"reason": "Panelists disagree about something serious.", "blocks": False},
    **{"support": "2 of 3 panelists", "proof": None},
    positions=(
        Position(
            **{"panelist": "reviewer", "round": 1, "stance": "real"},
            **{"reason": "nothing holds a lock", "citations": ("shop/stock.py:31",)},
        ),
        Position(
            **{"panelist": "optimizer", "round": 1, "stance": "not_real"},
            reason="the queue has one worker, so that sales never run at the same time",
            citations=("shop/queue.py:12",),
        ),
    ),
    ruling="undecided",
)
LINT = replace(
    PROVEN,
    **{"id": "F3", "key": "2123456789ab"},
    title="Do not use mutable data structures for argument defaults",
    **{"location": Location("cart.py", 7, 7), "rule": "B006", "severity": "medium"},
    **{"excerpt": "def add(item, cart=[]):", "consequence": ""},
    **{"reason": "A check reports this for the first time.", "blocks": False, "support": ""},
    result=CheckResult(
        **{"id": "E2", "check": "ruff", "kind": "diagnostic", "state": "new", "name": "B006"},
        message="Do not use mutable data structures for argument defaults",
        **{"severity": "medium", "location": Location("cart.py", 7, 7)},
    ),
    **{"claims": (), "proof": None},
)
SECRET = replace(
    LINT,
    **{"id": "F1", "key": "3123456789ab", "title": "A secret is committed: github-token"},
    **{"location": Location("deploy/config.py", 2, 2), "rule": "secret-github-token"},
    **{"category": "security", "severity": "critical"},
    excerpt='TOKEN = "«secret:github-token»"',
    **{"consequence": "Everybody who can read the repository can use it.", "blocks": True},
    result=CheckResult(
        **{"check": "secrets", "kind": "diagnostic", "state": "new", "name": "secret-github-token"},
        **{"message": "A secret is committed: github-token", "severity": "critical"},
        location=None,
    ),
)
AGREED = replace(
    PROVEN,
    **{"id": "F5", "key": "4123456789ab", "title": "The whole list is copied for each item"},
    **{"location": Location("cart.py", 19, 19), "category": "performance", "severity": "low"},
    excerpt="    items = items + [item]",
    **{"consequence": "a cart with n items copies n² of them", "status": "agreed"},
    **{"reason": "Panelists agree, and nobody is against it.", "blocks": False},
    **{"support": "3 of 3 panelists", "proof": None},
)
INTENDED = replace(
    PROVEN,
    **{"id": "F4", "key": "5123456789ab", "title": "Prices are no longer rounded to cents"},
    **{"location": None, "severity": "medium", "excerpt": ""},
    **{"consequence": "totals have more than two digits", "status": "question"},
    reason="A test shows a different result, and the change says that it is intended.",
    blocks=False,
    intentions=(
        Intention(
            **{"panelist": "reviewer", "citation": "CHANGELOG.md:3: Totals keep all digits"},
            reason="it says so",
        ),
        Intention(panelist="optimizer", citation=None, reason="no test was changed"),
    ),
    opposed_by_author="callers round",
)


def checked(name: str, kind: str, text: str, state: str = "passed") -> CheckSummary:
    about = {"check": name, "kind": kind, "state": state, "text": text, "seconds": 0, "files": ()}
    return msgspec.convert(about, CheckSummary)


CHECKS = (
    checked("secrets", "scan", "nothing new"),
    checked("ruff", "lint", "nothing new, 4 before"),
    checked("pytest", "test", "214 passed"),
)
COVERAGE = (
    Coverage(path="cart.py", state="reviewed", by=("ruff", "pytest"), statements=15, executed=12),
    Coverage(path="README.md", state="not_applicable", scanned_by=("secrets",)),
)
CLEAN = Review(
    **{"target": "HEAD", "base_commit": "1" * 40, "head_commit": "2" * 40, "title": "Tidy"},
    **{"verdict": "comment", "complete": True, "gaps": (), "findings": (), "coverage": COVERAGE},
    **{"checks": CHECKS, "absences": (), "dropped": (), "seconds": 4.21},
)
PANEL = replace(
    CLEAN,
    panel=tuple(
        PanelMember(name, "anthropic:claude-sonnet-5", answered=True)
        for name in ("critic", "reviewer", "optimizer")
    ),
    usage=Totals(calls=14, input_tokens=41_200, cached_input_tokens=30_000, output_tokens=3_100),
    seconds=38.2,
)
GAPS = (
    "web/app.js was only scanned; no linter reads such files"
    " here: add one under checks: in .reviewbot.yml, or configure a model",
    "mypy was not run: bubblewrap is not installed",
    "optimizer did not answer: the time was over (limits.seconds)",
)
REVIEWS = {
    "clean": CLEAN,
    "docs only": replace(CLEAN, coverage=COVERAGE[1:]),
    "approved": replace(PANEL, verdict="approve"),
    "broken test": replace(
        CLEAN,
        **{"verdict": "request_changes", "findings": (BROKEN,)},
        checks=(*CHECKS[:2], replace(CHECKS[2], state="failed", text="212 passed, 2 failed")),
    ),
    "question": replace(PANEL, findings=(replace(QUESTION, id="F1"),)),
    "mixed": replace(
        PANEL,
        verdict="request_changes",
        findings=(
            SECRET,
            replace(PROVEN, id="F2"),
            replace(QUESTION, id="F3"),
            replace(LINT, id="F4"),
            replace(INTENDED, id="F5"),
            replace(AGREED, id="F6"),
            replace(
                AGREED, **{"id": "F7", "key": "6", "status": "recorded", "reason": "Taken back."}
            ),
        ),
        notes=("The change touches .reviewbot.yml; what the base says counts.",),
    ),
    "incomplete": replace(
        PANEL,
        **{"complete": False, "gaps": GAPS, "findings": (replace(LINT, id="F1"),)},
        coverage=(*COVERAGE, Coverage(path="web/app.js", state="scanned", next_step="eslint")),
        checks=(
            *CHECKS,
            checked("mypy", "lint", "was not run: bubblewrap is not installed", "not_run"),
            checked("cargo-test", "test", "9 passed, 3 failed before as well", "failed_before"),
        ),
        absences=(Absence("optimizer", "first_pass", "the time was over"),),
        dropped=(DroppedClaim("critic", "malformed", '{"title": "?"}'),),
    ),
}
SARIF = jsonschema.Draft4Validator(json.loads((DATA / "sarif-schema-2.1.0.json").read_bytes()))
DOCUMENT = jsonschema.Draft202012Validator(schema_of("review"))
STYLES = [
    Style(color=color, width=width, verbose=verbose, quiet=quiet)
    for color, width, verbose, quiet in (
        (False, 80, False, False),
        (True, 100, True, False),
        (False, 1, True, False),
        (True, 80, False, True),
    )
]
ALL = replace(
    REVIEWS["mixed"],
    complete=False,
    **{
        name: getattr(REVIEWS["incomplete"], name)
        for name in ("gaps", "coverage", "checks", "absences", "dropped")
    },
    findings=(*REVIEWS["mixed"].findings, replace(BROKEN, id="F8", key="7123456789ab")),
)


def sarif(review: Review) -> dict[str, Any]:
    log = json.loads(render(review, "sarif"))
    SARIF.validate(log)
    assert len(log["runs"]) == 1
    run: dict[str, Any] = log["runs"][0]
    return run


# --- what the formats say


@each(
    ("name", "headline", "reasons"),
    [
        ("clean", "Reviewed: no findings", ""),
        ("docs only", "Nothing to review: the change has no code to review", ""),
        ("approved", "Approved: no findings", ""),
        ("broken test", "Changes requested: 1 finding", "2 tests that passed fail now"),
        ("question", "Reviewed: 1 question", ""),
        (
            "mixed",
            "Changes requested: 4 findings, 2 questions",
            "1 new problem (secrets), a test written for a claim fails, 2 other findings,"
            " and 2 questions",
        ),
        ("incomplete", "Incomplete: 1 finding", ""),
    ],
)
def test_the_verdict_comes_first(name: str, headline: str, reasons: str) -> None:
    assert render(REVIEWS[name]).split("\n")[0] == headline
    first = render(REVIEWS[name], "markdown").split("\n")[0]
    verdict, _, counts = headline.partition(": ")
    assert first == f"**{verdict}**: {reasons or counts}."


def test_a_whole_tree_and_an_empty_change_have_no_changed_files() -> None:
    shown = render(replace(CLEAN, target="--all"))
    assert "2 files: 1 reviewed, 1 with nothing to review; tests executed 12 of 15" in shown
    assert "changed" not in shown
    tree = replace(CLEAN, target="--all", coverage=COVERAGE[1:])
    first = render(tree, "markdown").split("\n")[0]
    assert first == "**Nothing to review**: the tree has no code to review."
    for format_ in ("text", "markdown"):
        shown = render(replace(CLEAN, coverage=(), checks=()), format_)
        assert shown.count("no file to review") == 1
        empty = render(replace(CLEAN, coverage=(), checks=(), panel=(), notes=()), format_)
        assert "No language model was asked" in empty
        assert "to add a panel" not in empty
        assert "changed" not in shown


@each(
    "unseen",
    [
        replace(CLEAN, verdict="approve", coverage=()),
        replace(CLEAN, verdict="approve", complete=False),
        replace(CLEAN, verdict="approve", gaps=GAPS),
        replace(CLEAN, verdict="request_changes", findings=(BROKEN,), gaps=GAPS),
    ],
)
def test_what_nobody_looked_at_is_not_approved(unseen: Review) -> None:
    for format_ in ("text", "markdown"):
        shown = render(unseen, format_)
        words = r"(\*\*)?(Incomplete|Nothing to review|Changes requested.* \(incomplete\))"
        assert re.match(words, shown)
        assert "✓" not in shown
    assert "\x1b[32m" not in render(unseen, style=Style(color=True)).split("\n")[0]


def test_only_a_complete_review_without_findings_is_green() -> None:
    colors = {
        name: render(review, style=Style(color=True)).split("m")[0].removeprefix("\x1b[")
        for name, review in REVIEWS.items()
    }
    assert colors == {
        "clean": "32",
        "docs only": "1",
        "approved": "32",
        "broken test": "31",
        "question": "33",
        "mixed": "31",
        "incomplete": "90",
    }


def test_the_text_of_a_question() -> None:
    assert render(REVIEWS["question"], style=Style(width=90)) == (
        """\
Reviewed: 1 question

F1  high  shop/stock.py:31  Two workers can sell the last item twice
    two customers pay for one item.
    31 | if stock[item] > 0:
    32 |     charge(customer, item)
    33 |     stock[item] -= 1
    Question: panelists disagree about something serious. 2 of 3 panelists find it real.
    optimizer disagrees: the queue has one worker, so that sales never run at the same
    time
    Next: fix it, or reviewbot dismiss F1 --reason TEXT

Checks passed: secrets, ruff (4 before), pytest (214 passed)
2 changed files: 1 reviewed, 1 with nothing to review; tests executed 12 of 15 changed
lines.
Panel: critic, reviewer, optimizer (anthropic:claude-sonnet-5). 14 calls, 44,300 tokens
(67 % cached), 38 s."""
    )


def test_the_text_of_an_incomplete_review() -> None:
    shown = render(REVIEWS["incomplete"])
    assert (
        """
Not complete
    web/app.js was only scanned;
      no linter reads such files here: add one under checks: in .reviewbot.yml, or configure a model
    mypy was not run: bubblewrap is not installed
    optimizer did not answer: the time was over (limits.seconds)

Checks
    cargo-test  9 passed, 3 failed before as well

"""
        in shown
    )
    assert shown.count("mypy") == 1


def test_quiet_text_has_only_findings_and_gaps() -> None:
    quiet = Style(quiet=True)
    assert render(CLEAN, style=quiet) == ""
    shown = render(REVIEWS["incomplete"], style=quiet)
    assert shown.startswith("F1  medium  cart.py:7")
    assert shown.endswith("Not complete\n" + shown.split("Not complete\n")[1])
    assert "Panel:" not in shown
    assert all(gap.split("; ")[0] in shown for gap in GAPS)


def test_verbose_text_has_the_debate() -> None:
    brief, shown = (
        render(ALL, style=Style(width=100, verbose=verbose)) for verbose in (False, True)
    )
    for words in (
        "critic claims (high, correctness): The discount raises the price",
        "When: total is called with a discount",
        "Refuted if: discounts are negative",
        "Round 1, reviewer: it is real: nothing holds a lock [shop/stock.py:31]",
        "reviewer finds the difference intended [CHANGELOG.md:3: Totals keep all digits]",
        "optimizer names no line that says that it is intended: no test was changed",
        "The moderator: undecided.",
        "critic's test passes before the change and fails with it.",
        "            assert total([100], 0.5) == 50\n",
        "        E       assert 150.0 == 50\n",
        "    Test: tests/test_cart.py::test_refund\n",
    ):
        assert words in shown
        assert words not in brief
    assert "1 recorded finding is not reported." in brief


def test_why_the_moderator_ruled_is_said() -> None:
    ruled = replace(QUESTION, status="agreed", ruling="real", ruling_reason="line 31 reads first")
    review = replace(ALL, findings=(ruled,))
    for format in ("text", "markdown"):
        assert "moderator: line 31 reads first" in render(review, format), format


def test_verbose_text_says_what_a_test_did_that_shows_nothing_and_one_of_what_is_new() -> None:
    proof = PROVEN.proof
    assert proof is not None
    vain = replace(proof, base="fails", result="inconclusive")
    new = replace(proof, base="errors", result="only_at_head")
    passed = replace(proof, base="not_run", head="passes", result="refuted")
    for found, words in (
        ({"attempt": vain}, "fails before the change and fails with it, so it shows nothing."),
        ({"proof": new}, "cannot run before the change and fails with it."),
        ({"proof": passed}, "passes with the change."),
    ):
        shown = explanation(replace(QUESTION, **found), Style(width=120))
        assert f"critic's test {words}" in shown
        assert "E       assert 150.0 == 50" in shown
        assert "assert total([100], 0.5) == 50" in shown


def test_only_the_last_position_of_a_panelist_is_dissent() -> None:
    first = QUESTION.positions[1]
    changed = Position(panelist="optimizer", round=2, stance="real", reason="I was wrong")
    review = replace(PANEL, findings=(replace(QUESTION, positions=(changed, first)),))
    for format_ in ("text", "markdown", "sarif"):
        assert "disagrees" not in render(review, format_)


@each("review", REVIEWS.values())
def test_colors_change_no_word(review: Review) -> None:
    for style in STYLES:
        colored, plain = (render(review, style=replace(style, color=c)) for c in (True, False))
        assert click.unstyle(colored) == plain


def test_concise_lines() -> None:
    assert render(CLEAN, "concise") == ""
    assert render(replace(REVIEWS["incomplete"], panel=()), "concise").split("\n") == [
        "cart.py:7: medium: Do not use mutable data structures for argument defaults [B006]",
        *(f"not complete: {gap}" for gap in GAPS),
    ]
    without_place = replace(PANEL, findings=(INTENDED,), panel=())
    assert render(without_place, "concise") == (
        "-: medium: Prices are no longer rounded to cents [correctness]"
    )


@each("format_", FORMATS)
def test_every_format_shows_each_finding_and_each_gap(format_: str) -> None:
    shown = render(ALL, format_, Style(width=300))
    shown = unquote(shown) if format_ == "github" else shown.replace("\\", "")
    shown = re.sub(r"\s+", " ", shown)
    for finding in ALL.reported:
        assert finding.title in shown
        assert finding.severity in shown
        assert finding.location is None or finding.location.path in shown
    for gap in ALL.gaps:
        assert gap in shown
    if format_ not in ("json", "sarif"):
        assert "web/app.js" in shown
        assert shown.count(AGREED.title) == 1  # the one that is recorded is not reported


@each("format_", FORMATS)
def test_every_format_says_what_a_panel_cost(format_: str) -> None:
    usage = Totals(calls=6, input_tokens=900, cached_input_tokens=300, output_tokens=100)
    usage = replace(usage, local_tokens=100, cost_usd=0.25, saved_usd=0.125)
    shown = render(replace(ALL, usage=usage), format_, Style(width=300))
    if format_ == "json":
        assert msgspec.json.decode(shown, type=Review).usage == usage
        return
    tokens, paid = "1,000 tokens (30 % cached, 10 % local)", "$0.2500 ($0.1250 of it paid before)"
    assert f"6 calls, {tokens}, {paid}" in shown.replace("%25", "%").replace("\\", "")


# --- documents for programs


@each("review", REVIEWS.values())
def test_json_is_the_whole_document(review: Review) -> None:
    shown = render(review, "json")
    DOCUMENT.validate(json.loads(shown))
    assert msgspec.json.decode(shown, type=Review) == review


def test_json_keeps_hidden_characters_and_shows_none() -> None:
    title = 'a\x1b[2J\x07\x7f\x9b\u202e\U000e0041 ümläut 🙂 \\ " \udc80'
    shown = render(replace(CLEAN, title=title), "json")
    assert not list(find_hidden(shown))
    assert "ümläut 🙂" in shown
    assert json.loads(shown)["title"] == title.replace("\udc80", "⟨U+DC80⟩")


@each("name", TYPES)
def test_schemas_are_of_2020_12(name: str) -> None:
    schema = schema_of(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == f"reviewbot {name}"


@each("review", REVIEWS.values())
def test_sarif_follows_the_schema(review: Review) -> None:
    run = sarif(review)
    assert len(run["results"]) == len(review.reported)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for finding, result in zip(review.reported, run["results"], strict=True):
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["partialFingerprints"] == {"reviewbot/v1": finding.key}
        assert result["message"]["text"].startswith(finding.title)
        assert len(result["locations"]) == 1


def test_sarif_of_findings() -> None:
    run = sarif(REVIEWS["mixed"])
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("secrets/secret-github-token", "error"),
        ("panel/correctness", "error"),
        ("panel/correctness", "warning"),
        ("ruff/B006", "warning"),
        ("panel/correctness", "note"),
        ("panel/performance", "note"),
    ]
    assert {result["kind"] for result in run["results"]} == {"fail"}
    secret, correctness, *_ = run["tool"]["driver"]["rules"]
    assert secret["properties"] == {"tags": ["security"], "security-severity": "9.5"}
    assert correctness["properties"] == {"tags": ["correctness"]}
    assert correctness["defaultConfiguration"] == {"level": "error"}
    assert run["results"][2]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "shop/stock.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 31, "endLine": 33, "snippet": {"text": QUESTION.excerpt}},
    }
    (of_tests,) = sarif(replace(REVIEWS["mixed"], findings=(BROKEN,)))["tool"]["driver"]["rules"]
    assert of_tests["shortDescription"] == {"text": "pytest reports a broken test."}
    # Without a place: the first changed file.
    assert run["results"][4]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "cart.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 1},
    }


def test_sarif_says_that_a_review_is_incomplete() -> None:
    (complete,) = sarif(CLEAN)["invocations"]
    assert complete["executionSuccessful"]
    (invocation,) = sarif(REVIEWS["incomplete"])["invocations"]
    assert not invocation["executionSuccessful"]
    notifications = invocation["toolExecutionNotifications"]
    assert [entry["message"]["text"] for entry in notifications[:-1]] == list(GAPS)


@each(
    ("path", "uri"),
    [
        ("a b/ü.py", "a%20b/%C3%BC.py"),
        ("a:b?#.py", "a%3Ab%3F%23.py"),
        ("a\u202e\n.py", "a%E2%80%AE%0A.py"),
        ("\ud800.py", "%3F.py"),
    ],
)
def test_paths_are_percent_encoded(path: str, uri: str) -> None:
    finding = replace(LINT, location=Location(path, 0, 0))
    (result,) = sarif(replace(CLEAN, findings=(finding,)))["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == uri
    assert place["region"]["startLine"] == place["region"]["endLine"] == 1


# --- commands to the runner of a workflow


def test_commands_to_the_runner() -> None:
    place = Location("a,b:c%.py", 7, 9)
    finding = replace(LINT, title="50% off: now", location=place, reason="New.\r\n%")
    whole = replace(AGREED, location=Location("README.md", 0, 0), consequence="", claims=())
    review = replace(CLEAN, findings=(finding, whole), complete=False, gaps=("a b", "c"))
    assert render(review, "github").split("\n") == [
        "::warning title=Not complete::a b%0Ac",
        "::warning file=a%2Cb%3Ac%25.py,line=7,endLine=9,title=F3 (medium)%3A 50%25 off%3A now"
        "::Proven: new. %25 (ruff B006).",
        "::notice file=README.md,title=F5 (low)%3A The whole list is copied for each item"
        "::README.md%0AAgreed: panelists agree, and nobody is against it. 3 of 3 panelists find"
        " it real.",
    ]
    assert render(CLEAN, "github") == ""


def test_the_runner_is_told_how_many_there_are_if_it_may_not_show_all() -> None:
    """What is not complete takes the place of a finding."""
    for count, gaps, first in (
        (10, (), "::error file=cart.py,line=4,"),
        (10, ("a",), "::notice title=Findings::10 "),
        (11, (), "::notice title=Findings::11 "),
    ):
        review = replace(CLEAN, findings=(PROVEN,) * count, complete=not gaps, gaps=gaps)
        lines = render(review, "github").split("\n")
        assert lines[0].startswith(first)
        assert sum(line.startswith("::error ") for line in lines) == count


# --- Markdown

TOKENS = """
    heading_open heading_close paragraph_open paragraph_close text text_special code_inline fence
    strong_open strong_close bullet_list_open bullet_list_close list_item_open list_item_close
    table_open table_close thead_open thead_close tbody_open tbody_close tr_open tr_close th_open
    th_close td_open td_close hr inline softbreak html_block
"""
ALLOWED = TOKENS.split()
COMMAND = re.compile(
    r"::(?:error|warning|notice) (?:file=[^:,]+,(?:line=\d+,endLine=\d+,)?)?title=[^:,]+::[^\r\n]*"
)
GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HTML = re.compile(r"<details>\n<summary>[A-Za-z0-9 :,()]+</summary>\n|</details>\n?")


def check_markdown(shown: str) -> None:
    """Nothing in it is live, and no HTML is in it but our own."""
    assert len(shown.encode()) <= MAX_BYTES
    assert not list(find_hidden(shown))
    assert not re.search(r"^(\s*::|/[A-Za-z])|##\[|##vso\[", shown, re.MULTILINE)
    for token in GITHUB.parse(shown):
        assert token.type in ALLOWED
        assert token.type != "html_block" or HTML.fullmatch(token.content)
        assert {inner.type for inner in token.children or ()} <= set(ALLOWED)
    rendered = re.sub(r"<code.*?</code>", "<code>", GITHUB.render(shown), flags=re.DOTALL)
    assert not re.search(r"@\w|#\d|://|www\.|gh-\d", rendered, re.IGNORECASE)


@each("format_", ["text", "markdown"])
def test_a_broken_test_has_its_cause_and_what_is_proven_no_votes(format_: str) -> None:
    explained = replace(BROKEN, claims=(CLAIM,), support="1 of 3 panelists")
    shown = render(replace(REVIEWS["broken test"], findings=(explained,)), format_)
    (cause,) = re.findall(rf"critic: {re.escape(CLAIM.title)}\. .+", shown)
    assert "find it real" not in shown
    assert cause


@each("format_", ["text", "markdown"])
def test_other_places_of_one_defect_are_named(format_: str) -> None:
    places = (Location("basket.py", 7, 7), Location("cart.py", 6, 6), Location("cart.py", 40, 40))
    others = (replace(CLAIM, by="reviewer", location=place) for place in places)
    both = replace(PROVEN, claims=(CLAIM, *others))
    shown = render(replace(REVIEWS["question"], findings=(both,)), format_)
    assert re.search(r"Also at \W?basket\.py:7, cart\.py:40\b", shown)


def test_a_sentence_ends_with_one_stop() -> None:
    assert [*map(sentence, ("total is 0", "Is it 0? ", ""))] == ["total is 0.", "Is it 0?", ""]


@each(
    ("tests", "passing", "said"),
    [
        *[
            (1, 0, ""),
            (1, 1, " It passes without this edit."),
            (3, 3, " They pass without this edit."),
        ],
        *[
            (9, 5, " 5 of them pass without this edit."),
            (2, 1, " 1 of them passes without this edit."),
        ],
    ],
)
def test_how_many_tests_pass_without_an_edit(tests: int, passing: int, said: str) -> None:
    ids = tuple(f"test_{number}" for number in range(tests))
    assert BROKEN.result is not None
    broken = replace(BROKEN, result=replace(BROKEN.result, tests=ids, passes_without=passing))
    verbs = ("this test passed", "fails") if tests == 1 else ("these tests passed", "fail")
    assert why(broken) == "{} before the change and {} with it (pytest).".format(*verbs) + said
    new = replace(broken, reason="This test is new with the change and fails.")
    assert why(new).startswith("this test is" if tests == 1 else "these tests are new with the")


def test_markdown_says_when_it_happens() -> None:
    shown = render(replace(REVIEWS["question"], findings=(PROVEN,)), "markdown")
    assert "\n\ntotal is called with a discount.\n\nthe customer pays more" in shown


def test_markdown_folds_the_proof() -> None:
    shown = render(REVIEWS["mixed"], "markdown")
    check_markdown(shown)
    assert shown.count("<details>\n<summary>The test that was written for it</summary>\n\n") == 2
    assert "```python\nfrom cart import total\n" in shown
    assert "```\n>       assert total([100], 0.5) == 50\nE " in shown
    assert "**Question:** panelists disagree about something serious." in shown
    assert "- optimizer disagrees: the queue has one worker" in shown
    assert "Checks passed: secrets, ruff (4 before), pytest (214 passed)." in shown
    failed = render(REVIEWS["broken test"], "markdown")
    assert "<summary>Checks: 2 passed, 1 failed</summary>" in failed
    assert "| pytest | failed | 212 passed, 2 failed |" in failed
    assert "Debate" not in shown
    assert "<summary>Debate</summary>" in render(ALL, "markdown", Style(verbose=True))


def test_of_a_long_output_the_end_is_shown() -> None:
    output = "".join(f"line {number}\n" for number in range(1_000))
    finding = replace(BROKEN, result=replace(BROKEN.result, output=output))
    shown = render(replace(CLEAN, findings=(finding,)), "markdown")
    assert "\nline 999\n```\n" in shown
    assert "line 1\n" not in shown


def test_a_bar_does_not_end_a_cell() -> None:
    check = replace(CHECKS[2], check="a|b", text="`x|y` z | 1")
    check = replace(check, state="flaky")
    shown = GITHUB.render(render(replace(CLEAN, checks=(check,)), "markdown"))
    assert "<td>a|b</td>\n<td>flaky</td>\n<td><code>x|y</code> z | 1</td>" in shown


# --- safety

TRICKS = r"""
@everyone @acme/team \@user &#64;user fixes~#1 closes~acme/shop#3 GH-12 /debate~fix /lgtm
<script>alert(1)</script> <img~src=x> </details> </summary> <!--~x~--> [x](https://evil.example)
![x](https://evil.example/p.png) https://evil.example www.evil.example <a@evil.example> [x]:~/u
::error::x ::add-mask::x ##[error]x ##vso[task]x ``` ```` ~ ~~~ ` `` | \ * ** __ # ## > - + 1. ---
=== a@b {0} %0A \u001b
"""
CHARACTERS = [
    *("\n", "\n\n", "\r\n", "\r", "\t", "    ", "\x1b[31m", "\x1b]0;x\x07", "\x9b2J", "\x07"),
    *("\u202e", "\u2066", "\u200b", "\ufeff", "\ud800", "\udc80", "\u2028", "\x00", "\x7f"),
]
HOSTILE = st.lists(
    st.sampled_from([piece.replace("~", " ") for piece in TRICKS.split()])
    | st.sampled_from(CHARACTERS)
    | st.text("ab `*_[]()<>@#/:!&;\\\n-+.1~|\"'$", max_size=6),
    max_size=10,
).map("".join) | st.text(st.characters(exclude_categories=()), max_size=30)
ENUMS = {
    value
    for definition in schema_of("review")["$defs"].values()
    for field in definition["properties"].values()
    for option in (field, *field.get("anyOf", ()))
    for value in option.get("enum", ())
}


def filled(value: Any, texts: Iterator[str]) -> Any:
    """The document with other texts in place of all that are free."""
    match value:
        case str():
            return value if value in ENUMS else next(texts)
        case dict():
            return {key: filled(item, texts) for key, item in value.items()}
        case list() | tuple():
            return [filled(item, texts) for item in value]
        case _:
            return value


def with_texts(*texts: str) -> Review:
    endless = (text for _ in range(10_000) for text in texts)
    return msgspec.convert(filled(msgspec.to_builtins(ALL), endless), Review)


def check_terminal(shown: str) -> None:
    assert not list(find_hidden(shown))
    assert "\r" not in shown
    assert not re.search(r"^\s*::|##\[|##vso\[", shown, re.MULTILINE)


@settings(max_examples=25, deadline=None)
@given(st.lists(HOSTILE, min_size=1, max_size=7), st.sampled_from(STYLES))
@example(["@everyone\r\r\n"], STYLES[0])
@example(["::error::x ##[error]x", "\x1b[31m\u202e\r\n", "\ufeff\ud800"], STYLES[0])
@example(["words ::error::x words; ::error::x " * 20], STYLES[1])
@example(["[x](https://evil.example) <b>x</b> @user fixes #1", "/debate fix\n```\n/fix"], STYLES[2])
def test_no_text_is_live_in_any_format(texts: list[str], style: Style) -> None:
    review = with_texts(*texts)
    shown = {format_: render(review, format_, style) for format_ in FORMATS}
    check_terminal(click.unstyle(shown["text"]))
    check_terminal(shown["concise"])
    assert len(shown["concise"].split("\n")) == len(review.reported) + len(review.gaps) + 1
    check_markdown(shown["markdown"])
    for line in shown["github"].split("\n"):
        assert COMMAND.fullmatch(line)
        check_terminal(line.partition("::")[2])
    document = json.loads(shown["json"])
    DOCUMENT.validate(document)
    assert len(document["findings"]) == len(review.findings)
    log = json.loads(shown["sarif"])
    SARIF.validate(log)
    for result in log["runs"][0]["results"]:
        check_terminal(result["message"]["text"])
    assert not list(find_hidden(shown["json"] + shown["sarif"]))


@each("format_", FORMATS)
def test_no_format_shows_a_secret(format_: str) -> None:
    for text in (TOKEN, f"`{TOKEN}`", f"https://a:{TOKEN}@b.c/"):
        shown = render(with_texts(text), format_, Style(verbose=True))
        assert TOKEN not in shown
        assert "secret:" in shown


# --- formats of others


def test_a_package_can_add_a_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shouting.py").write_text(
        "def render(review, style):\n    return review.title.upper()\n"
    )
    metadata = tmp_path / "shouting-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[reviewbot.formats]\nshout = shouting:render\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert render(CLEAN, "shout") == "TIDY"
    with pytest.raises(UsageError, match="there is no format loud") as raised:
        render(CLEAN, "loud")
    assert raised.value.hint == f"Choose one of {', '.join(FORMATS)}, shout."
    given = ["demo", "--keep", str(tmp_path), "--format"]  # refuses a folder with files
    assert "is not empty" in CliRunner().invoke(reviewbot, [*given, "shout"]).stderr
    assert "Choose one of" in CliRunner().invoke(reviewbot, [*given, "loud"]).stderr


def test_every_severity_has_a_colour_and_a_level() -> None:
    assert COLORS.keys() >= RANK.keys()
    assert LEVELS.keys() == SECURITY.keys() == RANK.keys()
