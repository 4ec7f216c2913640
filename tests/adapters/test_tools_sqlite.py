"""``query_database`` on a real SQLite file, which nothing that is asked may change."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from reviewbot.adapters.tools import page, query_apart, query_database
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Database
from reviewbot.adapters.tools.query import LONGEST_VALUE, Question
from reviewbot.adapters.tools.query_database import QueryDatabase

pytestmark = pytest.mark.matrix(parts=1)

KEY = "A" + "KIA" + "Q" * 16


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A shop with a name that has to be quoted in an address."""
    place = tmp_path / "the shop%20#?.db"
    with sqlite3.connect(place) as connection:
        connection.executescript(
            "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, raw BLOB, price REAL);"
            "CREATE INDEX item_name ON item (name);"
            "INSERT INTO item VALUES (1, 'one', x'00ff', 1.5), (2, NULL, NULL, 9e999), (3, 'three' || char(0), NULL, -0.5);"
        )
    connection.close()
    return place


def ask(place: Path, query: str, *parameters: Any, **limits: Any) -> dict[str, Any]:
    """The result as it is told."""
    tool = QueryDatabase((Database("shop", f"sqlite:///{place}", **limits),))
    found: dict[str, Any] = json.loads(
        page.told(tool.answer({"database": "shop", "query": query, "parameters": list(parameters)}))
    )
    return found


def past_the_door(place: Path, query: str, *parameters: Any, seconds: float = 5.0) -> Declined:
    """How SQLite itself turns a query away that got past the look at its words."""
    with pytest.raises(Declined) as declined:
        query_apart.ask(Question(f"sqlite:///{place}", query, parameters, seconds, 10))
    return declined.value


def test_rows_come_as_values_of_json(place: Path) -> None:
    assert ask(place, "SELECT * FROM item") == {
        "columns": ["id", "name", "raw", "price"],
        "rows": [[1, "one", "\\x00ff", 1.5], [2, None, None, "inf"], [3, "three⟨U+0000⟩", None, -0.5]],
        "truncated": False,
    }
    assert ask(place, "SELECT id FROM item WHERE id = ?2 OR name = ?1 ORDER BY id", "one", 3)["rows"] == [[1], [3]]
    assert ask(place, "SELECT ?, ?, ?, ?", *(None, True, 1.5, "a'b;--"))["rows"] == [[None, 1, 1.5, "a'b;--"]]


def test_the_plan_of_a_changed_query_is_told_the_same_twice(place: Path) -> None:
    plan = ask(place, "EXPLAIN QUERY PLAN UPDATE item SET price = ? WHERE name = ?", 1, "x")
    assert "USING INDEX item_name" in plan["rows"][0][3]
    assert plan == ask(place, "EXPLAIN QUERY PLAN UPDATE item SET price = ? WHERE name = ?", 1, "x")
    assert ask(place, "SELECT name FROM pragma_table_info('item')")["rows"][0] == ["id"]


@pytest.mark.parametrize(
    "query",
    [
        *("DELETE FROM item", "SELECT 1; DELETE FROM item", "WITH a AS (SELECT 1) DELETE FROM item", "CREATE TEMP TABLE x (a)"),
        *("INSERT INTO item VALUES (9, '', NULL, 0)", "REPLACE INTO item VALUES (1, '', NULL, 0)", "DROP INDEX item_name"),
        *(
            "ATTACH ':memory:' AS other",
            "EXPLAIN ATTACH ':memory:' AS other",
            "PRAGMA query_only = OFF",
            "BEGIN",
            "VACUUM",
            "REINDEX",
        ),
        *("SELECT * FROM pragma_journal_mode('wal')", "SELECT * FROM pragma_user_version", "EXPLAIN PRAGMA user_version = 3"),
        *("SELECT load_extension('x')", "EXPLAIN CREATE TABLE x (a)", "SELECT fts3_tokenizer('simple')", "ANALYZE"),
    ],
)
def test_the_file_itself_lets_nothing_through_that_does_more_than_read(place: Path, query: str) -> None:
    before = hashlib.sha256(place.read_bytes()).digest()
    assert past_the_door(place, query).why in (Why.REFUSED, Why.FAILED)
    assert hashlib.sha256(place.read_bytes()).digest() == before
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_no_file_is_written_by_a_query(place: Path, tmp_path: Path) -> None:
    past_the_door(place, f"VACUUM INTO '{tmp_path / 'copy.db'}'")
    past_the_door(tmp_path / "nothing.db", "SELECT 1")
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_what_is_not_asked_rightly_is_told_in_sqlites_words(place: Path) -> None:
    assert past_the_door(place, "SELECT * FROM nowhere").message == "SQLite says: no such table: nowhere"
    assert "bindings" in past_the_door(place, "SELECT ?").message
    assert "too large" in past_the_door(place, "SELECT ?", 10**18 * 99).message
    assert past_the_door(place, "SELECT zeroblob(900000000)").message == "SQLite says: string or blob too big"


