"""Who writes, who judges and who refines: by role, else whoever sits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reviewbot.domain.debate import Seat

STATIC = "static"
"""The family of seats behind which no language model sits: they neither write nor judge code."""

WRITERS = ("proposer", "reviewer")
JUDGES = ("critic", "reviewer")
MOST_JUDGES = 2


@dataclass(frozen=True, slots=True)
class Staff:
    """Those at the table who can be asked, in its order, and who settles what judges do not agree about."""

    seats: tuple[Seat, ...]
    moderator: Seat | None = None

    @classmethod
    def of(cls, seats: Iterable[Seat], moderator: Seat | None) -> Staff:
        """Of all who sit, those that language models answer for."""
        return cls(tuple(seat for seat in seats if seat.family != STATIC), moderator)

    def writer(self, role: str = "") -> Seat | None:
        """Who has the ``role``, else the Proposer, or who stands in."""
        return next(iter(self._by_role((role, *WRITERS))), None)

    @property
    def drafter(self) -> str:
        """Who wrote what the debate suggested (S8)."""
        return next((seat.name for seat in self._by_role(("reviewer",))), "")

    def judges(self, author: str) -> tuple[Seat, ...]:
        """The Critic and the Reviewer, or who stands in. Nobody judges its own code, unless nobody else sits: then the same model
        does, in a context of its own."""
        others = [seat for seat in self._by_role(JUDGES) if seat.name != author]
        return tuple(others[:MOST_JUDGES]) or self.seats[:1]

    def refiner(self, author: str) -> Seat | None:
        """The Optimizer, unless it wrote the code itself."""
        return next((seat for seat in self.seats if seat.role == "optimizer" and seat.name != author), None)

    def _by_role(self, roles: tuple[str, ...]) -> list[Seat]:
        """All seats, those with these roles first, in the order of the roles."""
        return sorted(self.seats, key=lambda seat: roles.index(seat.role) if seat.role in roles else len(roles))
