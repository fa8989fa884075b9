"""Studies, the raters and systems of judgments, and the ratings of a comparison in one column."""

from __future__ import annotations

import secrets

from alembic import op
from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    Float,
    Integer,
    PrimaryKeyConstraint,
    Text,
    column,
    select,
    table,
    update,
)

revision = "0008"
down_revision = "0007"

_SCALES = ("usefulness", "coherence", "unsupported", "overall")


def upgrade() -> None:
    """Create the tables of studies, and let judgments belong to an item of one."""
    op.create_table(
        "studies",
        Column("id", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("form", Text, nullable=False),
        Column("seed", Text, nullable=False),
        Column("share_required", Float, nullable=False),
        Column("screening", Integer, nullable=False),
        Column("passing", Float, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        PrimaryKeyConstraint("id", name="pk_studies"),
    )
    op.create_table(
        "study_items",
        Column("id", Text, nullable=False),
        Column("study_id", Text, nullable=False),
        Column("position", Integer, nullable=False),
        Column("question", Text, nullable=False),
        Column("answers", JSON, nullable=False),
        Column("gold", JSON),
        PrimaryKeyConstraint("id", name="pk_study_items"),
    )
    op.create_index("ix_study_items_study_id_position", "study_items", ["study_id", "position"])
    salts = op.create_table(
        "salts",
        Column("id", Text, nullable=False),
        Column("salt", Text, nullable=False),
        PrimaryKeyConstraint("id", name="pk_salts"),
    )
    op.bulk_insert(salts, [{"id": "raters", "salt": secrets.token_hex(16)}])
    for name in ("comparisons", "rankings"):
        op.add_column(name, Column("rater", Text))
    op.add_column("ratings", Column("system", Text))
    for name in ("comparisons", "rankings", "ratings"):
        op.add_column(name, Column("study_item_id", Text))
        op.create_index(f"ix_{name}_study_item_id", name, ["study_item_id"])
    _gather_ratings()


def _gather_ratings() -> None:
    """Move the four columns of a comparison into one object; a flagged question has no ratings."""
    op.add_column("comparisons", Column("ratings", JSON, nullable=False, server_default="{}"))
    connection = op.get_bind()
    rows = table("comparisons", column("id"), column("ratings", JSON), *map(column, _SCALES))
    for row in connection.execute(select(rows)).mappings().all():
        ratings = {name: row[name] for name in _SCALES if row[name] is not None}
        connection.execute(update(rows).where(rows.c.id == row["id"]).values(ratings=ratings))
    for name in _SCALES:
        op.drop_column("comparisons", name)
