"""The caps of a review on money and tokens, kept before a call is made and not noticed after it.

Every call sets its worst case aside before it starts. Money is counted in whole nano-dollars, so that sums do not depend on
the order in which calls end.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

NANO = 1_000_000_000


class Capped(Exception):
    """A cap forbids the call. ``reason`` says which and what is left, for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The most that a call under way may take. Two of equal size are two."""

    nano_usd: int
    tokens: int


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    wanted: Reservation
    granted: asyncio.Future[None]


class Budget:
    """Caps of one review on money and tokens, ``None`` for none. Its time is kept by who asks (``drive``)."""

    def __init__(self, *, cost_usd: float | None, tokens: int | None) -> None:
        self._cap_nano = None if cost_usd is None else _nano(cost_usd)
        self._cap_tokens = tokens
        self._spent_nano = 0
        self._spent_tokens = 0
        self._outstanding: set[Reservation] = set()
        self._queue: deque[_Waiting] = deque()

    async def reserve(self, usd: float, tokens: int) -> Reservation:
        """Set the worst case of one call aside.

        Waits, first come, first served, while calls under way may still leave enough. Raises Capped as soon as what is
        already spent leaves too little. Who reserves must settle or release.
        """
        wanted = Reservation(_nano(usd), tokens)
        refusal = self._refusal(wanted)
        if refusal is not None:
            raise Capped(refusal)
        if not self._queue and self._fits(wanted):
            self._outstanding.add(wanted)
            return wanted
        waiting = _Waiting(wanted, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        try:
            await waiting.granted
        except asyncio.CancelledError:
            self._forget(waiting)
            raise
        return wanted

    def set_aside(self, usd: float, tokens: int) -> Reservation:
        """Set more aside for a call that is under way, which cannot wait for others. Raises Capped where it does not fit now.

        Who sets aside must settle or release."""
        wanted = Reservation(_nano(usd), tokens)
        if not self._fits(wanted):
            raise Capped(self._refusal(wanted) or "what is left of the caps is set aside for calls under way")
        self._outstanding.add(wanted)
        return wanted

    def settle(self, reservation: Reservation, usd: float, tokens: int) -> None:
        """The call ended and cost this. A call that was cut off or timed out may be billed all the same: settle it too."""
        if reservation not in self._outstanding:
            raise ValueError("a reservation is settled once")
        self._outstanding.remove(reservation)
        self.charge(usd, tokens)

    def release(self, reservation: Reservation) -> None:
        """The call cost nothing. Does nothing for one that is settled, so it may stand in a ``finally``."""
        self._outstanding.discard(reservation)
        self._serve()

    def charge(self, usd: float, tokens: int) -> None:
        """A call that the ledger answered: its recorded cost counts, so that a re-run takes the same path."""
        self._spent_nano += _nano(usd)
        self._spent_tokens += tokens
        self._serve()

    @property
    def spent_usd(self) -> float:
        """What settled and replayed calls cost."""
        return self._spent_nano / NANO

    @property
    def spent_tokens(self) -> int:
        """Tokens of settled and replayed calls, read and written."""
        return self._spent_tokens

    def _refusal(self, wanted: Reservation) -> str | None:
        """Why this can never be granted: what is spent stays spent. A call that is free passes the money cap."""
        if self._cap_nano is not None and wanted.nano_usd and self._spent_nano + wanted.nano_usd > self._cap_nano:
            left = max(0, self._cap_nano - self._spent_nano)
            return (
                f"the next call may cost up to ${wanted.nano_usd / NANO:.4f}, and ${left / NANO:.4f} of "
                f"${self._cap_nano / NANO:.2f} are left; raise limits.cost_usd"
            )
        if self._cap_tokens is not None and self._spent_tokens + wanted.tokens > self._cap_tokens:
            left = max(0, self._cap_tokens - self._spent_tokens)
            return (
                f"the next call may take up to {wanted.tokens} tokens, and {left} of {self._cap_tokens} are left; "
                "raise limits.tokens"
            )
        return None

    def _fits(self, wanted: Reservation) -> bool:
        nano = self._spent_nano + sum(held.nano_usd for held in self._outstanding) + wanted.nano_usd
        tokens = self._spent_tokens + sum(held.tokens for held in self._outstanding) + wanted.tokens
        money_fits = self._cap_nano is None or not wanted.nano_usd or nano <= self._cap_nano
        return money_fits and (self._cap_tokens is None or tokens <= self._cap_tokens)

    def _serve(self) -> None:
        """Something changed: refuse whom nothing can help any more, and let in from the front of the queue."""
        for waiting in tuple(self._queue):
            refusal = self._refusal(waiting.wanted)
            if refusal is not None:
                self._queue.remove(waiting)
                if not waiting.granted.done():
                    waiting.granted.set_exception(Capped(refusal))
        while self._queue and self._fits(self._queue[0].wanted):
            waiting = self._queue.popleft()
            if not waiting.granted.done():
                self._outstanding.add(waiting.wanted)
                waiting.granted.set_result(None)

    def _forget(self, waiting: _Waiting) -> None:
        """Its task was cancelled, perhaps in the very moment in which it was served."""
        if waiting in self._queue:
            self._queue.remove(waiting)
        self.release(waiting.wanted)


def _nano(usd: float) -> int:
    return round(usd * NANO)
