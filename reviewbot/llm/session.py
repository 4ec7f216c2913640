"""A review as a session of the database, and the ledger of its calls.

Each step is one transaction, and nobody waits within one.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from reviewbot.errors import ReviewbotError
from reviewbot.llm.ledger import Lease, Ledger, Recorded
from reviewbot.llm.provider import ModelReply, ModelRequest, ProviderError
from reviewbot.store.database import Store, insert_new, open_store
from reviewbot.store.sessions import Agent, Session, Subject, TrialRow, end_session, start_session
from reviewbot.store.tables import calls, turns

Result = TypeVar("Result")
SECONDS_BETWEEN_LOOKS = 0.05


@asynccontextmanager
async def record_session(
    url: str, folder: Path, subject: Subject, agents: Sequence[Agent], *, fresh: bool
) -> AsyncIterator[SqlLedger]:
    """Start or resume the session of a subject. Raises ReviewbotError."""
    store = await asyncio.to_thread(open_store, url, folder)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    try:
        session = await asyncio.to_thread(start_session, store, subject, now, agents, fresh=fresh)
        yield SqlLedger(store, session)
    finally:
        store.close()


class SqlLedger(Ledger):
    """The calls of one session. If it is not finished, the next run of its task resumes it."""

    def __init__(self, store: Store, session: Session) -> None:
        self._store = store
        self._session = session

    async def finish(self, review: str, trials: Sequence[TrialRow] = ()) -> None:
        """Record the outcome, with the review as JSON. Raises ReviewbotError."""
        await _run(lambda: end_session(self._store, self._session, review, trials))

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Lease:
        key = _hash(_as_json(request))
        found: list[Recorded | Lease] = []

        def look(connection: sa.Connection) -> None:
            found[:] = filter(None, [self._look(connection, key, request, worst)])

        try:
            await self._write(look)
            while not found:
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
                await self._write(look)
        except asyncio.CancelledError:
            if found and isinstance(found[0], Lease):
                await self._release(found[0], 0)
            raise
        return found[0]

    def _look(
        self, connection: sa.Connection, key: str, request: ModelRequest, worst: int
    ) -> Recorded | Lease | None:
        """None while somebody else is making the call."""
        generation, owner = self._session.generation, self._store.owner
        claim = {"owner": owner.id, "worst": worst}
        # An outcome before a claim, and the newest of either.
        known = sa.select(calls).where(calls.c.key == key, calls.c.generation >= generation)
        order = (calls.c.state == "claimed", calls.c.generation.desc())
        row: Any = connection.execute(known.order_by(*order).limit(1)).first()
        if row is None:
            new = {"key": key, "generation": generation, "state": "claimed", **claim}
            new |= {"provider": request.provider, "model": request.model}
            is_mine = insert_new(connection, calls, new)
            return Lease(key=key, request=request, generation=generation) if is_mine else None
        lease = Lease(key=key, request=request, generation=row.generation, lost=row.lost)
        if row.state != "claimed":
            cost = row.cost + row.lost
            self._add_turn(connection, lease, cost=cost, seconds=0, was_recorded=True)
            if row.state == "failed":
                return Recorded(fault=row.fault, message=row.message, cost=cost)
            return Recorded(reply=msgspec.convert(json.loads(row.reply), ModelReply), cost=cost)
        if owner.lives(connection, row.owner):
            return None
        lease = msgspec.structs.replace(lease, lost=row.lost + row.worst)
        # Unless another process has taken it over since it was read.
        taken = sa.update(calls).where(_claimed(lease, row.owner)).values(lost=lease.lost, **claim)
        return lease if connection.execute(taken).rowcount else None

    async def settle(self, lease: Lease, reply: ModelReply, cost: int, seconds: float) -> None:
        await self._end(lease, seconds, state="done", reply=_as_json(reply), cost=cost)

    async def fail(self, lease: Lease, error: ProviderError, cost: int, *, keep: bool) -> None:
        if keep:
            failure = {"state": "failed", "fault": error.fault, "message": str(error)}
            await self._end(lease, 0, cost=cost, **failure)
        else:
            await self._release(lease, cost)

    async def _end(self, lease: Lease, seconds: float, **outcome: Any) -> None:
        """Record how a claimed call ended: columns of the table."""
        # The first outcome counts, also of a process that was taken for dead.
        request = _as_json(lease.request)
        end = sa.update(calls).where(_claimed(lease)).values(owner="", request=request, **outcome)

        def action(connection: sa.Connection) -> None:
            cost = outcome["cost"] + (connection.scalar(end.returning(calls.c.lost)) or 0)
            self._add_turn(connection, lease, cost=cost, seconds=seconds, was_recorded=False)

        await self._write(action)

    async def _release(self, lease: Lease, cost: int) -> None:
        """Give a claim back without an outcome. What it cost is kept for the next claim."""
        mine = _claimed(lease, self._store.owner.id)
        free = _claimed(lease, "") & (calls.c.worst + calls.c.lost == 0)

        def action(connection: sa.Connection) -> None:
            connection.execute(sa.update(calls).where(mine).values(owner="", worst=cost))
            connection.execute(sa.delete(calls).where(free))

        await self._write(action)

    def _add_turn(self, connection: sa.Connection, lease: Lease, **values: Any) -> None:
        """A session that was resumed has the turn already."""
        call = {"key": lease.key, "generation": lease.generation}
        this, label = {"session_id": self._session.id, **call}, lease.request.label
        values |= {"phase": label, "agent": label.partition("/")[0]}
        insert_new(connection, turns, this | values)

    async def _write(self, action: Callable[[sa.Connection], object]) -> None:
        await _run(lambda: self._store.run(action))


def _claimed(lease: Lease, owner: str | None = None) -> sa.ColumnElement[bool]:
    whose = sa.true() if owner is None else calls.c.owner == owner
    this = (calls.c.key == lease.key) & (calls.c.generation == lease.generation)
    return this & (calls.c.state == "claimed") & whose


def _as_json(value: Any) -> str:
    """Unlike msgspec's encoder, this takes lone surrogates, which models do write."""
    return json.dumps(msgspec.to_builtins(value, order="deterministic"), separators=(",", ":"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def _run(action: Callable[[], Result]) -> Result:
    """Run in a thread. A task that is cancelled waits for it, so that nothing is half done."""
    work = asyncio.ensure_future(asyncio.to_thread(action))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        with suppress(ReviewbotError):
            await work
        raise
