"""``query_database`` on a real PostgreSQL: what a session that may only read lets through, and what it does not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from reviewbot.adapters.tools import page, query_apart
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Database
from reviewbot.adapters.tools.query import Question
from reviewbot.adapters.tools.query_database import QueryDatabase
from tests.store import cluster as servers

pytestmark = [pytest.mark.ci, pytest.mark.matrix]

PASSWORD = "geheim-0815"


@pytest.fixture(scope="module")
def cluster() -> Iterator[servers.Cluster]:
    with servers.running() as running:
        running.run(
            "CREATE TABLE item (id int PRIMARY KEY, name text, price numeric, born timestamptz, raw bytea, ok bool, weight float8)",
            "INSERT INTO item SELECT n, 'n' || n, n / 4.0, '2024-01-01 UTC', '\\x00ff', n % 2 = 0, n / 8.0 FROM generate_series(1, 500) n",
            "CREATE SEQUENCE number",
            "CREATE ROLE reader LOGIN",
            "GRANT ALL ON item, number TO reader",
            "GRANT ALL ON SCHEMA public TO reader",
            "CREATE ROLE file_reader LOGIN IN ROLE pg_read_server_files",
            "CREATE ROLE signaller LOGIN IN ROLE pg_signal_backend",
            "CREATE ROLE replicator LOGIN REPLICATION",
            "CREATE ROLE chief LOGIN SUPERUSER NOREPLICATION",
            "CREATE ROLE heir LOGIN NOINHERIT IN ROLE chief",
            "ANALYZE item",
        )
        yield running


@pytest.fixture
def url(cluster: servers.Cluster) -> str:
    return cluster.url.replace("owner@", f"reader:{PASSWORD}@")


def ask(url: str, query: str, *parameters: Any, **limits: Any) -> dict[str, Any]:
    """The result as it is told."""
    tool = QueryDatabase((Database("shop", url, **limits),))
    found: dict[str, Any] = json.loads(
        page.told(tool.answer({"database": "shop", "query": query, "parameters": list(parameters)}))
    )
    return found


def refusal(url: str, query: str, **limits: Any) -> Declined:
    with pytest.raises(Declined) as declined:
        ask(url, query, **limits)
    return declined.value


def past_the_door(url: str, query: str) -> Declined | dict[str, Any]:
    """What the server says to a query that got past the look at its words."""
    try:
        return query_apart.ask(Question(url, query, (), 5.0, 10))
    except Declined as declined:
        return declined


def state(cluster: servers.Cluster) -> Any:
    """Everything that a query could have changed."""
    with psycopg.connect(cluster.url) as connection:
        return connection.execute(
            "SELECT (SELECT count(*) FROM item), (SELECT sum(price) FROM item), (SELECT last_value || is_called::text FROM number),"
            " (SELECT count(*) FROM pg_class WHERE relnamespace <> 'pg_toast'::regnamespace), (SELECT count(*) FROM pg_proc),"
            " (SELECT count(*) FROM pg_largeobject_metadata), (SELECT count(*) FROM pg_roles), (SELECT count(*) FROM pg_db_role_setting)"
        ).fetchone()


def sessions(cluster: servers.Cluster) -> int:
    with psycopg.connect(cluster.url) as connection:
        row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reviewbot'").fetchone()
        assert row is not None
        return int(row[0])


def test_rows_come_as_values_of_json(url: str) -> None:
    assert ask(url, "SELECT * FROM item ORDER BY id LIMIT $1", 2) == {
        "columns": ["id", "name", "price", "born", "raw", "ok", "weight"],
        "rows": [
            [1, "n1", "0.25000000000000000000", "2024-01-01 00:00:00+00", "\\x00ff", False, 0.125],
            [2, "n2", "0.50000000000000000000", "2024-01-01 00:00:00+00", "\\x00ff", True, 0.25],
        ],
        "truncated": False,
    }
    odd = "SELECT '4000-01-01 BC'::date, 'infinity'::timestamptz, 'NaN'::float8, '-Infinity'::float4, NULL, 9007199254740993, '{1,NULL}'::int[]"
    assert ask(url, odd)["rows"] == [["4000-01-01 BC", "infinity", "NaN", "-Infinity", None, 9007199254740993, "{1,NULL}"]]
    assert ask(url, "SELECT")["rows"] == [[]]


@pytest.mark.smoke
def test_parameters_are_values_and_never_sql(url: str) -> None:
    query = (
        "SELECT id FROM item WHERE name = $1 AND price > $2 AND ok = $3 AND ($4::text IS NULL OR id = $5) AND name NOT LIKE '%x%'"
    )
    assert ask(url, query, *("n2", 0.25, True, None, 2))["rows"] == [[2]]
    assert ask(url, "SELECT $1", "'; DELETE FROM item; --")["rows"] == [["'; DELETE FROM item; --"]]
    assert "invalid input syntax" in str(refusal_of(url, "SELECT id FROM item WHERE id = $1", "1 OR true"))
    assert "requires 1" in str(refusal_of(url, "SELECT $1"))
    assert "parameter $1" in str(refusal_of(url, "SELECT 1", "x"))


def refusal_of(url: str, query: str, *parameters: Any) -> Declined:
    with pytest.raises(Declined) as declined:
        ask(url, query, *parameters)
    return declined.value


@pytest.mark.ci
def test_the_plan_of_a_changed_query_is_told_the_same_twice(url: str) -> None:
    plan = ask(url, "EXPLAIN SELECT * FROM item WHERE id = $1", 3)
    assert plan["columns"] == ["QUERY PLAN"]
    assert plan["rows"][0][0].startswith("Index Scan using item_pkey on item")
    assert plan["rows"][1] == ["  Index Cond: (id = 3)"]
    assert plan == ask(url, "EXPLAIN SELECT * FROM item WHERE id = $1", 3)
    assert "Update on item" in ask(url, "EXPLAIN UPDATE item SET ok = $1", *(True,))["rows"][0][0]
    document = json.loads(ask(url, "EXPLAIN (FORMAT JSON) DELETE FROM item")["rows"][0][0])
    assert document[0]["Plan"]["Operation"] == "Delete"
    assert "actual rows=500" in str(ask(url, "EXPLAIN (ANALYZE, TIMING OFF) SELECT * FROM item"))


@pytest.mark.parametrize(
    "query",
    [
        *(
            "DELETE FROM item",
            "SELECT 1; DELETE FROM item",
            "SELECT 1; SELECT 2",
            "TRUNCATE item",
            "DROP TABLE item",
        ),
        *(
            "WITH a AS (INSERT INTO item (id) VALUES (9999) RETURNING id) SELECT * FROM a",
            "WITH a AS (SELECT 1) DELETE FROM item",
        ),
        *("EXPLAIN ANALYZE WITH a AS (DELETE FROM item RETURNING id) SELECT * FROM a", "EXPLAIN ANALYZE DELETE FROM item"),
        *(
            "SELECT * INTO more FROM item",
            "SELECT * FROM item FOR UPDATE",
            "SELECT nextval('number')",
            "SELECT setval('number', 9)",
        ),
        *(
            "COPY item TO PROGRAM 'id'",
            "COPY (SELECT 1) TO STDOUT",
            "SET transaction_read_only = off",
            "RESET ALL",
            "BEGIN",
            "COMMIT",
        ),
        *(
            "LOCK item",
            "CALL f()",
            "DO $$ BEGIN DELETE FROM item; END $$",
            "LISTEN a",
            "NOTIFY a",
            "VACUUM item",
            "PREPARE a AS SELECT 1",
        ),
        *("SELECT set_config('transaction_read_only', 'off', true)", "SELECT query_to_xml('DELETE FROM item', true, true, '')"),
        *("SELECT query_to_xml('SELECT nextval(''number'')', true, true, '')", "CREATE TEMP TABLE t (a int)", "DEALLOCATE ALL"),
        *(
            "SELECT pg_read_file('PG_VERSION')",
            "SELECT pg_ls_dir('.')",
            "SELECT lo_export(1, '/tmp/x')",
            "SELECT lo_import('/etc/passwd')",
        ),
        *(
            "SELECT pg_reload_conf()",
            "SELECT pg_switch_wal()",
            "SELECT pg_create_physical_replication_slot('a')",
            "SELECT pg_sleep(60)",
        ),
    ],
)
def test_the_session_itself_lets_nothing_through_that_does_more_than_read(cluster: servers.Cluster, url: str, query: str) -> None:
    before = state(cluster)
    declined = past_the_door(url, query)
    assert isinstance(declined, Declined), declined
    assert declined.why in (Why.REFUSED, Why.FAILED, Why.TIMEOUT)
    assert state(cluster) == before


@pytest.mark.parametrize(
    "query",
    [
        "EXPLAIN ANALYZE CREATE TABLE more AS SELECT 1",
        "SELECT lo_create(4711)",
        "SELECT lo_from_bytea(4712, 'x')",
        "SELECT pg_notify('channel', 'word')",
        "SELECT pg_advisory_lock(1)",
        "SELECT set_config('role', 'owner', false)",
        "SELECT set_config('default_transaction_read_only', 'off', false)",
    ],
)
def test_what_this_version_lets_through_leaves_nothing_behind_and_is_turned_away_by_its_words(
    cluster: servers.Cluster, url: str, query: str
) -> None:
    before = state(cluster)
    past_the_door(url, query)
    assert state(cluster) == before
    assert refusal(url, query).why is Why.REFUSED
    assert ask(url, "SHOW default_transaction_read_only")["rows"] == [["on"]]


def test_nobodys_session_is_ended(cluster: servers.Cluster, url: str) -> None:
    with psycopg.connect(url.replace("reviewbot", "shop"), autocommit=True) as victim:
        number = victim.info.backend_pid
        for query in (
            "SELECT pg_terminate_backend($1)",
            "SELECT pg_catalog.pg_cancel_backend /* */ ($1)",
            'SELECT "pg_terminate_backend"($1)',
            'SELECT U&"pg\\005fterminate_backend"($1)',
            "SELECT query_to_xml('SELECT pg_termi' || 'nate_backend(' || $1 || ')', true, true, '')",
        ):
            with pytest.raises(Declined) as declined:
                ask(url, query, number)
            assert declined.value.why is Why.REFUSED
        assert victim.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize(
    ("role", "said"),
    [
        ("owner", "it is a superuser"),
        ("chief", "it is a superuser"),
        ("heir", "it is a superuser"),
        ("replicator", "it may replicate"),
        ("file_reader", "it is a member of pg_read_server_files"),
        ("signaller", "it is a member of pg_signal_backend"),
    ],
)
def test_a_role_that_may_do_more_is_not_lent(cluster: servers.Cluster, role: str, said: str) -> None:
    declined = refusal(cluster.url.replace("owner@", f"{role}@"), "SELECT 1")
    assert declined.why is Why.REFUSED
    assert said in declined.message


def test_a_role_that_reaches_other_servers_is_not_lent(cluster: servers.Cluster, url: str) -> None:
    with psycopg.connect(cluster.url, autocommit=True) as connection:
        available = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'dblink'").fetchone()
    if not available:
        pytest.skip("the extension dblink is not installed here")
    cluster.run("CREATE EXTENSION dblink")
    try:
        assert "functions of the extension dblink" in refusal(url, "SELECT 1").message
        cluster.run("REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC")
        assert ask(url, "SELECT 1")["rows"] == [[1]]
    finally:
        cluster.run("DROP EXTENSION dblink")


@pytest.mark.ci
def test_a_query_and_a_lock_have_an_end(cluster: servers.Cluster, url: str) -> None:
    declined = refusal(url, "SELECT pg_sleep(60)", seconds=0.3)
    assert (declined.why, declined.message) == (Why.TIMEOUT, "the query took longer than 0.3 s, or waited so long for a lock")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    assert refusal(url, endless, seconds=0.3).why is Why.TIMEOUT
    with psycopg.connect(cluster.url) as holder:
        holder.execute("LOCK item IN ACCESS EXCLUSIVE MODE")
        assert refusal(url, "SELECT count(*) FROM item", seconds=0.3).why is Why.TIMEOUT
    assert sessions(cluster) == 0


@pytest.mark.ci
def test_a_result_is_cut_by_rows_and_by_what_fits_on_a_page(url: str) -> None:
    assert ask(url, "SELECT n FROM generate_series(1, 3) n", rows=3)["truncated"] is False
    assert ask(url, "SELECT generate_series(1, 1000000000)", rows=3)["rows"] == [[1], [2], [3]]
    assert ask(url, "TABLE item", rows=3)["truncated"] is True
    wide = ask(url, "SELECT repeat('x', 1000) FROM generate_series(1, 190)")
    assert (wide["truncated"], len(wide["rows"])) == (True, 23)
    assert "characters are left out⟩" in ask(url, "SELECT repeat('\"', 1000000), repeat('y', 9000)")["rows"][0][0]


@pytest.mark.serial
@pytest.mark.ci
def test_a_result_that_would_fill_memory_is_an_error(url: str) -> None:
    declined = refusal(url, "SELECT repeat('x', 300000000)", seconds=30.0)
    assert (declined.why, declined.message) == (Why.FAILED, "the connection was lost, or the result is too large to be held")


@pytest.mark.ci
def test_several_may_ask_at_a_time_and_no_session_stays(cluster: servers.Cluster, url: str) -> None:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda n=n: found.append(ask(url, "SELECT $1::int * 2", n)["rows"])) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == [[[0]], [[2]], [[4]], [[6]]]
    assert sessions(cluster) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        f"postgresql://nobody:{PASSWORD}@/postgres?host=",
        f"postgresql://reader:{PASSWORD}@127.0.0.1:1/postgres",
        f"postgresql://reader:{PASSWORD}@nowhere.invalid/postgres",
        f"postgresql://reader:{PASSWORD}@nowhere.invalid/postgres?bogus=1",
        f"postgresql://reader:{PASSWORD}@[::1/postgres",
    ],
)
def test_no_error_tells_the_address(cluster: servers.Cluster, wrong: str) -> None:
    where = wrong + str(cluster.folder) if wrong.endswith("host=") else wrong
    declined = refusal(where, "SELECT 1")
    assert (declined.why, declined.message) == (Why.FAILED, "the database cannot be reached, or does not let us in")


@pytest.mark.ci
def test_no_error_tells_whether_a_guess_at_the_address_is_right(url: str) -> None:
    for query in ("SELECT '{}'::int", 'SELECT "{}"', "SELECT current_setting('{}')"):
        right, wrong = (refusal(url, query.format(guess)).message for guess in (PASSWORD, "another-guess"))
        assert right == wrong.replace("another-guess", PASSWORD), "it says only what was said"
    assert PASSWORD not in repr(Database("shop", url)) + repr(Question(url, "", (), 1.0, 1))
