"""The result of fetching a page, its limits, and the errors that callers distinguish."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

from citewell.core.errors import FetchError
from citewell.retriever.fetch.transport import Source


@dataclass(frozen=True, slots=True)
class Download:
    """A page as it came over the wire, decompressed.

    `url` is where the last redirect led and `requested` the URL that was asked for;
    `content_type` is the declared one with its charset, or what the bytes say where it is missing or wrong;
    `source` says whether the page came from the network or a cache, and `robots` has the values of the header
    `X-Robots-Tag`.
    """

    url: str
    content_type: str
    body: bytes
    status: int
    requested: str
    source: Source = "network"
    received_at: float = field(default_factory=time.time, compare=False)
    """Seconds since the epoch: for a page from a cache, when it was last known to be so."""
    robots: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        """The day on which the page was read (YYYY-MM-DD, UTC)."""
        return datetime.fromtimestamp(self.received_at, UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits for fetching pages; WebGLM waits 10 s in all (appendix B)."""

    connect_seconds: float = 3.0
    """Seconds for the name look-up, the connection and the TLS handshake of one hop."""
    header_seconds: float = 8.0
    """Seconds from the start of one hop to the last byte of the answer's header."""
    silence_seconds: float = 5.0
    """Seconds between any two parts of a body."""
    total_seconds: float = 10.0
    """Seconds for everything: waiting for its turn, robots.txt and redirects included."""
    robots_seconds: float = 3.0
    """Seconds for a robots.txt, its redirects included."""
    body_bytes: int = 5_000_000
    """Bytes of a body, as it is sent and also after decompression."""
    redirects: int = 5
    """Redirects that are followed."""
    connections: int = 256
    """Requests that are under way at the same time."""


class HttpStatusError(FetchError):
    """The server answered, but not with a page.

    `status` is the HTTP status code (RFC 9110 §15).
    """

    def __init__(self, status: int) -> None:
        phrase = next((s.phrase for s in HTTPStatus if s == status), "")
        super().__init__(
            f"the server answered {status} {phrase}".rstrip(),
            kind="rate_limited" if status == HTTPStatus.TOO_MANY_REQUESTS else "status",
        )
        self.status = status


class ContentTypeError(FetchError):
    """The server answered with something that is not a page of text, such as an image."""

    def __init__(self, message: str) -> None:
        super().__init__(message, kind="type")
