"""Parts of addresses that strangers wrote, which may not be addresses at all."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, unquote, urlsplit

# Controls, and marks and overrides of direction, by which `gpj.exe` is shown as `exe.jpg` (UTS 39 §5.4).
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def address_parts(address: str) -> SplitResult:
    """Return the parts of an address, all of it as the path if it is malformed; never raises.

    It is for names and groups only: what is requested goes through `web_url`. `SplitResult.port` still
    raises `ValueError`.
    """
    try:
        return urlsplit(address)
    except ValueError:
        return SplitResult("", "", address, "", "")


def ascii_host(host: str) -> str:
    """Return a host name in lower case and in ASCII, as it is fetched; raises `ValueError` for a bad one."""
    if host.isascii():
        return host.lower()
    from yarl import URL

    return URL.build(scheme="http", host=host).raw_host or ""


def shown_address(address: str) -> str:
    """Return an address whose unseen characters are percent-encoded, so that it reads as it is."""
    return _UNSEEN.sub(lambda found: quote(found[0], errors="replace"), address)


def shown_name(part: str) -> str:
    """Return a part of an address for display: without percent-encoding, and without unseen characters."""
    return _UNSEEN.sub("", unquote(part))
