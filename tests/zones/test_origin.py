"""The author's own word: it may raise a finding, and carries nothing else."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.debate import weigh
from reviewbot.domain.evidence import CheckRun, EvidenceKind, EvidenceStatus, Ledger, Precision, TestRun
from reviewbot.evidence.origin import MOST_ITEMS, MOST_NOTES, REASON, SAID, of_author
from reviewbot.testing import a_claim, evidence_item
from tests.publish.test_evidence import LEDGERS
from tests.rings import examples

BROKEN = evidence_item(1, "a.py", 2, kind=EvidenceKind.TEST, precision=Precision.CERTAIN)
LINTED = evidence_item(2, "a.py", 2, precision=Precision.CERTAIN)
LEDGER = Ledger(
    (BROKEN, LINTED, evidence_item(3, "a.py", 2, status=EvidenceStatus.EXISTING)),
    (CheckRun("pytest", ran=True, required=True), CheckRun("ruff", ran=True)),
    TestRun(5, 0, measured=True, executed=frozenset({("a.py", 2)})),
    "bubblewrap",
    ("all is well",),
)


def test_what_is_new_stays_as_a_reason_to_look() -> None:
    told = of_author(LEDGER)
    assert [item.id for item in told.items] == ["E1", "E2"]
    assert [replace(item.result, precision=Precision.CERTAIN) for item in told.items] == [BROKEN.result, LINTED.result]


@settings(derandomize=True, max_examples=examples(60))
@given(LEDGERS)
def test_nothing_of_it_counts_as_executed_green_or_proven(ledger: Ledger) -> None:
    told = of_author(ledger, ("pytest",))
    assert not told.executed
    assert not told.tests.green
    assert told.tests == TestRun()
    assert told.sandbox == "none"
    assert not any(check.ran for check in told.checks)
    assert {item.result.precision for item in told.items} <= {Precision.HEURISTIC}
    assert not any(item.is_executed_proof for item in told.items)
    assert told.items == of_author(told).items
    assert all(weigh.tool_floor(a_claim(item.result.path, item.result.line, "x"), item) is False for item in told.items)


def test_a_required_check_that_only_the_author_ran_did_not_run() -> None:
    told = of_author(LEDGER, ("pytest", "mypy"))
    assert [(run.name, run.ran, run.required, run.reason) for run in told.checks] == [
        ("pytest", False, True, REASON),
        ("ruff", False, False, REASON),
        ("mypy", False, True, REASON),
    ]
    lenient = replace(LEDGER, checks=(CheckRun("pytest", ran=True, required=False),))
    assert of_author(lenient, ("pytest",)).checks[0].required, "the author does not decide what is required"


def test_the_authors_words_are_marked_and_few() -> None:
    assert of_author(LEDGER).notes == (SAID, "the author's run says: all is well")
    loud = replace(LEDGER, items=(BROKEN,) * (MOST_ITEMS + 3), notes=("approved",) * 500)
    told = of_author(loud)
    assert len(told.items) == MOST_ITEMS
    assert len(told.notes) == MOST_NOTES + 2
    assert "3 of the author's results are left out" in told.notes
    assert "approved" not in told.notes


@settings(derandomize=True, max_examples=examples(30))
@given(st.sampled_from(EvidenceKind), st.sampled_from(Precision))
def test_no_result_of_the_authors_gives_a_claim_a_floor(kind: EvidenceKind, precision: Precision) -> None:
    ledger = Ledger((evidence_item(1, "a.py", 2, kind=kind, precision=precision),), sandbox="bubblewrap")
    (item,) = of_author(ledger).items
    assert not weigh.tool_floor(a_claim("a.py", 2, "x"), item)
