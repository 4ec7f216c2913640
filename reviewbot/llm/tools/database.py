"""Ask a database. It refuses by itself what does more than read; no statement is judged here."""

import asyncio
import importlib.util
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta

from reviewbot.errors import ConfigError, install_hint
from reviewbot.journal import key_of
from reviewbot.llm.tools.files import Context
from reviewbot.text.secrets import shown

SQLITE = "sqlite:///"
SECONDS = 10
MAX_ROWS, MAX_CHARACTERS = 100, 10_000
MAX_VALUE = 200_000  # bytes of a value of SQLite
# What an authorizer allows; it answers 0 for that, and 1 (SQLITE_DENY) for all else.
SQLITE_READS = (
    *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ),
    *(sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
)
# A read-only transaction keeps nobody with these rights from files and programs of the server.
RIGHTS = """
SELECT rolname FROM pg_catalog.pg_roles WHERE (rolsuper OR rolreplication OR rolname IN (
    'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program',
    'pg_signal_backend')) AND pg_catalog.pg_has_role(session_user, oid, 'MEMBER') ORDER BY 1
"""
# Only a query can be part of another. The server makes JSON of any type, and cuts what is long;
# a secret at the end of what is shown is still whole.
ROWS = f"""
SELECT left(to_json(reviewbot_row)::text, {MAX_CHARACTERS + 2_000}) FROM (
%s
) AS reviewbot_row LIMIT {MAX_ROWS + 1}
"""
OUT_OF_TIME = "the query took longer than %s s"
UNREACHABLE = "the database cannot be reached"

Parameters = tuple[str | int | float | bool | None, ...]


class Unanswered(Exception):
    """What the next attempt may not meet, and what therefore is not recorded."""


def placeholders_of(address: str) -> str:
    """How statements name their parameters. Raises ConfigError for what cannot be asked."""
    if address.startswith(SQLITE):
        if not (file := Path(address.removeprefix(SQLITE))).is_file():
            hint = "use sqlite:///PATH, with a fourth / for a path from the root"
            raise ConfigError(f"tools.database: there is no file {file}", hint=hint)
        return "SQLite, placeholder ?"
    if not address.startswith("postgresql://"):
        hint = "use sqlite:///PATH or postgresql://USER@HOST/NAME"
        raise ConfigError("tools.database is no address of a database that can be asked", hint=hint)
    if not importlib.util.find_spec("psycopg"):
        message = "tools.database needs a package that is not installed"
        raise ConfigError(message, hint=install_hint("postgres"))
    return "PostgreSQL, placeholders $1, $2"


async def query_database(
    context: Context,
    sql: Annotated[str, Meta(description="one statement, with placeholders for values")],
    parameters: Annotated[Parameters, Meta(description="the values, in order")] = (),
) -> str:
    address, change = context.settings.database, context.change
    key = key_of("query_database", address, sql, parameters, change.base_tree, change.head_tree)
    async with context.database_lock:  # equal questions share one answer
        if (recorded := context.journal.get(key, str)) is not None:
            return recorded
        try:
            answer = await asyncio.to_thread(_ask, address, sql, parameters)
        except Unanswered as error:
            return str(error)
        context.journal.put(key, answer)
        return answer


def _ask(address: str, sql: str, parameters: Parameters) -> str:
    if "\0" in sql:
        return "the statement contains a null character"
    ask = _ask_sqlite if address.startswith(SQLITE) else _ask_postgresql
    rows = ask(address, sql, parameters)
    text = shown("\n".join(rows[:MAX_ROWS]))
    if len(rows) <= MAX_ROWS and len(text) <= MAX_CHARACTERS:
        return text or "no rows"
    return f"{text[:MAX_CHARACTERS]}\n(There is more; at most {MAX_ROWS} rows are shown.)"


def _ask_sqlite(address: str, sql: str, parameters: Parameters) -> list[str]:
    ends_at = time.monotonic() + SECONDS
    file = f"file:{quote(address.removeprefix(SQLITE))}?mode=ro"
    rows: list[str] = []
    try:
        with closing(sqlite3.connect(file, uri=True, timeout=SECONDS)) as connection:
            connection.text_factory = lambda data: data.decode(errors="replace")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE)
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.execute("PRAGMA query_only = ON")
            connection.set_authorizer(lambda action, *_: action not in SQLITE_READS)
            connection.set_progress_handler(lambda: time.monotonic() > ends_at, 10_000)
            cursor = connection.execute(sql, parameters)
            names = [column[0] for column in cursor.description or ()]
            if len(set(names)) < len(names):
                return ["the database says: several columns have one name; give others with AS"]
            for row in cursor:
                values = (f"\\x{v.hex()}" if isinstance(v, bytes) else v for v in row)
                rows.append(msgspec.json.encode(dict(zip(names, values, strict=True))).decode())
                if len(rows) > MAX_ROWS or sum(map(len, rows)) > MAX_CHARACTERS:
                    break
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
        match str(error):
            case "interrupted" | "database is locked":
                raise Unanswered(OUT_OF_TIME % SECONDS) from None
            case "unable to open database file":
                raise Unanswered(UNREACHABLE) from None
        return [f"the database says: {error}"]
    return rows


def _ask_postgresql(address: str, sql: str, parameters: Parameters) -> list[str]:
    import psycopg

    if sql.lstrip()[:7].upper() != "EXPLAIN":
        sql = ROWS % sql.rstrip("; \t\r\n")
    # As texts, values get the type that the statement wants there.
    values = [v if v is None or isinstance(v, str) else json.dumps(v) for v in parameters]
    try:
        connection = psycopg.connect(address, connect_timeout=max(2, int(SECONDS)))
    except psycopg.Error:  # it names the address
        raise Unanswered(UNREACHABLE) from None
    # Closing rolls back, also what a version of PostgreSQL allows although it only reads.
    with closing(connection), psycopg.RawCursor(connection) as cursor:
        connection.read_only = True
        try:
            cursor.execute(f"SET LOCAL statement_timeout = {int(SECONDS * 1_000)}")
            if role := cursor.execute(RIGHTS).fetchone():
                message = f"the database is not asked, because its user has the rights of {role[0]}"
                raise Unanswered(f"{message}; tools.database must name one that only reads")
            # What is prepared is one statement, never several.
            cursor.execute(sql.encode(), values, prepare=True)
            return [str(row) for (row,) in cursor.fetchmany(MAX_ROWS + 1)]
        except (psycopg.Error, UnicodeError) as error:
            if isinstance(error, psycopg.errors.QueryCanceled):
                raise Unanswered(OUT_OF_TIME % SECONDS) from None
            if connection.broken:
                raise Unanswered(UNREACHABLE) from None
            reason = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
            return [f"the database says: {reason}"]
