"""The pay-once ledger: what a claim gives, and to whom."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import Connection

from reviewbot.adapters.store.database import insert_new
from reviewbot.adapters.store.failure import LedgerError
from reviewbot.adapters.store.opening import OpenSession, Store, open_store
from reviewbot.adapters.store.tables import calls as calls_table
from reviewbot.adapters.store.tables import projects
from reviewbot.domain.money import Usage
from reviewbot.ports import CallState, Recorded
from tests.rings import examples
from tests.store.samples import answered, failed, plan, wanted


def test_a_call_is_ours_once_and_then_recorded(store: Store):
    with store.begin(plan("A")) as opened:
        assert opened.calls.claim(wanted()) is None
        opened.calls.settle(wanted(), answered())
        assert opened.calls.claim(wanted()) == answered()


def test_every_figure_of_a_usage_comes_back(store: Store):
    usage = Usage(**{entry.name: number + 1 for number, entry in enumerate(fields(Usage))})
    assert {entry.name for entry in fields(Usage)} <= set(calls_table.c.keys())
    with store.begin(plan("A")) as opened:
        opened.calls.claim(wanted())
        opened.calls.settle(wanted(), replace(answered(), usage=usage))
        found = opened.calls.claim(wanted())
    assert found is not None
    assert found.usage == usage


def test_another_session_replays_answers_and_makes_failed_calls_anew(store: Store):
    with store.begin(plan("A")) as first:
        for number, outcome in ((1, answered()), (2, failed())):
            assert first.calls.claim(wanted(number)) is None
            first.calls.settle(wanted(number), outcome)
        assert first.calls.claim(wanted(2)) == failed()
        with store.begin(plan("B")) as second:
            assert second.calls.claim(wanted(1)) == answered()
            assert second.calls.claim(wanted(2)) is None
            second.calls.settle(wanted(2), answered("now"))
        assert first.calls.claim(wanted(2)) == failed(), "a session keeps to its course"


def test_a_released_call_is_free_again(store: Store):
    with store.begin(plan("A")) as opened:
        assert opened.calls.claim(wanted()) is None
        opened.calls.release(wanted())
        assert opened.calls.claim(wanted()) is None
        assert not store.history.session("A").calls


def test_what_a_session_did_not_settle_is_free_when_it_is_left(store: Store):
    with store.begin(plan("A")) as first:
        assert first.calls.claim(wanted()) is None
    with store.begin(plan("B", key="0" * 64)) as second:
        assert second.calls.claim(wanted()) is None


def test_fresh_generations_do_not_see_each_other(store: Store):
    with store.begin(plan("A")) as first:
        first.calls.claim(wanted())
        first.calls.settle(wanted(), answered("old"))
    with store.begin(plan("B", fresh=True)) as second:
        assert second.calls.claim(wanted()) is None
        second.calls.settle(wanted(), answered("new"))
    with store.begin(plan("C")) as third:
        assert third.calls.claim(wanted()) == answered("new")


def test_a_fresh_session_of_another_plan_gets_new_answers_too(store: Store):
    with store.begin(plan("A", fresh=True)), store.begin(plan("B", fresh=True)) as fresh:
        fresh.calls.claim(wanted())
        fresh.calls.settle(wanted(), answered("of the first plan"))
    with store.begin(plan("C", key="1" * 64)), store.begin(plan("D", key="1" * 64, fresh=True)) as other:
        assert other.calls.claim(wanted()) is None


def test_threads_of_one_process_wait_for_each_other(store: Store):
    made: list[int] = []

    def ask(opened: OpenSession) -> Recorded | None:
        found = opened.calls.claim(wanted())
        if found is None:
            made.append(1)
            opened.calls.settle(wanted(), answered())
        return found

    with store.begin(plan("A")) as opened, ThreadPoolExecutor(12) as threads:
        found = list(threads.map(ask, [opened] * 12, timeout=30))
    assert len(made) == 1
    assert found.count(answered()) == 11


def test_many_threads_claim_and_settle_at_a_time(store: Store):
    def ask(number: int) -> None:
        assert opened.calls.claim(wanted(number)) is None
        opened.calls.settle(wanted(number), answered(str(number)))

    with store.begin(plan("A")) as opened, ThreadPoolExecutor(12) as threads:
        list(threads.map(ask, range(40), timeout=60))
    assert [call.number for call in store.history.session("A").calls] == list(range(1, 41))


def test_a_waiting_claim_ends_when_the_store_is_closed(where: str):
    store = open_store(where)
    opened = store.begin(plan("A"))
    assert opened.calls.claim(wanted()) is None
    errors: list[LedgerError] = []

    def wait() -> None:
        with pytest.raises(LedgerError) as caught:
            opened.calls.claim(wanted())
        errors.append(caught.value)

    thread = threading.Thread(target=wait)
    thread.start()
    store.close()
    thread.join(20)
    assert errors


def test_who_was_left_claims_nothing_more(store: Store):
    with store.begin(plan("A")) as left, ThreadPoolExecutor(1) as thread:
        assert left.calls.claim(wanted()) is None
        waiting = thread.submit(left.calls.claim, wanted())
        left.__exit__()
        with pytest.raises(LedgerError, match="the session was left"):
            waiting.result(20)
    with pytest.raises(LedgerError, match="the session was left"):
        left.calls.claim(wanted())
    with store.begin(plan("B")) as again:
        assert again.calls.claim(wanted()) is None


def test_a_claim_that_succeeds_while_its_session_is_left_is_given_back(where: str):
    leaving: list[OpenSession] = []

    def now() -> float:
        """Asked within the transaction of the claim."""
        for opened in leaving:
            opened.calls._ledger.under_way.end(opened.calls)
        return 0.0

    with open_store(where, now=now) as store, open_store(where) as other:
        opened = store.begin(plan("A"))
        leaving.append(opened)
        with pytest.raises(LedgerError, match="the session was left"):
            opened.calls.claim(wanted())
        assert other.begin(plan("B")).calls.claim(wanted()) is None, "though the first process still lives"


def test_two_stores_of_one_ledger_wait_for_each_other(where: str):
    with open_store(where) as first, open_store(where) as second:
        here, there = first.begin(plan("A")), second.begin(plan("B"))
        assert here.id != there.id
        assert here.calls.claim(wanted()) is None
        with ThreadPoolExecutor(1) as thread:
            waiting = thread.submit(there.calls.claim, wanted())
            assert not waiting.done()
            here.calls.settle(wanted(), answered())
            assert waiting.result(20) == answered()


def test_a_closed_store_leaves_nothing_to_wait_for(where: str):
    with open_store(where) as first:
        assert first.begin(plan("A")).calls.claim(wanted()) is None
    with open_store(where) as second:
        opened = second.begin(plan("B"))
        assert opened.resumed
        assert opened.calls.claim(wanted()) is None


def test_an_answer_that_comes_after_a_take_over_is_kept(where: str):
    """A process that lost its lock (its server connection, say) but not its life."""
    with open_store(where) as first, open_store(where) as second:
        here = first.begin(plan("A"))
        there = second.begin(plan("B"))
        assert here.calls.claim(wanted()) is None
        first._ledger.owner.close()
        assert there.calls.claim(wanted()) is None
        here.calls.settle(wanted(), answered("first"))
        there.calls.settle(wanted(), answered("second"))
        assert there.calls.claim(wanted()) == answered("first")
        first._closing.set()
        first._ledger.database.close()


@pytest.mark.parametrize("words", ["\x00", "\ud800", "a\x00b\udfff\U0001f600", ""])
def test_any_character_survives(store: Store, words: str):
    call = wanted(model=words, seat=words, phase=words, subject=words, system=words, prefix=words, suffix=words, parameters=words)
    with store.begin(plan("A", title=words, project=words, seats=((words, words, words),))) as opened:
        assert opened.calls.claim(call) is None
        opened.calls.settle(call, replace(answered(), document=words, outcome=words))
        found = opened.calls.claim(call)
        opened.session.keep(words, {words: [words]})
        assert opened.session.recall(words) == {words: [words]}
    assert found is not None
    assert found.document == words
    shown = store.history.session("A").calls[0]
    assert (shown.system, shown.prefix, shown.suffix) == (words, words, words)


def test_a_text_is_kept_once(store: Store):
    with store.begin(plan("A")) as opened:
        for number in range(4):
            opened.calls.claim(wanted(number))
            opened.calls.settle(wanted(number), answered("same"))
    with store._ledger.database.read() as connection:
        count = connection.exec_driver_sql("SELECT count(*) FROM texts").scalar()
    assert count == 5 + 4, "system, prefix, exchanges, parameters, answer; four suffixes"


def test_what_came_in_is_counted(store: Store):
    """By the number of rows, and not by a driver's: whoever lost the race for a row must know it."""

    def insert(connection: Connection) -> int:
        return insert_new(connection, projects, [{"name": "a"}, {"name": "b"}, {"name": "a"}])

    assert store._ledger.database.write(insert) == 2
    assert store._ledger.database.write(insert) == 0


