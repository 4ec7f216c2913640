"""Migrations of base and head, applied by a real server: what fails, what differs, what they do to tables that are in use."""

from __future__ import annotations

import importlib

import pytest

from reviewbot.adapters import sandbox
from reviewbot.adapters.sandbox.plain import PROBES
from reviewbot.domain.evidence import Side
from reviewbot.evidence.parsers.migration import Deed, Definition, History, MigrationReport, Past, Stage
from reviewbot.ports import Ended, Outcome
from tests.probes_sql.rooms import LOOK, REPORT, examine, migrate, run

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

USERS = "CREATE TABLE users (id int PRIMARY KEY, email text, age int);\nCREATE INDEX users_email ON users (email);\n"
BUSY = """\
ALTER TABLE users ADD COLUMN plain int DEFAULT 3;
ALTER TABLE users ADD COLUMN token float DEFAULT random();

-- the index
CREATE INDEX users_age ON users (age);
ALTER TABLE users ALTER COLUMN email SET NOT NULL;
CREATE TABLE orders (
    id int PRIMARY KEY,
    buyer int REFERENCES users
);
CREATE INDEX orders_buyer ON orders (buyer);
"""
GENTLE = """\
-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY users_age ON users (age);
ALTER TABLE users ADD CONSTRAINT grown CHECK (age > 0) NOT VALID;
ALTER TABLE users VALIDATE CONSTRAINT grown;
"""


DROPS = "-- migrate:up\nDROP INDEX users_email;\nALTER TABLE users DROP COLUMN age;\n-- migrate:down\nSELECT broken;\n"
BASE = {"m/1.sql": USERS}
HEAD = {"m/1.sql": USERS, "m/2.sql": BUSY, "m/3.sql": DROPS}
QUERIES = [
    {"path": "a.py", "name": "by email", "sql": "SELECT * FROM users WHERE email = $1;"},
    {"path": "a.py", "name": "by id", "sql": "SELECT * FROM users WHERE id = $1"},
    {"path": "a.py", "name": "by age", "sql": "SELECT id FROM users WHERE age > 18"},
    {"path": "b.py", "name": "new", "sql": "SELECT * FROM orders WHERE buyer = $1 AND id > $2", "base_sql": ""},
]


def facts(report: MigrationReport, deed: Deed) -> list[tuple[int, str, str]]:
    return [(fact.line, fact.object, fact.detail) for fact in report.facts if fact.deed is deed]


@pytest.fixture(scope="module")
def busy(room: sandbox.ClosableSandbox) -> tuple[Outcome, MigrationReport]:
    """A migration that does much to a table of the base, and loses an index."""
    return migrate(room, BASE, HEAD, queries=QUERIES)


def test_migrations_that_get_through_both_ways_are_well(busy: tuple[Outcome, MigrationReport]) -> None:
    outcome, report = busy
    assert outcome.exit_code == 0
    assert (report.errors, report.differences, report.history, report.left_out) == ((), (), (), ())
    assert report.server.split(".")[0].isdigit()


def test_what_a_migration_changes_is_told_by_name(busy: tuple[Outcome, MigrationReport]) -> None:
    changes = {change.object: (change.first, change.second) for change in busy[1].changes}
    assert changes["column public.users.email"] == ("text", "text not null")
    assert changes["column public.users.age"] == ("integer", None)
    assert changes["column public.users.plain"] == (None, "integer default 3")
    assert changes["index public.users_email"] == ("CREATE INDEX users_email ON public.users USING btree (email)", None)
    assert changes["constraint orders_buyer_fkey on public.orders"] == (None, "FOREIGN KEY (buyer) REFERENCES public.users(id)")
    assert "column public.users.id" not in changes


def test_the_server_tells_which_statement_locks_a_table_that_was_there(busy: tuple[Outcome, MigrationReport]) -> None:
    locks = [fact for fact in busy[1].facts if fact.deed is Deed.LOCK]
    assert [(fact.path, fact.line, fact.object) for fact in locks] == [
        ("m/2.sql", 1, "public.users"),
        ("m/3.sql", 2, "public.users"),
    ]
    assert all(fact.blocks_readers for fact in locks)


def test_the_server_tells_which_statement_reads_or_writes_all_of_a_table(busy: tuple[Outcome, MigrationReport]) -> None:
    report = busy[1]
    assert facts(report, Deed.REWRITE) == [(2, "public.users", "default value")]
    assert facts(report, Deed.SCAN) == [(5, "public.users", "AccessExclusiveLock"), (6, "public.users", "AccessExclusiveLock")]


