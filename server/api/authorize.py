"""The guard of every request: the host name, the type of the body, the key or account, and its limits."""

from __future__ import annotations

import re
from typing import Any

from litestar.connection import ASGIConnection
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler

from citewell.core.errors import CitewellError
from citewell.server.access.accounts import check_origin
from citewell.server.access.authenticator import Authenticator, Caller
from citewell.server.access.errors import AccessError
from citewell.server.access.limiter import AccessDecision
from citewell.server.access.peer import PEER
from citewell.server.api import sse
from citewell.server.services import Services, own_names

_MAX_HEADERS = 16_384  # bytes
_PORT = re.compile(r":\d+$")
_CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class WrongHostError(AccessError):
    """The request is for another host name."""

    status = 421

    def __init__(self) -> None:
        """Name the setting."""
        super().__init__(
            "The service does not accept the name in the header `Host`.",
            "Add the name to the setting server.hosts.",
        )


class HeadersTooLargeError(CitewellError):
    """The headers of the request are too large."""

    status = 431

    def __init__(self) -> None:
        """Say how large they may be."""
        super().__init__(f"The headers have more than {_MAX_HEADERS:,} bytes.", "Send smaller headers.")


class TooOftenError(CitewellError):
    """The key has reached its rate limit or its daily quota."""

    status = 429

    def __init__(self, limit: int | None, retry_after: float) -> None:
        """`limit` is the number of requests; the key may send the next after `retry_after` seconds."""
        super().__init__(f"The key has used its {limit} requests.", "Try again after Retry-After seconds.")
        self.retry_after = retry_after


async def authorize(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
    """Accept a request and set `caller` in the state of its connection, or raise why it is refused.

    The `opt` of a handler has the `scope` that it needs, None for public ones, whether it `asks` a question,
    whether it `resumes` the stream of one instead if the headers say so, without doing its work again, and
    whether it `counts_itself` against the limits of the key.
    """
    if sum(len(name) + len(value) for name, value in connection.scope["headers"]) > _MAX_HEADERS:
        raise HeadersTooLargeError
    services: Services = connection.app.state.services
    names = own_names(services.settings.server)
    if names and _PORT.sub("", connection.headers.get("host", "")).lower() not in names:
        raise WrongHostError
    media_type = "multipart/form-data" if handler.opt.get("multipart") else "application/json"
    scope = handler.opt.get("scope")
    if scope is None:
        _check_type(connection, media_type)
        return
    caller = await admitted(connection, services.authenticator, scope)
    if caller.account is not None and connection.scope.get("method") in _CHANGING:
        check_origin(connection.headers)
    _check_type(connection, media_type)
    connection.state.caller = caller
    connection.state.services = services
    if connection.scope.get("method") in _CHANGING and not handler.opt.get("counts_itself"):
        is_resumed = bool(handler.opt.get("resumes")) and sse.resumed(connection.headers) is not None
        asks = bool(handler.opt.get("asks")) and not is_resumed
        decision = await counted(services, caller, asks=asks)
        connection.state.limits = decision.states
        if not decision.allowed:
            raise TooOftenError(decision.limit, decision.retry_after)


async def admitted(
    connection: ASGIConnection[Any, Any, Any, Any], authenticator: Authenticator, scope: str
) -> Caller:
    """Return the caller of a request; raises as `Authenticator.admit` and `Accounts.name` do."""
    accounts, peer = authenticator.accounts, connection.scope["state"].get(PEER)
    account = accounts.name(peer, connection.scope["headers"]) if accounts else None
    return await authenticator.admit(connection.headers.get("authorization"), scope, account=account)


def _check_type(connection: ASGIConnection[Any, Any, Any, Any], wanted: str) -> None:
    """Accept one type only: a page of another site may send forms and plain text without a preflight request.

    Handlers that take a form need a scope that no request of another site has: it comes with a header of its
    own, or with an account, for which `check_origin` looks where the request is from.
    """
    headers = connection.headers
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    if has_body and headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
        raise HTTPException(status_code=415, detail=f"Send the body as {wanted}.")


async def counted(services: Services, caller: Caller, *, asks: bool) -> AccessDecision:
    """Count a request against the limits of its key. Without keys, all callers use this computer."""
    if caller.key_id is None:
        return AccessDecision(allowed=True)
    wanted = services.settings.server
    per_minute = wanted.rate_per_minute if caller.rate_per_minute is None else caller.rate_per_minute
    daily = wanted.daily if caller.daily is None else caller.daily
    return await services.limiter.take(
        f"{caller.key_id}:{'ask' if asks else 'write'}", per_minute, daily if asks else None
    )
