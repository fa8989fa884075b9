"""Parts of addresses that strangers wrote, which may not be addresses at all."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def address_parts(address: str) -> SplitResult:
    """Return the parts of an address, all of it as the path if it is malformed; never raises.

    It is for names and groups only: what is requested goes through `web_url`. `SplitResult.port` still
    raises `ValueError`.
    """
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", address, "", "")
