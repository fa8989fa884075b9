"""Why a request is not let in."""

from __future__ import annotations

from citewell.core.errors import CitewellError


class AccessError(CitewellError):
    """The request is refused; `status` is the HTTP status that says so."""

    status = 403


class NoKeyError(AccessError):
    """The request has no key, and needs one."""

    status = 401


class WrongKeyError(AccessError):
    """The key of the request is unknown, or holds no more."""

    status = 401


class WrongScopeError(AccessError):
    """The key holds, but not for this."""

    status = 403
