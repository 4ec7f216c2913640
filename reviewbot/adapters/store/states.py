"""What sessions, agents, tasks and calls may become. Pure: a table of steps, and a function that refuses the others."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import TypeVar

from reviewbot.errors import ReviewbotError
from reviewbot.ports import SessionState


class IllegalTransition(ReviewbotError):
    """A step that the state machine does not know: a bug of the caller."""


class AgentState(StrEnum):
    """A seat of one session. A lost one may be asked another question: it lost its seat for that ask."""

    IDLE = "idle"
    ASKED = "asked"
    ANSWERED = "answered"
    LOST = "lost"


class TaskState(StrEnum):
    """A change. A reviewed one goes back into debate when it is reviewed again; one whose debate failed is open."""

    OPEN = "open"
    IN_DEBATE = "in_debate"
    REVIEWED = "reviewed"


#: At its end, a session stays as it is.
ENDED = frozenset({SessionState.CONVERGED, SessionState.PARTIAL, SessionState.FAILED})

# Evidence that is recalled needs no checking, and some changes need no debate. ``interrupted`` is never stored: it is what a
# session reads as whose process is gone, and it begins anew at ``pending``.
SESSION_STEPS: Mapping[SessionState, frozenset[SessionState]] = {
    SessionState.PENDING: frozenset({SessionState.CHECKING, SessionState.IN_DEBATE}) | ENDED,
    SessionState.CHECKING: frozenset({SessionState.IN_DEBATE}) | ENDED,
    SessionState.IN_DEBATE: ENDED,
    SessionState.CONVERGED: frozenset(),
    SessionState.PARTIAL: frozenset(),
    SessionState.FAILED: frozenset(),
    SessionState.INTERRUPTED: frozenset({SessionState.PENDING}),
}

AGENT_STEPS: Mapping[AgentState, frozenset[AgentState]] = {
    AgentState.IDLE: frozenset({AgentState.ASKED, AgentState.LOST}),
    AgentState.ASKED: frozenset({AgentState.ANSWERED, AgentState.LOST, AgentState.IDLE}),
    AgentState.ANSWERED: frozenset({AgentState.ASKED, AgentState.LOST}),
    AgentState.LOST: frozenset({AgentState.ASKED, AgentState.ANSWERED}),
}

TASK_STEPS: Mapping[TaskState, frozenset[TaskState]] = {
    TaskState.OPEN: frozenset({TaskState.IN_DEBATE, TaskState.REVIEWED}),
    TaskState.IN_DEBATE: frozenset({TaskState.REVIEWED, TaskState.OPEN}),
    TaskState.REVIEWED: frozenset({TaskState.IN_DEBATE}),
}

_State = TypeVar("_State", SessionState, AgentState, TaskState)


def step(steps: Mapping[_State, frozenset[_State]], before: _State, after: _State) -> _State:
    """``after``, where ``before`` may become it or is it already. Raises IllegalTransition."""
    if after is before or after in steps[before]:
        return after
    raise IllegalTransition(f"{type(before).__name__} {before.value} cannot become {after.value}", hint="report this as a bug")


def task_after(before: TaskState, session: SessionState) -> TaskState:
    """What becomes of a task when a session about it goes to ``session``. Of two sessions at a time one may end well and the
    other fail: a review stays a review."""
    if session in (SessionState.CONVERGED, SessionState.PARTIAL):
        return TaskState.REVIEWED
    if session is SessionState.FAILED:
        return TaskState.OPEN if before is TaskState.IN_DEBATE else before
    return TaskState.IN_DEBATE


def shown(state: SessionState, owner_lives: bool) -> SessionState:
    """The state as a reader sees it: one that is not at its end and that nobody runs was interrupted."""
    return state if state in ENDED or owner_lives else SessionState.INTERRUPTED


class Claiming(Enum):
    """What somebody who wants a call does about it."""

    MAKE = auto()
    TAKE_OVER = auto()
    WAIT = auto()
    REPLAY = auto()


def claiming(found: str | None, *, mine: bool, owner_lives: bool) -> Claiming:
    """``found`` is the state of the call's row (``None``: there is none), ``mine`` that this process makes it already, in
    another thread: it will end, so it is waited for like everybody else's."""
    if found is None:
        return Claiming.MAKE
    if found != "asking":
        return Claiming.REPLAY
    return Claiming.WAIT if mine or owner_lives else Claiming.TAKE_OVER
