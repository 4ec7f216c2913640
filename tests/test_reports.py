"""Every format of a review: what it says, and that nothing in it is live."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from reviewbot.checks.evidence import CheckResult, CheckSummary
from reviewbot.debate.case import Claim, Intention, Position
from reviewbot.debate.first_pass import DroppedClaim
from reviewbot.debate.panel import Absence
from reviewbot.git.change import Location
from reviewbot.llm.client import Totals
from reviewbot.proofs.proof import Proof, Reproduction
from reviewbot.reports import FORMATS, render
from reviewbot.reports.markdown import MAX_BYTES
from reviewbot.reports.schema import TYPES, SchemaName, schema_of
from reviewbot.reports.style import Style
from reviewbot.text.hidden import find_hidden
from reviewbot.verdict.document import Coverage, Finding, PanelMember, Review

DATA = Path(__file__).parent / "data"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2

REPRODUCTION = Reproduction(
    language="python",
    source="from cart import total\n\n\ndef test_it():\n    assert total([100], 0.5) == 50\n",
)
CLAIM = Claim(
    by="critic",
    location=Location("cart.py", 4, 4),
    quote="return round(sum(prices) * (1 + discount), 2)",
    title="The discount raises the price",
    category="correctness",
    severity="high",
    trigger="total is called with a discount",
    consequence="the customer pays more than without the discount",
    refuted_if="discounts are negative",
    reproduction=REPRODUCTION,
)
PROVEN = Finding(
    id="F1",
    key="0123456789ab",
    title=CLAIM.title,
    location=CLAIM.location,
    rule="correctness",
    category="correctness",
    severity="high",
    excerpt="    return round(sum(prices) * (1 + discount), 2)",
    consequence=CLAIM.consequence,
    status="proven",
    reason="A test written for this claim passes before the change and fails with it, and nothing"
    " in the change says that this is intended.",
    blocks=True,
    support="2 of 3 panelists",
    result=None,
    claims=(CLAIM,),
    proof=Proof(
        reproduction=REPRODUCTION,
        by="critic",
        base="passes",
        head="fails",
        result="proven",
        output="    def test_it():\n>       assert total([100], 0.5) == 50\nE       assert 150.0 == 50",
    ),
    positions=(),
)
BROKEN = replace(
    PROVEN,
    title="assert 33.0 == 27.0",
    location=Location("cart.py", 4, 4),
    rule="tests/test_cart.py::test_total",
    consequence="",
    reason="This test passed before the change and fails with it.",
    support="",
    result=CheckResult(
        id="E1",
        check="pytest",
        kind="broken_test",
        state="new",
        name="tests/test_cart.py::test_total",
        message="assert 33.0 == 27.0",
        severity="high",
        location=Location("cart.py", 4, 4),
        tests=("tests/test_cart.py::test_total", "tests/test_cart.py::test_refund"),
        output="E       assert 33.0 == 27.0",
    ),
    claims=(),
    proof=None,
)
QUESTION = replace(
    PROVEN,
    id="F2",
    key="1123456789ab",
    title="Two workers can sell the last item twice",
    location=Location("shop/stock.py", 31, 33),
    excerpt="if stock[item] > 0:\n    charge(customer, item)\n    stock[item] -= 1",
    consequence="two customers pay for one item",
    status="question",
    reason="Panelists disagree about something serious.",
    blocks=False,
    support="2 of 3 panelists",
    proof=None,
    positions=(
        Position(
            panelist="reviewer",
            round=1,
            stance="real",
            reason="nothing holds a lock",
            citations=("shop/stock.py:31",),
        ),
        Position(
            panelist="optimizer",
            round=1,
            stance="not_real",
            reason="the queue has one worker, so that sales never run at the same time",
            citations=("shop/queue.py:12",),
        ),
    ),
    ruling="undecided",
)
LINT = replace(
    PROVEN,
    id="F3",
    key="2123456789ab",
    title="Do not use mutable data structures for argument defaults",
    location=Location("cart.py", 7, 7),
    rule="B006",
    severity="medium",
    excerpt="def add(item, cart=[]):",
    consequence="",
    reason="A check reports this for the first time.",
    blocks=False,
    support="",
    result=CheckResult(
        id="E2",
        check="ruff",
        kind="diagnostic",
        state="new",
        name="B006",
        message="Do not use mutable data structures for argument defaults",
        severity="medium",
        location=Location("cart.py", 7, 7),
    ),
    claims=(),
    proof=None,
)
SECRET = replace(
    LINT,
    id="F1",
    key="3123456789ab",
    title="A secret is committed: github-token",
    location=Location("deploy/config.py", 2, 2),
    rule="secret-github-token",
    category="security",
    severity="critical",
    excerpt='TOKEN = "«secret:github-token»"',
    consequence="Everybody who can read the repository can use it.",
    blocks=True,
    result=CheckResult(
        check="secrets",
        kind="diagnostic",
        state="new",
        name="secret-github-token",
        message="A secret is committed: github-token",
        severity="critical",
        location=None,
    ),
)
AGREED = replace(
    PROVEN,
    id="F5",
    key="4123456789ab",
    title="The whole list is copied for each item",
    location=Location("cart.py", 19, 19),
    category="performance",
    severity="low",
    excerpt="    items = items + [item]",
    consequence="a cart with n items copies n² of them",
    status="agreed",
    reason="Panelists agree, and nobody is against it.",
    blocks=False,
    support="3 of 3 panelists",
    proof=None,
)
INTENDED = replace(
    PROVEN,
    id="F4",
    key="5123456789ab",
    title="Prices are no longer rounded to cents",
    location=None,
    severity="medium",
    excerpt="",
    consequence="totals have more than two digits",
    status="question",
    reason="A test shows a different result, and the change says that it is intended.",
    blocks=False,
    intentions=(
        Intention(
            panelist="reviewer",
            citation="CHANGELOG.md:3: Totals keep all digits",
            reason="it says so",
        ),
        Intention(panelist="optimizer", citation=None, reason="no test was changed"),
    ),
    opposed_by_author="callers round",
)
CHECKS = (
    CheckSummary(
        check="secrets", kind="scan", state="passed", text="nothing new", seconds=0, files=()
    ),
    CheckSummary(
        check="ruff", kind="lint", state="passed", text="nothing new, 4 before", seconds=0, files=()
    ),
    CheckSummary(
        check="pytest", kind="test", state="passed", text="214 passed", seconds=3.5, files=()
    ),
)
COVERAGE = (
    Coverage(path="cart.py", state="reviewed", by=("ruff", "pytest"), statements=15, executed=12),
    Coverage(path="README.md", state="not_applicable", scanned_by=("secrets",)),
)
CLEAN = Review(
    target="HEAD",
    base_commit="1" * 40,
    head_commit="2" * 40,
    title="Tidy",
    verdict="comment",
    complete=True,
    gaps=(),
    findings=(),
    coverage=COVERAGE,
    checks=CHECKS,
    absences=(),
    dropped=(),
    seconds=4.21,
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
    "web/app.js was only scanned for secrets and hidden text; no check reads .js files here:"
    " npm install --save-dev eslint, or configure a model",
    "mypy was not run: bubblewrap is not installed",
    "optimizer did not answer: the time of the review was over (limits.seconds)",
)
REVIEWS = {
    "clean": CLEAN,
    "docs only": replace(CLEAN, coverage=COVERAGE[1:]),
    "approved": replace(PANEL, verdict="approve"),
    "broken test": replace(
        CLEAN,
        verdict="request_changes",
        findings=(BROKEN,),
        checks=(
            *CHECKS[:2],
            replace(CHECKS[2], state="failed", text="212 passed, 2 failed"),
        ),
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
                AGREED, id="F7", key="6", status="recorded", reason="Who raised it took it back."
            ),
        ),
        notes=("The change touches .reviewbot.yml; what the base says counts.",),
    ),
    "incomplete": replace(
        PANEL,
        complete=False,
        gaps=GAPS,
        findings=(replace(LINT, id="F1"),),
        coverage=(*COVERAGE, Coverage(path="web/app.js", state="scanned", next_step="eslint")),
        checks=(
            *CHECKS,
            CheckSummary(
                check="mypy",
                kind="lint",
                state="not_run",
                text="was not run: bubblewrap is not installed",
                seconds=0,
                files=(),
            ),
            CheckSummary(
                check="cargo-test",
                kind="test",
                state="failed_before",
                text="9 passed, 3 failed before as well",
                seconds=0,
                files=(),
            ),
        ),
        absences=(Absence("optimizer", "first_pass", "the time of the review was over"),),
        dropped=(DroppedClaim("critic", "malformed", '{"title": "?"}'),),
    ),
}
