"""The API, to be read and tried."""

from __future__ import annotations

from litestar import get
from litestar.response import Template

from citewell.server.pages.replies import POLICY, html

_POLICY = POLICY.replace("img-src 'self'", "img-src 'self' data:")  # Swagger UI draws its icons in its styles


@get("/api")
async def api_page() -> Template:
    """The operations of the API, with a form for each."""
    return html("api.html", headers={"Content-Security-Policy": _POLICY})
