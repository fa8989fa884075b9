"""What can go wrong with the database, told apart by what helps."""

from __future__ import annotations

from citewell.core.errors import CitewellError


class StoreError(CitewellError):
    """The database refused what was asked of it; nothing of it was stored.

    `kind` says why in one word, for programs, and `status` is the HTTP status that says so.
    """

    kind = "store"
    status = 500


class StoreUnreachableError(StoreError):
    """The database cannot be reached, is busy for too long, or is stopping; later it may work."""

    kind = "store_unreachable"
    status = 503
    retry_after = 2.0


class StoreFullError(StoreError):
    """The database has no room; it works again as soon as it has."""

    kind = "store_full"
    status = 503
    retry_after = 30.0
