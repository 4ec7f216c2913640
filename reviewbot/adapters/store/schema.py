"""Bringing a database to the tables of this version: made at once where it is new, by Alembic where it is older.

Alembic is imported only for the second: it costs more than a whole run of the static panel.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, exc, inspect, select, text

from reviewbot.adapters.store.database import SCHEMA, Database
from reviewbot.adapters.store.failure import RevisionUnknown, explaining
from reviewbot.adapters.store.tables import metadata, revisions

#: Every revision of the schema, oldest first; each is a file in ``migrations/``.
REVISIONS = ("0001", "0002", "0003")
MIGRATIONS = Path(__file__).with_name("migrations")

#: Of the advisory lock that lets one process at a time change the schema: any number that nobody else uses.
_SCHEMA_LOCK = 0x5E71E3B07


def prepare(database: Database) -> None:
    """Make or migrate the tables. Raises RevisionUnknown for a newer ledger, or somebody else's file."""
    if _revision_at_once(database) == REVISIONS[-1]:
        return
    with explaining(database.place), _alone(database) as connection:
        revision = _revision(connection)
        if revision is None:
            _make(connection, database.place)
        elif revision not in REVISIONS:
            raise RevisionUnknown(
                f"the ledger {database.place} is of revision {revision[:40]}, which this version does not know",
                hint="update reviewbot, or name another place with --state DIR",
            )
        elif revision != REVISIONS[-1]:
            migrate(connection)


def migrate(connection: Connection, to: str = "head", *, folder: Path = MIGRATIONS) -> None:
    """Run the migrations that are missing, in the transaction of ``connection``."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(folder), version_locations=[str(folder)])
    with EnvironmentContext(Config(), script, fn=lambda revision, _: script._upgrade_revs(to, revision)) as environment:
        environment.configure(connection=connection, target_metadata=metadata, render_as_batch=True, transactional_ddl=True)
        environment.run_migrations()


def _revision_at_once(database: Database) -> str | None:
    """The revision, by one query and without a lock; ``None`` where that says nothing."""
    try:
        with database.engine.execution_options(reviewbot_begin="BEGIN").begin() as connection:
            return connection.scalar(select(revisions.c.version_num))
    except exc.DBAPIError:
        return None  # whatever it is, it will be met again under the lock, and explained


@contextmanager
def _alone(database: Database) -> Iterator[Connection]:
    """A transaction in which nobody else changes the schema."""
    with database.engine.connect() as connection:
        if database.is_sqlite:
            # Not possible within a transaction. Alembic's batches drop and remake tables that others point to.
            connection.connection.cursor().execute("PRAGMA foreign_keys = OFF")
        try:
            with connection.begin():
                if not database.is_sqlite:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _SCHEMA_LOCK})
                yield connection
        finally:
            connection.invalidate()  # nobody else gets it without its foreign keys


def _revision(connection: Connection) -> str | None:
    """The revision of the ledger; ``None`` for an empty database."""
    if not inspect(connection).has_table(revisions.name):
        return None
    return connection.scalar(select(revisions.c.version_num)) or "none"


def _make(connection: Connection, place: str) -> None:
    if connection.dialect.name == "sqlite":
        if inspect(connection).get_table_names():
            raise RevisionUnknown(f"{place} is a database, but not a ledger", hint="name another place with --state DIR")
    elif not inspect(connection).has_schema(SCHEMA):
        connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))
    metadata.create_all(connection, checkfirst=False)
    revisions.create(connection, checkfirst=False)
    connection.execute(revisions.insert().values(version_num=REVISIONS[-1]))
