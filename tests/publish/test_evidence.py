"""The ledger of a review and the outcome of an experiment, written and read back: nothing is lost."""

from __future__ import annotations

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.domain.change import Revisions
from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
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
from reviewbot.errors import UsageError
from reviewbot.ports import Verification
from reviewbot.publish.document import dumps, evidence_document, verification_document
from reviewbot.publish.load import load_evidence, load_verification
from reviewbot.publish.load_evidence import SANDBOXES
from tests.publish import samples
from tests.rings import examples

#: Every text but those that no JSON reader and no database would take: NUL and half surrogate pairs.
WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=12)
COUNTS = st.integers(0, 10**9)
RESULTS = st.builds(
    Result,
    kind=st.sampled_from(EvidenceKind),
    tool=WORDS,
    rule=st.none() | WORDS,
    path=WORDS,
    line=COUNTS,
    message=WORDS,
    category=st.sampled_from(Category),
    severity=st.sampled_from(Severity),
    precision=st.sampled_from(Precision),
    end_line=COUNTS,
    anchor=WORDS,
    trigger=WORDS,
    consequence=WORDS,
    excerpt=WORDS,
    command=st.lists(WORDS, max_size=2).map(tuple),
    exit_code=st.none() | st.integers(-255, 255),
    subject=WORDS,
)
ITEMS = st.builds(Evidence, WORDS, st.sampled_from(EvidenceStatus), st.sampled_from(Side), RESULTS, suppressed=st.booleans())
CHECKS = st.builds(
    CheckRun,
    WORDS,
    ran=st.booleans(),
    reason=WORDS,
    seconds=st.floats(0, 1e6),
    required=st.booleans(),
    failed=st.booleans(),
    cut_short=st.booleans(),
)
LEDGERS = st.builds(
    Ledger,
    st.lists(ITEMS, max_size=2).map(tuple),
    st.lists(CHECKS, max_size=2).map(tuple),
    st.builds(TestRun, COUNTS, COUNTS, measured=st.booleans(), executed=st.frozensets(st.tuples(WORDS, COUNTS), max_size=3)),
    st.sampled_from(SANDBOXES),
    st.lists(WORDS, max_size=2).map(tuple),
)
VERIFICATIONS = st.builds(
    Verification,
    st.builds(
        Check,
        st.lists(WORDS, max_size=2).map(tuple),
        WORDS,
        WORDS,
        st.sampled_from(CheckOutcome),
        st.lists(WORDS, max_size=2).map(tuple),
        WORDS,
        st.sampled_from(CheckKind),
        WORDS,
    ),
    WORDS,
    st.none() | st.booleans(),
)


@settings(derandomize=True, max_examples=examples(60))
@given(LEDGERS)
def test_a_ledger_is_read_back_as_it_was_written(ledger: Ledger):
    assert load_evidence(dumps(evidence_document(ledger, samples.REVISIONS))) == ledger


@settings(derandomize=True, max_examples=examples(40))
@given(VERIFICATIONS)
def test_the_outcome_of_an_experiment_is_read_back_as_it_was_written(shown: Verification):
    assert load_verification(dumps(verification_document(shown))) == shown


def test_a_record_of_an_experiment_of_the_first_release_is_read():
    shown = Verification(Check(("pytest",), outcome=CheckOutcome.FAILS_AT_HEAD), "1 failed")
    written = verification_document(shown)
    del written["fixed"], written["check"]["kind"], written["check"]["author"]
    assert load_verification(json.dumps(written)) == shown


def test_what_is_read_back_says_the_same_when_it_is_written_again_even_where_a_name_is_not_utf_8():
    written = evidence_document(samples.LEDGER, samples.REVISIONS)
    again = load_evidence(dumps(written))
    assert evidence_document(again, samples.REVISIONS) == written
    assert ("caf\\xe9.py", 2) in again.tests.executed, "shown as documents show it"


def test_an_evidence_document_of_the_first_release_is_read():
    written = evidence_document(samples.LEDGER, samples.REVISIONS)
    for run in written["checks"]:
        del run["cut_short"]
    assert load_evidence(json.dumps(written)).checks == samples.LEDGER.checks


def test_a_ledger_without_a_repository_is_read():
    written = evidence_document(Ledger(), Revisions("patch", "patch", "patch", None, None))
    assert load_evidence(dumps(written)) == Ledger()


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("schema_version",), 2, "$.schema_version"),
        (("items", 0, "line"), -1, "$.items[0].line"),
        (("items", 0, "suppressed"), 1, "$.items[0].suppressed"),
        (("items", 1, "category"), "style", "$.items[1].category"),
        (("checks", 0, "cut_short"), "no", "$.checks[0].cut_short"),
        (("checks", 0, "surprise"), 1, "$.checks[0]"),
        (("tests", "executed"), {}, "$.tests.executed"),
        (("sandbox",), "chroot", "$.sandbox"),
        (("target", "branch"), "main", "$.target"),
    ],
)
def test_a_wrong_evidence_document_is_refused_with_its_place(path, value, place):
    written = copy.deepcopy(evidence_document(samples.LEDGER, samples.REVISIONS))
    node = written
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(UsageError, match=f"the evidence document is wrong at {re.escape(place)}:"):
        load_evidence(json.dumps(written))


def test_a_wrong_record_of_an_experiment_is_refused():
    with pytest.raises(UsageError, match="the record of an experiment is not valid JSON"):
        load_verification(b"{")
    with pytest.raises(UsageError, match=r"at \$: the key 'check' is missing"):
        load_verification('{"schema_version": 1, "excerpt": ""}')
