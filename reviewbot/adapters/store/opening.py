"""The way into the store: a state directory or a URL becomes a :class:`Store`."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import URL, Connection, exc, make_url, update

from reviewbot.adapters.store import schema
from reviewbot.adapters.store.begin import begin
from reviewbot.adapters.store.calls import LedgerCalls, release_all
from reviewbot.adapters.store.database import Database
from reviewbot.adapters.store.export import Example, examples
from reviewbot.adapters.store.failure import LedgerError
from reviewbot.adapters.store.history import History
from reviewbot.adapters.store.ledger import Ledger
from reviewbot.adapters.store.owner import AdvisoryOwner, FileOwner, Owner
from reviewbot.adapters.store.profiles import LedgerProfiles
from reviewbot.adapters.store.session import LedgerSession
from reviewbot.adapters.store.tables import sessions
from reviewbot.errors import ConfigError
from reviewbot.ports import Calls, Session, SessionPlan

FILE = "ledger.db"
_BUSY_SECONDS = 15.0
_DRIVERS = {"postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg", "postgresql+psycopg": "postgresql+psycopg"}


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session that this process runs. ``resumed``: it was interrupted, and goes on. ``replayable``: one of the same plan and
    generation is at its end, so that its calls and documents are there.

    A context manager: on leaving, claims that were neither settled nor released are given back, and a session that is not at
    its end may be resumed by anybody at once.
    """

    id: str
    session: Session
    calls: Calls
    resumed: bool
    replayable: bool
    generation: int
    _let_go: Callable[[], None] = field(repr=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()


class Store(AbstractContextManager["Store"]):
    """The ledger, open. Thread-safe. ``close`` gives back everything that this process claimed and did not settle."""

    def __init__(self, ledger: Ledger, closing: threading.Event) -> None:
        self._ledger = ledger
        self._closing = closing
        self.profiles = LedgerProfiles(ledger)
        self.history = History(ledger)

    @property
    def place(self) -> str:
        """The file, or the URL without its password."""
        return self._ledger.database.place

    def begin(self, plan: SessionPlan) -> OpenSession:
        """The session of ``plan``: resumed where it was interrupted, new otherwise. Raises LedgerError."""
        begun = self._ledger.database.write(lambda connection: begin(connection, self._ledger, plan))
        session = LedgerSession(self._ledger, begun)
        calls = LedgerCalls(self._ledger, session=begun.id, generation=begun.generation)

        def let_go() -> None:
            calls.end()
            session.let_go()

        return OpenSession(
            id=begun.id,
            session=session,
            calls=calls,
            resumed=begun.resumed,
            replayable=begun.replayable,
            generation=begun.generation,
            _let_go=let_go,
        )

    def examples(self, project: str | None = None) -> Iterator[Example]:
        """Lines for fine-tuning, of one repository or all (``export.py``). Streams. Raises LedgerError."""
        return examples(self._ledger, project)

    def close(self) -> None:
        """Wake who waits, give claims and sessions back, close connections. A second time does nothing."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._ledger.under_way.close()
        owner = self._ledger.owner.name

        def give_back(connection: Connection) -> None:
            release_all(connection, owner)
            connection.execute(update(sessions).where(sessions.c.owner == owner).values(owner=""))

        try:
            self._ledger.database.write(give_back)
        finally:
            self._ledger.owner.close()
            self._ledger.database.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def open_store(
    where: Path | str, *, now: Callable[[], float] = time.time, busy_seconds: float = _BUSY_SECONDS, owner: str = ""
) -> Store:
    """Open the ledger at ``where``: a state directory (made where it is missing), or a URL ``postgresql://…`` or
    ``sqlite:///file``. ``now`` gives Unix seconds. ``owner`` names this process; it must never have been used before.

    Raises LedgerError where it cannot be opened, ConfigError for a URL that is none.
    """
    url, place = _located(where)
    name = owner or f"{os.getpid()}-{os.urandom(6).hex()}"
    closing = threading.Event()

    def pause(seconds: float) -> None:
        if closing.wait(seconds):
            raise LedgerError("the ledger was closed", hint="run again: what was paid for is kept")

    database = _database(url, place=place, busy_seconds=busy_seconds, pause=pause)
    try:
        if database.is_sqlite:
            _make_file(Path(url.database or ""), busy_seconds, place)
        schema.prepare(database)
        holder: Owner = (
            FileOwner(Path(url.database or "").parent / "owners", name) if database.is_sqlite else AdvisoryOwner(database, name)
        )
    except BaseException:
        database.close()
        raise
    return Store(Ledger(database, holder, now, pause), closing)


def _located(where: Path | str) -> tuple[URL, str]:
    """The URL, and what errors call it."""
    if isinstance(where, Path) or "://" not in where:
        path = Path(where).absolute() / FILE
        return URL.create("sqlite", database=str(path)), str(path)
    try:
        url = make_url(where)
    except (exc.ArgumentError, ValueError):
        # The chain is cut: the driver's message may quote the URL, and with it the password.
        raise ConfigError("the ledger's URL cannot be read", hint="write postgresql://user:password@host/database") from None
    if url.drivername in _DRIVERS:
        url = url.set(drivername=_DRIVERS[url.drivername])
        return url, url.render_as_string(hide_password=True)
    if url.drivername == "sqlite" and url.database not in (None, "", ":memory:"):
        return url, str(url.database)
    raise ConfigError(f"a ledger cannot be of kind {url.drivername!r}", hint="give a postgresql:// URL, or none for a file")


def _database(url: URL, *, place: str, busy_seconds: float, pause: Callable[[float], None]) -> Database:
    try:
        return Database(url, place=place, busy_seconds=busy_seconds, pause=pause)
    except ModuleNotFoundError as error:
        raise ConfigError("a ledger on PostgreSQL needs the package psycopg", hint="install reviewbot[postgres]") from error


def _make_file(path: Path, busy_seconds: float, place: str) -> None:
    """An empty file that only its owner reads, in WAL mode: the mode stays in the file. By the bare driver, because changing
    it is refused in a transaction, and by a database that another process is just changing too."""
    try:
        path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        hint = "make it writable for this user, or name another place with --state DIR"
        raise LedgerError(f"the ledger {place} cannot be opened ({error.strerror})", hint=hint) from error
    _journal(path, time.monotonic() + busy_seconds)


def _journal(path: Path, until: float) -> None:
    while True:
        connection = sqlite3.connect(path, timeout=0.05)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                return  # what is wrong will be met again, and explained, by the first transaction
        except sqlite3.DatabaseError:
            return
        finally:
            connection.close()
        time.sleep(0.01)
