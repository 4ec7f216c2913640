"""The database of calls and sessions: SQLite in the state folder, or PostgreSQL."""

import fcntl
import hashlib
import os
import re
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlsplit

from msgspec import Struct, field

from reviewbot.errors import ConfigError, ReviewbotError, install_hint

P = ParamSpec("P")
Result = TypeVar("Result")
Row = dict[str, Any]

VERSION = 2  # of the tables in `schema.sql`
FILE = "ledger.db"
SCHEMA = "reviewbot"  # a PostgreSQL database may be shared
# Serialization failure, deadlock, and a row that was pruned while another came to point to it.
AGAIN = ("40001", "40P01", "23503")
SECONDS = 10  # to connect, or for a lock; drivers wait longer, and nothing interrupts that
# The server gives up a process whose machine is gone, so that others take its calls over.
KEEPALIVE = "-c tcp_keepalives_idle=20 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=4"
OPTIONS = f"-c search_path={SCHEMA} -c client_encoding=UTF8 -c idle_session_timeout=0 {KEEPALIVE}"

# Parts of what SQLite (https://sqlite.org/rescode.html) and PostgreSQL say, and what to do then.
HINTS = (
    ("permission denied for", "docs/models.md says which rights it needs"),  # a user of PostgreSQL
    ("locked|lock timeout", "end the program that uses it, or wait for it"),
    ("readonly|unable|permission|full|space", "make it writable, free some space, or use --state"),
    ("not a database|malformed", "move the file away; replies in it will be paid for again"),
    ("connection|resolve", "check the URL, and that the server can be reached"),
)
PARAMETER = re.compile(r":(\w+)")


# Which process makes a call or runs a session, and whether it still runs. The database has its id.
# The process holds a lock, which the system or the server releases when it ends: its calls can be
# taken over at once, and a slow call never is.


class FileOwner:
    """A locked file in a folder on a local disk. It is made while the folder is locked."""

    def __init__(self, folder: Path) -> None:
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._folder = folder
        for path in folder.glob("*.lock"):
            if not _is_locked(path):
                path.unlink(missing_ok=True)
        self._path = folder / f"{self.id}.lock"
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def lives(self, id: str) -> bool:
        return id == self.id or (bool(id) and _is_locked(self._folder / f"{id}.lock"))

    def close(self) -> None:
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


class AdvisoryOwner:
    """An advisory lock of PostgreSQL, which the connection holds.

    It does not work behind a pooler that shares connections (PgBouncer's transaction mode).
    """

    def __init__(self, driver: Any) -> None:
        self.id = f"{os.getpid()}-{os.urandom(6).hex()}"
        self._driver = driver
        driver.execute("SELECT pg_advisory_lock(%s)", (_number(self.id),))

    def lives(self, id: str) -> bool:
        if id in ("", self.id):
            return bool(id)
        # Shared, so that two processes that look at once do not take each other for the owner.
        look = "SELECT NOT pg_try_advisory_xact_lock_shared(%s)"
        return bool(self._driver.execute(look, (_number(id),)).fetchone()[0])

    def close(self) -> None:
        with suppress(*_driver_errors()):  # the server may be gone, and the lock with it
            self._driver.execute("SELECT pg_advisory_unlock_all()")


Owner = FileOwner | AdvisoryOwner


class Connection:
    """A connection in a transaction. Parameters of statements are written as `:name`."""

    def __init__(self, driver: Any, owner: Owner) -> None:
        self._driver = driver
        self.owner = owner
        self.is_sqlite = isinstance(driver, sqlite3.Connection)

    def execute(self, statement: str, **values: Any) -> int:
        """Returns how many rows a statement changed."""
        return int(self._send(statement, values).rowcount)

    def rows(self, statement: str, **values: Any) -> list[Row]:
        cursor = self._send(statement, values)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def insert(self, table: str, values: Row) -> list[Row]:
        """Insert a row, and return it, unless one with the same key is there."""
        names = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join(f":{name}" for name in values)
        unless = "ON CONFLICT DO NOTHING RETURNING *"
        return self.rows(f"INSERT INTO {table} ({names}) VALUES ({marks}) {unless}", **values)

    def id_of(self, table: str, values: Row, lock: str = "") -> int:
        """The id of the row with these values, which is inserted if there is none."""
        self.insert(table, values)
        where = " AND ".join(f"{name} = :{name}" for name in values)
        return int(self.rows(f"SELECT id FROM {table} WHERE {where}{lock}", **values)[0]["id"])

    def _send(self, statement: str, values: Row) -> Any:
        if not self.is_sqlite:
            statement = PARAMETER.sub(r"%(\1)s", statement)
        # PostgreSQL cannot hold NUL, UTF-8 no lone surrogates: they are written as escapes.
        for key, text in values.items():
            if isinstance(text, str):
                values[key] = text.replace("\0", r"\x00").encode(errors="backslashreplace").decode()
        return self._driver.execute(statement, values)


