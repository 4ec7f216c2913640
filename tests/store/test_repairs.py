"""The code that a session made: every task, try and write of it, kept with the review or not at all."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from reviewbot.adapters.store.opening import Store, open_store
from reviewbot.adapters.store.states import IllegalTransition
from reviewbot.adapters.store.tables import repair_tries, repair_versions, repairs
from reviewbot.domain.debate import Check, CheckOutcome
from reviewbot.domain.repair import CodeVersion, Edit, Goal, Proven, Repair, RepairOutcome, Tried
from reviewbot.domain.review import Review
from reviewbot.ports import SessionState
from tests.rings import examples
from tests.store.samples import FINDING, answered, plan, review, wanted

pytestmark = pytest.mark.matrix(parts=1)

CHECK = Check(("pytest", "-q"), "def test(): ...", "test_f", CheckOutcome.PASSES_WITH_FIX, ("E2",), output="1 passed")
FIXED = Repair(
    "F1",
    "Divides by nought",
    RepairOutcome.FIXED,
    why="",
    author="proposer",
    explanation="Ask first.",
    patch=b"--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-\xe9\n+x\0\r\n",
    proof=Proven("its check failed before", CHECK, ("12 tests as before",)),
    tries=(
        Tried(
            "proposer",
            1,
            b"+no\n",
            "worse \udcff",
            (CodeVersion(1, "a.py", b"\xff\0", "proposer"), CodeVersion(2, "b.py", None, "proposer")),
        ),
        Tried("proposer", 2, b"+x\n", "", (CodeVersion(1, "a.py", b"", "proposer"),)),
    ),
    dissent="Optimizer: hardly",
)
SKIPPED = Repair("F2", "Slow", RepairOutcome.SKIPPED, Goal.PERFORMANCE, "time was up", withheld="it is too large")


def having(*made: Repair) -> Review:
    return replace(review(FINDING), repairs=made)


def closed(store: Store, name: str, *made: Repair) -> None:
    with store.begin(plan(name)) as opened:
        opened.session.close(having(*made), SessionState.CONVERGED)


def counted(store: Store) -> list[int]:
    with store._ledger.database.read() as connection:
        tables = (repairs, repair_tries, repair_versions)
        return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables]


def test_everything_but_whole_files_comes_back(store: Store):
    closed(store, "A", replace(FIXED, edits=(Edit("a.py", b"all"),)), SKIPPED)
    assert store.history.session("A").repairs == (FIXED, SKIPPED)
    closed(store, "B")
    assert store.history.session("B").repairs == ()
    assert store.history.session("A").repairs == (FIXED, SKIPPED)


def test_it_is_kept_over_processes(where: str):
    with open_store(where) as store:
        closed(store, "A", FIXED)
    with open_store(where) as store:
        assert store.history.session("A").repairs == (FIXED,)


def test_an_end_that_fails_keeps_nothing_of_it(store: Store):
    with store.begin(plan("A")) as opened:
        opened.session.close(having(SKIPPED), SessionState.CONVERGED)
        with pytest.raises(IllegalTransition):
            opened.session.close(having(FIXED, SKIPPED), SessionState.CHECKING)
    assert store.history.session("A").repairs == (SKIPPED,)
    assert counted(store) == [1, 0, 0]


def test_a_review_that_is_written_again_replaces_what_was_made(store: Store):
    with store.begin(plan("A")) as opened:
        opened.session.close(having(FIXED, SKIPPED), SessionState.CONVERGED)
        assert counted(store) == [2, 2, 3]
        opened.session.close(having(SKIPPED), SessionState.CONVERGED)
    assert store.history.session("A").repairs == (SKIPPED,)
    assert counted(store) == [1, 0, 0]


WORDS = st.text(st.characters(codec=None, exclude_categories=()), max_size=6)
PLAIN = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6)
VERSIONS = st.builds(CodeVersion, number=st.integers(1, 9), path=PLAIN, content=st.none() | st.binary(max_size=8), by=PLAIN)
TRIES = st.builds(
    Tried,
    author=PLAIN,
    attempt=st.integers(0, 9),
    patch=st.binary(max_size=8),
    reason=WORDS,
    versions=st.lists(VERSIONS, max_size=2).map(tuple),
)
MADE = st.builds(
    Repair,
    id=PLAIN,
    title=PLAIN,
    outcome=st.sampled_from(RepairOutcome),
    goal=st.sampled_from(Goal),
    why=WORDS,
    author=PLAIN,
    explanation=WORDS,
    edits=st.just(()),
    patch=st.binary(max_size=8),
    proof=st.none()
    | st.builds(Proven, told=WORDS, check=st.none() | st.just(CHECK), beside=st.lists(WORDS, max_size=2).map(tuple)),
    tries=st.lists(TRIES, max_size=2).map(tuple),
    dissent=st.none() | WORDS,
    withheld=WORDS,
)


@pytest.mark.ci
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(MADE, max_size=3))
def test_any_bytes_and_words_come_back(store: Store, made: list[Repair]):
    with store.begin(plan("A", fresh=True)) as opened:
        opened.session.close(having(*made), SessionState.CONVERGED)
        assert store.history.session(opened.id).repairs == tuple(made)


def test_an_example_for_training_says_what_became_of_the_code(store: Store):
    with store.begin(plan("A")) as opened:
        for number, changes in enumerate(
            ({"phase": "make", "subject": "F1"}, {"phase": "make", "subject": "F9"}, {"subject": "F1"})
        ):
            call = wanted(number, **changes)
            opened.calls.claim(call)
            opened.calls.settle(call, answered())
        opened.session.close(having(FIXED), SessionState.CONVERGED)
    told = [json.loads(example.line)["metadata"].get("repair") for example in store.examples(None) if example.kind == "chat"]
    assert told == ["fixed", None, None]
