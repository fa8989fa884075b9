"""The address guard: pages are read from public addresses only, whatever a URL or the DNS says."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from citewell.core.errors import FetchError

if TYPE_CHECKING:
    from aiohttp import AddrInfoType

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

WEB_PORTS = frozenset({80, 443, 8080, 8443})

# `ipaddress.is_global` does not replace this: it is true for NAT64, 6to4, site-local and multicast
# addresses, and it differs between Python releases.
_REFUSED: tuple[tuple[Network, str], ...] = tuple(
    (ip_network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "unspecified, RFC 791"),
        ("10.0.0.0/8", "private, RFC 1918"),
        ("100.64.0.0/10", "carrier-grade NAT, RFC 6598"),
        ("127.0.0.0/8", "loopback, RFC 1122"),
        ("168.63.129.16/32", "the metadata service of a cloud"),
        ("169.254.169.254/32", "the metadata service of a cloud"),
        ("169.254.0.0/16", "link-local, RFC 3927"),
        ("172.16.0.0/12", "private, RFC 1918"),
        ("192.0.0.0/24", "reserved for protocols, RFC 6890"),
        ("192.0.2.0/24", "documentation, RFC 5737"),
        ("192.88.99.0/24", "6to4 relay, RFC 7526"),
        ("192.168.0.0/16", "private, RFC 1918"),
        ("198.18.0.0/15", "benchmarking, RFC 2544"),
        ("198.51.100.0/24", "documentation, RFC 5737"),
        ("203.0.113.0/24", "documentation, RFC 5737"),
        ("224.0.0.0/4", "multicast, RFC 5771"),
        ("240.0.0.0/4", "reserved, RFC 1112"),
        ("::/128", "unspecified, RFC 4291"),
        ("::1/128", "loopback, RFC 4291"),
        ("::ffff:0:0/96", "IPv4-mapped, RFC 4291"),
        ("::/96", "IPv4-compatible, RFC 4291"),
        ("64:ff9b::/96", "NAT64, RFC 6052"),
        ("64:ff9b:1::/48", "NAT64, RFC 8215"),
        ("2001::/32", "Teredo, RFC 4380"),
        ("2001::/23", "reserved for protocols, RFC 2928"),
        ("2001:db8::/32", "documentation, RFC 3849"),
        ("2002::/16", "6to4, RFC 3056"),
        ("3fff::/20", "documentation, RFC 9637"),
        ("fc00::/7", "private, RFC 4193"),
        ("fe80::/10", "link-local, RFC 4291"),
        ("fec0::/10", "site-local, RFC 3879"),
        ("ff00::/8", "multicast, RFC 4291"),
    )
)
_GLOBAL_UNICAST = ip_network("2000::/3")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})  # before the IPv4 address in an interface identifier
_DISCARD_PORT = 9


class AddressError(FetchError, OSError):
    """The guard refused an address or a port.

    It is also an OSError: only for those, aiohttp's Happy Eyeballs (RFC 8305) tries the next address of a
    host and finally reports the reason.
    """

    def __init__(self, message: str, hint: str = "", kind: str = "address") -> None:
        super().__init__(message, hint, kind)


def is_own(address: Address) -> bool:
    """Return whether `address` belongs to this machine by the kernel's current routes.

    The kernel sends to an address of its own from that same address. Connecting a UDP socket asks it to
    choose, and sends nothing.
    """
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((str(address), _DISCARD_PORT))
        except OSError:
            return False  # without a route, it is not an address of this machine either
        return ip_address(probe.getsockname()[0]) == address


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """The decision whether a connection may be opened, by its actual address.

    Refused are all special-purpose addresses of the IANA registries
    (https://www.iana.org/assignments/iana-ipv4-special-registry and
    https://www.iana.org/assignments/iana-ipv6-special-registry), addresses that carry an IPv4
    address inside, all of IPv6 but 2000::/3, the public addresses of this machine itself, and
    `refuse_networks`. `allow_networks` opens networks by name, on any port; every other address is
    reached on `allow_ports` alone.
    """

    allow_networks: tuple[Network, ...] = ()
    allow_ports: frozenset[int] = WEB_PORTS
    refuse_networks: tuple[Network, ...] = ()
    is_own: Callable[[Address], bool] = is_own

    def check(self, address: str, port: int | None = None) -> None:
        """Raise `AddressError` unless `address`, and `port` if given, may be connected to."""
        try:
            ip = ip_address(address)
        except ValueError:
            raise AddressError(f"{address!r} is not an IP address") from None
        if any(ip in network for network in self.refuse_networks):
            raise AddressError(f"{address} is in a network that the setting fetch.refuse_networks names")
        if any(ip in network for network in self.allow_networks):
            return
        if reason := _special(ip):
            raise AddressError(
                f"{address} is not a public address ({reason})",
                "Only public addresses are read; --allow-network opens a network of your own.",
            )
        if port is not None:
            self.check_port(port)
        if self.is_own(ip):
            raise AddressError(f"{address} is an address of this machine")

    def check_port(self, port: int) -> None:
        """Raise `AddressError` unless `port` is allowed for public addresses."""
        if port not in self.allow_ports:
            ports = ", ".join(str(allowed) for allowed in sorted(self.allow_ports))
            raise AddressError(
                f"port {port} is not one of the allowed ports ({ports})",
                "The setting fetch.allow_ports names the ports.",
                kind="port",
            )

    def socket_factory(self, addr_info: AddrInfoType) -> socket.socket:
        """Make a socket for an address that passes `check`: for `aiohttp.TCPConnector`.

        This is the one place that sees every connection: IP literals never reach a resolver, and
        an answer of a resolver can change between two look-ups.
        """
        family, kind, protocol, _, (address, port, *_) = addr_info
        self.check(str(address), int(port))
        return socket.socket(family, kind, protocol)


def _special(ip: Address) -> str:
    """Return why an address is not on the public Internet; empty if it is."""
    reason = next((reason for network, reason in _REFUSED if ip in network), "")
    if ip.version == 4 or reason:
        return reason
    if ip not in _GLOBAL_UNICAST:
        return "outside global unicast, RFC 4291"
    if int(ip) >> 32 & 0xFFFFFFFF in _ISATAP:
        return "ISATAP, RFC 5214"
    return ""