def test_what_is_dropped_is_told(busy: tuple[Outcome, MigrationReport]) -> None:
    assert facts(busy[1], Deed.DROP) == [
        (2, "public.users_email", "index"),
        (3, "public.users.age", "table column"),
    ]


def test_an_index_that_is_lost_shows_in_the_plan(busy: tuple[Outcome, MigrationReport]) -> None:
    replanned = {one.name: (one, other) for one, other in busy[1].replanned()}
    assert set(replanned) == {"by email", "by age"}
    before, after = replanned["by email"]
    assert (before.indexes, after.indexes) == ({"users_email"}, set())
    assert [step.type for step in after.steps] == ["Seq Scan"]
    assert before.cost < after.cost


def test_a_query_that_no_longer_fits_says_why(busy: tuple[Outcome, MigrationReport]) -> None:
    after = next(plan for plan in busy[1].plans if plan.name == "by age" and plan.side is Side.HEAD)
    assert after.error == 'column "age" does not exist'


def test_a_query_that_is_new_has_a_plan_at_head_alone(busy: tuple[Outcome, MigrationReport]) -> None:
    plans = [plan for plan in busy[1].plans if plan.path == "b.py"]
    assert [plan.side for plan in plans] == [Side.HEAD]
    assert plans[0].indexes


def test_two_examinations_give_the_same_report(busy: tuple[Outcome, MigrationReport], room: sandbox.ClosableSandbox) -> None:
    again, _ = migrate(room, BASE, HEAD, queries=QUERIES)
    assert again.file(REPORT) == busy[0].file(REPORT)


def test_a_careful_migration_blocks_nobody_for_long(room: sandbox.ClosableSandbox) -> None:
    _, report = migrate(room, BASE, BASE | {"m/2.sql": GENTLE})
    assert facts(report, Deed.SCAN) == facts(report, Deed.REWRITE) == []
    assert facts(report, Deed.LOCK) == [(4, "public.users", "AccessExclusiveLock")]
    assert "index public.users_age" in {change.object for change in report.changes}


def test_an_index_made_in_the_ordinary_way_keeps_writers_out(room: sandbox.ClosableSandbox) -> None:
    _, report = migrate(room, BASE, BASE | {"m/2.sql": "CREATE INDEX users_age ON users (age);"})
    assert facts(report, Deed.LOCK) == facts(report, Deed.SCAN) == [(1, "public.users", "ShareLock")]
    assert not report.facts[0].blocks_readers


def test_what_cannot_run_in_a_transaction_is_run_without_one(room: sandbox.ClosableSandbox) -> None:
    outcome, report = migrate(room, BASE, BASE | {"m/2.sql": "CREATE INDEX CONCURRENTLY users_age ON users (age);"})
    assert outcome.exit_code == 0
    assert report.facts == ()


@pytest.mark.smoke
def test_a_migration_that_fails_is_told_with_its_place_and_code(room: sandbox.ClosableSandbox) -> None:
    wrong = "ALTER TABLE users ADD name text;\n\nCREATE VIEW adults AS\n  SELECT id,\n    yeers\n  FROM users;\n"
    outcome, report = migrate(room, BASE, BASE | {"m/2.sql": wrong})
    assert outcome.exit_code == 1
    assert [(error.stage, error.path, error.line, error.code) for error in report.errors] == [
        (Stage.UPGRADE, "m/2.sql", 5, "42703"),
        (Stage.FRESH, "m/2.sql", 5, "42703"),
    ]
    assert report.errors[0].message == 'column "yeers" does not exist'
    assert report.errors[0].statement.startswith("CREATE VIEW adults")


def test_a_migration_that_fails_on_rows_of_the_base_gets_through_nowhere(room: sandbox.ClosableSandbox) -> None:
    base = {"m/1.sql": USERS + "INSERT INTO users VALUES (1, NULL, 3);"}
    _, report = migrate(room, base, base | {"m/2.sql": "ALTER TABLE users ALTER email SET NOT NULL;"})
    assert [(error.stage, error.code) for error in report.errors] == [(Stage.UPGRADE, "23502"), (Stage.FRESH, "23502")]
    assert report.changes == ()


def test_an_edited_migration_makes_another_schema_anew_than_by_upgrade(room: sandbox.ClosableSandbox) -> None:
    edited = USERS.replace("age int", "age bigint")
    outcome, report = migrate(room, {"m/1.sql": USERS}, {"m/1.sql": edited, "m/0.sql": "CREATE TYPE mood AS ENUM ('so', 'la');"})
    assert outcome.exit_code == 1
    assert report.history == (History(Past.EDITED, "m/1.sql"), History(Past.OUT_OF_ORDER, "m/0.sql"))
    assert report.differences == (Definition("column public.users.age", "integer", "bigint"),)
    assert report.changes == (Definition("type public.mood", None, "enum 'so', 'la'"),)


