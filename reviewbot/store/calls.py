"""Calls of models that are paid for once: claimed before, settled before their reply is used.

Each step is one transaction, and nobody waits within one.
"""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa
from msgspec import Struct

from reviewbot.store.database import Store, insert_new
from reviewbot.store.sessions import Session
from reviewbot.store.tables import calls, tool_calls, turns


class Found(Struct, frozen=True, kw_only=True):
    """What there is of a call; see the table.

    Attributes:
        state: "mine" if the caller has to make it now, "busy" if somebody else is making it, and
            otherwise how it ended.
    """

    state: Literal["mine", "busy", "done", "failed"]
    generation: int = 0
    reply: str = ""
    fault: str = ""
    message: str = ""
    cost: int = 0
    lost: int = 0


BUSY = Found(state="busy")


class Calls:
    """The calls of one session. Methods may be called from several threads."""

    def __init__(self, store: Store, session: Session) -> None:
        self.store = store
        self.session = session
        self._turns: dict[str, int] = {}  # the newest of each label

    def claim(self, key: str, label: str, provider: str, model: str, worst: int, now: str) -> Found:
        """Claim a call, or find its outcome and add the turn."""
        generation = self.session.generation
        claim = {"owner": self.store.owner.id, "worst": worst, "claimed_at": now}
        new = {"key": key, "generation": generation, "state": "claimed", **claim}
        new |= {"provider": provider, "model": model}

        def action(connection: sa.Connection) -> Found:
            # An outcome before a claim, and the newest of either.
            found = sa.select(calls).where(calls.c.key == key, calls.c.generation >= generation)
            order = (calls.c.state == "claimed", calls.c.generation.desc())
            row: Any = connection.execute(found.order_by(*order).limit(1)).first()
            if row is None:
                is_mine = insert_new(connection, calls, new)
                return Found(state="mine", generation=generation) if is_mine else BUSY
            if row.state != "claimed":
                call = (key, row.generation)
                self._add_turn(connection, call, label, cost=row.cost + row.lost, was_recorded=True)
                return Found(**{name: getattr(row, name) for name in Found.__struct_fields__})
            if self.store.owner.lives(connection, row.owner):
                return BUSY
            lost = row.lost + row.worst
            # Unless another process has taken it over since it was read.
            this = _claimed(key, row.generation, row.owner)
            taken = connection.execute(sa.update(calls).where(this).values(lost=lost, **claim))
            mine = Found(state="mine", generation=row.generation, lost=lost)
            return mine if taken.rowcount else BUSY

        return self.store.write(action)

    def settle(
        self, key: str, generation: int, label: str, seconds: float, outcome: dict[str, Any]
    ) -> None:
        """Record how a claimed call ended: columns of the table."""
        # The first outcome counts, also of a process that was taken for dead.
        end = sa.update(calls).where(_claimed(key, generation)).values(owner="", **outcome)

        def action(connection: sa.Connection) -> None:
            cost = outcome["cost"] + (connection.scalar(end.returning(calls.c.lost)) or 0)
            self._add_turn(connection, (key, generation), label, cost=cost, seconds=seconds)

        self.store.write(action)

    def release(self, key: str, generation: int, cost: int) -> None:
        """Give a claim back without an outcome. What it cost is kept for the next claim."""
        mine = _claimed(key, generation, self.store.owner.id)
        free = _claimed(key, generation, "") & (calls.c.worst + calls.c.lost == 0)

        def action(connection: sa.Connection) -> None:
            connection.execute(sa.update(calls).where(mine).values(owner="", worst=cost))
            connection.execute(sa.delete(calls).where(free))

        self.store.write(action)

    def add_tool_call(self, label: str, key: str, name: str, arguments: str, result: str) -> None:
        """Record what a tool returned to the newest turn with this label."""
        values = {"turn_id": self._turns[label], "key": key, "name": name}
        values |= {"arguments": arguments, "result": result}
        self.store.write(lambda connection: insert_new(connection, tool_calls, values))

    def _add_turn(
        self,
        connection: sa.Connection,
        call: tuple[str, int],
        label: str,
        *,
        cost: int,
        seconds: float = 0,
        was_recorded: bool = False,
    ) -> None:
        """A session that was resumed has the turn already."""
        this = {"session_id": self.session.id, "key": call[0], "generation": call[1]}
        values = {"phase": label, "agent": label.partition("/")[0], "cost": cost}
        values |= {"seconds": seconds, "was_recorded": was_recorded}
        insert_new(connection, turns, this | values)
        self._turns[label] = connection.execute(
            sa.select(turns.c.id).filter_by(**this)
        ).scalar_one()


def _claimed(key: str, generation: int, owner: str | None = None) -> sa.ColumnElement[bool]:
    whose = sa.true() if owner is None else calls.c.owner == owner
    this = (calls.c.key == key) & (calls.c.generation == generation)
    return this & (calls.c.state == "claimed") & whose
