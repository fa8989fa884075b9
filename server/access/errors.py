"""Reasons to refuse a request."""

from __future__ import annotations

from citewell.core.errors import CitewellError


class AccessError(CitewellError):
    """The request is refused.

    `status` is the HTTP status.
    """

    status = 403


class NoKeyError(AccessError):
    """The request needs an API key and has none."""

    status = 401


class WrongKeyError(AccessError):
    """The API key is unknown, revoked or expired."""

    status = 401


class WrongScopeError(AccessError):
    """The API key lacks the scope that the request needs."""

    status = 403
