"""Sessions: one run of a task, with its agents, turns and findings, and in the end its review.

`Store.run` runs these functions, each in a transaction.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import asdict

from reviewbot.errors import ReviewbotError
from reviewbot.store.database import Connection, Row


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

    Recorded calls of lower generations do not count for it. `review` is JSON, once it is done.
    """

    id: int
    generation: int = 0
    subject: Subject
    started: str
    state: str = "running"  # or done, or abandoned; later versions may know more
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
    """A call as a session used it. Request and reply are JSON; schema.sql has states and faults."""

    agent: str
    phase: str
    provider: str
    model: str
    request: str
    reply: str
    state: str = "done"
    fault: str
    message: str
    was_recorded: bool
    cost: int
    seconds: float


class Record(Struct, frozen=True, kw_only=True):
    session: Session
    agents: tuple[Agent, ...]
    turns: tuple[Turn, ...]
    trials: tuple[TrialRow, ...] = ()


MAX_OUTCOMES = 100  # sessions that the panel is calibrated by
FINDING = ("key", "title", "severity", "status", "path", "line")
SESSIONS = """
    SELECT sessions.*, projects.name AS project, tasks.kind, tasks.target,
        base."commit" AS base_commit, base.tree AS base_tree,
        head."commit" AS head_commit, head.tree AS head_tree
    FROM sessions
    JOIN tasks ON tasks.id = sessions.task_id
    JOIN projects ON projects.id = tasks.project_id
    JOIN code_versions AS base ON base.session_id = sessions.id AND base.side = 'base'
    JOIN code_versions AS head ON head.session_id = sessions.id AND head.side = 'head'
    WHERE {} ORDER BY sessions.id DESC
"""
FRESH = """
    SELECT coalesce(max(generation), 0) + 1 AS generation
    FROM (SELECT generation FROM sessions UNION SELECT generation FROM calls) AS known
"""
CALLS = "turns JOIN calls ON calls.key = turns.key AND calls.generation = turns.generation"
OWN = {  # what a session has, by the field of Record
    "agents": "SELECT * FROM agents",
    "turns": f"SELECT turns.*, provider, model, request, reply, state, fault, message FROM {CALLS}",
    "trials": "SELECT * FROM trials",
}
# Agents for whom no other model answered, as their fallback does.
MODELS = f"""
    SELECT name, provider || ':' || model AS model FROM agents WHERE session_id = :id
    AND NOT EXISTS (SELECT 1 FROM {CALLS}
        WHERE turns.session_id = agents.session_id AND turns.agent = agents.name
            AND (calls.provider <> agents.provider OR calls.model <> agents.model))
"""


def start_session(
    connection: Connection,
    subject: Subject,
    now: str,
    agents: Sequence[Agent] = (),
    *,
    fresh: bool = False,
) -> Session:
    """Resume the session of this subject whose process died, unless a fresh one is wanted."""
    project_id = connection.id_of("projects", {"name": subject.project})
    task = {"project_id": project_id, "kind": subject.kind, "target": subject.target}
    # Locked, so that two processes do not resume the same session.
    lock = "" if connection.is_sqlite else " FOR UPDATE"
    task_id, mine = connection.id_of("tasks", task, lock), {"owner": connection.owner.id}
    unfinished = SESSIONS.format("sessions.state = 'running' AND tasks.id = :id")
    known = [] if fresh else connection.rows(unfinished, id=task_id)
    same = (row for row in known if convert(row, Subject) == subject)
    if row := next((row for row in same if not connection.owner.lives(row["owner"])), None):
        this = {"id": row["id"], **mine}
        connection.execute("UPDATE sessions SET owner = :owner WHERE id = :id", **this)
        connection.execute("DELETE FROM agents WHERE session_id = :id", id=row["id"])
    else:
        generation = connection.rows(FRESH)[0]["generation"] if fresh else 0
        new = {"task_id": task_id, "generation": generation, "started": now, **mine}
        about = {"title": subject.title, "version": subject.version, "state": "running"}
        (row,) = connection.insert("sessions", new | about)
        base = {"side": "base", "commit": subject.base_commit, "tree": subject.base_tree}
        head = {"side": "head", "commit": subject.head_commit, "tree": subject.head_tree}
        _insert(connection, "code_versions", row["id"], (base, head))
    _insert(connection, "agents", row["id"], agents)
    return convert({**row, "subject": subject}, Session)


def end_session(
    connection: Connection, session: Session, review: str = "{}", trials: Sequence[TrialRow] = ()
) -> None:
    """End a session that runs, with the review as JSON. Its findings become rows."""
    end = (
        "UPDATE sessions SET state = 'done', owner = '', review = :review"
        " WHERE id = :id AND owner = :owner"
    )
    if not connection.execute(end, id=session.id, owner=connection.owner.id, review=review):
        raise ReviewbotError(f"another process has taken over session {session.id}")
    for finding in json.loads(review).get("findings", ()):
        known = finding | (finding["location"] or {"path": "", "line": None})
        _insert(connection, "findings", session.id, [{name: known[name] for name in FINDING}])
    _insert(connection, "trials", session.id, trials)


def list_sessions(connection: Connection, project: str = "") -> tuple[Session, ...]:
    """The newest first, of one project or all."""
    where = "projects.name = :project" if project else "true"
    return tuple(_sessions(connection, where, project=project))


def list_outcomes(connection: Connection) -> list[tuple[str, dict[str, str]]]:
    """The newest reviews as JSON, with the model that answered for each agent, `provider:model`."""
    newest = "SELECT id, review FROM sessions WHERE state = 'done' ORDER BY id DESC LIMIT :most"
    return [
        (row["review"], {a["name"]: a["model"] for a in connection.rows(MODELS, id=row["id"])})
        for row in connection.rows(newest, most=MAX_OUTCOMES)
    ]


def load_session(connection: Connection, id: int) -> Record | None:
    for session in _sessions(connection, "sessions.id = :id", id=id):
        parts = {
            name: connection.rows(f"{rows} WHERE session_id = :id ORDER BY {name}.id", id=id)
            for name, rows in OWN.items()
        }
        # SQLite has no booleans.
        return convert({"session": session} | parts, Record, strict=False, from_attributes=True)
    return None


def prune_sessions(connection: Connection, project: str) -> None:
    """Remove the sessions of a project that do not run, with their calls."""
    for session in _sessions(connection, "projects.name = :project", project=project):
        if session.state != "running":
            connection.execute("DELETE FROM sessions WHERE id = :id", id=session.id)
    connection.execute(
        "DELETE FROM calls WHERE state <> 'claimed' AND NOT EXISTS (SELECT 1 FROM turns"
        " WHERE turns.key = calls.key AND turns.generation = calls.generation)"
    )


def _sessions(connection: Connection, where: str, **values: Any) -> Iterator[Session]:
    for row in connection.rows(SESSIONS.format(where), **values):
        is_dead = row["state"] == "running" and not connection.owner.lives(row["owner"])
        state = "abandoned" if is_dead else row["state"]
        yield convert({**row, "state": state, "subject": convert(row, Subject)}, Session)


def _insert(connection: Connection, table: str, id: int, rows: Iterable[Struct | Row]) -> None:
    for row in rows:
        values = asdict(row) if isinstance(row, Struct) else row
        connection.insert(table, {"session_id": id, **values})
