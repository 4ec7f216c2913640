"""One debate under way: its documents, its state, and in the end its findings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, select, update

from reviewbot.adapters.store import findings, repairs
from reviewbot.adapters.store.begin import Begun
from reviewbot.adapters.store.database import upsert
from reviewbot.adapters.store.failure import LedgerError
from reviewbot.adapters.store.ledger import Ledger, move_agent, move_session
from reviewbot.adapters.store.states import AgentState
from reviewbot.adapters.store.tables import code_versions, documents, positions, repair_tries, repair_versions, sessions
from reviewbot.adapters.store.tables import findings as findings_table
from reviewbot.adapters.store.tables import repairs as repairs_table
from reviewbot.adapters.store.texts import Reader, storable
from reviewbot.domain.debate import SeatStatus
from reviewbot.domain.review import Review
from reviewbot.ports import SessionState

_OF_A_REVIEW = (positions, code_versions, findings_table, repair_versions, repair_tries, repairs_table)
"""Tables that the end of a session fills, those that point to others first."""


class LedgerSession:
    """A session that this process owns."""

    def __init__(self, ledger: Ledger, begun: Begun) -> None:
        self._ledger = ledger
        self._id = begun.id
        self._earlier = begun.earlier

    def recall(self, name: str) -> Mapping[str, Any] | None:
        """See the port. Its own document first, then that of the latest earlier session of the same plan that kept one."""
        places = {session: place for place, session in enumerate((self._id, *self._earlier))}
        with self._ledger.database.read() as connection:
            named = select(documents.c.session_id, documents.c.body).where(documents.c.name == storable(name))
            rows = connection.execute(named.where(documents.c.session_id.in_(places))).all()
            if not rows:
                return None
            nearest = min(rows, key=lambda row: places[row.session_id])
            document: Mapping[str, Any] = json.loads(Reader(connection).text(nearest.body))
            return document

    def keep(self, name: str, document: Mapping[str, Any], state: SessionState | None = None) -> None:
        """See the port. Raises IllegalTransition, and LedgerError where another process has taken the session over."""
        body = json.dumps(document, separators=(",", ":"))
        hashes: dict[str, str] = {}

        def write(connection: Connection) -> None:
            hashes.update(self._ledger.texts.keep(connection, (body,)))
            row = self._own(connection)
            kept = {"session_id": self._id, "name": storable(name), "body": hashes[body], "kept_at": self._ledger.now()}
            upsert(connection, documents, kept)
            if state is not None:
                move_session(connection, row, state, **self._at_end(state))

        self._ledger.database.write(write)
        self._ledger.texts.remember(hashes.values())

    def close(self, review: Review, state: SessionState) -> None:
        """See the port. Raises as ``keep`` does."""
        hashes: dict[str, str] = {}

        def write(connection: Connection) -> None:
            hashes.update(self._ledger.texts.keep(connection, (*findings.bodies(review), *repairs.bodies(review))))
            for attended in review.attendance:
                if attended.status is SeatStatus.LOST:
                    move_agent(connection, self._id, attended.seat.name, AgentState.LOST, reason=attended.reason or "")
            row = self._own(connection)
            for table in _OF_A_REVIEW:
                connection.execute(delete(table).where(table.c.session_id == self._id))
            findings.write(connection, self._id, review, hashes=hashes)
            repairs.write(connection, self._id, review, hashes=hashes)
            verdict = review.verdict.value if review.verdict else ""
            ending = {"conclusion": review.conclusion.value, "verdict": verdict}
            move_session(connection, row, state, **self._at_end(state), **ending)

        self._ledger.database.write(write)
        self._ledger.texts.remember(hashes.values())

    def let_go(self) -> None:
        """This process is done with it. One that is not at its end may be resumed at once, by anybody."""

        def write(connection: Connection) -> None:
            mine = (sessions.c.id == self._id, sessions.c.owner == self._ledger.owner.name)
            connection.execute(update(sessions).where(*mine).values(owner=""))

        self._ledger.database.write(write)

    def _own(self, connection: Connection) -> Any:
        row = connection.execute(select(sessions).where(sessions.c.id == self._id).with_for_update()).one()
        if row.owner != self._ledger.owner.name:
            raise LedgerError(f"another process has taken session {self._id} over", hint="look at `reviewbot status`")
        return row

    def _at_end(self, state: SessionState) -> dict[str, Any]:
        return {"ended_at": self._ledger.now()} if state.value in ("converged", "partial", "failed") else {}
