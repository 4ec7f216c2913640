"""Reading the past: sessions with all that was asked and answered, findings with all that was said of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, func, select

from reviewbot.adapters.store import repairs, states
from reviewbot.adapters.store.calls import USAGE_COLUMNS, usage_of
from reviewbot.adapters.store.ledger import Ledger
from reviewbot.adapters.store.records import CallRecord, FindingRecord, SeatRecord, SessionRecord, SessionSummary
from reviewbot.adapters.store.tables import (
    agents,
    calls,
    code_versions,
    documents,
    findings,
    positions,
    projects,
    sessions,
    tasks,
    turns,
)
from reviewbot.adapters.store.texts import Reader, storable
from reviewbot.domain.debate import Argument, Check, CheckKind, CheckOutcome, Position, Stance, Version
from reviewbot.domain.money import Usage
from reviewbot.errors import UsageError
from reviewbot.ports import CallState, SessionState

_TOLD = ("accepted", "contested")
_FEW = 5


class History:
    """Every method is one reading transaction, and raises LedgerError. Thread-safe."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def sessions(self, project: str | None = None, limit: int = 20) -> tuple[SessionSummary, ...]:
        """The latest sessions, newest first."""
        query = _sessions().limit(limit)
        if project is not None:
            query = query.where(projects.c.name == storable(project))
        return self._summaries(query)

    def running(self) -> tuple[SessionSummary, ...]:
        """Those that are not at their end, newest first: some process runs them, or they were interrupted."""
        return self._summaries(_sessions().where(sessions.c.state.not_in([state.value for state in states.ENDED])))

    def session(self, name: str) -> SessionRecord:
        """The session whose id begins with ``name``, with its calls in order. Raises UsageError for none, or several."""
        with self._ledger.database.read() as connection:
            row = _named(connection, name)
            kept = select(documents.c.name).where(documents.c.session_id == row.id).order_by(documents.c.name)
            reader = Reader(connection)
            used = connection.execute(_calls(row.id)).all()
            return SessionRecord(
                summary=self._summary(connection, row),
                calls=tuple(_call(reader, call) for call in used),
                documents=tuple(connection.scalars(kept)),
                repairs=repairs.read(connection, reader, row.id),
            )

    def document(self, session: str, name: str) -> Mapping[str, Any] | None:
        """What a session kept under ``name``; ``session`` as for ``session``."""
        with self._ledger.database.read() as connection:
            row = _named(connection, session)
            body = connection.scalar(
                select(documents.c.body).where(documents.c.session_id == row.id, documents.c.name == storable(name))
            )
            document: Mapping[str, Any] | None = json.loads(Reader(connection).text(body)) if body else None
            return document

    def latest_finding(self, project: str | None, finding: str) -> FindingRecord | None:
        """The finding of that id in the latest session that has it; ``project`` ``None``: in any."""
        query = (
            select(findings)
            .join(sessions, sessions.c.id == findings.c.session_id)
            .join(tasks, tasks.c.id == sessions.c.task_id)
            .join(projects, projects.c.id == tasks.c.project_id)
            .where(func.lower(findings.c.id) == storable(finding).lower())
            .order_by(sessions.c.ended_at.desc(), sessions.c.number.desc())
        )
        if project is not None:
            query = query.where(projects.c.name == storable(project))
        with self._ledger.database.read() as connection:
            row = connection.execute(query.limit(1)).first()
            return None if row is None else _finding(connection, row)

    def _summaries(self, query: Select[Any]) -> tuple[SessionSummary, ...]:
        with self._ledger.database.read() as connection:
            return tuple(self._summary(connection, row) for row in connection.execute(query).all())

    def _summary(self, connection: Connection, row: Any) -> SessionSummary:
        lives = self._ledger.owner.lives(connection, row.owner)
        seats = connection.execute(select(agents).where(agents.c.session_id == row.id).order_by(agents.c.place)).all()
        found = connection.scalars(select(findings.c.status).where(findings.c.session_id == row.id)).all()
        return SessionSummary(
            id=row.id,
            key=row.key,
            generation=row.generation,
            project=row.project,
            base=row.base,
            head=row.head,
            title=row.title,
            state=states.shown(SessionState(row.state), lives),
            task=states.TaskState(row.task_state),
            conclusion=row.conclusion,
            verdict=row.verdict,
            begun_at=row.begun_at,
            ended_at=row.ended_at,
            seats=tuple(
                SeatRecord(seat.name, seat.role, seat.model, states.AgentState(seat.state), seat.reason) for seat in seats
            ),
            usage=_usage(connection, row.id),
            findings=len(found),
            posted=sum(status in _TOLD for status in found),
        )


