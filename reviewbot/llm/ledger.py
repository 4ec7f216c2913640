"""Calls of models and what came back, so that no reply is paid for twice.

A call is claimed before it is made, and settled before its reply is used. In the database, each
step is one transaction, and nobody waits within one.
"""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from reviewbot.concurrency import to_the_end
from reviewbot.journal import Journal, key_of
from reviewbot.llm.provider import Fault, ModelReply, ModelRequest, ProviderError
from reviewbot.store import sessions
from reviewbot.store.database import Connection, Store, open_store
from reviewbot.store.sessions import Agent, Session, Subject, TrialRow

SECONDS_BETWEEN_LOOKS = 0.05
# An outcome before a claim, and the newest of either; schema.sql says what counts.
KNOWN = (
    "SELECT * FROM calls WHERE key = :key AND generation >= :generation AND (state <> 'rejected'"
    " OR EXISTS (SELECT * FROM turns JOIN sessions ON sessions.id = session_id WHERE turns.key ="
    " calls.key AND turns.generation = calls.generation AND sessions.state = 'running'))"
    " ORDER BY state = 'claimed', generation DESC LIMIT 1"
)
NEXT = "SELECT coalesce(max(generation) + 1, 0) AS generation FROM calls WHERE key = :key"
REJECT = (
    "UPDATE calls SET state = 'rejected' WHERE state = 'done' AND (key, generation) IN (SELECT"
    " key, generation FROM turns WHERE session_id = :id AND phase IN (:label, :again))"
)
CLAIMED = "key = :key AND generation = :generation AND state = 'claimed'"


class Recorded(Struct, frozen=True, kw_only=True):
    """How a call ended before. `cost` has what calls that died on the way may have cost, too."""

    reply: ModelReply | None = None
    fault: Fault | None = None
    message: str = ""
    cost: int = 0


class Lease(Struct, frozen=True, kw_only=True):
    """The right to make a call. `lost` is what earlier calls without an outcome may have cost."""

    key: str
    request: ModelRequest
    generation: int = 0
    lost: int = 0


class Ledger:
    """Replies in a journal, for recordings; `SqlLedger` has claims and costs (nano-dollars)."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Lease:  # noqa: ARG002
        """Find the outcome of a call, wait for who makes it, or take a lease that has to end."""
        key = key_of("call", request)
        reply = self._journal.get(key, ModelReply)
        return Recorded(reply=reply) if reply else Lease(key=key, request=request)

    async def settle(self, lease: Lease, reply: ModelReply, cost: int, seconds: float) -> None:  # noqa: ARG002
        """Record a reply. It is durable when this returns."""
        self._journal.put(lease.key, reply)

    async def fail(self, lease: Lease, cost: int, kept: ProviderError | None = None) -> None:
        """Give up a lease. A failure that is kept is the outcome for whoever asks later."""

    async def reject(self, label: str, again: str) -> None:
        """Have what has these labels asked again once no session that knows the replies runs."""


@asynccontextmanager
async def record_session(
    url: str, folder: Path, subject: Subject, agents: Sequence[Agent], *, fresh: bool
) -> AsyncIterator["SqlLedger"]:
    """Start or resume the session of a subject. Raises ReviewbotError."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    with closing(await asyncio.to_thread(open_store, url, folder)) as store:
        start = partial(store.run, sessions.start_session, subject, now, agents, fresh=fresh)
        yield SqlLedger(store, await asyncio.to_thread(start))


