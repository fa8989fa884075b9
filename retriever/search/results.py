"""Reading the results of search services."""

from __future__ import annotations

import html
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, NamedTuple

from citewell.core.errors import ServiceAnswerError
from citewell.core.http_service import JsonObject
from citewell.core.types import Hit
from citewell.retriever.search.api import Service

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def plain(value: Any) -> str:
    """Text of a service on one line, without its mark-up; empty for anything but text."""
    text = value if isinstance(value, str) else ""
    return " ".join(html.unescape(_TAG.sub("", text)).split())


def read_hits(provider: str, results: Iterable[Any], url: str, title: str, snippet: str) -> list[Hit]:
    """Read results by the names of their fields; those that are no page of the web are left out."""
    hits = []
    for result in results:
        address = result.get(url) if isinstance(result, dict) else None
        if isinstance(address, str) and address.startswith(("http://", "https://")):
            hits.append(Hit(address, plain(result.get(title)), plain(result.get(snippet)), provider))
    return hits


def listed(service: Service, value: Any) -> list[Any]:
    """`value` if it is a list; raises `ServiceAnswerError` where the service owes one."""
    if not isinstance(value, list):
        raise service.error(
            ServiceAnswerError,
            f"{service.name} at {service.url} answered without a list of results.",
            f"Check that {service.url} is the address of {service.name}.",
        )
    return value


def section(service: Service, answer: JsonObject, name: str, marker: str) -> JsonObject:
    """The object `name` of an answer, which a service leaves out when nothing was found.

    An answer without the key `marker` is none of the service's at all: raises `ServiceAnswerError`.
    """
    if marker not in answer:
        listed(service, None)
    found = answer.get(name)
    return found if isinstance(found, dict) else {}


class ResultPage(NamedTuple):
    """One page of results, and whether the service has more of them."""

    hits: list[Hit]
    more: bool


async def read_pages(
    limit: int, size: int, ask: Callable[[int], Awaitable[ResultPage]], most: int = 10
) -> list[Hit]:
    """Collect `limit` hits from pages of at most `size`, which `ask` returns by number, from 0.

    No more pages are asked for than full ones would be needed, since each costs a search. Pages may
    overlap: a URL counts once.
    """
    hits: dict[str, Hit] = {}
    for number in range(min(-(-limit // size), most)):
        page = await ask(number)
        for hit in page.hits:
            hits.setdefault(hit.url, hit)
        if not page.more or not page.hits:
            break
    return list(hits.values())[:limit]
