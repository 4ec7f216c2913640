"""Reviews to render: a clean one, one with everything in it, an interrupted one, a hostile one, a long one."""

from __future__ import annotations

from dataclasses import replace

from reviewbot.domain.change import Coverage, CoverageStatus, Revisions
from reviewbot.domain.debate import (
    Argument,
    Attendance,
    Check,
    CheckOutcome,
    Position,
    Proof,
    Ruling,
    Seat,
    SeatStatus,
    SettledBy,
    Stance,
    Turn,
    Version,
)
from reviewbot.domain.evidence import (
    Category,
    CheckRun,
    Evidence,
    EvidenceKind,
    EvidenceStatus,
    Ledger,
    Precision,
    Result,
    Severity,
    Side,
    TestRun,
)
from reviewbot.domain.money import Bill, Usage
from reviewbot.domain.repair import Proven, Repair, RepairOutcome, Tried
from reviewbot.domain.review import (
    CodeLine,
    Conclusion,
    Confidence,
    Finding,
    FindingStatus,
    Lifecycle,
    Review,
    Suggestion,
    Timing,
    Verdict,
)

BASE, HEAD = "5f1d3a9c" * 5, "c0ffee12" * 5
REVISIONS = Revisions("range", BASE, HEAD, "1" * 40, "2" * 40)
SEATS = tuple(Seat(name, name, f"static:{name}", "static") for name in ("critic", "reviewer", "optimizer"))
PANEL = tuple(Attendance(seat, SeatStatus.OK) for seat in SEATS)
CRITERIA = (("correctness", 5), ("security", 5), ("performance", 3), ("maintainability", 3), ("tests", 2))
BILL = Bill(Usage(7, 48_120, 31_000, 3_870, 0.0432), {"critic": Usage(3, 20_000, 12_000, 1_500, 0.02)})

CLEAN = Review(
    run_id="01JD3ZK6Q2",
    tool_version="0.1.0",
    conclusion=Conclusion.COMPLETE,
    verdict=Verdict.APPROVE,
    revisions=REVISIONS,
    coverage=(
        Coverage("shop/cart.py", CoverageStatus.REVIEWED),
        Coverage("uv.lock", CoverageStatus.SKIPPED, "lock file", ignored=True),
    ),
    attendance=PANEL,
    turns=(
        Turn(1, "S0", "", 0, "", "ok", "0 new results of 3 checks"),
        Turn(2, "S6", "moderator", 0, "", "ok", "nothing to debate"),
    ),
    criteria=CRITERIA,
    timing=Timing(3.21, 2.9),
    sandbox="bubblewrap",
    checks=(CheckRun("ruff", ran=True, seconds=0.1), CheckRun("pytest", ran=True, seconds=2.4)),
)


def said(who: str, stance: Stance, probability: float, *arguments: Argument, round_: int = 1) -> Position:
    return Position(who, round_, stance, probability, arguments)


