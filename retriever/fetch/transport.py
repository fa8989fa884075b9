"""One hop over HTTP: its request, its response, and the protocol of transports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from multidict import CIMultiDictProxy

from citewell.retriever.fetch.urls import WebUrl

if TYPE_CHECKING:
    from citewell.retriever.fetch.memory_budget import Lease

Judge = Callable[[str, bytes], str]
"""Returns the content type of a body from its declared type and its first bytes, at most
`content.SNIFF_BYTES` of them; raises `ContentTypeError` for unwanted types. It is called once for each
answer with the status 200 or 203, and for no other."""

Source = Literal["network", "cache", "validated", "stale"]
"""Where an answer comes from: the network; the cache; the cache, after the server confirmed it (304); or the
cache, although it is outdated, since the server could not answer (RFC 5861 §4)."""


@dataclass(frozen=True, slots=True)
class Request:
    """One GET request, to be answered without following redirects."""

    url: WebUrl
    headers: Mapping[str, str]
    judge: Judge
    cut_at: int | None = None
    """Decompressed bytes after which the body may be cut; None: a body over the limit is an error."""
    spacing: float | None = None
    """Seconds that the host wants between two pages (Crawl-delay); None: this does not count as a page of its
    own, as robots.txt and the later hops of a redirect do not."""
    is_hedge: bool = False
    """True for a second request after a slow first one, which must not join a running one."""
    lease: Lease | None = None
    """The memory budget of the body; None means no budget and no waiting."""


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to one request.

    The body is whole and decompressed for the statuses 200 and 203, and empty for every other: a redirect,
    a 304 and an error page are never a source. `content_type` is what the judge said, else empty.
    """

    url: str
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes = b""
    content_type: str = ""
    truncated: bool = False
    """The body was cut at `Request.cut_at`."""
    source: Source = "network"
    received_at: float = field(default_factory=time.time, compare=False)
    """Seconds since the epoch."""


class Transport(Protocol):
    """The way of a single request: `HttpTransport` over the network, others by wrapping a transport."""

    async def send(self, request: Request) -> Response:
        """Return the answer, whatever its status; raises `FetchError` if there is none."""
