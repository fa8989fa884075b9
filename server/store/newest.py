"""The newest rows first: ids grow with time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Select, select


def newest(columns: Iterable[Column[Any]], id_: Column[str], limit: int, before: str | None) -> Select[Any]:
    """Return the query for the newest rows, at most `limit`.

    `before` skips that row and all newer ones.
    """
    statement = select(*columns).order_by(id_.desc()).limit(limit)
    return statement if before is None else statement.where(id_ < before)
