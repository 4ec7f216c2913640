"""Calls of models and what came back, so that no reply is paid for twice.

A call is claimed before it is made, and settled before its reply is used.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import msgspec
from msgspec import Struct

from reviewbot.errors import ReviewbotError
from reviewbot.journal import Journal, key_of
from reviewbot.llm.provider import Fault, ModelReply, ModelRequest, ProviderError

if TYPE_CHECKING:  # SQLAlchemy is slow to import, and not everybody has it
    from reviewbot.store.calls import Calls, Found

Result = TypeVar("Result")
SECONDS_BETWEEN_LOOKS = 0.05


class Recorded(Struct, frozen=True, kw_only=True):
    """How a call ended before. `cost` has what calls that died on the way may have cost, too."""

    reply: ModelReply | None = None
    fault: Fault | None = None
    message: str = ""
    cost: int = 0


class Claim(Struct, frozen=True, kw_only=True):
    """The right to make a call. `lost` is what earlier calls without an outcome may have cost."""

    key: str
    generation: int = 0
    lost: int = 0


class Ledger(Protocol):
    """Money is in nano-dollars. Methods raise ReviewbotError if nothing can be recorded."""

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Claim:
        """Find the outcome of a call, wait for who is making it, or claim it.

        A claim has to be settled or to fail, also where the task is cancelled.
        """
        ...

    async def settle(self, claim: Claim, reply: ModelReply, cost: int, seconds: float) -> None:
        """Record a reply. It is durable when this returns."""
        ...

    async def fail(self, claim: Claim, error: ProviderError, cost: int, *, keep: bool) -> None:
        """Give up a claim. A failure that is kept is the outcome for whoever asks later."""
        ...

    async def add_tool_call(self, label: str, name: str, arguments: str, result: str) -> None:
        """Record what a tool returned for the newest call with this label."""
        ...


class JournalLedger:
    """Replies without claims and costs, for recordings."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Claim:  # noqa: ARG002
        key = key_of("call", request)
        reply = self._journal.get(key, ModelReply)
        return Recorded(reply=reply) if reply else Claim(key=key)

    async def settle(self, claim: Claim, reply: ModelReply, cost: int, seconds: float) -> None:  # noqa: ARG002
        self._journal.put(claim.key, reply)

    async def fail(self, claim: Claim, error: ProviderError, cost: int, *, keep: bool) -> None:
        pass

    async def add_tool_call(self, label: str, name: str, arguments: str, result: str) -> None:
        pass


class SqlLedger:
    """The calls of one session, in the database."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._asked: dict[str, tuple[str, str]] = {}  # label and request of each claim

    async def claim(self, request: ModelRequest, worst: int) -> Recorded | Claim:
        text = _as_json(request)
        key = _hash(text)
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
            self._asked[key] = (request.label, text)
            return Claim(key=key, generation=found.generation, lost=found.lost)
        cost = found.cost + found.lost
        if found.state == "failed":
            return Recorded(fault=cast(Fault, found.fault), message=found.message, cost=cost)
        return Recorded(reply=msgspec.convert(json.loads(found.reply), ModelReply), cost=cost)

    async def settle(self, claim: Claim, reply: ModelReply, cost: int, seconds: float) -> None:
        await self._end(claim, seconds, state="done", reply=_as_json(reply), cost=cost)

    async def fail(self, claim: Claim, error: ProviderError, cost: int, *, keep: bool) -> None:
        if keep:
            failure = {"state": "failed", "fault": error.fault, "message": str(error)}
            await self._end(claim, 0, cost=cost, **failure)
        else:
            self._asked.pop(claim.key, None)
            await _run(lambda: self._calls.release(claim.key, claim.generation, cost))

    async def add_tool_call(self, label: str, name: str, arguments: str, result: str) -> None:
        key = tool_key(name, arguments, self._calls.session.subject.head_tree)
        await _run(lambda: self._calls.add_tool_call(label, key, name, arguments, result))

    async def _end(self, claim: Claim, seconds: float, **outcome: Any) -> None:
        label, request = self._asked[claim.key]
        outcome |= {"request": request, "ended_at": utc_now()}
        call = (claim.key, claim.generation, label, seconds)
        await _run(lambda: self._calls.settle(*call, outcome))
        self._asked.pop(claim.key, None)


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def tool_key(name: str, arguments: str, tree: str) -> str:
    """A tool returns the same for the same arguments and the same git tree."""
    return _hash(_as_json(("tool", name, arguments, tree)))


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
