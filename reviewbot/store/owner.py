"""Which process makes a call or runs a session, and whether it still lives.

Its id is in the database; a lock that the system or the server takes away from a dead process tells
the rest. So a call that nobody makes any more is taken over at once, and a slow one never.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import sqlalchemy as sa


class FileOwner:
    """A locked file in a folder on a local disk. It is made within `opening`."""

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


@contextmanager
def opening(folder: Path) -> Iterator[None]:
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
