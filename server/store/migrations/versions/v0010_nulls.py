"""What is not there is null in stored answers, episodes and jobs, no longer an empty text or left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from alembic import op
from sqlalchemy import JSON, Column, MetaData, Table, Text, select, update

revision = "0010"
down_revision = "0009"

_BATCH = 50  # rows in memory at a time: an episode has many pages
_Values = dict[str, Any]


def upgrade() -> None:
    """Rewrite the values of every row."""
    _rewrite("answers", "body", _answer)
    _rewrite("answers", "episode", _episode)
    _rewrite("demonstrations", "episode", _episode)
    _rewrite("jobs", "documents", lambda found: [_document(each) for each in found])


def _rewrite(name: str, column: str, change: Callable[[Any], Any]) -> None:
    table = Table(name, MetaData(), Column("id", Text), Column(column, JSON(none_as_null=True)))
    values = table.c[column]
    connection = op.get_bind()
    last = ""
    while True:
        rows = select(table).where(table.c.id > last, values.is_not(None)).order_by(table.c.id)
        found = connection.execute(rows.limit(_BATCH)).all()
        if not found:
            return
        for id_, value in found:
            connection.execute(update(table).where(table.c.id == id_).values({column: change(value)}))
        last = found[-1].id


def _answer(body: _Values) -> _Values:
    changed = _nulled({"rewritten": None, "fallback": None} | body, "rewritten", "fallback")
    for part, names in (("references", ("date",)), ("failures", ("kind",))):
        if part in changed:
            changed[part] = [_nulled(each, *names) for each in changed[part]]
    for part in ("sentences", "quotations"):
        if part in changed:
            changed[part] = [{"before": None} | each for each in changed[part]]
    return changed


def _episode(episode: _Values) -> _Values:
    steps = [_nulled(step, "reason", "title", "url") for step in episode["steps"]]
    return _nulled(episode, "answer", "created") | {"steps": steps}


def _document(document: _Values) -> _Values:
    changed = _nulled(document, "reason", "url", "title")
    return changed | {"passages": changed.get("passages") or None}


def _nulled(values: _Values, *names: str) -> _Values:
    return values | {name: values[name] or None for name in names if name in values}
