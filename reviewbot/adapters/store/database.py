"""One database, SQLite or PostgreSQL, and its transactions.

On SQLite every writing transaction begins with ``BEGIN IMMEDIATE``: the right to write is taken at once, so that two
transactions never wait for each other with half a right each. Threads of this process queue on a lock of ours first, because
SQLite's own waiting sleeps. On PostgreSQL all tables live in the schema ``reviewbot``: a database may be shared.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, exc
from sqlalchemy.dialects import sqlite

from reviewbot.adapters.store.failure import explaining, may_be_tried_again

SCHEMA = "reviewbot"

_POOL = 4
_OVERFLOW = 28
_ATTEMPTS = 8
_FIRST_PAUSE_SECONDS = 0.01
#: Seconds until a peer that fell silent is given up, so that its calls can be taken over.
_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 4}
_SERVER_KEEPALIVE = "SET tcp_keepalives_idle = 20; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 4"

_Result = TypeVar("_Result")


class Database:
    """Connections and transactions. Thread-safe. ``place`` is what errors call it: no password in it."""

    def __init__(self, url: URL, *, place: str, busy_seconds: float, pause: Callable[[float], None]) -> None:
        self.place = place
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._pause = pause
        self._writing = threading.Lock() if self.is_sqlite else nullcontext()
        self._engine = _sqlite_engine(url, busy_seconds) if self.is_sqlite else _postgresql_engine(url)
        self._reading = self._engine.execution_options(reviewbot_begin="BEGIN")

    @property
    def engine(self) -> Engine:
        """For tests, and for connections that live as long as the process."""
        return self._engine

    def write(self, action: Callable[[Connection], _Result]) -> _Result:
        """``action`` in one transaction, which is tried again where the server asks for it. Raises LedgerError."""
        with explaining(self.place), self._writing:
            for attempt in range(_ATTEMPTS):
                try:
                    with self._engine.begin() as connection:
                        return action(connection)
                except exc.DBAPIError as error:
                    if not may_be_tried_again(error) or attempt == _ATTEMPTS - 1:
                        raise
                    self._pause(_FIRST_PAUSE_SECONDS * 2**attempt)
            raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads, and sees one state of everything. Raises LedgerError."""
        with explaining(self.place), self._reading.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection that is not in use."""
        self._engine.dispose()


def insert_new(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> int:
    """Insert what is not there yet, in the given order. Returns how many rows came in."""
    insert = _insert(connection, table).on_conflict_do_nothing().returning(*table.primary_key)
    # Counted by what comes back: the drivers' row count of an insert is -1 on PostgreSQL, come in or not.
    return sum(connection.execute(insert.values(row)).first() is not None for row in rows)


def upsert(connection: Connection, table: Table, row: dict[str, Any]) -> None:
    """Insert ``row``, or put it in the place of the one with its primary key."""
    insert = _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    values = {name: value for name, value in row.items() if name not in keys}
    connection.execute(insert.values(row).on_conflict_do_update(index_elements=keys, set_=values))


def _insert(connection: Connection, table: Table) -> Any:
    """An insert that knows ``ON CONFLICT``: both dialects spell it alike."""
    if connection.dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # a twentieth of a second that SQLite's users need not wait

    return postgresql.insert(table)


def _sqlite_engine(url: URL, busy_seconds: float) -> Engine:
    engine = create_engine(url, hide_parameters=True, pool_size=_POOL, max_overflow=_OVERFLOW)

    @event.listens_for(engine, "connect")
    def prepare(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself: BEGIN is ours
        connection.execute(f"PRAGMA busy_timeout = {int(busy_seconds * 1000)}")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(str(connection.get_execution_options().get("reviewbot_begin", "BEGIN IMMEDIATE")))

    return engine


def _postgresql_engine(url: URL) -> Engine:
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_size=_POOL,
        max_overflow=_OVERFLOW,
        pool_pre_ping=True,
        connect_args={"connect_timeout": 10, **_KEEPALIVE},
    )

    @event.listens_for(engine, "connect", insert=True)
    def prepare(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path = {SCHEMA}; {_SERVER_KEEPALIVE}")
        connection.commit()

    return engine