OFF_BY_ONE = Finding(
    id="F1",
    fingerprint="sha256:" + "ab" * 32,
    path="shop/cart.py",
    start_line=41,
    line=42,
    severity=Severity.HIGH,
    category=Category.CORRECTNESS,
    title="The last item of a cart is never summed",
    body="Customers are charged too little: `range(len(items) - 1)` stops before the last index.",
    failure_scenario="A cart with one item costs 0.00; a cart with three items costs the first two.",
    quote="    for index in range(len(items) - 1):\n        total += items[index].price",
    status=FindingStatus.ACCEPTED,
    proof=Proof.PROVEN,
    confidence=Confidence.PROVEN,
    probability=0.972,
    raised_by=("critic", "reviewer"),
    settled_by=SettledBy.EVIDENCE,
    stop_reason="an executed check settles it",
    positions=(
        said("optimizer", Stance.OPPOSE, 0.3, Argument("The caller pads the list", ("shop/cart.py:12",), "It used to, in 2.x.")),
        said(
            "optimizer",
            Stance.SUPPORT,
            0.9,
            Argument("The padding is gone", ("E1", "shop/cart.py:12"), "`pad()` was removed by this change.", ("None left.",)),
            round_=2,
        ),
    ),
    versions=(
        Version(1, "critic", "raised", "The last item of a cart is never summed"),
        Version(1, "reviewer", "merged", "test_total fails"),
    ),
    evidence=("E1", "E2"),
    check=Check(
        ("pytest", "tests/test_cart.py::test_total"), "", "test_total", CheckOutcome.FAILS_AT_HEAD, ("E1",), "1 failed in 0.3 s"
    ),
    rule=None,
    suggestion=Suggestion(41, 41, "    for index in range(len(items)):\n"),
    code=(
        CodeLine(38, "def total_price(items: list[Item]) -> Decimal:", changed=False),
        CodeLine(39, '    """What a cart costs."""', changed=False),
        CodeLine(40, '    total = Decimal("0")', changed=False),
        CodeLine(41, "    for index in range(len(items) - 1):", changed=True),
        CodeLine(42, "        total += items[index].price", changed=True),
        CodeLine(43, "    return total", changed=False),
    ),
)
QUESTION = Finding(
    id="F2",
    fingerprint="sha256:" + "cd" * 32,
    path="shop/api/orders.py",
    start_line=118,
    line=118,
    severity=Severity.HIGH,
    category=Category.SECURITY,
    title="User input may reach a shell",
    body="`subprocess.run(..., shell=True)` with a value of the request runs whatever it holds.",
    failure_scenario="`POST /orders` with a note of `; rm -rf ~`.",
    quote='subprocess.run(f"notify {order.note}", shell=True)',
    status=FindingStatus.CONTESTED,
    proof=Proof.UNTESTED,
    confidence=Confidence.SINGLE,
    probability=0.52,
    raised_by=("critic",),
    settled_by=SettledBy.MODERATOR,
    stop_reason="rounds used",
    positions=(
        said("reviewer", Stance.NEUTRAL, 0.5),
        said(
            "optimizer",
            Stance.OPPOSE,
            0.2,
            Argument("The note is quoted by the form", ("E3",), "`OrderForm.clean_note` quotes it."),
        ),
    ),
    versions=(Version(1, "critic", "raised", "User input may reach a shell"),),
    evidence=("E3",),
    dissent="Optimizer: The note is quoted by the form",
    rule="S602",
    code=(CodeLine(118, '    subprocess.run(f"notify {order.note}", shell=True)', changed=True),),
)
MINOR = Finding(
    id="F3",
    fingerprint="sha256:" + "ef" * 32,
    path="shop/cart.py",
    start_line=12,
    line=12,
    severity=Severity.LOW,
    category=Category.PERFORMANCE,
    title="A list is built only to be measured",
    body="`len([x for x in items if x.taxed])` allocates; `sum(x.taxed for x in items)` does not.",
    failure_scenario="Every call, more for long carts.",
    quote="count = len([x for x in items if x.taxed])",
    status=FindingStatus.ACCEPTED,
    proof=Proof.UNTESTED,
    confidence=Confidence.AGREED,
    probability=0.8,
    raised_by=("optimizer",),
    settled_by=SettledBy.AGREEMENT,
    stop_reason="all stances are equal",
    positions=(said("critic", Stance.SUPPORT, 0.7, Argument("It allocates", ("E2",))),),
    evidence=("E2",),
    rule="C419",
    lifecycle=Lifecycle.CARRIED,
    pre_existing=True,
    code=(CodeLine(12, "    count = len([x for x in items if x.taxed])", changed=True),),
)
REFUTED = replace(
    MINOR,
    id="F4",
    fingerprint="sha256:" + "01" * 32,
    title="A name shadows a builtin",
    status=FindingStatus.BELOW_THRESHOLD,
    proof=Proof.CONTRADICTED,
    probability=0.21,
    dissent=None,
    pre_existing=False,
    lifecycle=Lifecycle.NEW,
)
EVIDENCE = (
    Evidence(
        "E1",
        EvidenceStatus.NEW,
        Side.HEAD,
        Result(
            EvidenceKind.TEST,
            "pytest",
            None,
            "tests/test_cart.py",
            9,
            "test_total failed",
            Category.CORRECTNESS,
            Severity.HIGH,
            Precision.CERTAIN,
            excerpt="E   assert Decimal('0') == Decimal('9.90')\ntests/test_cart.py:9: AssertionError",
            command=("pytest", "tests/test_cart.py::test_total"),
            exit_code=1,
            subject="tests/test_cart.py::test_total",
        ),
    ),
    Evidence(
        "E2",
        EvidenceStatus.EXISTING,
        Side.HEAD,
        Result(
            EvidenceKind.LINT,
            "ruff",
            "C419",
            "shop/cart.py",
            12,
            "Unnecessary list comprehension",
            Category.PERFORMANCE,
            Severity.LOW,
            Precision.LIKELY,
            command=("ruff", "check", "--isolated"),
            exit_code=1,
        ),
    ),
    Evidence(
        "E3",
        EvidenceStatus.NEW,
        Side.HEAD,
        Result(
            EvidenceKind.LINT,
            "ruff",
            "S602",
            "shop/api/orders.py",
            118,
            "`subprocess` call with `shell=True` identified, security issue",
            Category.SECURITY,
            Severity.HIGH,
            Precision.HEURISTIC,
            command=("ruff", "check", "--isolated"),
            exit_code=1,
        ),
    ),
)
PATCH = b"""diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -41 +41 @@ def total_price(items: list[Item]) -> Decimal:
-    for index in range(len(items) - 1):
+    for index in range(len(items)):
"""
_OTHER = PATCH.replace(b"+    for index in range(len(items)):", b"+    for index in range(len(items) + 1):")
REPAIRS = (
    Repair(
        "F1",
        OFF_BY_ONE.title,
        RepairOutcome.FIXED,
        author="proposer",
        explanation="Count to the end.",
        patch=PATCH,
        proof=Proven("its check failed before and passes with it", OFF_BY_ONE.check, ("12 tests pass as before",)),
        tries=(
            Tried("ruff", 0, b"", "nothing of it applies"),
            Tried("proposer", 1, _OTHER, "worse than before: test_empty fails"),
        ),
        dissent="Optimizer: sum() would do.",
    ),
    Repair(
        "F2",
        QUESTION.title,
        RepairOutcome.SUGGESTED,
        why="no check shows that it works",
        author="optimizer",
        patch=b"diff --git a/logo.svg b/logo.svg\n--- a/logo.svg\n+++ b/logo.svg\n@@ -1 +1 @@\n-\xe9\n+\xc3\xa9\n",
    ),
    Repair(
        "F3",
        MINOR.title,
        RepairOutcome.FAILED,
        why="the check of F3 does not pass with it",
        tries=(Tried("proposer", 1, _OTHER, "the check of F3 does not pass with it"),),
    ),
    Repair("F4", REFUTED.title, RepairOutcome.SKIPPED, why="time was up"),
)
FULL = replace(
    CLEAN,
    repairs=REPAIRS,
    conclusion=Conclusion.PARTIAL,
    verdict=Verdict.REQUEST_CHANGES,
    findings=(OFF_BY_ONE, QUESTION, MINOR, REFUTED),
    evidence=EVIDENCE,
    coverage=(
        Coverage("shop/cart.py", CoverageStatus.REVIEWED),
        Coverage("shop/api/orders.py", CoverageStatus.REVIEWED),
        Coverage("shop/data/rates.csv", CoverageStatus.PARTIAL, "only the first 2,000 lines fit the budget"),
        Coverage("shop/assets/logo.psd", CoverageStatus.SKIPPED, "binary"),
        Coverage("uv.lock", CoverageStatus.SKIPPED, "lock file", ignored=True),
    ),
    attendance=(*PANEL[:2], Attendance(SEATS[2], SeatStatus.LOST, "timed out in round 2")),
    turns=(
        Turn(1, "S0", "", 0, "", "ok", "3 results of 2 checks, 2 of them new"),
        Turn(2, "S1", "critic", 0, "", "ok", "2 claims"),
        Turn(3, "S1", "reviewer", 0, "", "ok", "1 claims"),
        Turn(4, "S1", "optimizer", 0, "", "ok", "2 claims"),
        Turn(5, "S2", "", 0, "", "ok", "5 claims are about 4 things"),
        Turn(6, "S3", "", 0, "F1", "ok", "debated: raised by two at high"),
        Turn(7, "S4", "optimizer", 1, "F1", "ok", "opposes at 0.30: the caller pads the list"),
        Turn(8, "proof", "sandbox", 1, "F1", "ok", "pytest tests/test_cart.py::test_total: fails_at_head"),
        Turn(9, "S4", "optimizer", 2, "F2", "timeout", "no answer in 120 s"),
        Turn(10, "S6", "moderator", 2, "", "ok", "nothing is open"),
    ),
    rulings=(
        Ruling(1, (("F1", 0.95), ("F2", 0.5)), ("F2",), "F2 stays open: stances differ and new evidence was cited"),
        Ruling(2, (("F2", 0.52),), (), "rounds used"),
    ),
    rounds=2,
    bill=BILL,
    timing=Timing(41.3, 38.0),
    notes=("mypy was not found: types were not checked",),
    repository="acme/shop",
    pull_request=12,
    checks=(
        CheckRun("ruff", ran=True, seconds=0.12, failed=True),
        CheckRun("pytest", ran=True, seconds=7.9, failed=True),
        CheckRun("mypy", ran=False, reason="not found"),
    ),
)
MODEL_SEATS = (
    Seat("critic", "critic", "anthropic:claude-sonnet-5", "anthropic"),
    Seat("reviewer", "reviewer", "openai:gpt-5.6", "openai"),
    Seat("optimizer", "optimizer", "ollama:qwen3-coder:30b", "ollama", local=True),
    Seat("guard", "security", "gemini:gemini-3-pro", "gemini"),
)
SPENT = {
    "critic": Usage(3, 20_000, 12_000, 1_500, 0.02, seconds=9.5, replayed_calls=1, paid_usd=0.015),
    "reviewer": Usage(2, 18_000, 6_000, 1_000, 0.03, seconds=8.0, paid_usd=0.03, estimated_usd=0.01),
    "optimizer": Usage(2, 9_000, 0, 1_000, 0.0, local_tokens=10_000, seconds=61.0),
    "guard": Usage(),
    "moderator": Usage(2, 3_000, 2_990, 500, 0.004, seconds=3.5, replayed_calls=2),
}
MODELS = replace(
    FULL,
    attendance=(
        Attendance(MODEL_SEATS[0], SeatStatus.OK),
        Attendance(MODEL_SEATS[1], SeatStatus.OK, "anthropic:claude-haiku-5 answered in its place"),
        Attendance(MODEL_SEATS[2], SeatStatus.OK),
        Attendance(MODEL_SEATS[3], SeatStatus.LOST, "the provider said no: quota"),
    ),
    rulings=(*FULL.rulings, Ruling(2, (("F2", 0.71),), (), "F2: upheld by the moderator in both orders: the note is not quoted")),
    bill=Bill(sum(SPENT.values(), Usage()), SPENT),
)
_ALL_REPLAYED = {
    name: replace(used, replayed_calls=used.calls, paid_usd=0.0, estimated_usd=used.cost_usd) for name, used in SPENT.items()
}
REPLAYED = replace(MODELS, bill=Bill(sum(_ALL_REPLAYED.values(), Usage()), _ALL_REPLAYED))
NOT_REVIEWED = replace(
    CLEAN,
    conclusion=Conclusion.NOT_REVIEWED,
    verdict=None,
    attendance=tuple(Attendance(seat, SeatStatus.LOST, "no answer") for seat in SEATS),
    coverage=(Coverage("shop/cart.py", CoverageStatus.SKIPPED, "the panel did not answer"),),
    notes=("too few panelists answered for a verdict",),
    sandbox="none",
    checks=(),
)

