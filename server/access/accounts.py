"""Accounts that a proxy in front of the service has signed in, which a header of its requests names."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from citewell.core.server_settings import ServerSettings
from citewell.server.access.errors import AccessError


class UnknownAccountError(AccessError):
    """The account is not on the owner's list."""

    def __init__(self, name: str) -> None:
        """Name the account."""
        super().__init__(
            f"The account {name[:200]!r} may not use this service.",
            "Its owner lets it in with the setting server.accounts.",
        )


class RepeatedAccountError(AccessError):
    """The proxy sent more than one account."""

    def __init__(self, header: str) -> None:
        """Name the header."""
        super().__init__(
            f"The request has the header {header} more than once.",
            "The proxy must remove that of the client, and send one of its own.",
        )


class OtherOriginError(AccessError):
    """A page of another site sent the request with the account of its reader."""

    def __init__(self) -> None:
        """Say what is accepted."""
        super().__init__(
            "The request comes from a page of another site.",
            "Use the pages of the service, or a key. A proxy must pass on the header Host as it is.",
        )


@dataclass(frozen=True)
class Accounts:
    """The accounts that may use the service with their scopes, and the proxies that are believed.

    Names are compared exactly, as UTF-8.
    """

    header: str
    scopes: Mapping[str, frozenset[str]]
    proxies: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]

    def name(self, peer: str | None, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """Return the account that a proxy has signed in; None without one.

        `peer` is the address that is connected to the service: from any other than a proxy's, the header says
        nothing. Raises `RepeatedAccountError`.
        """
        if not self._is_trusted(peer):
            return None
        wanted = self.header.lower().encode()
        found = [value for name, value in headers if name.lower() == wanted]
        if len(found) > 1:
            raise RepeatedAccountError(self.header)
        return found[0].decode(errors="backslashreplace") or None if found else None

    def _is_trusted(self, peer: str | None) -> bool:
        try:
            address = ipaddress.ip_address(peer or "")
        except ValueError:  # a socket of the file system
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self.proxies)


def accounts_of(wanted: ServerSettings) -> Accounts | None:
    """Return the accounts of the settings; None if no proxy signs people in."""
    if not wanted.account_header:
        return None
    return Accounts(
        wanted.account_header,
        {name: frozenset(scopes) for name, scopes in wanted.accounts.items()},
        tuple(ipaddress.ip_network(each) for each in wanted.trusted_proxies),
    )


def check_origin(headers: Mapping[str, str]) -> None:
    """Raise `OtherOriginError` if a page of another site sent a request that changes something.

    The proxy adds the account to whatever a browser sends, so the browser must say that the page is the
    service's own: by `Sec-Fetch-Site` (https://www.w3.org/TR/fetch-metadata/), or by `Origin` where an older
    one, or one without TLS, does not send that. Other programs send neither.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        is_own = site in ("same-origin", "none")
    else:
        is_own = origin is None or origin.partition("://")[2].lower() == headers.get("host", "").lower()
    if not is_own:
        raise OtherOriginError
