"""The messages to and from a worker process: typed, never pickled.

A worker reads hostile pages with libraries written in C, and unpickling runs any code the sender chooses.
[msgspec](https://jcristharif.com/msgspec/) builds values of the declared types only, or raises.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from citewell.core.types import Page
from citewell.retriever.extract.links import Leads
from citewell.retriever.extract.page import Engine

HEADER_BYTES = 8
"""Every message is preceded by its length: an unsigned integer, the most significant byte first. After a job,
the body of its page follows unchanged."""


class ReadRequest(msgspec.Struct, frozen=True, array_like=True):
    """A page to be read, whose body has `size` bytes.

    `wants` is its text, its links, or the result of the function `reader` (`module:name`) for the body, the
    URL, the content type and the `options`. `seconds` limits the time; a PDF is read up to `pdf_pages` pages,
    HTML by `engine`.
    """

    size: int
    url: str
    content_type: str
    title: str
    seconds: float
    pdf_pages: int
    engine: Engine
    wants: Literal["page", "leads", "made"] = "page"
    reader: str = ""
    options: tuple[str, ...] = ()


class Reply(msgspec.Struct, frozen=True, array_like=True):
    """The result of a job, or the reason why it failed and a hint.

    `made` is the return value of the job's `reader`, packed by msgspec.
    `retires` says that the process ends after this job because it holds too much memory.
    """

    page: Page | None = None
    leads: Leads | None = None
    made: bytes | None = None
    reason: str = ""
    hint: str = ""
    retires: bool = False


def dump(message: ReadRequest | Reply) -> bytes:
    """Pack a message with its header; raise `UnicodeEncodeError` for text with a lone surrogate."""
    packed = msgspec.msgpack.encode(message)
    return len(packed).to_bytes(HEADER_BYTES) + packed


def load_job(packed: bytes) -> ReadRequest:
    """Read a job without its header; raise `msgspec.DecodeError` for another message."""
    return msgspec.msgpack.decode(packed, type=ReadRequest)


def load_reply(packed: bytes | bytearray | memoryview) -> Reply:
    """Read a reply without its header; raise `msgspec.DecodeError` for another message."""
    return msgspec.msgpack.decode(packed, type=Reply)
