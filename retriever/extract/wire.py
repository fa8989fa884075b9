"""What a worker process is sent and what it sends back: typed messages, never pickles.

A worker reads hostile pages with libraries written in C, and unpickling runs whatever code the sender likes.
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
the body of its page follows as it is."""


class ReadRequest(msgspec.Struct, frozen=True, array_like=True):
    """A page to be read, whose body has `size` bytes.

    `wants` is its text or its links. `seconds` is what that may take; a PDF is read up to `pdf_pages` pages,
    HTML by `engine`. Or `wants` is what a function of ours, the `reader` (`module:name`), makes of the body,
    the URL, the content type and the `options`.
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
    """What was wanted, or the reason why there is none and what to do about it.

    `made` is what a job's `reader` returned, packed by msgspec.
    `retires` says that the process will take no more jobs: it holds too much memory.
    """

    page: Page | None = None
    leads: Leads | None = None
    made: bytes | None = None
    reason: str = ""
    hint: str = ""
    retires: bool = False


def dump(message: ReadRequest | Reply) -> bytes:
    """A message with its header; raises `UnicodeEncodeError` where text holds a lone surrogate."""
    packed = msgspec.msgpack.encode(message)
    return len(packed).to_bytes(HEADER_BYTES) + packed


def load_job(packed: bytes) -> ReadRequest:
    """Read a message without its header; raises `msgspec.DecodeError` when it is no job."""
    return msgspec.msgpack.decode(packed, type=ReadRequest)


def load_reply(packed: bytes | bytearray | memoryview) -> Reply:
    """Read a message without its header; raises `msgspec.DecodeError` when it is no reply."""
    return msgspec.msgpack.decode(packed, type=Reply)
