"""Errors of the database, by their remedy."""

from __future__ import annotations

from citewell.core.errors import CitewellError


class StoreError(CitewellError):
    """The database refused a request and stored nothing.

    `kind` is the reason in one word, for programs; `status` is the HTTP status.
    """

    kind = "store"
    status = 500


class StoreUnreachableError(StoreError):
    """The database cannot be reached, is busy or is stopping; a later request may succeed."""

    kind = "store_unreachable"
    status = 503
    retry_after = 2.0


class StoreFullError(StoreError):
    """The disk of the database is full."""

    kind = "store_full"
    status = 503
    retry_after = 30.0
