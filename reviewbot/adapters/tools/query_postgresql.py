"""PostgreSQL's side of a query: a session that may only read, of a role that may do little else.

READ ONLY stops what changes the database (rows, sequences, tables), whoever asks, and what some versions let through all the same
is rolled back. Neither keeps a superuser from the server's files, nor anyone from signalling their own sessions: roles with more
than reading are turned away here, and ``statement`` knows the names of such functions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.query import Basket, Found, Question
from reviewbot.adapters.tools.statement import POSTGRESQL, first_word

if TYPE_CHECKING:
    import psycopg

DIRECT = ("SHOW", "EXPLAIN")
"""Statements that no cursor can be declared for; their results are short."""
SHORTEST_CONNECT = 2
"""Seconds. libpq takes less for this."""

_TOO_MUCH = """
    (SELECT CASE WHEN r.rolsuper THEN 'it is a superuser' WHEN r.rolreplication THEN 'it may replicate'
                 ELSE 'it is a member of ' || r.rolname END
     FROM pg_catalog.pg_roles r
     WHERE (r.rolsuper OR r.rolreplication OR r.rolname IN
            ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend'))
       AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
     ORDER BY r.rolsuper DESC, r.oid)
    UNION ALL
    SELECT 'it may call functions of the extension ' || e.extname
    FROM pg_catalog.pg_extension e
    JOIN pg_catalog.pg_depend d ON d.refobjid = e.oid AND d.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass
    WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND e.extname IN ('dblink', 'http', 'pg_background', 'adminpack')
      AND pg_catalog.has_function_privilege(session_user, d.objid, 'EXECUTE')
    LIMIT 1
"""
"""Why a role is not fit to be lent to a model: it, or one that it may become, reaches beyond the database."""

_WHY: Mapping[str, Why] = {
    "57014": Why.TIMEOUT,  # query_canceled: statement_timeout
    "55P03": Why.TIMEOUT,  # lock_not_available: lock_timeout
    "25006": Why.REFUSED,  # read_only_sql_transaction
    "42501": Why.REFUSED,  # insufficient_privilege
}
"""By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html)."""
_NUMBERS: Mapping[int, Callable[[str], Any]] = {20: int, 21: int, 23: int, 700: json.loads, 701: json.loads}
"""int8, int2, int4, float4, float8, by their numbers in ``pg_type.dat``; ``numeric`` stays a text, which loses nothing."""
_BOOLEAN = 16


def found(question: Question) -> Found:
    """The rows. Raises Declined."""
    driver = _driver()
    try:
        connection = _connected(driver, question)
    except (driver.Error, UnicodeError, ValueError) as error:
        # libpq's own words name the host, the user and more.
        raise Declined(Why.FAILED, "the database cannot be reached, or does not let us in") from error
    with connection:
        try:
            return _rows(connection, question)
        except driver.Error as error:
            raise _declined(error, question) from error
        except UnicodeError as error:
            raise Declined(Why.FAILED, "the query or a parameter is no text that the database can hold") from error


def _connected(driver: ModuleType, question: Question) -> psycopg.Connection[Any]:
    """A session without a transaction. Should one ever be begun by somebody else's words, it can only read too."""
    milliseconds = max(int(question.seconds * 1000), 1)
    settings = {
        "default_transaction_read_only": "on",
        "standard_conforming_strings": "on",
        "statement_timeout": milliseconds,
        "lock_timeout": milliseconds,
        "idle_in_transaction_session_timeout": milliseconds,
    }
    given = driver.conninfo.conninfo_to_dict(question.address)
    words = (str(given.pop("options", "")), *(f"-c {name}={value}" for name, value in settings.items()))
    ours = {
        "options": " ".join(words).strip(),
        "connect_timeout": max(int(question.seconds), SHORTEST_CONNECT),
        "client_encoding": "UTF8",
        "application_name": "reviewbot",
    }
    opened: psycopg.Connection[Any] = driver.connect(**{**given, **ours}, autocommit=True, cursor_factory=driver.RawCursor)
    return opened


def _rows(connection: psycopg.Connection[Any], question: Question) -> Found:
    with connection.cursor() as cursor:
        refusal = cursor.execute(_TOO_MUCH).fetchone()
        if refusal:
            advice = "its operator should name one that may read some tables and nothing else"
            raise Declined(Why.REFUSED, f"the role is not one to be lent: {refusal[0]}; {advice}")
        cursor.execute("BEGIN READ ONLY")
        direct = first_word(question.query, POSTGRESQL) in DIRECT
        query = question.query if direct else f"DECLARE reviewbot NO SCROLL CURSOR FOR {question.query}"
        # Prepared, so that it goes by the protocol that takes one statement at a time, also without parameters.
        cursor.execute(query.encode(), tuple(_untyped(value) for value in question.parameters), prepare=True)
        if not direct:
            cursor.execute(f"FETCH FORWARD {question.rows + 1:d} FROM reviewbot")
        found = _read(cursor, question)
        cursor.execute("ROLLBACK")
        return found


def _untyped(value: str | int | float | bool | None) -> str | None:
    """A parameter as a literal would be written, so that the server takes it for what the query wants there."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _read(cursor: psycopg.Cursor[Any], question: Question) -> Found:
    """The values in PostgreSQL's own words, which it has for all of them: a year before Christ is no Python date."""
    result, basket = cursor.pgresult, Basket(question.rows)
    assert result is not None
    places = range(result.nfields)
    types = [result.ftype(place) for place in places]
    for row in range(result.ntuples):
        if not basket.takes(tuple(_plain(result.get_value(row, place), types[place]) for place in places)):
            break
    return basket.found(tuple((result.fname(place) or b"").decode("utf-8", "replace") for place in places))


def _plain(data: bytes | None, kind: int) -> Any:
    if data is None:
        return None
    text = data.decode("utf-8", "replace")
    if kind == _BOOLEAN:
        return text == "t"
    if kind in _NUMBERS and text not in ("NaN", "Infinity", "-Infinity"):
        return _NUMBERS[kind](text)
    return text


def _declined(error: psycopg.Error, question: Question) -> Declined:
    """In the server's words, which name no address."""
    state = error.sqlstate or ""
    why = _WHY.get(state, Why.FAILED)
    if why is Why.TIMEOUT:
        return Declined(why, f"the query took longer than {question.seconds:g} s, or waited so long for a lock")
    said = error.diag.message_primary
    if not said:
        return Declined(why, "the connection was lost, or the result is too large to be held")
    hint = f" ({error.diag.message_hint})" if error.diag.message_hint else ""
    return Declined(why, f"PostgreSQL says: {said}{hint}")


def _driver() -> ModuleType:
    try:
        import psycopg
    except ImportError as error:
        raise Declined(Why.FAILED, "PostgreSQL cannot be asked here: install reviewbot[postgres]") from error
    return psycopg
