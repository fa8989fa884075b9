"""When a stored request is no longer needed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Delete, delete

from citewell.server.store.tables import REQUESTS

_KEPT = timedelta(hours=24)
_ABANDONED = timedelta(minutes=10)  # a request without a reply by then gets none: its process died


def old_before() -> datetime:
    """Return the time before which a request no longer counts."""
    return datetime.now(UTC) - _KEPT


def abandoned_before() -> datetime:
    """Return the time before which a request without a reply no longer counts."""
    return datetime.now(UTC) - _ABANDONED


def deleting_old() -> Delete:
    """Return the statement that deletes the requests that no longer count."""
    abandoned = (REQUESTS.c.created < abandoned_before()) & REQUESTS.c.reply.is_(None)
    return delete(REQUESTS).where((REQUESTS.c.created < old_before()) | abandoned)
