"""Ask a database with one statement that only reads.

The database itself refuses everything else: the text of a statement is never judged here.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sqlite3
import time
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta, Struct

from reviewbot.errors import ConfigError
from reviewbot.git.change import Change
from reviewbot.journal import Journal, key_of
from reviewbot.llm.tools.read_file import shown

if TYPE_CHECKING:
    import sqlalchemy as sa

SQLITE, POSTGRESQL = "sqlite:///", "postgresql://"
SECONDS = 10
MAX_ROWS = 100
MAX_CHARACTERS = 10_000
MAX_VALUE = 200_000  # bytes of one value of SQLite
SQLITE_READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
# SQLAlchemy adds a REGEXP to SQLite that runs in Python, where no time limit reaches it.
FORBIDDEN_FUNCTIONS = ("regexp", "load_extension", "fts3_tokenizer")
# A read-only transaction keeps nobody with such a role from programs and files of the server, and
# from the sessions of others.
ROLE = """
SELECT r.rolname FROM pg_catalog.pg_roles AS r
WHERE (r.rolsuper OR r.rolreplication OR r.rolname IN ('pg_read_server_files',
    'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend'))
  AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
ORDER BY r.rolname LIMIT 1
"""
# As part of another statement, no other than a query is accepted. The server makes JSON of rows of
# any type, and cuts values that would fill the memory here.
ROWS = """
SELECT left(to_json(reviewbot_row)::text, {characters}) FROM (
{sql}
) AS reviewbot_row LIMIT {rows}
"""
# What SQLite and PostgreSQL say when the time is over.
OUT_OF_TIME = (
    *("interrupted", "database is locked"),
    "canceling statement due to statement timeout",
)

Parameters = tuple[str | int | float | bool | None, ...]


class Arguments(Struct, frozen=True, kw_only=True):
    sql: Annotated[str, Meta(description="one statement, with placeholders for its values")]
    parameters: Annotated[Parameters, Meta(description="the values, in order")] = ()


class Database:
    """The database of `tools.database`. Its address is never part of an answer.

    Raises ConfigError for an address that cannot be asked here.
    """

    def __init__(self, address: str, journal: Journal, change: Change) -> None:
        if not address.startswith((SQLITE, POSTGRESQL)):
            message = "tools.database must begin with sqlite:/// or postgresql://"
            raise ConfigError(message, hint="reviewbot config show says where it is set")
        self.placeholders = "?" if address.startswith(SQLITE) else "$1, $2"
        if address.startswith(POSTGRESQL) and not importlib.util.find_spec("psycopg"):
            message = "tools.database needs a package that is not installed"
            raise ConfigError(message, hint="pip install 'reviewbot[postgres]'")
        self._address = address
        self._journal = journal
        self._trees = (change.base_tree, change.head_tree)
        self._lock = asyncio.Lock()

    async def run(self, arguments: Arguments) -> str:
        key = key_of("query_database", self._address, arguments, *self._trees)
        async with self._lock:  # equal questions at the same time share one answer
            if recorded := self._journal.get(key, str):
                return recorded
            try:
                answer = await asyncio.to_thread(_ask, self._address, arguments)
            except _Unanswered as error:
                return str(error)
            self._journal.put(key, answer)
            return answer


class _Unanswered(Exception):
    """What another attempt may not meet, and what therefore is not recorded."""


def _ask(address: str, arguments: Arguments) -> str:
    import sqlalchemy as sa  # takes long

    if "\0" in arguments.sql:
        return "the statement contains a null character"
    is_sqlite = address.startswith(SQLITE)
    engine = _sqlite(address) if is_sqlite else _postgresql(address)
    try:
        connection = engine.connect()
    except sa.exc.DBAPIError:  # its text names the address
        raise _Unanswered("the database cannot be reached") from None
    with connection:
        try:
            ask = _sqlite_rows if is_sqlite else _postgresql_rows
            rows = ask(connection, arguments.sql, arguments.parameters)
        except sa.exc.DBAPIError as error:
            diagnosis = getattr(error.orig, "diag", None)
            reason = getattr(diagnosis, "message_primary", None) or str(error.orig)
            if reason in OUT_OF_TIME:
                raise _Unanswered(f"the query took longer than {SECONDS} s") from None
            if error.connection_invalidated:
                raise _Unanswered("the connection to the database was lost") from None
            return f"the database says: {reason}"
        except (OverflowError, UnicodeError) as error:
            return f"a value cannot be passed: {error}"
    text = shown("\n".join(rows[:MAX_ROWS]))
    if len(rows) <= MAX_ROWS and len(text) <= MAX_CHARACTERS:
        return text or "no rows"
    return f"{text[:MAX_CHARACTERS]}\n(There is more. At most {MAX_ROWS} rows are shown.)"


def _sqlite(address: str) -> sa.Engine:
    import sqlalchemy as sa

    def connect() -> sqlite3.Connection:
        file = f"file:{quote(address.removeprefix(SQLITE))}?mode=ro"
        connection = sqlite3.connect(file, uri=True, timeout=SECONDS, check_same_thread=False)
        connection.text_factory = lambda data: data.decode(errors="replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(_may_read)
        ends_at = time.monotonic() + SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > ends_at, 10_000)
        return connection

    return sa.create_engine("sqlite://", creator=connect, poolclass=sa.NullPool)


def _may_read(action: int, _: str | None, function: str | None, *__: str | None) -> int:
    is_read = action in SQLITE_READS and function not in FORBIDDEN_FUNCTIONS
    return sqlite3.SQLITE_OK if is_read else sqlite3.SQLITE_DENY


def _sqlite_rows(connection: sa.Connection, sql: str, parameters: Parameters) -> list[str]:
    result = connection.exec_driver_sql(sql, parameters)
    names, rows = list(result.keys()), []
    if len(set(names)) < len(names):
        return ["several columns have the same name; name them with AS"]
    for row in result:
        values = (f"\\x{value.hex()}" if isinstance(value, bytes) else value for value in row)
        rows.append(msgspec.json.encode(dict(zip(names, values, strict=True))).decode())
        if len(rows) > MAX_ROWS or sum(map(len, rows)) > MAX_CHARACTERS:
            break
    return rows


def _postgresql(address: str) -> sa.Engine:
    import psycopg
    import sqlalchemy as sa

    def connect() -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            address,
            connect_timeout=SECONDS,
            cursor_factory=psycopg.RawCursor,
            prepare_threshold=0,  # a prepared statement is one, never several
        )

    return sa.create_engine("postgresql+psycopg://", creator=connect, poolclass=sa.NullPool)


def _postgresql_rows(connection: sa.Connection, sql: str, parameters: Parameters) -> list[str]:
    connection = connection.execution_options(postgresql_readonly=True)
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = {int(SECONDS * 1_000)}")
    if role := connection.exec_driver_sql(ROLE).scalar():
        message = f"the database is not asked: its user has the rights of {role}, and must be one"
        raise _Unanswered(f"{message} that may only read (tools.database)")
    if not sql.lstrip()[:7].upper() == "EXPLAIN":
        end = sql.rstrip("; \t\r\n")
        sql = ROWS.format(sql=end, rows=MAX_ROWS + 1, characters=MAX_CHARACTERS + 2_000)
    # As texts, values have the type that the statement wants there.
    values = [v if v is None or isinstance(v, str) else json.dumps(v) for v in parameters]
    result = connection.exec_driver_sql(sql, tuple(values))
    return [str(row) for row in result.scalars().fetchmany(MAX_ROWS + 1)]
