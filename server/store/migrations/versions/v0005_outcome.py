"""The outcome of an answer, which its body had as `status`."""

from __future__ import annotations

from alembic import op
from sqlalchemy import JSON, Column, MetaData, Table, Text, select, update

revision = "0005"
down_revision = "0004"

_BATCH = 500  # answers in memory at a time


def upgrade() -> None:
    """Rename the key in the body of every answer."""
    answers = Table("answers", MetaData(), Column("id", Text), Column("body", JSON(none_as_null=True)))
    connection = op.get_bind()
    last = ""
    while True:
        rows = select(answers).where(answers.c.id > last, answers.c.body.is_not(None))
        found = connection.execute(rows.order_by(answers.c.id).limit(_BATCH)).all()
        if not found:
            return
        for id_, body in found:
            if "status" in body:
                renamed = {"outcome" if name == "status" else name: value for name, value in body.items()}
                connection.execute(update(answers).where(answers.c.id == id_).values(body=renamed))
        last = found[-1].id
