"""The ledger: texts, projects, tasks, sessions with their agents, calls, turns, documents, findings.

The tables as they were in this revision; ``tables.py`` has them as they are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """From nothing."""
    _projects()
    _texts()
    _tasks()
    _sessions()
    _agents()
    _calls()
    _code_versions()
    _documents()
    _findings()
    _positions()
    _turns()


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("name", name="uq_projects_name"),
    )


def _texts() -> None:
    op.create_table(
        "texts",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name="pk_texts"),
    )


def _tasks() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("base", sa.Text(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_tasks_project_id_projects"),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
        sa.UniqueConstraint("project_id", "base", "head", name="uq_tasks_project_id_base_head"),
    )


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=80), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("generation", sa.Integer(), server_default="0", nullable=False),
        sa.Column("task_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("owner", sa.Text(), server_default="", nullable=False),
        sa.Column("turns", sa.Integer(), server_default="0", nullable=False),
        sa.Column("begun_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name="fk_sessions_task_id_tasks"),
        sa.PrimaryKeyConstraint("number", name="pk_sessions"),
        sa.UniqueConstraint("id", name="uq_sessions_id"),
    )
    op.create_index("ix_sessions_key_generation", "sessions", ["key", "generation"])


def _agents() -> None:
    op.create_table(
        "agents",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), server_default="0", nullable=False),
        sa.Column("role", sa.Text(), server_default="", nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_agents_session_id_sessions"),
        sa.PrimaryKeyConstraint("session_id", "name", name="pk_agents"),
    )


def _calls() -> None:
    op.create_table(
        "calls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("generation", sa.Integer(), server_default="0", nullable=False),
        sa.Column("scope", sa.String(length=80), server_default="", nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("owner", sa.Text(), server_default="", nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("seat", sa.Text(), server_default="", nullable=False),
        sa.Column("phase", sa.Text(), server_default="", nullable=False),
        sa.Column("subject", sa.Text(), server_default="", nullable=False),
        sa.Column("round", sa.Integer(), server_default="0", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("step", sa.Integer(), server_default="0", nullable=False),
        sa.Column("system", sa.String(length=64), nullable=True),
        sa.Column("prefix", sa.String(length=64), nullable=True),
        sa.Column("suffix", sa.String(length=64), nullable=True),
        sa.Column("exchanges", sa.String(length=64), nullable=True),
        sa.Column("parameters", sa.String(length=64), nullable=True),
        sa.Column("document", sa.String(length=64), nullable=True),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("latency", sa.Double(), server_default="0", nullable=False),
        sa.Column("calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("input_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cached_input_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("output_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("cost_usd", sa.Double(), server_default="0", nullable=False),
        sa.Column("local_tokens", sa.Integer(), server_default="0", nullable=False),
        sa.Column("seconds", sa.Double(), server_default="0", nullable=False),
        sa.Column("replayed_calls", sa.Integer(), server_default="0", nullable=False),
        sa.Column("paid_usd", sa.Double(), server_default="0", nullable=False),
        sa.Column("estimated_usd", sa.Double(), server_default="0", nullable=False),
        sa.Column("asked_at", sa.Double(), nullable=False),
        sa.Column("ended_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["document"], ["texts.sha256"], name="fk_calls_document_texts"),
        sa.ForeignKeyConstraint(["exchanges"], ["texts.sha256"], name="fk_calls_exchanges_texts"),
        sa.ForeignKeyConstraint(["parameters"], ["texts.sha256"], name="fk_calls_parameters_texts"),
        sa.ForeignKeyConstraint(["prefix"], ["texts.sha256"], name="fk_calls_prefix_texts"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_calls_session_id_sessions"),
        sa.ForeignKeyConstraint(["suffix"], ["texts.sha256"], name="fk_calls_suffix_texts"),
        sa.ForeignKeyConstraint(["system"], ["texts.sha256"], name="fk_calls_system_texts"),
        sa.PrimaryKeyConstraint("id", name="pk_calls"),
        sa.UniqueConstraint("key", "generation", "scope", name="uq_calls_key_generation_scope"),
    )
    op.create_index("ix_calls_owner", "calls", ["owner"])


def _code_versions() -> None:
    op.create_table(
        "code_versions",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), server_default="", nullable=False),
        sa.Column("revision", sa.Text(), server_default="", nullable=False),
        sa.Column("finding", sa.Text(), server_default="", nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.Column("start_line", sa.Integer(), server_default="0", nullable=False),
        sa.Column("line", sa.Integer(), server_default="0", nullable=False),
        sa.Column("body", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["body"], ["texts.sha256"], name="fk_code_versions_body_texts"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_code_versions_session_id_sessions"),
        sa.PrimaryKeyConstraint("session_id", "place", name="pk_code_versions"),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.String(length=64), nullable=False),
        sa.Column("kept_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["body"], ["texts.sha256"], name="fk_documents_body_texts"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_documents_session_id_sessions"),
        sa.PrimaryKeyConstraint("session_id", "name", name="pk_documents"),
    )


def _findings() -> None:
    op.create_table(
        "findings",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), server_default="0", nullable=False),
        sa.Column("fingerprint", sa.Text(), server_default="", nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.Column("start_line", sa.Integer(), server_default="0", nullable=False),
        sa.Column("line", sa.Integer(), server_default="0", nullable=False),
        sa.Column("severity", sa.Text(), server_default="", nullable=False),
        sa.Column("category", sa.Text(), server_default="", nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.Text(), server_default="", nullable=False),
        sa.Column("proof", sa.Text(), server_default="", nullable=False),
        sa.Column("probability", sa.Double(), server_default="0", nullable=False),
        sa.Column("settled_by", sa.Text(), server_default="", nullable=False),
        sa.Column("raised_by", sa.Text(), server_default="", nullable=False),
        sa.Column("details", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["details"], ["texts.sha256"], name="fk_findings_details_texts"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_findings_session_id_sessions"),
        sa.PrimaryKeyConstraint("session_id", "id", name="pk_findings"),
    )


def _positions() -> None:
    op.create_table(
        "positions",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("finding", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), server_default="0", nullable=False),
        sa.Column("panelist", sa.Text(), server_default="", nullable=False),
        sa.Column("round", sa.Integer(), server_default="0", nullable=False),
        sa.Column("stance", sa.Text(), server_default="", nullable=False),
        sa.Column("probability", sa.Double(), server_default="0", nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("arguments", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["arguments"], ["texts.sha256"], name="fk_positions_arguments_texts"),
        sa.ForeignKeyConstraint(
            ["session_id", "finding"], ["findings.session_id", "findings.id"], name="fk_positions_session_id_finding_findings"
        ),
        sa.PrimaryKeyConstraint("session_id", "finding", "place", name="pk_positions"),
    )


def _turns() -> None:
    op.create_table(
        "turns",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("call_id", sa.Integer(), nullable=False),
        sa.Column("replayed", sa.Boolean(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["calls.id"], name="fk_turns_call_id_calls"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_turns_session_id_sessions"),
        sa.PrimaryKeyConstraint("session_id", "number", name="pk_turns"),
        sa.UniqueConstraint("session_id", "call_id", name="uq_turns_session_id_call_id"),
    )
    op.create_index("ix_turns_call_id", "turns", ["call_id"])
