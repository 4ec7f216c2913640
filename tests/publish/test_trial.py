"""What came of a trial survives its way into the ledger and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.domain.debate import Check, CheckKind, CheckOutcome
from reviewbot.domain.repair import Edit, Refusal
from reviewbot.errors import UsageError
from reviewbot.ports import Trialled
from reviewbot.publish import document
from reviewbot.publish.document_trial import trial_document
from reviewbot.publish.load_trial import load_trial

words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
names = (
    st.binary(min_size=1, max_size=12)
    .filter(lambda name: b"\0" not in name)
    .map(lambda name: name.decode("utf-8", "surrogateescape"))
)
edits = st.builds(Edit, names, st.none() | st.binary(max_size=40))
checks = st.builds(
    Check, st.tuples(words), source=words, outcome=st.sampled_from(CheckOutcome), output=words, kind=st.sampled_from(CheckKind)
)
trials = st.builds(
    Trialled,
    patch=st.binary(max_size=60),
    edits=st.lists(edits, max_size=3).map(tuple),
    refusals=st.lists(st.builds(Refusal, words, words, words), max_size=2).map(tuple),
    red=st.lists(words, max_size=2).map(tuple),
    unknown=st.lists(words, max_size=2).map(tuple),
    worse=st.lists(words, max_size=2).map(tuple),
    checks=st.lists(st.tuples(words, checks), max_size=2).map(tuple),
    shown=st.lists(st.tuples(words, words), max_size=2).map(tuple),
    beside=st.lists(words, max_size=2).map(tuple),
    output=words,
    reason=words,
)


@given(trials)
def test_a_trial_comes_back_as_it_was(made: Trialled):
    assert load_trial(document.dumps(trial_document(made))) == made


@given(st.binary(max_size=200))
def test_what_is_no_record_is_one_error(data: bytes):
    with pytest.raises(UsageError):
        load_trial(data)
