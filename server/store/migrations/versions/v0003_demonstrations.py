"""Demonstrations of people, and the episodes of answers that were found by browsing."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, DateTime, Integer, PrimaryKeyConstraint, Text

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the tables of demonstrations, and a column for the episode of an answer."""
    op.add_column("answers", Column("episode", JSON))
    op.create_table(
        "demonstrations",
        Column("id", Text, nullable=False),
        Column("key_id", Text),
        Column("question", Text, nullable=False),
        Column("options", JSON, nullable=False),
        Column("status", Text, nullable=False),
        Column("count", Integer, nullable=False),
        Column("actions", JSON, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        Column("updated", DateTime(timezone=True), nullable=False),
        Column("episode", JSON),
        PrimaryKeyConstraint("id", name="pk_demonstrations"),
    )
    op.create_index("ix_demonstrations_key_id_id", "demonstrations", ["key_id", "id"])
    op.create_table(
        "demonstration_pages",
        Column("id", Text, nullable=False),
        Column("demonstration_id", Text, nullable=False),
        Column("noted", JSON, nullable=False),
        PrimaryKeyConstraint("id", name="pk_demonstration_pages"),
    )
    op.create_index("ix_demonstration_pages_demonstration_id", "demonstration_pages", ["demonstration_id"])
