"""The first tables."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, DateTime, Float, Integer, PrimaryKeyConstraint, SmallInteger, Text

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables."""
    _answers()
    _jobs()
    op.create_table(
        "feedback",
        Column("id", Text, nullable=False),
        Column("answer_id", Text, nullable=False),
        Column("key_id", Text),
        Column("thumb", SmallInteger, nullable=False),
        Column("comment", Text, nullable=False),
        Column("sentence", Integer),
        Column("created", DateTime(timezone=True), nullable=False),
        Column("question", Text, nullable=False),
        Column("answer", Text, nullable=False),
        Column("references", JSON, nullable=False),
        PrimaryKeyConstraint("id", name="pk_feedback"),
    )
    op.create_index("ix_feedback_answer_id_id", "feedback", ["answer_id", "id"])
    op.create_table(
        "comparisons",
        Column("id", Text, nullable=False),
        Column("key_id", Text),
        Column("question", Text, nullable=False),
        Column("answers", JSON, nullable=False),
        *(
            Column(name, SmallInteger, nullable=False)
            for name in ("usefulness", "coherence", "unsupported", "overall")
        ),
        Column("comment", Text, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        PrimaryKeyConstraint("id", name="pk_comparisons"),
    )
    op.create_table(
        "ratings",
        *(Column(name, Text, nullable=False) for name in ("id", "rater", "kind", "item")),
        Column("scores", JSON, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        PrimaryKeyConstraint("id", name="pk_ratings"),
    )
    op.create_index("ix_ratings_kind_item", "ratings", ["kind", "item"])
    op.create_table(
        "keys",
        *(Column(name, Text, nullable=False) for name in ("id", "name", "hash", "scopes")),
        Column("rate_per_minute", Integer),
        Column("daily", Integer),
        Column("created", DateTime(timezone=True), nullable=False),
        Column("revoked", DateTime(timezone=True)),
        Column("expires", DateTime(timezone=True)),
        PrimaryKeyConstraint("id", name="pk_keys"),
    )


def _answers() -> None:
    op.create_table(
        "answers",
        Column("id", Text, nullable=False),
        Column("key_id", Text),
        *(Column(name, Text, nullable=False) for name in ("question", "folded", "mode", "status")),
        Column("created", DateTime(timezone=True), nullable=False),
        Column("seconds", Float),
        Column("body", JSON),
        Column("problem", JSON),
        Column("settings", JSON, nullable=False),
        Column("digest", Text, nullable=False),
        Column("owner", Text, nullable=False),
        PrimaryKeyConstraint("id", name="pk_answers"),
    )
    op.create_index("ix_answers_key_id_id", "answers", ["key_id", "id"])
    op.create_index("ix_answers_digest_created", "answers", ["digest", "created"])
    op.create_index("ix_answers_status", "answers", ["status"])


def _jobs() -> None:
    op.create_table(
        "jobs",
        *(Column(name, Text, nullable=False) for name in ("id", "kind", "status")),
        Column("done", Integer, nullable=False),
        Column("total", Integer),
        Column("message", Text, nullable=False),
        Column("created", DateTime(timezone=True), nullable=False),
        Column("updated", DateTime(timezone=True), nullable=False),
        Column("arguments", JSON, nullable=False),
        Column("owner", Text, nullable=False),
        PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_status", "jobs", ["status"])
