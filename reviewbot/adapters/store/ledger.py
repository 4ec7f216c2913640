"""What the parts of the store work with, and the steps that several of them take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from reviewbot.adapters.store import states
from reviewbot.adapters.store.database import Database
from reviewbot.adapters.store.owner import Owner
from reviewbot.adapters.store.states import AgentState, TaskState
from reviewbot.adapters.store.tables import agents, sessions, tasks, turns
from reviewbot.adapters.store.texts import Texts, storable
from reviewbot.ports import SessionState


class UnderWay:
    """The calls that this process makes now, so that its threads wait for each other without asking the database.

    ``who`` is one run of a session: an object, since a session that is left and resumed has the same name twice.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._making: dict[tuple[str, int], object] = {}
        self._ended: set[object] = set()
        self._closed = False

    def enter(self, key: tuple[str, int], who: object) -> bool:
        """Wait until nobody else here makes the call, and be the one. False: it is too late for ``who``."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_over(who) or key not in self._making)
            if self.is_over(who):
                return False
            self._making[key] = who
            return True

    def leave(self, key: tuple[str, int], who: object) -> None:
        """It was made, or given back."""
        with self._changed:
            if self._making.get(key) is who:
                del self._making[key]
            self._changed.notify_all()

    def is_over(self, who: object) -> bool:
        """Its session was left, or the store closed."""
        return self._closed or who in self._ended

    def end(self, who: object) -> None:
        """Give back all that ``who`` makes: it does not settle any more."""
        with self._changed:
            self._ended.add(who)
            for key in [key for key, maker in self._making.items() if maker is who]:
                del self._making[key]
            self._changed.notify_all()

    def close(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


@dataclass(frozen=True, slots=True)
class Ledger:
    """``now`` gives Unix seconds; ``pause`` waits some seconds and is cut short by ``close``."""

    database: Database
    owner: Owner
    now: Callable[[], float]
    pause: Callable[[float], None]
    texts: Texts = field(default_factory=Texts)
    under_way: UnderWay = field(default_factory=UnderWay)


def add_turn(connection: Connection, session: str, call: int, *, replayed: bool, at: float) -> None:
    """The session has used the call. Once: a resumed session meets its own calls again."""
    met = connection.scalar(select(turns.c.number).where(turns.c.session_id == session, turns.c.call_id == call))
    if met is not None:
        return
    counted = update(sessions).where(sessions.c.id == session).values(turns=sessions.c.turns + 1).returning(sessions.c.turns)
    number = connection.scalar(counted)
    connection.execute(insert(turns).values(session_id=session, number=number, call_id=call, replayed=replayed, at=at))


def move_agent(connection: Connection, session: str, name: str, *path: AgentState, reason: str = "") -> None:
    """Take a seat through ``path``. Somebody who has no seat (a moderator who was not named) is passed over."""
    where = (agents.c.session_id == session, agents.c.name == storable(name))
    found = connection.scalar(select(agents.c.state).where(*where).with_for_update())
    if found is None:
        return
    state = AgentState(found)
    for after in path:
        state = states.step(states.AGENT_STEPS, state, after)
    if state != found or reason:
        connection.execute(update(agents).where(*where).values(state=state.value, reason=storable(reason)))


def move_session(connection: Connection, row: Any, state: SessionState, **values: Any) -> None:
    """Take a session, and its task, to ``state``. ``row`` is the session's. Raises IllegalTransition."""
    states.step(states.SESSION_STEPS, SessionState(row.state), state)
    connection.execute(update(sessions).where(sessions.c.id == row.id).values(state=state.value, **values))
    where = tasks.c.id == row.task_id
    before = TaskState(connection.execute(select(tasks.c.state).where(where).with_for_update()).scalar_one())
    after = states.step(states.TASK_STEPS, before, states.task_after(before, state))
    if after is not before:
        connection.execute(update(tasks).where(where).values(state=after.value))