def test_a_query_has_an_end(place: Path) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    declined = past_the_door(place, endless, seconds=0.3)
    assert (declined.why, declined.message) == (Why.TIMEOUT, "the query took too long (its limit is 0.3 s)")


@pytest.mark.ci
def test_a_function_that_looks_at_no_clock_is_ended_too(place: Path) -> None:
    deaf = "SELECT instr(zeroblob(60000000) || 'x', zeroblob(30000000) || 'xy')"
    assert past_the_door(place, deaf, seconds=0.2).message == "the query took longer than 0.2 s"


def test_a_result_is_cut_by_rows_and_by_what_fits_on_a_page(place: Path) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT i{} FROM n"
    assert ask(place, numbers.format(3, ""), rows=3) == {"columns": ["i"], "rows": [[1], [2], [3]], "truncated": False}
    assert ask(place, numbers.format(4, ""), rows=3) == {"columns": ["i"], "rows": [[1], [2], [3]], "truncated": True}
    wide = ask(place, numbers.format(90_000, ", hex(zeroblob(500))"), rows=80_000)
    assert wide["truncated"]
    assert 10 < len(wide["rows"]) < 30
    one = ask(place, "SELECT 'begin' || hex(zeroblob(500000)) || 'end', 1, hex(zeroblob(9000)), hex(zeroblob(9000)), 2")
    assert (len(one["rows"]), one["rows"][0][1], one["rows"][0][4]) == (1, 1, 2)
    assert one["rows"][0][0].startswith("begin000")
    assert "characters are left out⟩" in one["rows"][0][0]
    with pytest.raises(Declined, match="larger than a page"):
        ask(place, f"SELECT {','.join(['hex(zeroblob(300))'] * 900)}")


def test_what_is_secret_in_a_row_is_not_told(place: Path) -> None:
    assert ask(place, f"SELECT '{KEY[:9]}' || '{KEY[9:]}'")["rows"][0][0] == "«secret:aws-access-key»"
    assert ask(place, "SELECT 'x' || char(8238)")["rows"] == [["x⟨U+202E⟩"]]


@pytest.mark.ci
def test_no_half_of_a_key_remains_where_a_value_is_cut(place: Path) -> None:
    for before in range(LONGEST_VALUE - 25, LONGEST_VALUE + 5, 5):
        value = ask(place, "SELECT replace(hex(zeroblob(?)), '00', 'x ') || ? || ' ' || hex(zeroblob(9000))", before // 2, KEY)
        assert "AKIAQ" not in str(value)
    for before in (*range(7_700, 8_000, 2), *range(7_900, 8_100, 2)):
        row = ["x " * (before // 2) + KEY + " y" * 12_000]
        assert "AKIAQ" not in str(query_database._on_a_page({"columns": ["a"], "rows": [row], "truncated": False}, 1))


def test_only_the_queries_of_the_list_are_asked_in_the_operators_own_writing(place: Path) -> None:
    allowed = ("SELECT count(*) FROM item -- all of them\nWHERE id > ?", "SELECT 1")
    tool = QueryDatabase((Database("shop", f"sqlite:///{place}", queries=allowed),))

    def answer(query: str, *parameters: int) -> Any:
        return tool.answer({"database": "shop", "query": query, "parameters": list(parameters)})["rows"]

    assert answer("SELECT count(*)  FROM item -- all of them WHERE id > ?", 1) == [[2]]
    assert answer(" SELECT\t1 ") == [[1]]
    for query in ("SELECT 2", "SELECT 1;", "select 1", "SELECT count(*) FROM item"):
        with pytest.raises(Declined) as declined:
            answer(query)
        assert declined.value.why is Why.REFUSED
        assert declined.value.expected == tuple(" ".join(text.split()) for text in allowed)
    assert "only these queries: SELECT count(*)" in tool.spec.description


def test_a_file_in_write_ahead_mode_can_be_asked(place: Path) -> None:
    connection = sqlite3.connect(place)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("INSERT INTO item VALUES (4, 'four', NULL, 0)")
    connection.commit()
    assert ask(place, "SELECT count(*) FROM item")["rows"] == [[4]]
    connection.close()
    assert ask(place, "SELECT count(*) FROM item")["rows"] == [[4]]


def test_no_error_tells_the_address(place: Path) -> None:
    for missing in (place.parent / "hidden-place" / "x.db", place.parent):
        with pytest.raises(Declined) as declined:
            ask(missing, "SELECT 1")
        assert str(place.parent) not in declined.value.message
    (place.parent / "text.db").write_text("no database " * 99)
    with pytest.raises(Declined) as declined:
        ask(place.parent / "text.db", "SELECT 1")
    assert declined.value.message == "SQLite says: file is not a database"
    assert str(place) not in repr(Database("shop", f"sqlite:///{place}"))
    assert str(place) not in repr(Question(f"sqlite:///{place}", "SELECT 1", (), 1.0, 1))
