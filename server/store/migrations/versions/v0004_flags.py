"""Comparisons of questions that were flagged, which have no ratings."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, SmallInteger, Text

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add a column for the flag, and make the ratings optional."""
    with op.batch_alter_table("comparisons") as table:
        table.add_column(Column("flag", Text))
        for name in ("usefulness", "coherence", "unsupported", "overall"):
            table.alter_column(name, existing_type=SmallInteger, nullable=True)
