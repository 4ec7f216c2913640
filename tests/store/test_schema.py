"""The schema: made at once, or by migrations; older ledgers, newer ones, and what is no ledger."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from reviewbot.adapters.store import schema
from reviewbot.adapters.store.database import SCHEMA, Database
from reviewbot.adapters.store.failure import RevisionUnknown
from reviewbot.adapters.store.opening import _located, open_store
from reviewbot.adapters.store.tables import metadata
from tests.store.samples import answered, plan, wanted


def database(where: str) -> Database:
    url, place = _located(where)
    if url.get_backend_name() == "sqlite":
        Path(str(url.database)).parent.mkdir(exist_ok=True)
    return Database(url, place=place, busy_seconds=5, pause=lambda _: None)


def migrated(where: str, to: str) -> None:
    """A ledger as an older version left it."""
    opened = database(where)
    with schema._alone(opened) as connection:
        if not opened.is_sqlite:
            connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))
        schema.migrate(connection, to)
    opened.close()


def shape(connection: Connection) -> dict[str, object]:
    """Everything that both ways of making the schema must agree on."""
    found = inspect(connection)
    return {
        name: (
            [(column["name"], str(column["type"]), column["nullable"], column["default"]) for column in found.get_columns(name)],
            found.get_pk_constraint(name)["constrained_columns"],
            sorted(map(str, found.get_foreign_keys(name))),
            sorted(map(str, found.get_unique_constraints(name))),
            sorted(map(str, found.get_indexes(name))),
        )
        for name in sorted(found.get_table_names())
    }


def shape_at(where: str) -> dict[str, object]:
    opened = database(where)
    with opened.read() as connection:
        found = shape(connection)
    opened.close()
    return found


def revision(where: str) -> list[str]:
    opened = database(where)
    with opened.read() as connection:
        found = list(connection.scalars(text("SELECT version_num FROM alembic_version")))
    opened.close()
    return found


def test_migrations_from_nothing_give_what_is_made_at_once(where: str, request: pytest.FixtureRequest, tmp_path: Path):
    open_store(where).close()
    at_once = shape_at(where)
    assert len(at_once) == len(metadata.tables) + 1
    where = request.getfixturevalue("cluster").emptied() if "://" in where else str(tmp_path / "another")
    migrated(where, "head")
    assert shape_at(where) == at_once
    opened = database(where)
    with opened.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    opened.close()


def test_the_revisions_are_those_of_the_migrations():
    script = ScriptDirectory(str(schema.MIGRATIONS), version_locations=[str(schema.MIGRATIONS)])
    assert tuple(found.revision for found in script.walk_revisions())[::-1] == schema.REVISIONS


@pytest.mark.parametrize("older", schema.REVISIONS[:-1])
def test_an_older_ledger_is_migrated_with_what_is_in_it(where: str, older: str):
    migrated(where, older)
    opened = database(where)
    opened.write(lambda connection: connection.execute(text("INSERT INTO projects (name) VALUES ('kept')")))
    opened.close()
    assert revision(where) == [older]
    with open_store(where) as store, store.begin(plan("A", project="kept")) as session:
        session.calls.claim(wanted())
        session.calls.settle(wanted(), answered())
        assert [summary.project for summary in store.history.sessions()] == ["kept"]
    assert revision(where) == [schema.REVISIONS[-1]]


def test_a_migration_that_breaks_off_leaves_the_old_ledger(where: str, tmp_path: Path):
    migrated(where, "0001")
    before = shape_at(where)
    folder = tmp_path / "migrations"
    folder.mkdir()
    for script in schema.MIGRATIONS.glob("r*.py"):
        (folder / script.name).write_text(script.read_text() + ("    raise ZeroDivisionError\n" if "0002" in script.name else ""))
    opened = database(where)
    with pytest.raises(ZeroDivisionError), schema._alone(opened) as connection:
        schema.migrate(connection, folder=folder)
    opened.close()
    assert shape_at(where) == before
    assert revision(where) == ["0001"]


def test_a_newer_ledger_is_refused_and_left_alone(where: str):
    open_store(where).close()
    opened = database(where)
    opened.write(lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    opened.close()
    with pytest.raises(RevisionUnknown, match=r"revision 9999.*update reviewbot"):
        open_store(where)
    assert revision(where) == ["9999"]


def test_somebody_elses_database_is_refused(tmp_path: Path):
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(RevisionUnknown, match=r"not a ledger.*--state"):
        open_store(tmp_path)


def test_a_shared_postgresql_database_keeps_its_own_tables(cluster):
    url = cluster.emptied()
    cluster.run(
        "CREATE TABLE IF NOT EXISTS public.alembic_version (version_num text)", "CREATE TABLE IF NOT EXISTS public.calls (x int)"
    )
    try:
        open_store(url).close()
        assert revision(url) == [schema.REVISIONS[-1]]
    finally:
        cluster.run("DROP TABLE public.alembic_version", "DROP TABLE public.calls")


def test_opening_a_ledger_of_this_version_imports_no_alembic_and_no_orm(tmp_path: Path):
    script = (
        "import sys; from reviewbot.adapters.store.opening import open_store\n"
        "for _ in range(2): open_store(sys.argv[1]).close()\n"
        "print([name for name in ('alembic', 'sqlalchemy.orm', 'psycopg', 'sqlalchemy.dialects.postgresql') if name in sys.modules])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
