"""What became of each document of a job."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add a column for the documents."""
    op.add_column("jobs", Column("documents", JSON(none_as_null=True), nullable=True))