def _sessions() -> Select[Any]:
    described = (projects.c.name.label("project"), tasks.c.base, tasks.c.head, tasks.c.title, tasks.c.state.label("task_state"))
    joined = sessions.join(tasks, tasks.c.id == sessions.c.task_id).join(projects, projects.c.id == tasks.c.project_id)
    return select(sessions, *described).select_from(joined).order_by(sessions.c.number.desc())


def _named(connection: Connection, name: str) -> Any:
    begins = sessions.c.id.startswith(storable(name), autoescape=True)
    rows = connection.execute(_sessions().where(begins).limit(_FEW)).all()
    exact = [row for row in rows if row.id == name] or list(connection.execute(_sessions().where(sessions.c.id == name)))
    if len(exact or rows) == 1:
        return (exact or rows)[0]
    if not rows:
        raise UsageError(f"there is no session {name!r}", hint="`reviewbot sessions list` names them")
    likely = ", ".join(row.id for row in rows)
    raise UsageError(f"several sessions begin with {name!r}: {likely}", hint="give more of the name")


def _usage(connection: Connection, session: str) -> Usage:
    """Its calls added up. Of replayed ones nothing was paid, and every one of them counts as replayed."""
    total = Usage()
    columns = [calls.c[name] for name in USAGE_COLUMNS]
    query = select(turns.c.replayed, *columns).join(calls, calls.c.id == turns.c.call_id).where(turns.c.session_id == session)
    for row in connection.execute(query):
        usage = usage_of(row)
        if row.replayed:
            known = {name: getattr(usage, name) for name in USAGE_COLUMNS}
            usage = Usage(**known | {"paid_usd": 0.0, "replayed_calls": usage.calls})
        total += usage
    return total


def _calls(session: str) -> Select[Any]:
    query = select(calls, turns.c.number, turns.c.replayed).join(turns, turns.c.call_id == calls.c.id)
    return query.where(turns.c.session_id == session).order_by(turns.c.number)


def _call(reader: Reader, row: Any) -> CallRecord:
    return CallRecord(
        number=row.number,
        replayed=row.replayed,
        made_by=row.session_id,
        seat=row.seat,
        model=row.model,
        phase=row.phase,
        subject=row.subject,
        round=row.round,
        attempt=row.attempt,
        step=row.step,
        parameters=reader.text(row.parameters),
        system=reader.text(row.system),
        prefix=reader.text(row.prefix),
        suffix=reader.text(row.suffix),
        exchanges=reader.text(row.exchanges),
        state=CallState(row.state),
        outcome=row.outcome,
        document=reader.text(row.document),
        usage=usage_of(row),
        seconds=row.latency,
        asked_at=row.asked_at,
        ended_at=row.ended_at,
    )


def _finding(connection: Connection, row: Any) -> FindingRecord:
    reader = Reader(connection)
    more = json.loads(reader.text(row.details))
    of_it = (positions.c.session_id == row.session_id, positions.c.finding == row.id)
    said = connection.execute(select(positions).where(*of_it).order_by(positions.c.place)).all()
    suggested = connection.scalar(
        select(code_versions.c.body).where(
            code_versions.c.session_id == row.session_id,
            code_versions.c.finding == row.id,
            code_versions.c.kind == "suggestion",
        )
    )
    return FindingRecord(
        session=row.session_id,
        id=row.id,
        fingerprint=row.fingerprint,
        path=row.path,
        start_line=row.start_line,
        line=row.line,
        severity=row.severity,
        category=row.category,
        title=row.title,
        body=more["body"],
        failure_scenario=more["failure_scenario"],
        quote=more["quote"],
        status=row.status,
        proof=row.proof,
        confidence=more["confidence"],
        probability=row.probability,
        settled_by=row.settled_by,
        stop_reason=more["stop_reason"],
        dissent=more["dissent"],
        rule=more["rule"],
        raised_by=tuple(json.loads(row.raised_by)),
        evidence=tuple(more["evidence"]),
        positions=tuple(_position(reader, one) for one in said),
        versions=tuple(Version(*entry) for entry in more["versions"]),
        check=_check(more["check"]),
        replacement=reader.text(suggested) if suggested is not None else None,
    )


def _position(reader: Reader, row: Any) -> Position:
    reasons = tuple(
        Argument(claim, tuple(evidence), reasoning, tuple(counters))
        for claim, evidence, reasoning, counters in json.loads(reader.text(row.arguments))
    )
    return Position(row.panelist, row.round, Stance(row.stance), row.probability, reasons, row.counted)


def _check(known: Mapping[str, Any] | None) -> Check | None:
    if known is None:
        return None
    return Check(
        tuple(known["command"]),
        known["source"],
        known["subject"],
        CheckOutcome(known["outcome"]),
        tuple(known["evidence"]),
        kind=CheckKind(known.get("kind", CheckKind.TEST)),  # a ledger of an earlier version knows no other
        author=known.get("author", ""),
    )
