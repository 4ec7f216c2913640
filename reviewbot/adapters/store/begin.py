"""Whether a plan resumes an interrupted session, or begins a new one, and of which generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from reviewbot.adapters.store.database import insert_new
from reviewbot.adapters.store.ledger import Ledger, move_session
from reviewbot.adapters.store.states import ENDED, AgentState, TaskState
from reviewbot.adapters.store.tables import agents, projects, sessions, tasks
from reviewbot.adapters.store.texts import storable
from reviewbot.ports import SessionPlan, SessionState

#: Of the advisory lock that lets one process at a time begin a session on PostgreSQL (SQLite has one writer anyway).
_BEGIN_LOCK = 0x5E71E3B08


@dataclass(frozen=True, slots=True)
class Begun:
    """``earlier`` are the sessions of the same key and generation, latest first, whose documents may be recalled."""

    id: str
    generation: int
    resumed: bool
    replayable: bool
    earlier: tuple[str, ...]


def begin(connection: Connection, ledger: Ledger, plan: SessionPlan) -> Begun:
    """Find or make the session of ``plan``, owned by this process."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _BEGIN_LOCK})
    generation = _generation(connection, plan)
    same = (sessions.c.key == plan.key, sessions.c.generation == generation)
    before = list(connection.execute(select(sessions).where(*same).order_by(sessions.c.number.desc())))
    replayable = any(SessionState(row.state) in ENDED for row in before)
    if before and _is_interrupted(connection, ledger, before[0]):
        _resume(connection, ledger, before[0])
        _seat(connection, before[0].id, plan)
        earlier = tuple(row.id for row in before[1:])
        return Begun(before[0].id, generation, resumed=True, replayable=replayable, earlier=earlier)
    name = _free_name(connection, plan.run_id)
    task = _task(connection, plan)
    row = {"id": name, "key": plan.key, "generation": generation, "task_id": task, "state": SessionState.PENDING.value}
    connection.execute(insert(sessions).values(row | {"owner": ledger.owner.name, "begun_at": ledger.now()}))
    _seat(connection, name, plan)
    move_session(connection, _row(connection, name), SessionState.PENDING)
    earlier = tuple(row.id for row in before)
    return Begun(name, generation, resumed=False, replayable=replayable, earlier=earlier)


def _generation(connection: Connection, plan: SessionPlan) -> int:
    """The latest of this plan. A fresh one is beyond *every* plan's: plans share calls, and fresh means new answers to all."""
    if plan.fresh:
        latest = connection.scalar(select(func.max(sessions.c.generation)))
        return 0 if latest is None else int(latest) + 1
    return int(connection.scalar(select(func.max(sessions.c.generation)).where(sessions.c.key == plan.key)) or 0)


def _is_interrupted(connection: Connection, ledger: Ledger, row: Any) -> bool:
    return SessionState(row.state) not in ENDED and not ledger.owner.lives(connection, row.owner)


def _resume(connection: Connection, ledger: Ledger, row: Any) -> None:
    """It goes through its course again, with what it has."""
    fresh = {"state": SessionState.PENDING.value, "owner": ledger.owner.name}
    connection.execute(update(sessions).where(sessions.c.id == row.id).values(fresh))
    move_session(connection, _row(connection, row.id), SessionState.PENDING)


def _seat(connection: Connection, session: str, plan: SessionPlan) -> None:
    connection.execute(delete(agents).where(agents.c.session_id == session))
    for place, (name, role, model) in enumerate(plan.seats):
        row = {"session_id": session, "name": storable(name), "place": place, "role": storable(role), "model": storable(model)}
        insert_new(connection, agents, [row | {"state": AgentState.IDLE.value}])


def _task(connection: Connection, plan: SessionPlan) -> int:
    name = storable(plan.project)
    insert_new(connection, projects, [{"name": name}])
    project = connection.execute(select(projects.c.id).where(projects.c.name == name)).scalar_one()
    change = {"project_id": project, "base": storable(plan.base), "head": storable(plan.head)}
    insert_new(connection, tasks, [change | {"title": storable(plan.title), "state": TaskState.OPEN.value}])
    return int(connection.execute(select(tasks.c.id).filter_by(**change)).scalar_one())


def _free_name(connection: Connection, run_id: str) -> str:
    """The run's own name, unless a session has it already."""
    wished = storable(run_id)[:64]
    like = sessions.c.id.startswith(wished, autoescape=True)
    taken = set(connection.scalars(select(sessions.c.id).where(like)))
    name, number = wished, 1
    while name in taken:
        number += 1
        name = f"{wished}-{number}"
    return name


def _row(connection: Connection, name: str) -> Any:
    return connection.execute(select(sessions).where(sessions.c.id == name)).one()