class Store(Struct, eq=False):
    """An open database. Methods may be called from several threads, and raise ReviewbotError."""

    driver: Any
    owner: Owner
    place: str
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(
        self, action: Callable[Concatenate[Connection, P], Result], *args: P.args, **named: P.kwargs
    ) -> Result:
        """Run an action in a transaction, again if the server asks for it."""
        connection, pauses = Connection(self.driver, self.owner), [0.01, 0.05, 0.2, 1]
        with _explained(self.place), self.lock:
            while True:
                try:
                    # Two readers of SQLite that both come to write would wait for each other.
                    self.driver.execute("BEGIN IMMEDIATE" if connection.is_sqlite else "BEGIN")
                    result = action(connection, *args, **named)
                    self.driver.execute("COMMIT")
                    return result
                except BaseException as error:  # Ctrl-C as well
                    with suppress(*_driver_errors()):  # the server may be gone
                        self.driver.execute("ROLLBACK")
                    if not pauses or getattr(error, "sqlstate", "") not in AGAIN:
                        raise
                time.sleep(pauses.pop(0))

    def close(self) -> None:
        self.owner.close()
        self.driver.close()


def open_store(url: str, folder: Path) -> Store:
    """The database at a URL, or else in a folder, with its tables. Raises ReviewbotError."""
    place = _place_of(url) if url else str(folder / FILE)
    owners = folder / "owners"
    with _explained(place), ExitStack() as always, ExitStack() as on_error:
        driver: Any
        owner: Owner
        if url:
            try:
                import psycopg
            except ModuleNotFoundError as error:
                message = "a ledger on PostgreSQL needs a package that is not installed"
                raise ConfigError(message, hint=install_hint("postgres")) from error
            options = f"{OPTIONS} -c lock_timeout={SECONDS}s"
            driver = psycopg.connect(url, autocommit=True, options=options, connect_timeout=SECONDS)
            on_error.callback(driver.close)
            owner = AdvisoryOwner(driver)
        else:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            owners.mkdir(mode=0o700, exist_ok=True)
            # One process at a time opens the database beside this folder.
            lock = os.open(owners, os.O_RDONLY)
            always.callback(os.close, lock)
            for _ in range(SECONDS * 50):
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(0.02)
            else:
                raise OSError(None, "it is locked")
            os.close(os.open(place, os.O_RDWR | os.O_CREAT, 0o600))
            driver = sqlite3.connect(
                place, timeout=15, isolation_level=None, check_same_thread=False
            )
            on_error.callback(driver.close)
            driver.execute("PRAGMA journal_mode = WAL")
            driver.execute("PRAGMA synchronous = FULL")  # what is committed survives a power cut
            driver.execute("PRAGMA foreign_keys = ON")
            owner = FileOwner(owners)
        on_error.callback(owner.close)
        store = Store(driver, owner, place)
        store.run(_make_tables, place)
        on_error.pop_all()
    return store


def _place_of(url: str) -> str:
    """A URL without what is secret in it. Raises ConfigError."""
    with suppress(ValueError):  # it quotes the URL, and so the password
        parsed = urlsplit(url)
        if parsed.scheme == "postgresql" and parsed.port != 0:
            return f"postgresql://{parsed.hostname or ''}{parsed.path}"
    hint = "write postgresql://user:password@host/database"
    raise ConfigError("the URL of the ledger is none of PostgreSQL", hint=hint)


def _make_tables(connection: Connection, place: str) -> None:
    """Make the tables that are missing, whoever else tries to at the same time."""
    schema = Path(__file__).with_name("schema.sql").read_text("utf-8")
    listed = "SELECT name FROM sqlite_master WHERE type = 'table'"
    if not connection.is_sqlite:
        listed = "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()"
        schema = schema.replace("id INTEGER PRIMARY KEY", "id SERIAL PRIMARY KEY")
        schema = f"CREATE SCHEMA IF NOT EXISTS {SCHEMA};\n{schema}"
        connection.rows("SELECT pg_advisory_xact_lock(:id)", id=0x5E71E3B0)  # ours alone
    tables = [row["name"] for row in connection.rows(listed)]
    if tables and "schema_version" not in tables:
        hint = "name another folder with --state"
        raise ReviewbotError(f"{place} is the database of another program", hint=hint)
    for row in connection.rows("SELECT version FROM schema_version") if tables else ():
        if row["version"] > VERSION:
            message = f"a newer reviewbot has written the ledger {place} ({row['version']})"
            raise ReviewbotError(message, hint="upgrade reviewbot")
        if row["version"] == VERSION:
            return  # on a server, others may use the tables who may not make any
    for statement in schema.split(";\n"):
        connection.execute(statement)
    connection.execute("DELETE FROM schema_version")
    connection.insert("schema_version", {"version": VERSION})


@contextmanager
def _explained(place: str) -> Iterator[None]:
    """Turn errors of the database and of its folder into ReviewbotErrors, without statements."""
    try:
        yield
        return
    except _driver_errors() as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
    except OSError as error:
        reason = error.strerror or str(error)
    hint = next((hint for part, hint in HINTS if re.search(part, reason.lower())), None)
    raise ReviewbotError(f"the ledger {place} cannot be used: {reason}", hint=hint)


def _driver_errors() -> tuple[type[Exception], ...]:
    """Errors of SQLite and, once it is loaded, of PostgreSQL."""
    psycopg = sys.modules.get("psycopg")
    return (sqlite3.Error, psycopg.Error) if psycopg else (sqlite3.Error,)


def _number(id: str) -> int:
    """What PostgreSQL locks is a signed number of 64 bits."""
    return int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big", signed=True)


def _is_locked(path: Path) -> bool:
    with suppress(FileNotFoundError, BlockingIOError), path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: see AdvisoryOwner
        return False
    return path.exists()
