"""The database of calls and sessions: SQLite in the state folder, or PostgreSQL."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from reviewbot.errors import ConfigError, ReviewbotError
from reviewbot.store.tables import metadata, schema_version

Result = TypeVar("Result")

# Statements that lead from version 1 of the tables to 2, from 2 to 3, and so on. A new database is
# made from `tables.py`.
MIGRATIONS: tuple[tuple[str, ...], ...] = ((),)
FILE = "ledger.db"
SCHEMA = "reviewbot"  # a PostgreSQL database may be shared
MIGRATING = 0x5E71E3B0  # the number of an advisory lock; nobody else uses it
# Serialization failure, deadlock, and a row that was pruned while another came to point to it.
AGAIN = ("40001", "40P01", "23503")
POOL: Mapping[str, Any] = {"hide_parameters": True, "pool_size": 4, "max_overflow": 60}
# The server gives up a process whose machine is gone, so that others take its calls over.
KEEPALIVE = "tcp_keepalives_idle=20 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4"
OPTIONS = {"options": f"-c search_path={SCHEMA} -c {KEEPALIVE}"}
POSTGRESQL: Mapping[str, Any] = {**POOL, "connect_args": OPTIONS}

# Parts of what SQLite (https://sqlite.org/rescode.html) and PostgreSQL say, and what to do then.
HINTS = (
    ("locked", "end the program that uses it, or wait for it"),
    ("readonly|unable|permission", "make it writable, or name another folder with --state"),
    ("not a database|malformed", "move the file away; replies in it will be paid for again"),
    ("connection", "check the URL, and that the server can be reached"),
)


# Which process makes a call or runs a session, and whether it still runs. The database has its id.
# The process holds a lock, which the system or the server releases when it ends: its calls can be
# taken over at once, and a slow call never is.


class FileOwner:
    """A locked file in a folder on a local disk. It is made within `_opening`."""

    def __init__(self, folder: Path) -> None:
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._folder = folder
        for path in folder.glob("*.lock"):
            if not _is_locked(path):
                path.unlink(missing_ok=True)
        self._path = folder / f"{self.id}.lock"
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def lives(self, _connection: sa.Connection, id: str) -> bool:
        return id == self.id or (bool(id) and _is_locked(self._folder / f"{id}.lock"))

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


class AdvisoryOwner:
    """An advisory lock of PostgreSQL, on a connection of its own.

    It does not work behind a pooler that shares connections (PgBouncer's transaction mode).
    """

    def __init__(self, engine: sa.Engine) -> None:
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection.execute(sa.text("SET idle_session_timeout = 0"))
        self._connection.execute(sa.func.pg_advisory_lock(_number(self.id)).select())

    def lives(self, connection: sa.Connection, id: str) -> bool:
        if id in ("", self.id):
            return bool(id)
        # Shared, so that two processes that look at once do not take each other for the owner.
        return not connection.scalar(sa.func.pg_try_advisory_xact_lock_shared(_number(id)).select())

    def close(self) -> None:
        with suppress(sa.exc.DBAPIError):  # the server may be gone, and the lock with it
            self._connection.execute(sa.func.pg_advisory_unlock_all().select())
        self._connection.close()


Owner = FileOwner | AdvisoryOwner


class Store:
    """An open database. Methods may be called from several threads, and raise ReviewbotError."""

    def __init__(self, engine: sa.Engine, owner: Owner, place: str) -> None:
        self.owner = owner
        self._engine = engine
        self._place = place
        # Who waits for SQLite to become free sleeps; threads of one process need not.
        is_file = engine.dialect.name == "sqlite"
        self._writing = threading.Lock() if is_file else nullcontext()

    def run(self, action: Callable[[sa.Connection], Result]) -> Result:
        """Run an action in a transaction, again if the server asks for it."""
        with _explained(self._place), self._writing:
            for pause in (0.01, 0.05, 0.2, 1):
                try:
                    with self._engine.begin() as connection:
                        return action(connection)
                except sa.exc.DBAPIError as error:
                    if getattr(error.orig, "sqlstate", "") not in AGAIN:
                        raise
                time.sleep(pause)
            with self._engine.begin() as connection:
                return action(connection)

    def close(self) -> None:
        self.owner.close()
        self._engine.dispose()


def open_store(url: str, folder: Path) -> Store:
    """Open the database at a URL, or else the file in a folder; make or migrate its tables.

    Raises ReviewbotError, and ConfigError for a URL that is none.
    """
    file, owners = folder / FILE, folder / "owners"
    engine, place = _postgresql(url) if url else (_sqlite(file), str(file))
    with ExitStack() as stack, _explained(place):
        stack.callback(engine.dispose)
        if url:
            _migrate(engine, place)
            owner: Owner = AdvisoryOwner(engine)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            owners.mkdir(mode=0o700, exist_ok=True)
            with _opening(owners):
                os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
                _migrate(engine, place)
                owner = FileOwner(owners)
        stack.pop_all()
    return Store(engine, owner, place)


def insert_new(connection: sa.Connection, table: sa.Table, values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with the same key is there. Returns whether it was inserted."""
    insert: Any
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert
    else:
        from sqlalchemy.dialects.postgresql import insert
    statement = insert(table).values(**values).on_conflict_do_nothing()
    return connection.execute(statement.returning(*table.primary_key)).first() is not None


def _sqlite(file: Path) -> sa.Engine:
    begins_nothing = {"isolation_level": None, "timeout": 15}  # by itself
    engine = sa.create_engine(f"sqlite:///{file.absolute()}", connect_args=begins_nothing, **POOL)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what is committed survives a power cut
        connection.execute("PRAGMA foreign_keys = ON")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # Two readers that both come to write would wait for each other.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _postgresql(url: str) -> tuple[sa.Engine, str]:
    parsed = None
    with suppress(sa.exc.ArgumentError, ValueError):  # they quote the URL, and so the password
        parsed = sa.make_url(url)
    if parsed is None or parsed.drivername != "postgresql":
        hint = "write postgresql://user:password@host/database"
        raise ConfigError("the URL of the ledger is none of PostgreSQL", hint=hint)
    try:
        engine = sa.create_engine(parsed.set(drivername="postgresql+psycopg"), **POSTGRESQL)
    except ModuleNotFoundError as error:
        message = "a ledger on PostgreSQL needs a package that is not installed"
        raise ConfigError(
            message, hint="pip install '.[postgres]' in the clone of reviewbot"
        ) from error

    return engine, f"postgresql://{parsed.host or ''}/{parsed.database or ''}"


def _migrate(engine: sa.Engine, place: str) -> None:
    """Bring the tables to the newest version, whoever else tries to at the same time."""
    newest = 1 + len(MIGRATIONS)
    with engine.begin() as connection:  # of SQLite, the lock
        if engine.dialect.name != "sqlite":
            connection.execute(sa.func.pg_advisory_xact_lock(MIGRATING).select())
            if not sa.inspect(connection).has_schema(SCHEMA):
                connection.execute(sa.schema.CreateSchema(SCHEMA))
        tables = sa.inspect(connection).get_table_names()
        if not tables:
            metadata.create_all(connection)
            connection.execute(schema_version.insert().values(version=newest))
            return
        if schema_version.name not in tables:
            hint = "name another folder with --state"
            raise ReviewbotError(f"{place} is the database of another program", hint=hint)
        version = connection.execute(sa.select(schema_version.c.version)).scalar_one()
        if version > newest:
            message = f"a newer reviewbot has written the ledger {place} (version {version})"
            raise ReviewbotError(message, hint="upgrade reviewbot")
        for statements in MIGRATIONS[version - 1 :]:
            for statement in statements:
                connection.exec_driver_sql(statement)
        metadata.create_all(connection)  # tables that are new
        connection.execute(schema_version.update().values(version=newest))


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Turn errors of the database and of its folder into ReviewbotErrors, without statements."""
    try:
        yield
        return
    except sa.exc.DBAPIError as error:
        reason = (str(error.orig).strip().splitlines() or [type(error.orig).__name__])[0][:300]
    except sa.exc.TimeoutError:
        reason = "no connection is free"
    except OSError as error:
        reason = error.strerror or str(error)
    hint = next((hint for part, hint in HINTS if re.search(part, reason.lower())), None)
    raise ReviewbotError(f"the ledger {place} cannot be used: {reason}", hint=hint)


@contextmanager
def _opening(folder: Path) -> Iterator[None]:
    """One process at a time opens the database beside this folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _number(id: str) -> int:
    """What PostgreSQL locks is a signed number of 64 bits."""
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big", signed=True)


def _is_locked(path: Path) -> bool:
    with suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: see AdvisoryOwner
        except BlockingIOError:
            return True
    return False
