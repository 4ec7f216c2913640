"""What a database refuses, as errors that say what to do next. No message holds a password or a prompt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from reviewbot.errors import IncompleteError


class LedgerError(IncompleteError):
    """The ledger cannot be read or written."""


class RevisionUnknown(LedgerError):
    """The ledger was written by another version of reviewbot, or is no ledger."""


_FREE = "free some space, or name another place with --state DIR"
_RIGHTS = "make it writable for this user, or name another place with --state DIR"
_BROKEN = "move the file away (what was paid for in it is lost), or restore it from a copy"
_OTHERS = "end the program that holds it, or wait for it, then run again"
_SERVER = "check that the server of the ledger's URL runs and can be reached"

# What SQLite says (https://sqlite.org/rescode.html), in the order in which it is looked for.
_SQLITE = (
    ("database is locked", "is locked by another program", _OTHERS),
    ("database table is locked", "is locked by another program", _OTHERS),
    ("readonly database", "is read-only", _RIGHTS),
    ("disk is full", "has no space left", _FREE),
    ("disk i/o error", "cannot be read or written (disk error, or no space left)", _FREE),
    ("not a database", "is damaged, or is no ledger", _BROKEN),
    ("malformed", "is damaged", _BROKEN),
    ("unable to open", "cannot be opened", _RIGHTS),
)

# SQLSTATE, or its class (https://www.postgresql.org/docs/current/errcodes-appendix.html).
_POSTGRESQL = (
    ("42501", "may not be written by this user", "grant CREATE on the database and USAGE on schema reviewbot"),
    ("25006", "is read-only", "name the primary server in the ledger's URL"),
    ("53100", "has no space left", "free some space on the server"),
    ("53300", "has no connection left", "end other clients, or raise max_connections"),
    ("3D000", "does not exist", "create the database that the ledger's URL names"),
    ("28", "refuses the user or password", "check the credentials in the ledger's URL"),
    ("57", "was shut down or cancelled the query", _SERVER),
    ("08", "cannot be reached", _SERVER),
    ("40", "is under too much contention", _OTHERS),
    ("55P03", "is locked by another program", _OTHERS),
)

#: Serialization failure, deadlock: the transaction did nothing and may be tried again.
_AGAIN = ("40001", "40P01")


def sqlstate(error: exc.DBAPIError) -> str:
    """PostgreSQL's five characters; empty where the error is not the server's."""
    return str(getattr(error.orig, "sqlstate", None) or "")


def may_be_tried_again(error: exc.DBAPIError) -> bool:
    """Nothing was done, and nothing is wrong but the moment."""
    return sqlstate(error) in _AGAIN


def explained(error: exc.DBAPIError, place: str) -> LedgerError:
    """The error of a driver in a user's words. ``place`` is the file, or the URL without password."""
    said = str(error.orig).strip() or type(error.orig).__name__
    line = said.splitlines()[0][:300]
    code = sqlstate(error)
    if code:
        known = next((entry for entry in _POSTGRESQL if code.startswith(entry[0])), None)
    else:
        known = next((entry for entry in _SQLITE if entry[0] in said.lower()), None)
    if known is not None:
        return LedgerError(f"the ledger {place} {known[1]} ({line})", hint=known[2])
    if "connection" in said.lower():
        return LedgerError(f"the ledger {place} cannot be reached ({line})", hint=_SERVER)
    return LedgerError(f"the ledger {place} failed ({line})", hint="run `reviewbot doctor`, or use --state DIR")


@contextmanager
def explaining(place: str) -> Iterator[None]:
    """Errors of the driver leave this block as LedgerErrors."""
    try:
        yield
    except exc.DBAPIError as error:
        raise explained(error, place) from error
    except exc.TimeoutError as error:
        raise LedgerError(f"the ledger {place} has no free connection", hint=_OTHERS) from error
