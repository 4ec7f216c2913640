"""Sessions: resumed, begun anew, ended; documents; what becomes of agents and tasks."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reviewbot.adapters.store.failure import LedgerError
from reviewbot.adapters.store.opening import Store, open_store
from reviewbot.adapters.store.states import AgentState, IllegalTransition, TaskState
from reviewbot.ports import Profile, SessionState
from tests.store.samples import FINDING, answered, failed, plan, review, wanted


def state_of(store: Store, name: str) -> SessionState:
    return store.history.session(name).summary.state


def agents_of(store: Store, name: str) -> dict[str, AgentState]:
    return {seat.name: seat.state for seat in store.history.session(name).summary.seats}


def test_a_session_goes_through_its_states_with_its_documents(store: Store):
    with store.begin(plan("A")) as opened:
        assert not opened.resumed
        assert not opened.replayable
        assert state_of(store, "A") is SessionState.PENDING
        opened.session.keep("evidence", {"items": [1, "é"]}, SessionState.CHECKING)
        opened.session.keep("evidence", {"items": [2]})
        assert opened.session.recall("evidence") == {"items": [2]}
        assert opened.session.recall("nothing") is None
        opened.session.keep("other", {}, SessionState.IN_DEBATE)
        assert state_of(store, "A") is SessionState.IN_DEBATE
        opened.session.close(review(FINDING), SessionState.CONVERGED)
    done = store.history.session("A")
    assert done.documents == ("evidence", "other")
    assert (done.summary.state, done.summary.task) == (SessionState.CONVERGED, TaskState.REVIEWED)
    assert (done.summary.conclusion, done.summary.verdict) == ("complete", "comment")
    assert done.summary.ended_at is not None


def test_an_illegal_step_changes_nothing(store: Store):
    with store.begin(plan("A")) as opened:
        opened.session.keep("x", {"a": 1}, SessionState.IN_DEBATE)
        with pytest.raises(IllegalTransition):
            opened.session.keep("x", {"a": 2}, SessionState.CHECKING)
        assert opened.session.recall("x") == {"a": 1}


def test_an_interrupted_session_is_resumed_with_its_failures_and_documents(store: Store):
    with store.begin(plan("A")) as opened:
        opened.session.keep("evidence", {"a": 1}, SessionState.IN_DEBATE)
        opened.calls.claim(wanted(1))
        opened.calls.settle(wanted(1), failed())
    assert state_of(store, "A") is SessionState.INTERRUPTED
    assert [summary.id for summary in store.history.running()] == ["A"]
    with store.begin(plan("B")) as again:
        assert (again.id, again.resumed, again.replayable) == ("A", True, False)
        assert state_of(store, "A") is SessionState.PENDING
        assert again.session.recall("evidence") == {"a": 1}
        assert again.calls.claim(wanted(1)) == failed()
        again.session.keep("evidence", {"a": 1}, SessionState.CHECKING)
    assert [call.number for call in store.history.session("A").calls] == [1], "a turn is counted once"


def test_a_finished_session_is_replayed_by_a_new_one(store: Store):
    with store.begin(plan("A")) as opened:
        opened.session.keep("evidence", {"a": 1}, SessionState.IN_DEBATE)
        opened.calls.claim(wanted(1))
        opened.calls.settle(wanted(1), answered())
        opened.session.close(review(), SessionState.PARTIAL)
    with store.begin(plan("B")) as again:
        assert (again.id, again.resumed, again.replayable) == ("B", False, True)
        assert again.session.recall("evidence") == {"a": 1}
        assert again.calls.claim(wanted(1)) == answered()
        again.session.keep("evidence", {"a": 2}, SessionState.IN_DEBATE)
        again.session.close(review(), SessionState.CONVERGED)
    assert store.begin(plan("C")).session.recall("evidence") == {"a": 2}, "the latest"
    first, second = store.history.session("A").summary, store.history.session("B").summary
    assert (first.usage.paid_usd, first.usage.replayed_calls) == (0.25, 0)
    assert (second.usage.cost_usd, second.usage.paid_usd, second.usage.replayed_calls) == (0.25, 0.0, 1)


def test_another_plan_recalls_nothing(store: Store):
    with store.begin(plan("A")) as opened:
        opened.session.keep("evidence", {"a": 1})
        opened.session.close(review(), SessionState.CONVERGED)
    assert store.begin(plan("B", key="2" * 64)).session.recall("evidence") is None
    assert store.begin(plan("C", fresh=True)).session.recall("evidence") is None


def test_beside_a_living_process_a_second_runs_a_session_of_its_own(where: str):
    with open_store(where) as first, open_store(where) as second:
        here = first.begin(plan("A"))
        here.session.keep("evidence", {"a": 1}, SessionState.IN_DEBATE)
        there = second.begin(plan("A"))
        assert (there.id, there.resumed) == ("A-2", False)
        assert there.session.recall("evidence") == {"a": 1}
        assert {summary.state for summary in second.history.running()} == {SessionState.IN_DEBATE, SessionState.PENDING}
        here.session.close(review(), SessionState.FAILED)
        there.session.close(review(), SessionState.CONVERGED)
        assert second.history.session("A-2").summary.task is TaskState.REVIEWED


def test_who_lost_a_session_cannot_write_it(where: str):
    with open_store(where) as first, open_store(where) as second:
        here = first.begin(plan("A"))
        here.session.let_go()
        there = second.begin(plan("B"))
        assert there.id == "A"
        with pytest.raises(LedgerError, match="taken session A over"):
            here.session.keep("x", {})
        with pytest.raises(LedgerError, match="taken session A over"):
            here.session.close(review(), SessionState.CONVERGED)
        assert there.session.recall("x") is None


def test_agents_are_asked_answer_and_are_lost(store: Store):
    with store.begin(plan("A")) as opened:
        assert agents_of(store, "A") == {"critic": AgentState.IDLE, "reviewer": AgentState.IDLE}
        opened.calls.claim(wanted(1))
        opened.calls.claim(wanted(2))
        opened.calls.claim(wanted(3, seat="reviewer"))
        assert agents_of(store, "A") == {"critic": AgentState.ASKED, "reviewer": AgentState.ASKED}
        opened.calls.settle(wanted(1), answered())
        opened.calls.release(wanted(2))
        opened.calls.settle(wanted(3, seat="reviewer"), failed())
        assert agents_of(store, "A") == {"critic": AgentState.ANSWERED, "reviewer": AgentState.LOST}
        opened.calls.claim(wanted(4, seat="nobody"))
        opened.calls.settle(wanted(4, seat="nobody"), answered())
        opened.session.close(review(lost="critic"), SessionState.CONVERGED)
    assert [seat.reason for seat in store.history.session("A").summary.seats] == ["hung", ""]
    assert agents_of(store, "A") == {"critic": AgentState.LOST, "reviewer": AgentState.LOST}


def test_a_turn_and_its_state_are_one_transaction(store: Store, monkeypatch: pytest.MonkeyPatch):
    """A transaction that breaks off in the middle leaves neither."""
    from reviewbot.adapters.store import calls

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    with store.begin(plan("A")) as opened:
        opened.calls.claim(wanted(1))
        monkeypatch.setattr(calls, "add_turn", broken)
        with pytest.raises(ZeroDivisionError):
            opened.calls.settle(wanted(1), answered())
        monkeypatch.undo()
        assert not store.history.session("A").calls
        assert opened.calls.claim(wanted(1)) is None, "no outcome was written"


def test_profiles_are_kept_in_place_of_what_was_known(where: str):
    profile = Profile("localhost", "qwen", 800.0, 40.5, 3.25, 2, ((10.0, 12.5), (8.0, 7.0)))
    with open_store(where) as store:
        assert store.profiles.profile("localhost", "qwen") is None
        store.profiles.learn(replace(profile, samples=1))
        store.profiles.learn(profile)
        store.profiles.learn(replace(profile, model="other", predictions=()))
    with open_store(where) as store:
        assert store.profiles.profile("localhost", "qwen") == profile
        assert [known.model for known in store.profiles.all()] == ["other", "qwen"]