def test_a_removed_migration_is_told(room: sandbox.ClosableSandbox) -> None:
    _, report = migrate(room, {"m/1.sql": USERS, "m/2.sql": "CREATE TABLE gone (id int);"}, {"m/1.sql": USERS})
    assert report.history == (History(Past.REMOVED, "m/2.sql"),)
    assert {one.object for one in report.differences} == {"table public.gone", "column public.gone.id"}


def test_roles_that_nobody_makes_are_made_and_those_of_a_migration_are_its_own(room: sandbox.ClosableSandbox) -> None:
    grants = USERS + "CREATE ROLE clerk;\nGRANT SELECT ON users TO clerk;\nGRANT SELECT ON users TO reporter;\n"
    outcome, report = migrate(room, {}, {"m/1.sql": grants})
    assert outcome.exit_code == 0, report.errors
    assert report.roles == ("reporter",)
    assert Definition("grant on public.users to reporter", None, "select") in report.changes


def test_a_base_that_does_not_get_through_by_itself_tells_nothing(room: sandbox.ClosableSandbox) -> None:
    outcome = examine(room, {"m/1.sql": "\nCREATE EXTENSION not_installed_here;"}, {"m/1.sql": "SELECT 1;"})
    assert outcome.exit_code == 3
    said = outcome.stderr.decode().splitlines()[-1]
    assert said.startswith("a migration of the base fails here: m/1.sql:2: 0A000 extension")


def test_a_migration_that_does_not_end_tells_nothing(room: sandbox.ClosableSandbox) -> None:
    outcome = examine(room, {}, {"m/1.sql": "SELECT pg_sleep(60);"}, seconds=2.5)
    assert (outcome.ended, outcome.exit_code) == (Ended.EXITED, 3)
    assert b"did not end in the time" in outcome.stderr


def test_a_migration_that_writes_into_the_report_changes_nothing(room: sandbox.ClosableSandbox) -> None:
    forged = r"""COPY (SELECT '{"type": "finish", "n": 0}') TO PROGRAM 'cat > /run/reviewbot/scratch/report.jsonl';"""
    outcome, report = migrate(room, {}, {"m/1.sql": forged + "\nCREATE TABLE t (id int);\nSELECT 1 / 0;"})
    assert outcome.exit_code == 1
    assert [error.code for error in report.errors] == ["22012", "22012"]


def test_a_file_that_is_not_there_is_said(room: sandbox.ClosableSandbox) -> None:
    outcome = examine(room, {}, {"m/1.sql": USERS}, base=["m/1.sql"])
    assert outcome.exit_code == 3
    assert b"m/1.sql cannot be read: No such file or directory" in outcome.stderr


RICH = """\
CREATE EXTENSION citext;
CREATE SCHEMA shop;
CREATE TYPE shop.mood AS ENUM ('so', 'la');
CREATE DOMAIN shop.amount AS int CHECK (VALUE > 0);
CREATE TABLE shop.item (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name citext NOT NULL DEFAULT 'x', twice int GENERATED ALWAYS AS (1 + 1) STORED
);
CREATE TABLE shop.sale (day date) PARTITION BY RANGE (day);
CREATE TABLE shop.sale_1 PARTITION OF shop.sale FOR VALUES FROM ('2001-01-01') TO ('2002-01-01');
CREATE VIEW shop.names AS SELECT name FROM shop.item;
CREATE MATERIALIZED VIEW shop.total AS SELECT count(*) FROM shop.item;
CREATE FUNCTION shop.touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
CREATE TRIGGER touched BEFORE INSERT ON shop.item FOR EACH ROW EXECUTE FUNCTION shop.touch();
CREATE AGGREGATE shop.add (int) (sfunc = int4pl, stype = int);
ALTER TABLE shop.item ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON shop.item FOR SELECT USING (id > 0);
CREATE RULE kept AS ON DELETE TO shop.sale DO INSTEAD NOTHING;
GRANT SELECT ON shop.names TO PUBLIC;
"""


