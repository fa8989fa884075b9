"""Metrics for Prometheus."""

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
from citewell.server.api.authorize import admitted
from citewell.server.api.documented import problems
from citewell.server.services import Services

_MEDIA_TYPE = CONTENT_TYPE_PLAIN_0_0_4.partition("; charset")[0]  # Litestar adds the character set
_TEXT = ResponseSpec(
    str,
    generate_examples=False,
    description="Metrics in the text format of Prometheus.",
    media_type="text/plain",
)


@get(
    "/metrics",
    summary="Read the metrics",
    responses={200: _TEXT, **problems()},
    media_type="text/plain",
    tags=["health"],
)
async def get_metrics(
    request: Request[Any, Any, Any], services: NamedDependency[Services]
) -> Response[bytes]:
    """The metrics of all processes. This requires the scope `admin`, or no key while none exists."""
    await _check(request, services.authenticator)
    return Response(await asyncio.to_thread(services.metrics.text), media_type=_MEDIA_TYPE)


async def _check(request: Request[Any, Any, Any], authenticator: Authenticator) -> None:
    """Raise what `admitted` raises, unless no key exists and the service is local."""
    try:
        await admitted(request, authenticator, "admin")
    except WrongScopeError:
        with suppress(WrongScopeError):
            if (await admitted(request, authenticator, "ask")).key_id is None:
                return
        raise
