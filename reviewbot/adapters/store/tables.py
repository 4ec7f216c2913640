"""The tables. Times are Unix seconds. Whatever is long, or may hold any character, is a text: kept once, by its hash.

A change here needs a revision in ``migrations/`` and its name in ``schema.REVISIONS``; a test compares both ways of making
the schema.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _words(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _count(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


def _amount(name: str) -> Column[float]:
    return Column(name, Double, nullable=False, server_default="0")


def _text(name: str) -> Column[Any]:
    return Column(name, String(64), ForeignKey("texts.sha256"), nullable=True)


def _of(name: str, target: str) -> Column[Any]:
    return Column(name, ForeignKey(target), nullable=False)


# What was said, once: zlib over UTF-8 (lone surrogates pass), by the SHA-256 in hex of the plain bytes.
texts = Table(
    "texts",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("size", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
)

projects = Table(
    "projects",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
)

# A change to be debated. ``state``: states.TaskState.
tasks = Table(
    "tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    _of("project_id", "projects.id"),
    Column("base", Text, nullable=False),
    Column("head", Text, nullable=False),
    _words("title"),
    _words("state"),
    UniqueConstraint("project_id", "base", "head"),
)

# ``number`` is the order of the beginnings; ``owner`` names the process that runs it (empty: none).
sessions = Table(
    "sessions",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", String(80), nullable=False, unique=True),
    Column("key", String(64), nullable=False),
    _count("generation"),
    _of("task_id", "tasks.id"),
    _words("state"),
    _words("owner"),
    _count("turns"),
    Column("begun_at", Double, nullable=False),
    Column("ended_at", Double, nullable=True),
    _words("conclusion"),
    _words("verdict"),
    Index(None, "key", "generation"),
)

# Who sits at the table of a session. ``state``: states.AgentState.
agents = Table(
    "agents",
    metadata,
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("name", Text, nullable=False),
    _count("place"),
    _words("role"),
    _words("model"),
    _words("state"),
    _words("reason"),
    PrimaryKeyConstraint("session_id", "name"),
)

# One request that is being made (``asking``) or was. ``scope`` is empty, or for a failed one the session in which it failed:
# a failure concerns nobody else. ``session_id`` is who made it, ``seconds`` of the usage its share of ``latency``.
calls = Table(
    "calls",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", String(64), nullable=False),
    _count("generation"),
    Column("scope", String(80), nullable=False, server_default=""),
    Column("state", String(16), nullable=False),
    _of("session_id", "sessions.id"),
    _words("owner"),
    _words("model"),
    _words("seat"),
    _words("phase"),
    _words("subject"),
    _count("round"),
    _count("attempt"),
    _count("step"),
    _text("system"),
    _text("prefix"),
    _text("suffix"),
    _text("exchanges"),
    _text("parameters"),
    _text("document"),
    _words("outcome"),
    _amount("latency"),
    _count("calls"),
    _count("input_tokens"),
    _count("cached_input_tokens"),
    _count("output_tokens"),
    _amount("cost_usd"),
    _count("local_tokens"),
    _amount("seconds"),
    _count("replayed_calls"),
    _amount("paid_usd"),
    _amount("estimated_usd"),
    Column("asked_at", Double, nullable=False),
    Column("ended_at", Double, nullable=True),
    UniqueConstraint("key", "generation", "scope"),
    Index(None, "owner"),
)

# What a session used, in the order in which it was known; ``replayed``: the ledger answered, nothing was paid.
turns = Table(
    "turns",
    metadata,
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("number", Integer, nullable=False),
    _of("call_id", "calls.id"),
    Column("replayed", Boolean, nullable=False),
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("session_id", "number"),
    UniqueConstraint("session_id", "call_id"),
    Index(None, "call_id"),
)

documents = Table(
    "documents",
    metadata,
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("name", Text, nullable=False),
    _of("body", "texts.sha256"),
    Column("kept_at", Double, nullable=False),
    PrimaryKeyConstraint("session_id", "name"),
)

# ``id`` is the review's (``F1``); ``raised_by`` and ``details`` are JSON.
findings = Table(
    "findings",
    metadata,
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("id", Text, nullable=False),
    _count("place"),
    _words("fingerprint"),
    _words("path"),
    _count("start_line"),
    _count("line"),
    _words("severity"),
    _words("category"),
    _words("title"),
    _words("status"),
    _words("proof"),
    _amount("probability"),
    _words("settled_by"),
    _words("raised_by"),
    _text("details"),
    PrimaryKeyConstraint("session_id", "id"),
)

positions = Table(
    "positions",
    metadata,
    Column("session_id", String(80), nullable=False),
    Column("finding", Text, nullable=False),
    _count("place"),
    _words("panelist"),
    _count("round"),
    _words("stance"),
    _amount("probability"),
    Column("counted", Boolean, nullable=False),
    _text("arguments"),
    PrimaryKeyConstraint("session_id", "finding", "place"),
    ForeignKeyConstraint(["session_id", "finding"], ["findings.session_id", "findings.id"]),
)

# The code as it was at base, at head, and as the panel would have it (one row a suggestion).
code_versions = Table(
    "code_versions",
    metadata,
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("place", Integer, nullable=False),
    _words("kind"),
    _words("revision"),
    _words("finding"),
    _words("path"),
    _count("start_line"),
    _count("line"),
    _text("body"),
    PrimaryKeyConstraint("session_id", "place"),
)

# What became of a task, in the order in which it is to be written; ``details`` is JSON. ``patch`` is git's own, byte by byte.
repairs = Table(
    "repairs",
    metadata,
    Column("session_id", ForeignKey("sessions.id"), nullable=False),
    Column("place", Integer, nullable=False),
    _words("id"),
    _words("title"),
    _words("goal"),
    _words("outcome"),
    _words("author"),
    _text("patch"),
    _text("details"),
    PrimaryKeyConstraint("session_id", "place"),
)

# A candidate of the repair at that place, and why it was not used (empty: it was).
repair_tries = Table(
    "repair_tries",
    metadata,
    Column("session_id", String(80), nullable=False),
    Column("repair", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    _words("author"),
    _count("attempt"),
    _text("patch"),
    _text("reason"),
    PrimaryKeyConstraint("session_id", "repair", "place"),
    ForeignKeyConstraint(["session_id", "repair"], ["repairs.session_id", "repairs.place"]),
)

# One write of one file on the way to that candidate; no ``body``: the file went.
repair_versions = Table(
    "repair_versions",
    metadata,
    Column("session_id", String(80), nullable=False),
    Column("repair", Integer, nullable=False),
    Column("tried", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    _count("number"),
    _words("path"),
    _words("author"),
    _text("body"),
    PrimaryKeyConstraint("session_id", "repair", "tried", "place"),
    ForeignKeyConstraint(
        ["session_id", "repair", "tried"], ["repair_tries.session_id", "repair_tries.repair", "repair_tries.place"]
    ),
)

profiles = Table(
    "profiles",
    metadata,
    Column("host", Text, nullable=False),
    Column("model", Text, nullable=False),
    _amount("prompt_tokens_per_second"),
    _amount("output_tokens_per_second"),
    _amount("load_seconds"),
    _count("samples"),
    _words("predictions"),
    PrimaryKeyConstraint("host", "model"),
)

# Alembic's own table, written by hand where a ledger is new, so that Alembic need not be imported.
revisions = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
