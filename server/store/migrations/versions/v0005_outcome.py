"""New names in the bodies of answers: `outcome`, `duplicate_urls` and `adjusted_score`."""

from __future__ import annotations

from typing import Any

from alembic import op
from sqlalchemy import JSON, Column, MetaData, Table, Text, select, update

revision = "0005"
down_revision = "0004"

_BATCH = 500  # answers in memory at a time


def upgrade() -> None:
    """Rename the keys in the body of every answer."""
    answers = Table("answers", MetaData(), Column("id", Text), Column("body", JSON(none_as_null=True)))
    connection = op.get_bind()
    last = ""
    while True:
        rows = select(answers).where(answers.c.id > last, answers.c.body.is_not(None))
        found = connection.execute(rows.order_by(answers.c.id).limit(_BATCH)).all()
        if not found:
            return
        for id_, body in found:
            renamed = _renamed(body, {"status": "outcome"})
            for part, names in (
                ("references", {"also": "duplicate_urls"}),
                ("candidates", {"value": "adjusted_score"}),
            ):
                if part in renamed:
                    renamed[part] = [_renamed(each, names) for each in renamed[part]]
            connection.execute(update(answers).where(answers.c.id == id_).values(body=renamed))
        last = found[-1].id


def _renamed(values: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}
