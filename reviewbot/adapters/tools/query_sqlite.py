"""SQLite's side of a query: a file that is opened for reading, and an authorizer that lets nothing else through."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import quote

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.query import Basket, Found, Question
from reviewbot.adapters.tools.statement import SQLITE, first_word

SCHEME = "sqlite:///"
STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the clock: some hundred a second."""
LARGEST_VALUE = 64_000_000
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_PLANNED = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
"""Asked for by a statement that changes rows: of an EXPLAIN, which runs nothing, no harm."""
_TOLD = ("table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list")
"""Pragmas that tell of the schema, as functions: ``pragma_table_info('t')``."""
_NEVER = frozenset({"load_extension", "fts3_tokenizer", "writefile", "edit"})
_MEANT = {
    "interrupted": (Why.TIMEOUT, "the query took too long"),
    "not authorized": (Why.REFUSED, "the query does more than read"),
}


def found(question: Question) -> Found:
    """The rows. Raises Declined."""
    address = f"file:{quote(question.address.removeprefix(SCHEME))}?mode=ro&immutable=0"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=question.seconds, isolation_level=None)) as connection:
            _confine(connection, question)
            return _rows(connection, question)
    except sqlite3.Error as error:
        raise _declined(str(error), question) from error
    except (OverflowError, UnicodeError, sqlite3.Warning) as error:
        raise Declined(Why.FAILED, f"the query cannot be asked: {error}") from error


def _rows(connection: sqlite3.Connection, question: Question) -> Found:
    cursor = connection.execute(question.query, question.parameters)
    basket = Basket(question.rows)
    for row in cursor:
        if not basket.takes(tuple(_plain(value) for value in row)):
            break
    return basket.found(tuple(column[0] for column in cursor.description or ()))


def _confine(connection: sqlite3.Connection, question: Question) -> None:
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA temp_store = MEMORY")
    for name in _TOLD:
        # Such a function is set up when it is first used, by what looks like writing.
        connection.execute(f"SELECT 1 FROM pragma_{name}")
    connection.set_authorizer(_gate(explains=first_word(question.query, SQLITE) == "EXPLAIN"))
    until = time.monotonic() + question.seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)


def _gate(*, explains: bool) -> Callable[..., int]:
    allowed = _READING | _PLANNED if explains else _READING

    def decide(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        is_told = action == sqlite3.SQLITE_PRAGMA and first in _TOLD
        is_read = action in allowed and not (action == sqlite3.SQLITE_FUNCTION and second in _NEVER)
        return sqlite3.SQLITE_OK if is_told or is_read else sqlite3.SQLITE_DENY

    return decide


def _plain(value: Any) -> Any:
    """A value of JSON: bytes as PostgreSQL shows them, and no number that JSON does not know."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _declined(said: str, question: Question) -> Declined:
    for beginning, (why, message) in _MEANT.items():
        if said.startswith(beginning):
            return Declined(why, f"{message} (its limit is {question.seconds:g} s)" if why is Why.TIMEOUT else message)
    return Declined(Why.FAILED, f"SQLite says: {said}")
