"""Pay once: a call is claimed before it is made, and its outcome is written before anybody uses it.

Every step is one transaction, and nobody waits within one. Within a transaction rows are touched in one order (texts, calls,
agents, sessions, turns, tasks), so that two processes cannot wait for each other in a circle.

All methods may be called from threads. ``claim`` may wait for minutes: a caller that uses a pool of threads gives it one of
its own, or ``settle`` could find no thread while claims of two processes wait for each other's calls. A task that is cancelled
while its thread claims must still wait for the thread, and release.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, select, update

from reviewbot.adapters.store.database import insert_new
from reviewbot.adapters.store.failure import LedgerError
from reviewbot.adapters.store.ledger import Ledger, add_turn, move_agent
from reviewbot.adapters.store.states import AgentState, Claiming, claiming
from reviewbot.adapters.store.tables import calls
from reviewbot.adapters.store.texts import Reader, storable
from reviewbot.domain.money import Usage
from reviewbot.ports import CallState, Recorded, Wanted

_FIRST_WAIT_SECONDS = 0.02
_LONGEST_WAIT_SECONDS = 0.2
_OVER = "the session was left, or the ledger closed"

USAGE_COLUMNS = tuple(entry.name for entry in fields(Usage))


class LedgerCalls:
    """The calls of one session and one generation."""

    def __init__(self, ledger: Ledger, *, session: str, generation: int) -> None:
        self._ledger = ledger
        self._session = session
        self._generation = generation

    def claim(self, wanted: Wanted) -> Recorded | None:
        """See the port. Raises LedgerError."""
        key = (wanted.key, self._generation)
        if not self._ledger.under_way.enter(key, self):
            raise LedgerError(_OVER)
        is_ours = False
        try:
            self._ledger.owner.assure()
            recorded = self._waited_for(wanted)
            is_ours = recorded is None
        finally:
            if not is_ours:
                self._ledger.under_way.leave(key, self)
        if is_ours and self._ledger.under_way.is_over(self):
            self.release(wanted)  # the session was left while this thread was claiming
            raise LedgerError(_OVER)
        return recorded

    def end(self) -> None:
        """Give back what was claimed and not settled; who claims from now on is told that it is over."""
        self._ledger.under_way.end(self)
        owner = self._ledger.owner.name
        self._ledger.database.write(lambda connection: release_all(connection, owner, self._session))

    def settle(self, wanted: Wanted, recorded: Recorded) -> None:
        """See the port. Where another process has written an outcome meanwhile, that one stays."""
        hashes: dict[str, str] = {}

        def write(connection: Connection) -> None:
            hashes.update(self._ledger.texts.keep(connection, (recorded.document,)))
            call = self._written(connection, wanted, self._ending(recorded, hashes[recorded.document]))
            lost = recorded.state is CallState.FAILED
            path = (AgentState.ASKED, AgentState.LOST if lost else AgentState.ANSWERED)
            move_agent(connection, self._session, wanted.seat, *path)
            if call is not None:
                add_turn(connection, self._session, call, replayed=False, at=self._ledger.now())

        try:
            self._ledger.database.write(write)
            self._ledger.texts.remember(hashes.values())
        finally:
            self._ledger.under_way.leave((wanted.key, self._generation), self)

    def release(self, wanted: Wanted) -> None:
        """See the port."""

        def write(connection: Connection) -> None:
            gone = delete(calls).where(self._open(wanted), calls.c.owner == self._ledger.owner.name)
            connection.execute(gone)

        try:
            self._ledger.database.write(write)
        finally:
            self._ledger.under_way.leave((wanted.key, self._generation), self)

    def _waited_for(self, wanted: Wanted) -> Recorded | None:
        wait = _FIRST_WAIT_SECONDS
        while True:
            done, recorded = self._looked(wanted)
            if done:
                return recorded
            self._ledger.pause(wait)
            if self._ledger.under_way.is_over(self):
                raise LedgerError(_OVER)
            wait = min(wait * 1.5, _LONGEST_WAIT_SECONDS)

    def _looked(self, wanted: Wanted) -> tuple[bool, Recorded | None]:
        hashes: dict[str, str] = {}
        result = self._ledger.database.write(lambda connection: self._tried(connection, wanted, hashes))
        self._ledger.texts.remember(hashes.values())
        return result

    def _tried(self, connection: Connection, wanted: Wanted, hashes: dict[str, str]) -> tuple[bool, Recorded | None]:
        """One look: whether it is decided, and the outcome where there is one."""
        found = self._found(connection, wanted)
        mine = found is not None and found.owner == self._ledger.owner.name
        # One of ours that no thread makes (each would have been waited for) was forgotten: it is taken over.
        lives = found is not None and not mine and self._ledger.owner.lives(connection, found.owner)
        match claiming(found.state if found else None, mine=False, owner_lives=lives):
            case Claiming.REPLAY if found is not None:
                self._replayed(connection, wanted, found)
                return True, _recorded(connection, found)
            case Claiming.MAKE:
                hashes.update(self._ledger.texts.keep(connection, _long(wanted).values()))
                made = insert_new(connection, calls, [self._asking(wanted, hashes)])
            case Claiming.TAKE_OVER if found is not None:
                mine_now = {"owner": self._ledger.owner.name, "session_id": self._session, "asked_at": self._ledger.now()}
                stale = (calls.c.id == found.id, calls.c.state == "asking", calls.c.owner == found.owner)
                made = connection.execute(update(calls).where(*stale).values(mine_now)).rowcount
            case _:
                made = 0
        if made:
            move_agent(connection, self._session, wanted.seat, AgentState.ASKED)
        return bool(made), None

    def _found(self, connection: Connection, wanted: Wanted) -> Row[Any] | None:
        """The failure in this session, or else what everybody sees."""
        same = and_(calls.c.key == wanted.key, calls.c.generation == self._generation)
        rows = connection.execute(select(calls).where(same, calls.c.scope.in_(("", self._session)))).all()
        return max(rows, key=lambda row: str(row.scope), default=None)

    def _replayed(self, connection: Connection, wanted: Wanted, found: Row[Any]) -> None:
        lost = found.state == CallState.FAILED.value
        path = (AgentState.ASKED, AgentState.LOST if lost else AgentState.ANSWERED)
        move_agent(connection, self._session, wanted.seat, *path)
        add_turn(connection, self._session, found.id, replayed=True, at=self._ledger.now())

    def _open(self, wanted: Wanted) -> Any:
        return and_(
            calls.c.key == wanted.key, calls.c.generation == self._generation, calls.c.scope == "", calls.c.state == "asking"
        )

    def _written(self, connection: Connection, wanted: Wanted, ending: dict[str, Any]) -> int | None:
        """Put the outcome into its row. An answer counts even where another took the call over: it is here first."""
        mine = calls.c.owner == self._ledger.owner.name
        whose = self._open(wanted) if ending["scope"] == "" else and_(self._open(wanted), mine)
        call = connection.scalar(update(calls).where(whose).values(ending).returning(calls.c.id))
        if call is None:
            found = self._found(connection, wanted)
            return None if found is None or found.state == "asking" else int(found.id)
        return int(call)

    def _asking(self, wanted: Wanted, hashes: dict[str, str]) -> dict[str, Any]:
        return {
            "key": wanted.key,
            "generation": self._generation,
            "scope": "",
            "state": "asking",
            "session_id": self._session,
            "owner": self._ledger.owner.name,
            "model": storable(wanted.model),
            "seat": storable(wanted.seat),
            "phase": storable(wanted.phase),
            "subject": storable(wanted.subject),
            "round": wanted.round,
            "attempt": wanted.attempt,
            "step": wanted.step,
            "asked_at": self._ledger.now(),
            **{name: hashes[body] for name, body in _long(wanted).items()},
        }

    def _ending(self, recorded: Recorded, document: str) -> dict[str, Any]:
        failed = recorded.state is CallState.FAILED
        return {
            "state": recorded.state.value,
            "scope": self._session if failed else "",
            "session_id": self._session,
            "owner": "",
            "document": document,
            "outcome": storable(recorded.outcome),
            "latency": recorded.seconds,
            "ended_at": self._ledger.now(),
            **{name: getattr(recorded.usage, name) for name in USAGE_COLUMNS},
        }


def release_all(connection: Connection, owner: str, session: str | None = None) -> None:
    """Give back what ``owner`` claimed and did not settle, in one session or all."""
    whose = and_(calls.c.owner == owner, calls.c.state == "asking")
    connection.execute(delete(calls).where(whose if session is None else and_(whose, calls.c.session_id == session)))


def usage_of(row: Any) -> Usage:
    """A call's usage, as it was settled."""
    return Usage(**{name: getattr(row, name) for name in USAGE_COLUMNS})


def _recorded(connection: Connection, row: Row[Any]) -> Recorded:
    document = Reader(connection).text(row.document)
    return Recorded(CallState(row.state), document, usage_of(row), row.latency, row.outcome)


def _long(wanted: Wanted) -> dict[str, str]:
    return {
        "system": wanted.system,
        "prefix": wanted.prefix,
        "suffix": wanted.suffix,
        "exchanges": wanted.exchanges,
        "parameters": wanted.parameters,
    }
