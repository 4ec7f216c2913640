"""The cap on what a review spends. What a call may cost is reserved before it is made."""

from __future__ import annotations

import asyncio

from reviewbot.errors import BudgetExceeded
from reviewbot.llm.prices import DOLLAR, dollars


class Budget:
    """Amounts are nano-dollars.

    Attributes:
        spent: what calls cost, by the price table; those of earlier runs of this review count.
        is_exhausted: whether a call was refused.
    """

    def __init__(self, cap_usd: float) -> None:
        self.cap = int(cap_usd * DOLLAR)
        self.spent = 0
        self.is_exhausted = False
        self._reserved = 0
        self._changed = asyncio.Condition()
        self._turn = asyncio.Lock()  # first come, first served

    async def reserve(self, worst: int) -> None:
        """Wait until a call fits under the cap. Raises BudgetExceeded if it cannot any more."""
        async with self._turn, self._changed:
            await self._changed.wait_for(
                lambda: self.spent + self._reserved + worst <= self.cap or not self._reserved
            )
            if self.spent + worst > self.cap:
                self.is_exhausted = True
                raise BudgetExceeded(
                    f"the call may cost {dollars(worst)}, and {dollars(self.left)} are left of the "
                    f"{dollars(self.cap)} of limits.cost_usd"
                )
            self._reserved += worst

    async def settle(self, worst: int, cost: int) -> None:
        """Give back what was reserved, and take what the call cost."""
        self._reserved -= worst
        self.spent += cost
        async with self._changed:
            self._changed.notify_all()

    def charge(self, cost: int) -> None:
        """Count what was paid before, by an earlier run."""
        self.spent += cost

    @property
    def left(self) -> int:
        return max(0, self.cap - self.spent - self._reserved)
