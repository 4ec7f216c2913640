"""Sessions: one run of a task, with its agents, turns and findings, and in the end its review.

All functions raise ReviewbotError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar

import sqlalchemy as sa
from msgspec import Struct
from msgspec.structs import asdict

from reviewbot.errors import ReviewbotError
from reviewbot.store import tables as t
from reviewbot.store.database import Store, insert_new


class Subject(Struct, frozen=True, kw_only=True):
    """What a session is about. `project` is a remote or a path, `version` that of reviewbot."""

    project: str
    kind: str = "review"
    target: str
    title: str = ""
    version: str
    base_commit: str = ""
    base_tree: str = ""
    head_commit: str = ""
    head_tree: str = ""


class Session(Struct, frozen=True, kw_only=True):
    """One run. If its process died, it is abandoned until somebody resumes it.

    Attributes:
        generation: recorded calls of lower ones do not count for it.
        review: the document as JSON, once it is done.
    """

    id: int
    generation: int = 0
    subject: Subject
    started: str
    state: Literal["running", "done", "abandoned"] = "running"
    review: str = ""


class Agent(Struct, frozen=True, kw_only=True):
    name: str
    provider: str
    model: str
    lens: str = ""


class TrialRow(Struct, frozen=True, kw_only=True):
    """A candidate of a task, with the git tree that it makes; `reasons` are lines."""

    task: str
    title: str
    author: str
    outcome: str
    tree: str
    diff: str
    reasons: str


class Turn(Struct, frozen=True, kw_only=True):
    """A call as a session used it. Request and reply are JSON; a failed call has a fault."""

    agent: str
    phase: str
    provider: str
    model: str
    request: str
    reply: str
    fault: str
    message: str
    was_recorded: bool
    cost: int
    seconds: float


class Record(Struct, frozen=True, kw_only=True):
    """A whole session."""

    session: Session
    agents: tuple[Agent, ...]
    turns: tuple[Turn, ...]
    trials: tuple[TrialRow, ...] = ()


Row = TypeVar("Row", bound=Struct)
FINDING = ("key", "title", "severity", "status", "path", "line")
BASE, HEAD = t.code_versions.alias("base"), t.code_versions.alias("head")
SESSIONS = (
    sa.select(t.sessions, t.projects.c.name.label("project"), t.tasks.c.kind, t.tasks.c.target)
    .add_columns(BASE.c.commit.label("base_commit"), BASE.c.tree.label("base_tree"))
    .add_columns(HEAD.c.commit.label("head_commit"), HEAD.c.tree.label("head_tree"))
    .join_from(t.sessions, t.tasks)
    .join(t.projects)
    .join(BASE, (BASE.c.session_id == t.sessions.c.id) & (BASE.c.side == "base"))
    .join(HEAD, (HEAD.c.session_id == t.sessions.c.id) & (HEAD.c.side == "head"))
    .order_by(t.sessions.c.id.desc())
)


def start_session(
    store: Store, subject: Subject, now: str, agents: Sequence[Agent] = (), *, fresh: bool = False
) -> Session:
    """Resume the session of this subject whose process died, or start one.

    Args:
        agents: who takes part now.
        fresh: start one for which no recorded call counts.
    """

    def action(connection: sa.Connection) -> Session:
        insert_new(connection, t.projects, {"name": subject.project})
        project = sa.select(t.projects.c.id).filter_by(name=subject.project)
        task: dict[str, Any] = {"kind": subject.kind, "target": subject.target}
        task["project_id"] = connection.execute(project).scalar_one()
        insert_new(connection, t.tasks, task)
        # Locked, so that two processes do not resume the same session.
        locked = sa.select(t.tasks.c.id).filter_by(**task).with_for_update()
        task_id = connection.execute(locked).scalar_one()
        unfinished = SESSIONS.where(t.sessions.c.state == "running", t.tasks.c.id == task_id)
        for row in () if fresh else connection.execute(unfinished).all():
            if _one(row, Subject) == subject and not store.owner.lives(connection, row.owner):
                mine = sa.update(t.sessions).where(t.sessions.c.id == row.id)
                connection.execute(mine.values(owner=store.owner.id))
                connection.execute(sa.delete(t.agents).where(t.agents.c.session_id == row.id))
                _insert(connection, t.agents, row.id, map(asdict, agents))
                return _one(row, Session, subject=subject)
        highest = [sa.select(sa.func.max(table.c.generation)) for table in (t.sessions, t.calls)]
        generation = 1 + max(connection.scalar(one) or 0 for one in highest) if fresh else 0
        values = {"title": subject.title, "version": subject.version, "started": now}
        values |= {"state": "running", "owner": store.owner.id}
        new = t.sessions.insert().values(task_id=task_id, generation=generation, **values)
        id: int = connection.execute(new.returning(t.sessions.c.id)).scalar_one()
        base = {"side": "base", "commit": subject.base_commit, "tree": subject.base_tree}
        head = {"side": "head", "commit": subject.head_commit, "tree": subject.head_tree}
        _insert(connection, t.code_versions, id, (base, head))
        _insert(connection, t.agents, id, map(asdict, agents))
        return Session(id=id, generation=generation, subject=subject, started=now)

    return store.run(action)


def end_session(
    store: Store, session: Session, review: str = "{}", trials: Sequence[TrialRow] = ()
) -> None:
    """End a session that runs, with the review as JSON. Its findings become rows."""
    this = sa.update(t.sessions).filter_by(id=session.id, owner=store.owner.id)
    end = this.values(state="done", owner="", review=review)

    def action(connection: sa.Connection) -> None:
        if not connection.execute(end).rowcount:
            raise ReviewbotError(f"another process has taken over session {session.id}")
        for finding in json.loads(review).get("findings", ()):
            place = finding["location"] or {"path": "", "line": None}
            known = {**finding, "path": place["path"], "line": place["line"]}
            _insert(connection, t.findings, session.id, [{name: known[name] for name in FINDING}])
        _insert(connection, t.trials, session.id, map(asdict, trials))

    store.run(action)


def list_sessions(store: Store, project: str = "") -> tuple[Session, ...]:
    """The newest first, of one project or all."""
    found = SESSIONS.where(t.projects.c.name == project) if project else SESSIONS

    def action(connection: sa.Connection) -> tuple[Session, ...]:
        return tuple(_session(store, connection, row) for row in connection.execute(found).all())

    return store.run(action)


def load_session(store: Store, id: int) -> Record | None:
    def action(connection: sa.Connection) -> Record | None:
        row = connection.execute(SESSIONS.where(t.sessions.c.id == id)).first()
        if row is None:
            return None

        def rows(table: sa.Table, type_: type[Row]) -> tuple[Row, ...]:
            own = sa.select(table).filter_by(session_id=id).order_by(table.c.id)
            return tuple(_one(row, type_) for row in connection.execute(own))

        names = ("provider", "model", "request", "reply", "fault", "message")
        turns = sa.select(t.turns, *(t.calls.c[name] for name in names)).join(t.calls)
        turns = turns.filter_by(session_id=id).order_by(t.turns.c.id)
        return Record(
            session=_session(store, connection, row),
            agents=rows(t.agents, Agent),
            turns=tuple(_one(turn, Turn) for turn in connection.execute(turns)),
            trials=rows(t.trials, TrialRow),
        )

    return store.run(action)


def prune_sessions(store: Store, project: str) -> int:
    """Remove the sessions of a project and the calls that only they used, except running ones.

    Returns how many sessions were removed.
    """

    def action(connection: sa.Connection) -> int:
        found = connection.execute(SESSIONS.where(t.projects.c.name == project)).all()
        ids = [row.id for row in found if _session(store, connection, row).state != "running"]
        connection.execute(sa.delete(t.sessions).where(t.sessions.c.id.in_(ids)))
        same = (t.turns.c.key == t.calls.c.key) & (t.turns.c.generation == t.calls.c.generation)
        unused = (t.calls.c.state != "claimed") & ~sa.exists().where(same)
        connection.execute(sa.delete(t.calls).where(unused))
        return len(ids)

    return store.run(action)


def _session(store: Store, connection: sa.Connection, row: Any) -> Session:
    is_dead = row.state == "running" and not store.owner.lives(connection, row.owner)
    state = "abandoned" if is_dead else row.state
    return _one(row, Session, subject=_one(row, Subject), state=state)


def _one(row: Any, type_: type[Row], **values: Any) -> Row:
    """A row as a Struct: its columns, except for what is given."""
    names = set(type_.__struct_fields__) - values.keys()
    return type_(**values, **{name: getattr(row, name) for name in names})


def _insert(connection: sa.Connection, table: sa.Table, id: int, rows: Iterable[Any]) -> None:
    for row in rows:
        connection.execute(table.insert().values(session_id=id, **row))
