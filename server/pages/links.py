"""URLs of sources for display: the ones that become links, and the names of their sites."""

from __future__ import annotations

import re
from urllib.parse import unquote

from citewell.core.addresses import address_parts

# Browsers read a backslash as a slash, other readers do not: such an address would show the wrong site.
_WEB = re.compile(r"https?://[^\s\\\x00-\x20]+", re.I)


def web_address(url: str) -> str | None:
    """Return the URL if it may become a link, which only http and https may; otherwise None."""
    return url if _WEB.fullmatch(url) and address_parts(url).hostname else None


def site_of(url: str) -> str:
    """Return the host of a page without `www.`, or the collection of a page that is a file."""
    if web_address(url):
        return (address_parts(url).hostname or "").removeprefix("www.")
    if url.startswith("file:"):
        return unquote(url.rstrip("/").rsplit("/", 1)[-1])
    if url.startswith("collection:"):
        return url.removeprefix("collection:")
    return url.partition(":")[0] if ":" in url else url
