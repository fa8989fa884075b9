"""Headers of every reply, including errors: security, and the limits of the key."""

from __future__ import annotations

import math

from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

from citewell.server.access.limiter import LimitState

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Replies of the API are not pages; pages set their own policy.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; form-action 'none'",
    "Cache-Control": "no-store",
}
"""Advice of the OWASP Secure Headers Project (https://owasp.org/www-project-secure-headers/)."""


_WINDOWS = {"minute": 60, "day": 86_400}  # seconds


async def tell_limits(message: Message, scope: Scope) -> None:
    """Add the limits of the key, as `RateLimit` and `RateLimit-Policy`, to a reply that counted against them.

    They follow https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/.
    """
    states: tuple[LimitState, ...] = scope["state"].get("limits", ())
    if message["type"] == "http.response.start" and states:
        headers = MutableScopeHeaders.from_message(message)
        policies = [f'"{each.name}";q={each.limit};w={_WINDOWS[each.name]}' for each in states]
        left = [f'"{each.name}";r={each.remaining};t={math.ceil(each.reset)}' for each in states]
        headers.add("RateLimit-Policy", ", ".join(policies))
        headers.add("RateLimit", ", ".join(left))


async def secure(message: Message, scope: Scope) -> None:
    """Add the headers that the reply does not set itself."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        for name, value in _ALWAYS.items():
            headers.setdefault(name, value)
