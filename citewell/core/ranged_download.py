"""Downloads of single files that continue where they broke off, by range requests (RFC 9110, section 14)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

_TOTAL = re.compile(r"bytes [\d*-]+/(\d+)")


def transport_errors() -> tuple[type[Exception], ...]:
    """Return the classes of the errors of `download`, whose HTTP library differs from version to version."""
    from huggingface_hub.errors import HfHubHTTPError

    return HfHubHTTPError.__mro__[1], ConnectionError


def download(
    url: str,
    arriving: Path,
    *,
    expected: int = 0,
    headers: Mapping[str, str] | None = None,
    on_bytes: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Append to the file `arriving` what it lacks of `url`; return the bytes that it then has.

    The caller makes sure that what `arriving` holds comes from the same version of the file. `expected` is
    the size of the file, if it is known; `on_bytes` is called with the bytes so far and with those in all, 0
    if nothing says them. What arrives before an error stays in `arriving`. Raises `transport_errors`.
    """
    from huggingface_hub import get_session

    asked = {"Accept-Encoding": "identity"} | dict(headers or {})
    with arriving.open("ab") as out:
        there = out.tell()
        if expected and there >= expected:
            return there
        if there:
            asked["Range"] = f"bytes={there}-"
        with get_session().stream("GET", url, headers=asked, timeout=30) as response:
            found = _TOTAL.fullmatch(response.headers.get("content-range", ""))
            if response.status_code == 416 and found and int(found[1]) == there:  # all of it is here
                return there
            response.raise_for_status()
            if response.status_code != 206:  # the server sends the file from its beginning
                out.truncate(0)
            length = int(response.headers.get("content-length") or 0)
            total = expected or (int(found[1]) if found else length)
            for chunk in response.iter_raw():  # in chunks of a fixed size, the last bytes would be lost
                out.write(chunk)
                on_bytes(out.tell(), total)
        return out.tell()
