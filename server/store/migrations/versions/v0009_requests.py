"""Requests that their clients may repeat."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, DateTime, PrimaryKeyConstraint, Text

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the table of requests."""
    op.create_table(
        "requests",
        Column("id", Text, nullable=False),
        Column("digest", Text, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        Column("reply", JSON),
        PrimaryKeyConstraint("id", name="pk_requests"),
    )
    op.create_index("ix_requests_created", "requests", ["created"])
