"""What fetching a page gives, what it may cost, and the errors that callers tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from core.errors import FetchError

USER_AGENT = "Citewell/0.1 (+https://github.com/citewell/citewell)"


@dataclass(frozen=True, slots=True)
class Download:
    """A page as it came over the wire, decompressed.

    `url` is where the last redirect led and `requested` the URL that was asked for;
    `content_type` is the declared one with its charset, or `application/pdf` when the bytes are
    those of a PDF.
    """

    url: str
    content_type: str
    body: bytes
    status: int
    requested: str


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one page may cost; WebGLM waits 10 s in all (appendix B)."""

    connect_seconds: float = 3.0
    """Seconds for the name look-up, the connection and the TLS handshake of one hop."""
    silence_seconds: float = 5.0
    """Seconds to the first byte of an answer, and between any two parts of it."""
    total_seconds: float = 10.0
    """Seconds for everything, redirects included."""
    body_bytes: int = 5_000_000
    """Bytes of the body after decompression."""
    redirects: int = 5
    """Redirects that are followed."""


class HttpStatusError(FetchError):
    """The server answered, but not with a page. `status` is the HTTP status code (RFC 9110 §15)."""

    def __init__(self, status: int) -> None:
        phrase = next((s.phrase for s in HTTPStatus if s == status), "")
        super().__init__(f"the server answered {status} {phrase}".rstrip())
        self.status = status


class ContentTypeError(FetchError):
    """The server answered with something that is not a page of text, such as an image."""
