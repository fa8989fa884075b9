"""Rankings of several answers."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, DateTime, PrimaryKeyConstraint, Text

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the table of rankings."""
    op.create_table(
        "rankings",
        Column("id", Text, nullable=False),
        Column("key_id", Text),
        Column("question", Text, nullable=False),
        Column("answers", JSON, nullable=False),
        Column("ranks", JSON, nullable=False),
        Column("comment", Text, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        PrimaryKeyConstraint("id", name="pk_rankings"),
    )
