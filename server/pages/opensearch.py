"""The description with which a browser can search by this service (https://github.com/dewitt/opensearch)."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape

from litestar import Request, Response, get

MEDIA_TYPE = "application/opensearchdescription+xml"


@get("/opensearch.xml", media_type=MEDIA_TYPE)
async def opensearch_description(request: Request[Any, Any, Any]) -> Response[str]:
    """Say how a browser asks a question here."""
    base = escape(str(request.base_url).rstrip("/"), {'"': "&quot;"})
    return Response(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">\n'
        "<ShortName>Citewell</ShortName>\n"
        "<Description>Answers with checked citations</Description>\n"
        "<InputEncoding>UTF-8</InputEncoding>\n"
        f'<Image type="image/svg+xml">{base}/static/icon.svg</Image>\n'
        f'<Url type="text/html" template="{base}/?q={{searchTerms}}"/>\n'
        "</OpenSearchDescription>\n",
        media_type=MEDIA_TYPE,
    )
