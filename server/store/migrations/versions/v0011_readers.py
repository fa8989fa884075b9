"""Collections that only some keys and accounts may read."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, PrimaryKeyConstraint, Text

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Create the table of readers."""
    op.create_table(
        "readers",
        Column("collection", Text, nullable=False),
        Column("keys", JSON, nullable=False),
        Column("accounts", JSON, nullable=False),
        PrimaryKeyConstraint("collection", name="pk_readers"),
    )
