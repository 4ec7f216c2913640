"""Prompts as they were when somebody last read them. After a change of wording: ``python -m tests.debate.prompts``, then read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reviewbot.debate.prompt import JinjaScribe
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome, Seat, Stance
from reviewbot.domain.event import Source, Told
from reviewbot.domain.evidence import Category, CheckRun, EvidenceKind, EvidenceStatus, Ledger, Severity, TestRun
from reviewbot.domain.repair import Edit, Goal
from reviewbot.ports import (
    Appraisal,
    Arbitration,
    Ask,
    Assignment,
    Attempted,
    CheckDesign,
    CrossExamination,
    Diagnosis,
    Dossier,
    Draft,
    Drafting,
    FirstPass,
    Improvement,
    Judgement,
    Pace,
    Packet,
    Passage,
    Portion,
    Question,
    Rebuttal,
    Refinement,
    Related,
    Removed,
    Rule,
    Sheet,
    Shown,
    Task,
    Word,
)
from reviewbot.testing import a_passage, evidence_item

HERE = Path(__file__).parent
PROMPTS = Path(__file__).parents[3] / "prompts"

SEAT = Seat("seat-one", "critic", "vendor-a:model-one", "family-a")

CODE = ("def total(rows, seen=[]):", "    for row in rows:", "        seen.append(row)", "    return len(seen)")
DOSSIER = Dossier(
    passages=(
        Passage("shop/cart.py", 9, CODE, frozenset({9, 11}), "total", (Removed(9, "def total(rows):"), Removed(11, "    seen += [row]"))),
        a_passage("web/view.py", "from shop import cart", start=1, changed=[]),
    ),
    ledger=Ledger(
        items=(
            evidence_item(1, "shop/cart.py", 9),
            evidence_item(2, "other/place.py", 3),
            evidence_item(
                3, "tests/test_cart.py", 0, kind=EvidenceKind.TEST, tool="pytest", rule=None, message="assert 2 == 1",
                severity=Severity.HIGH, subject="tests/test_cart.py::test_twice", excerpt="E  assert 2 == 1",
            ),
            evidence_item(4, "shop/cart.py", 9, status=EvidenceStatus.EXISTING),
        ),
        checks=(
            CheckRun("tests", ran=True, failed=True, seconds=1.25),
            CheckRun("lint", ran=False, reason="ruff is not installed", seconds=0.5),
        ),
        tests=TestRun(passed=4, failed=1),
    ),
    portion="P2",
    of=3,
    related=(Related("caller", "total", a_passage("shop/bill.py", "    n = cart.total(rows)", start=70, changed=[])),),
    rules=(Rule("AGENTS.md", "No mutable defaults.\n"),),
    title="Count what is in the cart",
    focus="look at shared state",
    criteria=(("correctness", 5), ("style of the house", 1)),
    background=(
        Told(Source.DESCRIPTION, "description by ada", "Carts count their rows.\n\nSee the bill."),
        Told(Source.THREAD, "open thread at shop/cart.py:9", "bob: Is the default shared?\nada: No."),
        Told(Source.CI, "checks of the head commit", "failure: build"),
    ),
)  # fmt: skip

PACKET = Packet(
    "shop/cart.py", 9, 9, "def total(rows, seen=[]):", Category.CORRECTNESS, Severity.HIGH, "The default list outlives the call",
    "`total` is called twice without `seen`", "the second cart counts the first one's rows", "every caller passes its own list",
    ("E1",), "B006",
)  # fmt: skip
FOR = Word(Stance.SUPPORT, "The default is made once", ("shop/cart.py:9", "shop/bill.py:70"), "bill passes no list")
AGAINST = Word(Stance.OPPOSE, "There is one call per process", ("shop/bill.py:70",), "the program ends after one bill")
LATE = ("tests/test_cart.py::test_twice fails at head and passes at base (E5)",)
DRAFT = Draft("shop/cart.py", 9, 10, "def total(rows):\n    seen = []\n    for row in rows:", "A list of its own for every call.")

TASK = Task(
    "F1",
    Goal.FIX,
    PACKET.title,
    PACKET,
    check=Check(
        ("pytest", "-q", "tests/test_cart.py::test_twice"), "def test_twice():\n    assert total([1]) == total([1]) == 1",
        "tests/test_cart.py::test_twice", CheckOutcome.FAILS_AT_HEAD, output="E  assert 2 == 1", kind=CheckKind.TEST,
    ),
    paths=frozenset({"shop/cart.py", "shop/bill.py"}),
)  # fmt: skip
WISHED = Task(
    "T1", Goal.TESTS, PACKET.title, PACKET, "Please cover the empty cart.", paths=frozenset({"tests/test_cart.py"}), may_add=True
)
SHEETS = (Sheet("shop/cart.py", 9, CODE, 40), Sheet("shop/bill.py", 1, ("import cart",), 1))
PATCH = "=== shop/cart.py, lines 9-10, in hunk H1\n  -|def total(rows, seen=[]):\n 9+|def total(rows):\n10+|    seen = []"
WRONG = Attempted(
    "=== shop/cart.py, line 9, in hunk H1\n 9+|def total(rows, seen=()):",
    "the check of F1 does not pass with it\nE  AttributeError",
)
CANDIDATE = Shown("A", PATCH, "its check failed before and passes with it; 4 tests pass as before")
POINTS = ("`bill` still hands over a list of its own (shop/bill.py:70)", "a docstring would help")

QUESTIONS: Mapping[str, Question] = {
    "first_pass": FirstPass(DOSSIER),
    "cross_examination": CrossExamination(PACKET, DOSSIER),
    "cross_examination_again": CrossExamination(PACKET, DOSSIER, (FOR, AGAINST), LATE),
    "rebuttal": Rebuttal(PACKET, DOSSIER, (AGAINST,), LATE),
    "judgement": Judgement(PACKET, DOSSIER, (AGAINST,), (FOR,), LATE),
    "check_design": CheckDesign(PACKET, DOSSIER),
    "check_design_again": CheckDesign(PACKET, DOSSIER, (FOR, AGAINST), LATE),
    "improvement": Improvement(PACKET, DOSSIER),
    "improvement_again": Improvement(PACKET, DOSSIER, DRAFT),
    "diagnosis": Diagnosis(DOSSIER, 'Twice the same.\n\n  File "/app/shop/cart.py", line 11, in total\nAssertionError', 3),
    "drafting": Drafting(TASK, DOSSIER, SHEETS, "F1/1"),
    "drafting_again": Drafting(WISHED, DOSSIER, SHEETS, "T1/2", (WRONG,), (Edit("shop/cart.py", b""),)),
    "appraisal": Appraisal(TASK, DOSSIER, (CANDIDATE, Shown("B", WRONG.patch, "no check shows that it works"))),
    "refinement": Refinement(TASK, DOSSIER, SHEETS, "F1/3", CANDIDATE, POINTS),
    "arbitration": Arbitration(TASK, DOSSIER, CANDIDATE, POINTS),
    "assignment": Assignment(
        DOSSIER,
        (Portion("P1", ("shop/cart.py", "shop/bill.py"), 3400), Portion("P2", ("docs/index.md",), 900)),
        (Pace("local-one", "qwen:7b", 310.4, 21.26, 4.0, 2800),),
        90.0,
        (("local-one", 40.0, 71.5),),
    ),
}


def templates() -> dict[str, str]:
    """What the wiring reads from the folder ``prompts/``."""
    files = (path for path in PROMPTS.rglob("*") if path.is_file())
    return {path.relative_to(PROMPTS).as_posix(): path.read_text(encoding="utf-8") for path in files}


def scribe() -> JinjaScribe:
    """One with the real templates."""
    return JinjaScribe(templates())


def written() -> dict[str, str]:
    """File names and what should stand in them: the shared part once, then each question without lens and schema."""
    writer = scribe()
    asks = {name: Ask(SEAT, question) for name, question in QUESTIONS.items()}
    asks["first_pass_after_complaint"] = Ask(
        SEAT, QUESTIONS["first_pass"], attempt=2, complaint="claims[0]: 'grave' is no severity"
    )
    prompts = {name: writer.write(ask, None) for name, ask in asks.items()}
    texts = {f"{name}.txt": _question(prompt.suffix) for name, prompt in prompts.items()}
    return {"shared.txt": prompts["first_pass"].prefix, **texts}


def _question(suffix: str) -> str:
    return suffix[suffix.index("# The question") : suffix.index("# The answer")]
