"""URLs of sources for display: the ones that become links, and the names of their sites."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

from citewell.core.addresses import address_parts, shown_name

# Browsers read a backslash as a slash, other readers do not: such an address would show the wrong site.
_WEB = re.compile(r"https?://[^\s\\\x00-\x20]+", re.I)


def web_address(url: str) -> str | None:
    """Return the URL if it may become a link, which only http and https may; otherwise None."""
    return url if _WEB.fullmatch(url) and address_parts(url).hostname else None


def document_address(collection: str, url: str, answer: str = "", reference: int = 0) -> str:
    """Return the address of the page that shows a document, at the passage of a reference if there is one."""
    values = {"url": url} | ({"answer": answer, "reference": reference} if answer else {})
    return f"/collections/{quote(collection)}/document?{urlencode(values)}" + ("#cited" if answer else "")


def own_document(url: str, answer: str, reference: int) -> str | None:
    """Return the address of the page that shows a document of a collection; None for another page."""
    name = url.removeprefix("collection:").partition("/")[0]
    return document_address(name, url, answer, reference) if url.startswith("collection:") and name else None


def site_of(url: str) -> str:
    """Return the host of a page without `www.`, or the name of a file, with its collection if it has one."""
    if web_address(url):
        return (address_parts(url).hostname or "").removeprefix("www.")
    if url.startswith("collection:"):
        collection, _, path = url.removeprefix("collection:").partition("/")
        return ": ".join(filter(None, (shown_name(collection), _last(path))))
    return _last(url) if url.startswith(("file:", "/")) else shown_name(url.partition(":")[0])


def _last(path: str) -> str:
    return shown_name(path.rstrip("/").rpartition("/")[2])