HOSTILE_WORDS = (
    "@everyone fixes #1 <script>alert(1)</script> ![x](https://evil.example/p.png) [here](https://evil.example)\n"
    "::error file=a.py::pwned\n##[error]pwned\n/debate fix\n[bold red]rich[/] {{ 7*7 }} \x1b[31mred\x1b[0m \x1b]0;title\x07 \u202egnp.exe "
    "\u200b ``` `| |` <!-- reviewbot:summary v1 --> closes acme/shop#3 https://evil.example/?q=1 "
    "ghp_" + "a1B2" * 9 + " \x00\udcff"
)
_HOSTILE_FINDING = replace(
    OFF_BY_ONE,
    id="F1",
    path="a\x1b[31m|`b`\udcff <b>@x.py",
    title=HOSTILE_WORDS,
    body=HOSTILE_WORDS,
    failure_scenario=HOSTILE_WORDS,
    quote=HOSTILE_WORDS,
    rule=HOSTILE_WORDS,
    dissent=HOSTILE_WORDS,
    stop_reason=HOSTILE_WORDS,
    raised_by=(HOSTILE_WORDS,),
    positions=(
        said(HOSTILE_WORDS, Stance.OPPOSE, 0.1, Argument(HOSTILE_WORDS, (HOSTILE_WORDS,), HOSTILE_WORDS, (HOSTILE_WORDS,))),
        replace(said(HOSTILE_WORDS, Stance.OPPOSE, 0.1), check=Check((HOSTILE_WORDS,), HOSTILE_WORDS, output=HOSTILE_WORDS)),
    ),
    versions=(Version(1, HOSTILE_WORDS, "raised", HOSTILE_WORDS),),
    evidence=("E1", HOSTILE_WORDS),
    check=Check(("sh", "-c", HOSTILE_WORDS), HOSTILE_WORDS, HOSTILE_WORDS, CheckOutcome.FAILS_AT_HEAD, ("E1",), HOSTILE_WORDS),
    code=(CodeLine(1, HOSTILE_WORDS, changed=True),),
    suggestion=Suggestion(1, 1, HOSTILE_WORDS),
)
HOSTILE = replace(
    FULL,
    findings=(_HOSTILE_FINDING, replace(_HOSTILE_FINDING, id="F2", status=FindingStatus.DISMISSED)),
    evidence=(
        Evidence(
            "E1",
            EvidenceStatus.NEW,
            Side.HEAD,
            replace(
                EVIDENCE[0].result,
                tool=HOSTILE_WORDS,
                rule=HOSTILE_WORDS,
                path="x\udcfe.py",
                message=HOSTILE_WORDS,
                excerpt=HOSTILE_WORDS,
                command=(HOSTILE_WORDS,),
            ),
        ),
    ),
    coverage=(Coverage("b\udcff\n::error::x.py", CoverageStatus.PARTIAL, HOSTILE_WORDS),),
    attendance=(Attendance(Seat(HOSTILE_WORDS, HOSTILE_WORDS, HOSTILE_WORDS, HOSTILE_WORDS), SeatStatus.LOST, HOSTILE_WORDS),),
    turns=(Turn(1, HOSTILE_WORDS, HOSTILE_WORDS, 1, HOSTILE_WORDS, HOSTILE_WORDS, HOSTILE_WORDS),),
    rulings=(Ruling(1, ((HOSTILE_WORDS, 0.5),), (HOSTILE_WORDS, "F1"), HOSTILE_WORDS),),
    bill=Bill(Usage(1, 2, 1, 3, 0.5), {HOSTILE_WORDS: Usage(1, 2, 1, 3, 0.5)}),
    criteria=((HOSTILE_WORDS, 1),),
    notes=(HOSTILE_WORDS,),
    sandbox="none",
    checks=(CheckRun(HOSTILE_WORDS, ran=False, reason=HOSTILE_WORDS),),
    repairs=tuple(
        Repair(
            HOSTILE_WORDS,
            HOSTILE_WORDS,
            outcome,
            why=HOSTILE_WORDS,
            author=HOSTILE_WORDS,
            explanation=HOSTILE_WORDS,
            patch=f"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{HOSTILE_WORDS}\n+{HOSTILE_WORDS}\n".encode("utf-8", "surrogateescape"),
            proof=Proven(HOSTILE_WORDS, _HOSTILE_FINDING.check, (HOSTILE_WORDS,)),
            tries=(Tried(HOSTILE_WORDS, 1, HOSTILE_WORDS.encode("utf-8", "surrogateescape"), HOSTILE_WORDS),),
            dissent=HOSTILE_WORDS,
        )
        for outcome in RepairOutcome
    ),
)
LONG = replace(
    FULL,
    findings=tuple(
        replace(OFF_BY_ONE, id=f"F{n}", line=n + 41, start_line=n + 41, fingerprint=f"sha256:{n:064x}") for n in range(1, 301)
    ),
)
REVIEWS = {
    "clean": CLEAN,
    "full": FULL,
    "not_reviewed": NOT_REVIEWED,
    "hostile": HOSTILE,
    "long": LONG,
    "models": MODELS,
    "replayed": REPLAYED,
}
LEDGER = Ledger(
    EVIDENCE,
    FULL.checks,
    TestRun(10, 1, measured=True, executed=frozenset({("shop/cart.py", 41), ("caf\udce9.py", 2)})),
    "bubblewrap",
    ("a note",),
)
