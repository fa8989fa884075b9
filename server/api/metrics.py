"""The numbers of the service, for Prometheus."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from citewell.server.access.authenticator import Authenticator
from citewell.server.access.errors import WrongScopeError
from citewell.server.api.documented import problems
from citewell.server.services import Services

_MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4.partition("; charset")[0]  # Litestar adds the character set
_TEXT = ResponseSpec(
    str,
    generate_examples=False,
    description="The numbers in Prometheus's text format.",
    media_type="text/plain",
)


@get(
    "/metrics",
    summary="How is the service doing?",
    responses={200: _TEXT, **problems()},
    media_type="text/plain",
    tags=["health"],
)
async def get_metrics(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[bytes]:
    """The metrics of all processes of the service. A key needs `admin`; without keys, this computer reads."""
    await _check(services.authenticator, request.headers.get("authorization"))
    return Response(await asyncio.to_thread(services.metrics.text), media_type=_MEDIA_TYPE)


async def _check(authenticator: Authenticator, header: str | None) -> None:
    """Raise what `Authenticator.admit` raises, unless the service is keyless and local."""
    try:
        await authenticator.admit(header, "admin")
    except WrongScopeError:
        with suppress(WrongScopeError):
            if (await authenticator.admit(header, "ask")).key_id is None:
                return
        raise