def test_each_kind_of_thing_in_a_schema_has_a_name_and_a_definition(room: sandbox.ClosableSandbox) -> None:
    _, report = migrate(room, {}, {"m/1.sql": RICH})
    changes = {change.object: change.second for change in report.changes}
    assert changes["type shop.mood"] == "enum 'so', 'la'"
    assert changes["type shop.amount"] == "domain integer CHECK ((VALUE > 0))"
    assert changes["column shop.item.id"] == "integer not null generated always as identity"
    assert changes["column shop.item.name"] == "public.citext not null default 'x'::public.citext"
    assert changes["column shop.item.twice"] == "integer generated as (1 + 1)"
    assert changes["table shop.item"] == "row level security"
    assert changes["table shop.sale"] == "partition by RANGE (day)"
    assert changes["table shop.sale_1"] == "FOR VALUES FROM ('2001-01-01') TO ('2002-01-01') inherits shop.sale"
    assert changes["policy seen on shop.item"] == "permissive for r to public using (id > 0)"
    assert changes["grant on shop.names to public"] == "select"
    assert {"extension citext", "view shop.names", "materialized view shop.total", "function shop.add(integer)"} <= set(changes)
    assert {"trigger touched on shop.item", "rule kept on shop.sale", "function shop.touch()"} <= set(changes)
    assert not [name for name in changes if "public." in name], "what belongs to the extension"


def test_what_is_too_much_to_tell_is_counted(room: sandbox.ClosableSandbox) -> None:
    many = "DO $$ BEGIN FOR n IN 1..300 LOOP EXECUTE format('CREATE TABLE t%s (id int)', n); END LOOP; END $$;\n"
    _, report = migrate(room, {}, {"m/1.sql": many})
    assert len(report.changes) == 500
    assert report.left_out == (("change", 100),)


WINDOWS = "-- first\r\nALTER TABLE users\r\n  ADD note text;\r\n\r\nDROP TABLE users;\r\n"


def test_lines_that_end_as_on_windows_are_counted_all_the_same(room: sandbox.ClosableSandbox) -> None:
    _, report = migrate(room, BASE, BASE | {"m/2.sql": WINDOWS})
    assert [(fact.deed, fact.line) for fact in report.facts] == [(Deed.LOCK, 2), (Deed.DROP, 5)]


def test_an_error_after_lines_that_end_as_on_windows_has_its_line(room: sandbox.ClosableSandbox) -> None:
    _, report = migrate(room, BASE, BASE | {"m/2.sql": WINDOWS + "SELECT\r\n  nothing;\r\n"})
    assert [error.line for error in report.errors] == [7, 7]


STOPPED = """
import json, signal, subprocess
spec = {"base": [], "head": ["1.sql"], "base_tree": ".", "head_tree": ".", "report": "report"}
json.dump(spec, open("spec.json", "w"))
probe = subprocess.Popen([sys.executable, "-I", sys.argv[1] + "/reviewbot_postgres.py", "migrations", "spec.json"])
while not os.path.exists("begun"):
    assert probe.poll() is None
probe.send_signal(signal.SIGTERM)
print(probe.wait(), left(), len(open("report").readlines()))
"""


def test_nothing_stays_behind_when_the_probe_is_told_to_end(room: sandbox.ClosableSandbox) -> None:
    sql = {"1.sql": "\\! touch begun\nSELECT pg_sleep(60);\n"}
    outcome = run(room, ("{own_python}", "-c", LOOK + STOPPED, "{probes}"), sql)
    assert outcome.stdout == b"143 ([], []) 1\n", outcome


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("written", "taken"),
    [
        ("CREATE a;\n-- a comment\nCREATE b;", [1, 2, 3]),
        ("-- +goose Up\na;\n-- +goose Down\nb;\n", [1, 2]),
        ("-- +goose Up\n-- +goose StatementBegin\na;\n-- +goose StatementEnd\n-- +goose down\nb;", [1, 2, 3, 4]),
        ("-- +goose Down\nb;\n-- +goose Up\na;", [3, 4]),
        ("-- migrate:up transaction:false\na;\n\n-- migrate:down\nb;", [1, 2]),
        ("-- +migrate Up\na;\n-- +migrate Down\nb;", [1, 2]),
        ("a;\n---- create above / drop below ----\nb;", [1]),
        ("a; -- +goose down is spoken of", [1]),
    ],
)
def test_the_way_up_is_taken_and_lines_keep_their_numbers(
    monkeypatch: pytest.MonkeyPatch, written: str, taken: list[int]
) -> None:
    monkeypatch.syspath_prepend(str(PROBES))
    lines = importlib.import_module("reviewbot_migrations").way_up(written.encode()).decode().split("\n")
    assert len(lines) == len(written.split("\n"))
    assert [number for number, line in enumerate(lines, 1) if line] == taken
