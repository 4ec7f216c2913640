"""``query_database``: what a database says to a statement that only reads. For EXPLAIN of changed SQL above all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reviewbot.adapters.tools import page, query_apart
from reviewbot.adapters.tools.declined import Declined, Why
from reviewbot.adapters.tools.grounds import Database, Grounds
from reviewbot.adapters.tools.query import Question
from reviewbot.adapters.tools.statement import POSTGRESQL, READS, SQLITE, read_only
from reviewbot.ports import ToolSpec

MOST_TOLD = 2_000
"""Characters of the allowed queries that are told of one database."""


def offered(grounds: Grounds) -> QueryDatabase | None:
    """Where a database is configured."""
    return QueryDatabase(grounds.databases) if grounds.databases else None


class QueryDatabase:
    """Asks the configured databases. Every call has a connection of its own, in a process of its own."""

    def __init__(self, databases: tuple[Database, ...]) -> None:
        self._databases = {database.name: database for database in databases}
        self.spec = _spec(databases)

    def answer(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Columns, rows, and whether there were more. Raises Declined."""
        database = self._databases[arguments["database"]]
        query = read_only(_allowed(database, arguments["query"]), SQLITE if _is_sqlite(database) else POSTGRESQL)
        parameters = tuple(arguments.get("parameters", ()))
        found = query_apart.ask(Question(database.address, query, parameters, database.seconds, database.rows))
        return _on_a_page(found, database.rows)


def _on_a_page(found: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Screened before it is cut, so that no half of a key remains, and a row too large for a page is cut by its values."""
    columns, rows = page.screened([found["columns"], found["rows"]])
    columns = list(page.fitting(columns, len(columns), beside={"rows": [], "truncated": False}))
    head = {"columns": columns, "truncated": False}
    taken = page.fitting(rows, most, beside=head)
    if rows and not taken:
        room = (page.MOST_BYTES - page.FOR_MORE - page.size(head)) // max(len(rows[0]), 1) - len(", ")
        taken = ([page.ends(value, room) if isinstance(value, str) else value for value in rows[0]],)
    return {"columns": columns, "rows": list(taken), "truncated": found["truncated"] or len(taken) < len(rows)}


def _allowed(database: Database, query: str) -> str:
    """The query, or (where a list is given) the one of the list that it is but for white space: in the operator's own writing,
    since a line feed may end a comment."""
    if not database.queries:
        return query
    known = {" ".join(text.split()): text for text in database.queries}
    text = known.get(" ".join(query.split()))
    if text is None:
        raise Declined(Why.REFUSED, f"{database.name} takes only these queries", page.fitting(known, len(known), beside={}))
    return text


def _is_sqlite(database: Database) -> bool:
    return database.address.startswith("sqlite:")


def _spec(databases: tuple[Database, ...]) -> ToolSpec:
    known = "; ".join(_described(database) for database in databases)
    return ToolSpec(
        name="query_database",
        description=(
            f"Ask a database with one statement that only reads ({', '.join(READS)}): how does it plan a changed query, which "
            f"indexes are there? Values go into parameters. Databases: {known}."
        ),
        parameters={
            "type": "object",
            "properties": {
                "database": {"type": "string", "enum": [one.name for one in databases], "description": "which one"},
                "query": {"type": "string", "description": "one statement, with placeholders for its parameters"},
                "parameters": {
                    "type": ["array", "null"],
                    "items": {"type": ["string", "number", "boolean", "null"]},
                    "description": "their values in order",
                },
            },
            "required": ["database", "query", "parameters"],
            "additionalProperties": False,
        },
    )


def _described(database: Database) -> str:
    kind = "SQLite, placeholder ?" if _is_sqlite(database) else "PostgreSQL, placeholders $1, $2"
    only = f", only these queries: {' | '.join(database.queries)}"[:MOST_TOLD] if database.queries else ""
    return f"{database.name} ({kind}{only})"
