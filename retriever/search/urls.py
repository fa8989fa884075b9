"""Compares URLs: whether they are the same page, host or site."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from tld import get_fld
from w3lib.url import canonicalize_url

from citewell.core.addresses import address_parts, ascii_host, shown_address

# Tracking parameters, which never change the page.
_TRACKING = re.compile(
    r"utm_\w+|_(?:ga|gl|hs(?:enc|mi|fp|tc|ctatracking))|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|twclid|"
    r"ttclid|li_fat_id|yclid|ysclid|igshid|igsh|mc_[ce]id|mkt_tok|oly_(?:anon|enc)_id|srsltid|vero_id|"
    r"wickedid|s_cid|rb_clickid|at_medium|at_campaign",
    re.IGNORECASE,
)
_DEFAULT_PORTS = {"http": 80, "https": 443}


def identity(url: str) -> str:
    """Return a key that is equal for URLs of the same page; it is not a URL to fetch.

    It ignores the case of scheme and host, `http` or `https`, a leading `www.`, default ports, a trailing
    slash, fragments, the order of parameters, and tracking parameters. Percent-encoding is normalized as in
    RFC 3986 §6.2.2, by [w3lib](https://github.com/scrapy/w3lib). Anything but an HTTP URL is its own key.
    """
    try:
        parts = urlsplit(canonicalize_url(url.strip()))
        port = parts.port
    except ValueError:
        return url
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return url
    host = parts.hostname.rstrip(".").removeprefix("www.")
    if port and port != _DEFAULT_PORTS[parts.scheme]:
        host += f":{port}"
    parameters = [
        pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(pair[0])
    ]
    return urlunsplit(("", host, parts.path.rstrip("/"), urlencode(parameters), ""))


def host_of(url: str) -> str:
    """Return the host of a URL in lower case and in ASCII (IDNA); empty if it has none."""
    host = (address_parts(url.strip()).hostname or "").rstrip(".")
    try:
        return ascii_host(host)
    except ValueError:
        return shown_address(host.lower())


def registrable_domain(url: str) -> str:
    """Return the registrable domain of a URL, such as `bbc.co.uk` of `https://www.bbc.co.uk/news`.

    It follows the public suffix list of [tld](https://github.com/barseghyanartur/tld), including its private
    part: `ann.github.io` and `bob.github.io` differ. Hosts outside the list, such as IP addresses, are their
    own domain.
    """
    host = host_of(url)
    return get_fld(f"https://{host}/", fail_silently=True) or host


def in_domains(url: str, domains: Iterable[str]) -> bool:
    """Return whether the host of a URL is one of the domains or a subdomain of one."""
    host = host_of(url)
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)
