"""JSON that is one line for every reader."""

from __future__ import annotations

from typing import Any

from litestar.openapi.datastructures import ResponseSpec
from litestar.serialization import encode_json

MEDIA_TYPE = "application/x-ndjson"
_ENDS = {"\x85".encode(): b"\\u0085", "\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029"}


def one_line(value: Any) -> bytes:
    """A value as JSON without a character that ends a line, in any reading of what does.

    JSON leaves three such characters as they are. Many clients of streams and readers of JSON lines split at
    them, as Python's `str.splitlines` does, so that a page could write the next event or row.
    """
    line: bytes = encode_json(value)
    for end, escape in _ENDS.items():
        line = line.replace(end, escape)
    return line


def json_lines(description: str) -> ResponseSpec:
    """How a reply of such lines is documented."""
    return ResponseSpec(str, generate_examples=False, description=description, media_type=MEDIA_TYPE)
