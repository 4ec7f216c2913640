"""The tables. A change of them needs an entry in `database.MIGRATIONS`.

Times are ISO 8601 texts in UTC, money is whole nano-dollars.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

# PostgreSQL cannot hold NUL, UTF-8 no lone surrogates. They are written as their number behind an
# escape character, which is itself escaped.
ESCAPE = "\x1a"


class AnyText(sa.TypeDecorator[str]):
    """A column for every text that Python can hold."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: sa.Dialect) -> str | None:
        unsafe = f"[\x00{ESCAPE}\ud800-\udfff]"
        return value and re.sub(unsafe, lambda found: f"{ESCAPE}{ord(found[0]):04x}", value)

    def process_result_value(self, value: Any, _dialect: sa.Dialect) -> str | None:
        escaped = f"{ESCAPE}(....)"
        return value and re.sub(escaped, lambda found: chr(int(found[1], 16)), value)


metadata = sa.MetaData()


def _table(name: str, *items: SchemaItem, texts: str = "", money: str = "") -> sa.Table:
    """A table with columns of texts and of money, by their names. Without a key, it gets an id."""
    has_key = any(isinstance(item, sa.Column) and item.primary_key for item in items)
    id = () if has_key else (sa.Column("id", sa.Integer, primary_key=True),)
    filled = [
        sa.Column(column, type_, nullable=False, server_default=default)
        for names, type_, default in ((texts, AnyText, ""), (money, sa.BigInteger, "0"))
        for column in names.split()
    ]
    return sa.Table(name, metadata, *id, *filled, *items)


def _in(table: sa.Table) -> sa.Column[Any]:
    """A reference to the row that a row belongs to, and is deleted with."""
    target = sa.ForeignKey(table.c.id, ondelete="CASCADE")
    return sa.Column(f"{table.name[:-1]}_id", target, nullable=False, index=True)


def _whole(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False)


schema_version = sa.Table("schema_version", metadata, _whole("version"))
projects = _table("projects", sa.UniqueConstraint("name"), texts="name")
tasks = _table(
    "tasks", _in(projects), sa.UniqueConstraint("project_id", "kind", "target"), texts="kind target"
)

# review: the document as JSON. Calls of generations below the session's do not count.
sessions = _table(
    "sessions", _in(tasks), _whole("generation"), texts="title version started state owner review"
)
code_versions = _table("code_versions", _in(sessions), texts="side commit tree")
agents = _table("agents", _in(sessions), texts="name provider model lens")
findings = _table(
    "findings", _in(sessions), sa.Column("line", sa.Integer), texts="key title severity status path"
)
# What was tried for a task of a fix, in order. reasons: a line each.
trials = _table("trials", _in(sessions), texts="task title author outcome tree diff reasons")

# worst: what the call may cost while it is claimed. lost: what earlier calls of the row that gave
# no reply may have cost. A claim without owner was given up, and `worst` is what it did cost.
calls = _table(
    "calls",
    sa.Column("key", AnyText, primary_key=True),
    sa.Column("generation", sa.Integer, primary_key=True),
    texts="provider model request state owner reply fault message",
    money="worst cost lost",
)
turns = _table(
    "turns",
    _in(sessions),
    _whole("generation"),
    sa.Column("was_recorded", sa.Boolean, nullable=False),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.UniqueConstraint("session_id", "key", "generation"),
    sa.ForeignKeyConstraint(["key", "generation"], ["calls.key", "calls.generation"]),
    sa.Index("ix_turns_call", "key", "generation"),
    texts="agent phase key",
    money="cost",
)
