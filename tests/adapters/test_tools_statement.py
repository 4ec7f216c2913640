"""SQL by its words: what may be asked, what is told apart from quotes and comments, and what is turned away."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.statement import POSTGRESQL, SQLITE, Dialect, first_word, read_only
from tests.rings import examples

BOTH = pytest.mark.parametrize("dialect", [POSTGRESQL, SQLITE], ids=["postgresql", "sqlite"])


@BOTH
@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("SELECT 1", "SELECT 1"),
        ("  select 1 ;  ", "select 1"),
        ("SELECT 1; -- the end", "SELECT 1"),
        ("/* why */ -- and how\n SELECT 1 -- the end", "SELECT 1"),
        ("((SELECT 1))", "((SELECT 1))"),
        ("WITH a AS (SELECT 1) SELECT * FROM a;;", "WITH a AS (SELECT 1) SELECT * FROM a"),
        ("VALUES (1)", "VALUES (1)"),
        ("SELECT ';', '--', '/*', \";\" FROM t", "SELECT ';', '--', '/*', \";\" FROM t"),
        ("SELECT 'it''s; DELETE FROM t' FROM t", "SELECT 'it''s; DELETE FROM t' FROM t"),
        ("SELECT lo_price, 'lo_export(1)' FROM t -- lo_export(1)", "SELECT lo_price, 'lo_export(1)' FROM t"),
        ("EXPLAIN SELECT 1", "EXPLAIN SELECT 1"),
        ("explain (select 1)", "explain (select 1)"),
        ("EXPLAIN UPDATE t SET a = 1", "EXPLAIN UPDATE t SET a = 1"),
        ("EXPLAIN QUERY PLAN DELETE FROM t", "EXPLAIN QUERY PLAN DELETE FROM t"),
        ("EXPLAIN (VERBOSE, FORMAT JSON) INSERT INTO t VALUES (1)", "EXPLAIN (VERBOSE, FORMAT JSON) INSERT INTO t VALUES (1)"),
        ("EXPLAIN (ANALYZE, BUFFERS) WITH a AS (SELECT 1) TABLE a", "EXPLAIN (ANALYZE, BUFFERS) WITH a AS (SELECT 1) TABLE a"),
        ("EXPLAIN ANALYZE VERBOSE SELECT 1", "EXPLAIN ANALYZE VERBOSE SELECT 1"),
    ],
)
def test_one_statement_that_reads_may_be_asked(dialect: Dialect, query: str, asked: str) -> None:
    found = read_only(query, dialect)
    assert found.endswith(asked)
    assert found == query[: len(found)]


@BOTH
@pytest.mark.parametrize(
    "query",
    [
        *("", ";", "-- SELECT 1", "/* SELECT 1 */", "(", "1", "'SELECT 1'", '"SELECT" 1'),
        *("DELETE FROM t", "/* SELECT */ DELETE FROM t", "-- SELECT\nDELETE FROM t", "(DELETE FROM t)", "\ufeffSELECT 1"),
        *(
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 1",
            "MERGE INTO t",
            "TRUNCATE t",
            "DROP TABLE t",
            "CREATE TABLE u (a int)",
        ),
        *("COPY t TO PROGRAM 'id'", "COPY (SELECT 1) TO '/tmp/x'", "SET transaction_read_only = off", "RESET ALL", "DISCARD ALL"),
        *("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "PREPARE a AS SELECT 1", "EXECUTE a", "DECLARE a CURSOR FOR SELECT 1"),
        *("CALL f()", "DO $$ BEGIN END $$", "LISTEN a", "NOTIFY a", "LOCK t", "VACUUM", "ANALYZE", "GRANT ALL ON t TO PUBLIC"),
        *("ATTACH 'x' AS y", "PRAGMA query_only = 0", "REPLACE INTO t VALUES (1)", "REINDEX", "FETCH 1 FROM a", "LOAD 'x'"),
        *("SELECT 1; SELECT 2", "SELECT 1; DELETE FROM t", "SELECT ';'; DELETE FROM t", "SELECT 1 /* ; */ ; DELETE FROM t"),
        *("EXPLAIN", "EXPLAIN ()", "EXPLAIN CREATE TABLE u AS SELECT 1", "EXPLAIN ANALYZE DELETE FROM t", "EXPLAIN EXECUTE a"),
        *(
            "EXPLAIN (ANALYZE) UPDATE t SET a = 1",
            'EXPLAIN (VERBOSE, "analyze") DELETE FROM t',
            'EXPLAIN ("analyze") DELETE FROM t',
        ),
        *("EXPLAIN (ANALYZE false) DELETE FROM t", "EXPLAIN ANALYSE INSERT INTO t VALUES (1)", "EXPLAIN EXPLAIN DELETE FROM t"),
        *("EXPLAIN /* ( */ ANALYZE -- )\n DELETE FROM t", "EXPLAIN ATTACH 'x' AS y", "EXPLAIN SHOW a"),
        *("SELECT 'open", 'SELECT "open', "SELECT 1 /* open", "SELECT 'a''", "SELECT 1 /* a * /"),
        *("SELECT lo_export(1, 'x')", "SELECT pg_catalog . lo_export /* ( */ (1, 'x')", 'SELECT "lo_export"(1, $1)'),
        *("SELECT PG_TERMINATE_BACKEND(1)", "SELECT set_config('a', 'b', false)", "SELECT dblink('host=x', 'DELETE FROM t')"),
        *("SELECT query_to_xml('SELECT 1', true, true, '')", "SELECT load_extension('x')", "SELECT U&\"lo\\005fexport\"(1, 'x')"),
    ],
)
def test_everything_else_is_turned_away(dialect: Dialect, query: str) -> None:
    with pytest.raises(Declined) as declined:
        read_only(query, dialect)
    assert declined.value.why is Why.REFUSED
    assert declined.value.message


def test_the_two_databases_see_comments_and_quotes_where_they_do() -> None:
    assert first_word("/* /* */ DELETE */ SELECT 1", POSTGRESQL) == "SELECT"
    assert first_word("/* /* */ SELECT 1 /* */", SQLITE) == "SELECT"
    assert first_word("/* /* */ DELETE FROM t -- */ SELECT 1", SQLITE) == "DELETE"
    assert first_word("-- a\rDELETE FROM t", POSTGRESQL) == "DELETE"
    assert first_word("-- SELECT\rSELECT\nDELETE FROM t", SQLITE) == "DELETE"
    assert read_only("SELECT $$;'$$, $a$ $$ ; $a$, E'\\';'", POSTGRESQL)
    assert read_only("SELECT a$b$ FROM t -- $b$", POSTGRESQL) == "SELECT a$b$ FROM t"
    assert read_only("SELECT [;], `;` FROM t", SQLITE)
    with pytest.raises(Declined):
        read_only("SELECT 'a\\'; DELETE FROM t", POSTGRESQL)
    with pytest.raises(Declined):
        read_only("SELECT [1;2]", POSTGRESQL)


@given(st.text(alphabet="SELECT ;'\"`-/*()$aE\\\n\r[]U&1", max_size=40) | st.text(max_size=30))
@settings(max_examples=examples(400), derandomize=True)
def test_any_text_is_one_statement_or_the_one_error(text: str) -> None:
    for dialect in (POSTGRESQL, SQLITE):
        try:
            found = read_only(text, dialect)
        except Declined:
            continue
        assert text.startswith(found)
        assert read_only(found, dialect) == found


PIECES = ["SELECT 1", "DELETE FROM t", ";", "--", "\n", "/*", "*/", "'", "''", '"', "`", "[", "]", " ", "\r", "x"]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
@settings(max_examples=examples(600), derandomize=True)
def test_sqlite_itself_sees_one_statement_that_reads_where_we_do(text: str) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES (1)")
        asked = read_only(text, SQLITE)
        connection.execute(asked)
    except (Declined, sqlite3.Error, sqlite3.Warning):
        pass
    finally:
        rows = connection.execute("SELECT count(*) FROM t").fetchone()
        connection.close()
    assert rows == (1,)
