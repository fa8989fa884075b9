"""Security headers of every reply, including errors."""

from __future__ import annotations

from litestar.datastructures import MutableScopeHeaders
from litestar.types import Message, Scope

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


async def secure(message: Message, scope: Scope) -> None:
    """Add the headers that the reply does not set itself."""
    if message["type"] == "http.response.start":
        headers = MutableScopeHeaders.from_message(message)
        for name, value in _ALWAYS.items():
            headers.setdefault(name, value)
