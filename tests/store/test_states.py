"""The state machines, without a database."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.store.states import (
    AGENT_STEPS,
    ENDED,
    SESSION_STEPS,
    TASK_STEPS,
    AgentState,
    Claiming,
    IllegalTransition,
    TaskState,
    claiming,
    shown,
    step,
    task_after,
)
from reviewbot.ports import SessionState
from tests.rings import examples


@pytest.mark.parametrize(("steps", "kind"), [(SESSION_STEPS, SessionState), (AGENT_STEPS, AgentState), (TASK_STEPS, TaskState)])
def test_every_state_is_in_its_table(steps, kind):
    assert set(steps) == set(kind)


def test_a_session_only_goes_forward():
    order = [SessionState.PENDING, SessionState.CHECKING, SessionState.IN_DEBATE]
    for before, after in product(order, order):
        if order.index(after) >= order.index(before):
            assert step(SESSION_STEPS, before, after) is after
        else:
            with pytest.raises(IllegalTransition):
                step(SESSION_STEPS, before, after)


@pytest.mark.parametrize(("ended", "after"), list(product(sorted(ENDED), SessionState)))
def test_an_end_is_an_end(ended: SessionState, after: SessionState):
    if after is ended:
        return
    with pytest.raises(IllegalTransition, match=f"{ended.value} cannot become {after.value}"):
        step(SESSION_STEPS, ended, after)


def test_nobody_stores_interrupted():
    assert all(SessionState.INTERRUPTED not in after for after in SESSION_STEPS.values())


@pytest.mark.parametrize("state", SessionState)
def test_a_session_without_a_living_process_was_interrupted_unless_it_ended(state: SessionState):
    assert shown(state, owner_lives=True) is state
    assert shown(state, owner_lives=False) is (state if state in ENDED else SessionState.INTERRUPTED)


@settings(derandomize=True, max_examples=examples(60))
@given(st.lists(st.sampled_from([SessionState.PENDING, SessionState.IN_DEBATE, *sorted(ENDED)]), max_size=8))
def test_a_task_follows_any_sessions_legally(went: list[SessionState]):
    """Sessions about one change run at the same time: whatever order they go in, no step is illegal."""
    state = TaskState.OPEN
    for session in went:
        state = step(TASK_STEPS, state, task_after(state, session))
    ended_well = [session for session in went if session in (SessionState.CONVERGED, SessionState.PARTIAL)]
    if went and went[-1] is SessionState.FAILED and state is TaskState.REVIEWED:
        assert ended_well


@pytest.mark.parametrize(
    ("found", "mine", "lives", "what"),
    [
        (None, False, False, Claiming.MAKE),
        ("answered", False, False, Claiming.REPLAY),
        ("failed", False, True, Claiming.REPLAY),
        ("asking", False, True, Claiming.WAIT),
        ("asking", True, False, Claiming.WAIT),
        ("asking", False, False, Claiming.TAKE_OVER),
    ],
)
def test_a_claim_is_decided_by_state_and_life(found: str | None, mine: bool, lives: bool, what: Claiming):
    assert claiming(found, mine=mine, owner_lives=lives) is what
