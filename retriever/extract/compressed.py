"""Files compressed by gzip."""

from __future__ import annotations

import zlib

from citewell.core.errors import ExtractionError

_MOST_BYTES = 200_000_000
_GZIP = zlib.MAX_WBITS | 16


def unzipped(body: bytes) -> bytes:
    """Return the content of a gzip file (RFC 1952).

    Raises `ExtractionError` for a file that is broken, or whose content has more than 200 MB.
    """
    parts: list[bytes] = []
    left = _MOST_BYTES
    try:
        while body:
            member = zlib.decompressobj(_GZIP)
            part = member.decompress(body, left + 1)
            left -= len(part)
            if left < 0:
                raise ExtractionError(f"it unpacks to more than {_MOST_BYTES / 1e6:,.0f} MB", "Divide it.")
            parts.append(part)
            if not member.eof:
                raise ExtractionError("its gzip file ends too early", "Download it again.")
            body = member.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise ExtractionError(f"its gzip file is broken ({error})", "Download it again.") from error
    return b"".join(parts)
