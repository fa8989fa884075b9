"""The URLs that may be read, normalized so that guard, proxy and cache see the same host."""

from __future__ import annotations

import re
import socket
from ipaddress import IPv6Address
from typing import NewType

from yarl import URL

from citewell.core.errors import FetchError

_LONGEST = 8_192  # characters; RFC 9110 §4.1 asks for 8,000 at least
_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?", re.ASCII)
_CREDENTIALS = re.compile(r"//[^/?#]*@")
_NAME_CHARACTERS = 254  # with the last dot
# https://url.spec.whatwg.org/#ends-in-a-number-checker
_ENDS_IN_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)\.?", re.ASCII)

WebUrl = NewType("WebUrl", URL)
"""A URL that `web_url` made: none of its properties raises, and its text is parsed to the same URL."""


def web_url(url: str, base: WebUrl | None = None) -> WebUrl:
    """Parse the URL of a page; `base` is the URL that redirects to it.

    The host of the result is a name in ASCII, an IPv6 address, or an IPv4 address of four decimal numbers,
    however it was written (`127.1`, `0x7f000001`, `①②⑦.⓪.⓪.①`), as browsers read it
    (https://url.spec.whatwg.org/#host-parsing). The fragment is removed.

    Raises `FetchError`, and nothing else, unless it is http or https with a host and without credentials,
    and when a redirect would leave https.
    """
    if len(url) > _LONGEST:
        raise _bad(f"the URL is longer than {_LONGEST:,} characters")
    try:
        return _checked(_parsed(url, base), url, base)
    except FetchError:
        raise
    except Exception as error:  # noqa: BLE001 - URLs come from strangers, and yarl raises more than it says
        raise _bad(f"{_shown(url)} is not a valid URL: {_shown(str(error))}") from None


def _parsed(url: str, base: WebUrl | None) -> URL:
    parsed = base.join(URL(url)) if base else URL(url)
    # yarl quotes a joined URL less than its own text.
    return URL(str(parsed)) if parsed.scheme and parsed.raw_host else parsed


def _checked(parsed: URL, url: str, base: WebUrl | None) -> WebUrl:
    host = parsed.raw_host
    if parsed.scheme not in {"http", "https"}:
        shown = _shown(parsed.scheme or url)
        raise FetchError(f"only http and https URLs are read, not {shown}", kind="scheme")
    if parsed.raw_user is not None or parsed.raw_password is not None:
        raise _bad("URLs with a user name or a password in them are not read")
    if not host:
        raise _bad(f"{_shown(url)} names no host")
    if base and base.scheme == "https" and parsed.scheme == "http":
        raise FetchError(f"it redirects from https to http, to {_shown(host)}", kind="redirect")
    if not parsed.port:
        raise FetchError("port 0 cannot be connected to", kind="port")
    if "%" in host and ":" in host:
        raise FetchError(
            f"{_shown(host)} is an address with a zone, which only a local network has", kind="address"
        )
    canonical = str(IPv6Address(host)) if ":" in host else _name_or_ipv4(host)
    final = parsed if canonical == host else parsed.with_host(canonical)
    final = URL(str(final.with_fragment(None)))
    # yarl computes these when they are first asked for, and raises then: here, and nowhere else.
    if final.raw_host != canonical or not final.host or final.port != parsed.port:
        raise _bad(f"{_shown(url)} is not a valid URL: it can be read in two ways")
    _ = final.query, final.origin(), final.raw_path
    return WebUrl(final)


def _name_or_ipv4(host: str) -> str:
    name = host.lower()
    if _ENDS_IN_NUMBER.fullmatch(name):
        try:
            return socket.inet_ntoa(socket.inet_aton(name.removesuffix(".")))
        except (OSError, ValueError):  # ValueError: a null character
            raise _bad(f"{_shown(host)} is not the name of a host, and not an IPv4 address") from None
    if not _NAME.fullmatch(name) or len(name) > _NAME_CHARACTERS:
        raise _bad(f"{_shown(host)} is not the name of a host")
    return name


def _bad(message: str) -> FetchError:
    return FetchError(message, kind="url")


def _shown(text: str) -> str:
    """At most 80 characters, printable and without a password: URLs come from strangers."""
    return ascii(_CREDENTIALS.sub("//", text)[:80])
