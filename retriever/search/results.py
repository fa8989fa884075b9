"""Reads the results of search services."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from citewell.core.addresses import shown_address
from citewell.core.errors import ServiceAnswerError, ServiceError
from citewell.core.http_service import JsonObject
from citewell.core.text import squeeze, uncontrolled
from citewell.core.types import Hit
from citewell.retriever.search.api import Service

_LOG = logging.getLogger(__name__)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def plain(value: Any) -> str:
    """Return a text on one line, without tags and control characters; empty for anything but a string."""
    text = value if isinstance(value, str) else ""
    return squeeze(uncontrolled(html.unescape(_TAG.sub("", text))))


def read_hits(provider: str, results: Iterable[Any], url: str, title: str, snippet: str) -> list[Hit]:
    """Read results, given the names of their fields; results without an HTTP URL are skipped."""
    hits = []
    for result in results:
        address = result.get(url) if isinstance(result, dict) else None
        if isinstance(address, str) and address.startswith(("http://", "https://")):
            hits.append(
                Hit(shown_address(address), plain(result.get(title)), plain(result.get(snippet)), provider)
            )
    return hits


def listed(service: Service, value: Any) -> list[Any]:
    """`value`, which must be a list. Raises `ServiceAnswerError` if it is not."""
    if not isinstance(value, list):
        raise service.error(
            ServiceAnswerError,
            f"{service.name} at {service.url} did not return a list of results.",
            f"Check that {service.url} is the URL of {service.name}.",
        )
    return value


def section(service: Service, answer: JsonObject, name: str, marker: str) -> JsonObject:
    """Return the object `name` of a response, which services omit if nothing was found.

    Raises `ServiceAnswerError` if the key `marker` is missing: then the response is not from the service.
    """
    if marker not in answer:
        listed(service, None)
    found = answer.get(name)
    return found if isinstance(found, dict) else {}


class ResultPage(NamedTuple):
    """One page of results, and whether there are more."""

    hits: list[Hit]
    more: bool


async def read_pages(
    limit: int, size: int, ask: Callable[[int], Awaitable[ResultPage]], max_pages: int = 10
) -> list[Hit]:
    """Collect `limit` hits from pages of at most `size`, which `ask` returns by number, from 0.

    Since each page costs a search, no more pages are requested than full pages would be needed. Pages may
    overlap: a URL counts once. If a page after the first fails, the hits before it are returned.
    """
    hits: dict[str, Hit] = {}
    for number in range(min(-(-limit // size), max_pages)):
        try:
            page = await ask(number)
        except ServiceError as error:
            if not hits:
                raise
            _LOG.warning("Page %d of the results failed: %s", number + 1, error)
            break
        for hit in page.hits:
            hits.setdefault(hit.url, hit)
        if not page.more or not page.hits:
            break
    return list(hits.values())[:limit]
