"""The speeds of local models; what a session concluded."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """From 0001."""
    with op.batch_alter_table("sessions") as batch:
        batch.add_column(sa.Column("conclusion", sa.Text(), server_default="", nullable=False))
        batch.add_column(sa.Column("verdict", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "profiles",
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt_tokens_per_second", sa.Double(), server_default="0", nullable=False),
        sa.Column("output_tokens_per_second", sa.Double(), server_default="0", nullable=False),
        sa.Column("load_seconds", sa.Double(), server_default="0", nullable=False),
        sa.Column("samples", sa.Integer(), server_default="0", nullable=False),
        sa.Column("predictions", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("host", "model", name="pk_profiles"),
    )
