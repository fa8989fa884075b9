"""A search that finds malformed addresses, redirects to them, a hostile PDF, and one good page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.server.local import ReplyHandler, answering

MALFORMED = (
    "http://][@",
    "http://[::g]/",
    "http://[1:2.3]/",
    "http://\0.1/",
    "http://\ud800.example/",
    "http://",
)
QUESTION = "How do bats find their way in the dark?"
FOUND = "Bats find their way in the dark by echolocation"
REDIRECTS = 4
"""How many of the malformed addresses are also redirected to, from `/away/0` on."""
PDF = (
    b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\ntrailer\n<< /Size 2 "
    + b"(\xe2\x80\xae gpj.exe\x07) " * 4001
    + b">>\nstartxref\n0\n%%EOF\n"
)
"""A PDF about whose trailer pdfminer.six says 116,071 characters."""
_LINKS = "".join(f"<p>More is <a href='/away/{number}'>there</a>.</p>" for number in range(REDIRECTS))
_PAGE = (
    f"<title>Bats</title><main><h1>Bats</h1><p>{FOUND}: a bat sends out short calls and listens to the "
    f"echoes that come back from trees and insects.</p>{_LINKS}</main>"
)


@contextmanager
def malformed_web() -> Iterator[str]:
    """Serve it, also as a SearXNG, whose queries find the good page unless they have the word `nothing`."""

    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            base = f"http://{self.headers['Host']}"
            if self.path.startswith("/search"):
                good = [] if "nothing" in self.path else [f"{base}/bats"]
                away = [f"{base}/away/{number}" for number in range(REDIRECTS)]
                urls = [*good, *MALFORMED, *away, f"{base}/broken.pdf"]
                names = ["Bats and echoes", *(QUESTION for _ in range(3)), *("Stones" for _ in urls)]
                hits = [
                    {"url": url, "title": f"{name} {place} \ud800", "content": "Bats in the dark."}
                    for place, (url, name) in enumerate(zip(urls, names, strict=False))
                ]
                self.reply(json.dumps({"results": hits}).encode())
            elif self.path.startswith("/away"):
                location = MALFORMED[int(self.path[-1])].replace("\0", "%00")
                self.reply(b"", "text/html", 302, Location=location)
            elif self.path == "/broken.pdf":
                self.reply(PDF, "application/pdf")
            else:
                self.reply(_PAGE.encode(), "text/html", 200 if self.path == "/bats" else 404)

    with answering(Handler) as base:
        yield base


def searching(base: str) -> dict[str, Any]:
    """Return the settings of a search there."""
    return {
        "search.collection": "",
        "search.providers": "searxng",
        "search.searxng_url": base,
        "search.hits": 50,
        "search.per_domain": 50,
        "fetch.allow_networks": "127.0.0.1/32",
        "generator.name": "extractive",
    }
