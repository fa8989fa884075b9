"""JSON on one line that every reader takes for one line."""

from __future__ import annotations

from typing import Any

from litestar.openapi.datastructures import ResponseSpec
from litestar.serialization import encode_json

MEDIA_TYPE = "application/x-ndjson"
_ENDS = {"\x85".encode(): b"\\u0085", "\u2028".encode(): b"\\u2028", "\u2029".encode(): b"\\u2029"}


def one_line(value: Any) -> bytes:
    """Return a value as JSON without any character that some programs treat as the end of a line.

    JSON does not escape three of them. Many clients of streams and readers of JSON Lines split at them, as
    Python's `str.splitlines` does, so the text of a page could forge the next event or row.
    """
    line: bytes = encode_json(value)
    for end, escape in _ENDS.items():
        line = line.replace(end, escape)
    return line


def json_lines(description: str) -> ResponseSpec:
    """Return the documentation of a reply in JSON Lines."""
    return ResponseSpec(str, generate_examples=False, description=description, media_type=MEDIA_TYPE)
