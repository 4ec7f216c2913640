"""A review as a session of the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from reviewbot.llm.ledger import SqlLedger, utc_now
from reviewbot.store.calls import Calls
from reviewbot.store.database import Store, open_store
from reviewbot.store.sessions import (
    Agent,
    FindingRow,
    Session,
    Subject,
    end_session,
    record_agents,
    start_session,
)


class RecordedSession:
    """A session that runs. One that is not finished is resumed by the next run of its task."""

    def __init__(self, store: Store, session: Session) -> None:
        self.ledger = SqlLedger(Calls(store, session))
        self._store = store
        self._session = session

    async def finish(self, review: str, findings: Sequence[FindingRow]) -> None:
        """Record the outcome, with the review as JSON. Raises ReviewbotError."""
        await asyncio.to_thread(
            end_session, self._store, self._session, "done", utc_now(), review, findings
        )


@asynccontextmanager
async def record_session(
    url: str, folder: Path, subject: Subject, agents: Sequence[Agent], *, fresh: bool
) -> AsyncIterator[RecordedSession]:
    """Start or resume the session of a subject. Raises ReviewbotError."""
    store = await asyncio.to_thread(open_store, url, folder)
    try:
        session = await asyncio.to_thread(start_session, store, subject, utc_now(), fresh=fresh)
        await asyncio.to_thread(record_agents, store, session, agents)
        yield RecordedSession(store, session)
    finally:
        store.close()
