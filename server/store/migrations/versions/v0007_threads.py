"""The conversation of each answer; those that there are have one each."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add columns for the conversation and its name."""
    op.add_column("answers", Column("thread", Text, nullable=False, server_default=""))
    op.add_column("answers", Column("title", Text))
    op.execute("UPDATE answers SET thread = id")
    op.create_index("ix_answers_thread_id", "answers", ["thread", "id"])