CALLS = st.integers(0, 3)
OUTCOMES = st.sampled_from([answered("x"), answered("y"), failed()])


class Ledger(RuleBasedStateMachine):
    """Claims, outcomes, ends and new beginnings in any order, against a model of what must be known."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[tuple[int, int], Recorded] = {}
        self.failures: dict[tuple[int, int, str], Recorded] = {}
        self.ours: set[int] = set()
        self.runs = 0

    @initialize()
    def open(self) -> None:
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(Path(self.folder.name))
        self.opened = self.store.begin(plan("R0"))
        self.sessions = {self.opened.id}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def known(self, number: int) -> Recorded | None:
        generation = self.opened.generation
        return self.failures.get((number, generation, self.opened.id)) or self.answers.get((number, generation))

    @rule(number=CALLS)
    def claim(self, number: int) -> None:
        if number in self.ours:
            return  # it would wait for us
        found = self.opened.calls.claim(wanted(number))
        assert found == self.known(number)
        if found is None:
            self.ours.add(number)

    @precondition(lambda self: self.ours)
    @rule(data=st.data(), outcome=OUTCOMES)
    def settle(self, data: st.DataObject, outcome: Recorded) -> None:
        number = data.draw(st.sampled_from(sorted(self.ours)))
        self.opened.calls.settle(wanted(number), outcome)
        self.ours.discard(number)
        if outcome.state is CallState.ANSWERED:
            self.answers[number, self.opened.generation] = outcome
        else:
            self.failures[number, self.opened.generation, self.opened.id] = outcome

    @precondition(lambda self: self.ours)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(sorted(self.ours)))
        self.opened.calls.release(wanted(number))
        self.ours.discard(number)

    @rule(fresh=st.booleans(), reopen=st.booleans())
    def run_again(self, fresh: bool, reopen: bool) -> None:
        if reopen:
            self.store.close()
            self.store = open_store(Path(self.folder.name))
        else:
            self.opened.__exit__()
        self.ours.clear()
        self.runs += 1
        before = self.opened
        self.opened = self.store.begin(plan(f"R{self.runs}", fresh=fresh))
        assert (self.opened.id == before.id) is self.opened.resumed is (not fresh)
        assert (self.opened.generation > before.generation) is fresh

    @invariant()
    def nothing_else_is_open(self) -> None:
        with self.store._ledger.database.read() as connection:
            asking = connection.exec_driver_sql("SELECT count(*) FROM calls WHERE state = 'asking'").scalar()
        assert asking == len(self.ours)


Ledger.TestCase.settings = settings(
    max_examples=examples(10), stateful_step_count=15, derandomize=True, suppress_health_check=list(HealthCheck)
)
test_any_order_of_steps_keeps_the_promises = Ledger.TestCase
