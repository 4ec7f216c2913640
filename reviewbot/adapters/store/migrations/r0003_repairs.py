"""The code that was made: tasks, tries, and every version that was written."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """From 0002."""
    _repairs()
    _tries()
    _versions()


def _repairs() -> None:
    op.create_table(
        "repairs",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("id", sa.Text(), server_default="", nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("goal", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("patch", sa.String(length=64), nullable=True),
        sa.Column("details", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["details"], ["texts.sha256"], name="fk_repairs_details_texts"),
        sa.ForeignKeyConstraint(["patch"], ["texts.sha256"], name="fk_repairs_patch_texts"),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name="fk_repairs_session_id_sessions"),
        sa.PrimaryKeyConstraint("session_id", "place", name="pk_repairs"),
    )


def _tries() -> None:
    op.create_table(
        "repair_tries",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("repair", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("patch", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["patch"], ["texts.sha256"], name="fk_repair_tries_patch_texts"),
        sa.ForeignKeyConstraint(["reason"], ["texts.sha256"], name="fk_repair_tries_reason_texts"),
        sa.ForeignKeyConstraint(
            ["session_id", "repair"], ["repairs.session_id", "repairs.place"], name="fk_repair_tries_session_id_repair_repairs"
        ),
        sa.PrimaryKeyConstraint("session_id", "repair", "place", name="pk_repair_tries"),
    )


def _versions() -> None:
    op.create_table(
        "repair_versions",
        sa.Column("session_id", sa.String(length=80), nullable=False),
        sa.Column("repair", sa.Integer(), nullable=False),
        sa.Column("tried", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), server_default="0", nullable=False),
        sa.Column("path", sa.Text(), server_default="", nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(["body"], ["texts.sha256"], name="fk_repair_versions_body_texts"),
        sa.ForeignKeyConstraint(
            ["session_id", "repair", "tried"],
            ["repair_tries.session_id", "repair_tries.repair", "repair_tries.place"],
            name="fk_repair_versions_session_id_repair_tried_repair_tries",
        ),
        sa.PrimaryKeyConstraint("session_id", "repair", "tried", "place", name="pk_repair_versions"),
    )
