"""A review as a session of the database, and the ledger of its calls."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from reviewbot.errors import ReviewbotError
from reviewbot.llm.ledger import Lease, Recorded
from reviewbot.llm.provider import Fault, ModelReply, ModelRequest, ProviderError
from reviewbot.store.calls import Calls, Found
from reviewbot.store.database import open_store
from reviewbot.store.sessions import (
    Agent,
    FindingRow,
    Subject,
    end_session,
    record_agents,
    start_session,
)

Result = TypeVar("Result")
SECONDS_BETWEEN_LOOKS = 0.05


@asynccontextmanager
async def record_session(
    url: str, folder: Path, subject: Subject, agents: Sequence[Agent], *, fresh: bool
) -> AsyncIterator[SqlLedger]:
    """Start or resume the session of a subject. Raises ReviewbotError."""
    store = await asyncio.to_thread(open_store, url, folder)
    try:
        session = await asyncio.to_thread(start_session, store, subject, utc_now(), fresh=fresh)
        await asyncio.to_thread(record_agents, store, session, agents)
        yield SqlLedger(Calls(store, session))
    finally:
        store.close()


class SqlLedger:
    """The calls of one session. If it is not finished, the next run of its task resumes it."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def finish(self, review: str, findings: Sequence[FindingRow]) -> None:
        """Record the outcome, with the review as JSON. Raises ReviewbotError."""
        store, session = self._calls.store, self._calls.session
        await _run(lambda: end_session(store, session, "done", utc_now(), review, findings))

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Lease:
        key = _hash(_as_json(request))
        call = (key, request.label, request.provider, request.model, worst)
        looks: list[Found] = []
        try:
            while not looks or looks[-1].state == "busy":
                if looks:
                    await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
                await _run(lambda: looks.append(self._calls.claim(*call, utc_now())))
        except asyncio.CancelledError:
            if looks and looks[-1].state == "mine":
                await _run(lambda: self._calls.release(key, looks[-1].generation, 0))
            raise
        found = looks[-1]
        if found.state == "mine":
            return Lease(key=key, request=request, generation=found.generation, lost=found.lost)
        cost = found.cost + found.lost
        if found.state == "failed":
            return Recorded(fault=cast(Fault, found.fault), message=found.message, cost=cost)
        return Recorded(reply=msgspec.convert(json.loads(found.reply), ModelReply), cost=cost)

    async def settle(self, lease: Lease, reply: ModelReply, cost: int, seconds: float) -> None:
        await self._end(lease, seconds, state="done", reply=_as_json(reply), cost=cost)

    async def fail(self, lease: Lease, error: ProviderError, cost: int, *, keep: bool) -> None:
        if keep:
            failure = {"state": "failed", "fault": error.fault, "message": str(error)}
            await self._end(lease, 0, cost=cost, **failure)
        else:
            await _run(lambda: self._calls.release(lease.key, lease.generation, cost))

    async def add_tool_call(self, label: str, name: str, arguments: str, result: str) -> None:
        # A tool returns the same for the same arguments and the same git tree.
        tree = self._calls.session.subject.head_tree
        key = _hash(_as_json(("tool", name, arguments, tree)))
        await _run(lambda: self._calls.add_tool_call(label, key, name, arguments, result))

    async def _end(self, lease: Lease, seconds: float, **outcome: Any) -> None:
        outcome |= {"request": _as_json(lease.request), "ended_at": utc_now()}
        call = (lease.key, lease.generation, lease.request.label, seconds)
        await _run(lambda: self._calls.settle(*call, outcome))


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


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
