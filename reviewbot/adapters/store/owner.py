"""Which process makes a call or runs a session, and whether it still lives.

A name in the database says who; a lock that the operating system or the server takes away from a dead process says whether
it lives. So a call that nobody makes any more is taken over at once, and never one that is only slow.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import threading
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, exc, text

from reviewbot.adapters.store.database import Database
from reviewbot.adapters.store.failure import LedgerError, explaining


class Owner(Protocol):
    """This process, as others see it. ``name`` is what stands in the database."""

    name: str

    def assure(self) -> None:
        """Take the lock again where it was lost. Raises LedgerError."""
        ...

    def lives(self, connection: Connection, name: str) -> bool:
        """Whether the process of that name lives. Asked within a transaction."""
        ...

    def close(self) -> None:
        """Let go of the lock."""
        ...


class FileOwner:
    """A locked file (``flock``) in ``folder``, which must be on a local disk."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self.name = name
        self._path = folder / f"{name}.lock"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._sweep()
            self._handle = _locked(self._path)
        except OSError as error:
            raise LedgerError(
                f"{folder} cannot be written ({error.strerror})", hint="make it writable, or name another place with --state DIR"
            ) from error

    def assure(self) -> None:
        """The lock lasts as long as the process."""

    def lives(self, connection: Connection, name: str) -> bool:  # noqa: ARG002 - PostgreSQL asks it
        """Nobody's name is dead, and so is one without a file or whose file nobody holds."""
        return name == self.name or (bool(name) and _is_held(self._folder / f"{name}.lock"))

    def close(self) -> None:
        """Remove the file while it is locked: nobody can take it for a dead owner's in between."""
        self._path.unlink(missing_ok=True)
        os.close(self._handle)

    def _sweep(self) -> None:
        """Remove what dead processes left."""
        for path in self._folder.glob("*.lock"):
            handle = _opened(path)
            if handle is None:
                continue
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink(missing_ok=True)
            except BlockingIOError:
                pass
            finally:
                os.close(handle)


class AdvisoryOwner:
    """A session-level advisory lock of PostgreSQL on a connection of its own, which a dead process loses.

    Behind a pooler that shares connections among clients (PgBouncer's transaction mode) this does not work.
    """

    def __init__(self, database: Database, name: str) -> None:
        self.name = name
        self._database = database
        self._asking = threading.Lock()
        with explaining(database.place):
            self._connection = self._locked()

    def assure(self) -> None:
        """A server that was started again has forgotten the lock, and broken the connection."""
        with self._asking, explaining(self._database.place):
            try:
                self._connection.execute(text("SELECT 1"))
            except exc.DBAPIError:
                self._connection.close()
                self._connection = self._locked()

    def lives(self, connection: Connection, name: str) -> bool:
        """Shared and until the end of the transaction: two who look at a time do not take each other for the owner."""
        if name == self.name or not name:
            return bool(name)
        free = connection.scalar(text("SELECT pg_try_advisory_xact_lock_shared(:number)"), {"number": _number(name)})
        return not free

    def close(self) -> None:
        """Close the connection, really: back in the pool it would keep the lock."""
        self._connection.invalidate()
        self._connection.close()

    def _locked(self) -> Connection:
        connection = self._database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        connection.execute(text("SET idle_session_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_lock(:number)"), {"number": _number(self.name)})
        return connection


def _number(name: str) -> int:
    """A signed 64-bit number of a name, as PostgreSQL wants it."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None


def _locked(path: Path) -> int:
    """The file, made and locked. Somebody who sweeps may remove it between both steps: then once more."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)
        if path.exists() and path.stat().st_ino == os.fstat(handle).st_ino:
            return handle
        os.close(handle)


def _is_held(path: Path) -> bool:
    handle = _opened(path)
    if handle is None:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
