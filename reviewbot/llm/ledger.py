"""Calls of models and what came back, so that no reply is paid for twice.

A call is claimed before it is made, and settled before its reply is used.
"""

from __future__ import annotations

from msgspec import Struct

from reviewbot.journal import Journal, key_of
from reviewbot.llm.provider import Fault, ModelReply, ModelRequest, ProviderError


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