class SqlLedger(Ledger):
    """The calls of a session of the database. Until it is finished, the next run resumes it."""

    def __init__(self, store: Store, session: Session) -> None:
        self._store = store
        self._session = session

    async def finish(self, review: str, trials: Sequence[TrialRow] = ()) -> None:
        """Record the outcome, with the review as JSON. Raises ReviewbotError."""
        end = partial(self._store.run, sessions.end_session, self._session, review, trials)
        await to_the_end(asyncio.to_thread(end))

    async def outcomes(self) -> list[tuple[str, dict[str, str]]]:
        """Newest reviews as JSON, with the model of each agent, as `provider:model`."""
        return await to_the_end(asyncio.to_thread(self._store.run, sessions.list_outcomes))

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Lease:
        key = hashlib.sha256(_as_json(request).encode()).hexdigest()
        found: list[Recorded | Lease] = []

        def look(connection: Connection) -> None:
            found[:] = filter(None, [self._look(connection, key, request, worst)])

        try:
            while True:
                await self._write(look)
                if found:
                    return found[0]
                await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        except asyncio.CancelledError:
            if found and isinstance(found[0], Lease):
                await self._release(found[0], 0)
            raise

    def _look(
        self, connection: Connection, key: str, request: ModelRequest, worst: int
    ) -> Recorded | Lease | None:
        """None while somebody else is making the call."""
        generation, owner = self._session.generation, connection.owner
        claim = {"owner": owner.id, "worst": worst}
        # Read first: a row that another process inserts meanwhile is then known, or in the way.
        free = connection.rows(NEXT, key=key)[0]["generation"]
        known = connection.rows(KNOWN, key=key, generation=generation)
        if not known:
            generation = max(generation, free)
            new = {"key": key, "generation": generation, "state": "claimed", **claim}
            new |= {"provider": request.provider, "model": request.model}
            is_mine = connection.insert("calls", new)
            return Lease(key=key, request=request, generation=generation) if is_mine else None
        row = known[0]
        lease = Lease(key=key, request=request, generation=row["generation"], lost=row["lost"])
        if row["state"] != "claimed":
            cost = row["cost"] + row["lost"]
            self._add_turn(connection, lease, cost=cost, seconds=0, was_recorded=True)
            if row["state"] == "failed":
                return Recorded(fault=row["fault"], message=row["message"], cost=cost)
            return Recorded(reply=msgspec.convert(json.loads(row["reply"]), ModelReply), cost=cost)
        if owner.lives(row["owner"]):
            return None
        lease = msgspec.structs.replace(lease, lost=row["lost"] + row["worst"])
        # Unless another process has taken it over since it was read.
        whose = {"known": row["owner"], "lost": lease.lost, **claim, **_key_of(lease)}
        taken = f"UPDATE calls SET owner = :owner, worst = :worst, lost = :lost WHERE {CLAIMED}"
        return lease if connection.execute(f"{taken} AND owner = :known", **whose) else None

    async def settle(self, lease: Lease, reply: ModelReply, cost: int, seconds: float) -> None:
        await self._end(lease, seconds, state="done", reply=_as_json(reply), cost=cost)

    async def fail(self, lease: Lease, cost: int, kept: ProviderError | None = None) -> None:
        if kept:
            failure = {"state": "failed", "fault": kept.fault, "message": str(kept)}
            await self._end(lease, 0, cost=cost, **failure)
        else:
            await self._release(lease, cost)

    async def reject(self, label: str, again: str) -> None:
        labels = {"label": label, "again": again}
        await self._write(lambda given: given.execute(REJECT, id=self._session.id, **labels))

    async def _end(self, lease: Lease, seconds: float, **outcome: Any) -> None:
        """Record how a claimed call ended: columns of the table."""
        # The first outcome counts, also of a process that was taken for dead.
        outcome |= {"owner": "", "request": _as_json(lease.request)}
        columns = ", ".join(f"{name} = :{name}" for name in outcome)
        end = f"UPDATE calls SET {columns} WHERE {CLAIMED} RETURNING lost"

        def action(connection: Connection) -> None:
            ended = connection.rows(end, **outcome, **_key_of(lease))
            cost = outcome["cost"] + sum(row["lost"] for row in ended)
            self._add_turn(connection, lease, cost=cost, seconds=seconds, was_recorded=False)

        await self._write(action)

    async def _release(self, lease: Lease, cost: int) -> None:
        """Give a claim back without an outcome. What it cost is kept for the next claim."""
        mine = {"cost": cost, "owner": self._store.owner.id, **_key_of(lease)}
        free = f"UPDATE calls SET owner = '', worst = :cost WHERE {CLAIMED} AND owner = :owner"
        unused = f"DELETE FROM calls WHERE {CLAIMED} AND owner = '' AND worst + lost = 0"

        def action(connection: Connection) -> None:
            connection.execute(free, **mine)
            connection.execute(unused, **_key_of(lease))

        await self._write(action)

    def _add_turn(self, connection: Connection, lease: Lease, **values: Any) -> None:
        """A session that was resumed has the turn already."""
        label = lease.request.label
        values |= {"phase": label, "agent": label.partition("/")[0]}
        connection.insert("turns", {"session_id": self._session.id, **_key_of(lease), **values})

    async def _write(self, action: Callable[[Connection], object]) -> None:
        await to_the_end(asyncio.to_thread(self._store.run, action))


def _key_of(lease: Lease) -> dict[str, Any]:
    return {"key": lease.key, "generation": lease.generation}


def _as_json(value: Any) -> str:
    """Unlike msgspec's encoder, this takes lone surrogates, which models do write."""
    return json.dumps(msgspec.to_builtins(value, order="deterministic"), separators=(",", ":"))
