"""Which addresses may be connected to: each range, just inside and just outside of it."""

from __future__ import annotations

import random
import socket
from ipaddress import ip_address, ip_network

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from citewell.core.errors import FetchError
from citewell.retriever.fetch.guard import AddressGuard, is_own

REFUSED = [
    ("0.0.0.0", "unspecified"),
    ("0.255.255.255", "unspecified"),
    ("10.0.0.0", "private"),
    ("10.255.255.255", "private"),
    ("100.64.0.0", "carrier-grade NAT"),
    ("100.100.100.200", "carrier-grade NAT"),  # Alibaba's metadata service
    ("100.127.255.255", "carrier-grade NAT"),
    ("127.0.0.0", "loopback"),
    ("127.0.0.1", "loopback"),
    ("127.255.255.255", "loopback"),
    ("168.63.129.16", "metadata"),  # Azure's, inside a public range
    ("169.254.0.0", "link-local"),
    ("169.254.169.254", "metadata"),
    ("169.254.255.255", "link-local"),
    ("172.16.0.0", "private"),
    ("172.31.255.255", "private"),
    ("192.0.0.0", "reserved for protocols"),
    ("192.0.0.192", "reserved for protocols"),  # Oracle's metadata service
    ("192.0.0.255", "reserved for protocols"),
    ("192.0.2.0", "documentation"),
    ("192.0.2.255", "documentation"),
    ("192.88.99.0", "6to4"),
    ("192.88.99.255", "6to4"),
    ("192.168.0.0", "private"),
    ("192.168.255.255", "private"),
    ("198.18.0.0", "benchmarking"),
    ("198.19.255.255", "benchmarking"),
    ("198.51.100.0", "documentation"),
    ("198.51.100.255", "documentation"),
    ("203.0.113.0", "documentation"),
    ("203.0.113.255", "documentation"),
    ("224.0.0.0", "multicast"),
    ("239.255.255.255", "multicast"),
    ("240.0.0.0", "reserved"),
    ("255.255.255.255", "reserved"),
    ("::", "unspecified"),
    ("::1", "loopback"),
    ("::2", "IPv4-compatible"),
    ("::808:808", "IPv4-compatible"),
    ("::ffff:ffff", "IPv4-compatible"),
    ("::ffff:0:0", "IPv4-mapped"),
    ("::ffff:8.8.8.8", "IPv4-mapped"),
    ("::ffff:255.255.255.255", "IPv4-mapped"),
    ("::ffff:0:808:808", "outside global unicast"),  # IPv4-translated, RFC 2765
    ("64:ff9b::", "NAT64"),
    ("64:ff9b::a00:1", "NAT64"),
    ("64:ff9b::ffff:ffff", "NAT64"),
    ("64:ff9b:1::", "NAT64"),
    ("64:ff9b:1::a00:1", "NAT64"),
    ("64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64"),
    ("64:ff9b:2::", "outside global unicast"),
    ("100::1", "outside global unicast"),
    ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "outside global unicast"),
    ("2001::", "Teredo"),
    ("2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"),
    ("2001:2::1", "reserved for protocols"),
    ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved for protocols"),
    ("2001:db8::", "documentation"),
    ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
    ("2002::", "6to4"),
    ("2002:a00:1::1", "6to4"),
    ("2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"),
    ("3fff::", "documentation"),
    ("3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
    ("4000::", "outside global unicast"),
    ("5f00::1", "outside global unicast"),
    ("fc00::", "private"),
    ("fd00:ec2::254", "private"),  # Amazon's metadata service
    ("fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private"),
    ("fe80::", "link-local"),
    ("fe80::1%eth0", "link-local"),
    ("febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"),
    ("fec0::1", "site-local"),
    ("feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"),
    ("ff00::", "multicast"),
    ("ff02::1", "multicast"),
    ("2a00:1450::5efe:10.0.0.1", "ISATAP"),
    ("2a00:1450::5efe:8.8.8.8", "ISATAP"),
    ("2a00:1450::200:5efe:10.0.0.1", "ISATAP"),
]

ALLOWED = [
    "1.0.0.0",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.3.0",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "2000::",
    "2001:200::",
    "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2001:4860:4860::8888",
    "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "2003::",
    "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    "3fff:1000::",
    "2a00:1450::5eff:10.0.0.1",
    "2a00:1450::100:5efe:10.0.0.1",
]


@pytest.mark.parametrize(("address", "reason"), REFUSED)
def test_refuses_with_the_address_and_the_reason(address: str, reason: str) -> None:
    with pytest.raises(FetchError) as raised:
        AddressGuard().check(address)
    assert address in raised.value.message
    assert reason in raised.value.message


@pytest.mark.parametrize("address", ALLOWED)
def test_allows_public_addresses(address: str) -> None:
    AddressGuard().check(address)


def test_refuses_all_that_python_does_not_call_global() -> None:
    draw = random.Random(20)
    networks = [
        *(ip_network(f"{first}.{second}.0.0/16") for first in range(256) for second in range(0, 256, 5)),
        *(ip_network((first << 112, 16)) for first in range(0, 65536, 7)),
    ]
    for network in networks:
        address = network[draw.randrange(network.num_addresses)]
        if not address.is_global:
            with pytest.raises(FetchError):
                AddressGuard().check(str(address))


@pytest.mark.parametrize("text", ["localhost", "", "127.1", "2130706433", "0x7f000001"])
def test_refuses_what_is_not_an_address(text: str) -> None:
    with pytest.raises(FetchError, match="is not an IP address"):
        AddressGuard().check(text)


def test_a_named_network_is_open_on_any_port_and_nothing_beside_it_is() -> None:
    guard = AddressGuard(allow_networks=(ip_network("10.1.0.0/16"), ip_network("::1/128")))
    guard.check("10.1.255.255", 9200)
    guard.check("::1", 22)
    for address in ("10.2.0.0", "10.0.255.255", "::2", "::ffff:10.1.0.1"):
        with pytest.raises(FetchError):
            guard.check(address)


def test_public_addresses_are_reached_on_the_ports_of_the_web_alone() -> None:
    AddressGuard().check("1.1.1.1", 8443)
    with pytest.raises(FetchError, match=r"port 25 is not one of .*80, 443") as raised:
        AddressGuard().check("1.1.1.1", 25)
    assert raised.value.kind == "port"
    AddressGuard(allow_ports=frozenset({25})).check("1.1.1.1", 25)


def test_public_networks_may_be_refused_too() -> None:
    guard = AddressGuard(
        allow_networks=(ip_network("10.0.0.0/8"),),
        refuse_networks=(ip_network("8.8.8.0/24"), ip_network("10.1.0.0/16")),
    )
    guard.check("8.8.9.0", 443)
    guard.check("10.2.0.0")
    for address in ("8.8.8.8", "10.1.2.3"):
        with pytest.raises(FetchError, match="setting fetch"):
            guard.check(address)


def test_the_public_addresses_of_this_machine_are_refused_on_every_port() -> None:
    guard = AddressGuard(is_own=lambda address: str(address) == "8.8.8.8")
    guard.check("8.8.4.4", 443)
    with pytest.raises(FetchError, match=r"8\.8\.8\.8 is an address of this machine") as raised:
        guard.check("8.8.8.8", 443)
    assert raised.value.kind == "address"
    AddressGuard(allow_networks=(ip_network("8.8.8.8"),), is_own=lambda _: True).check("8.8.8.8", 22)


def test_the_kernel_knows_the_addresses_of_this_machine() -> None:
    own = {"127.0.0.1"} | {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    for address in own:
        assert is_own(ip_address(address.partition("%")[0])), address
    assert not is_own(ip_address("198.51.100.7"))
    assert not is_own(ip_address("2001:db8::7"))


class FixedResolver(AbstractResolver):
    """Answers every name with the addresses given."""

    def __init__(self, *addresses: str) -> None:
        self._addresses = addresses

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in self._addresses
        ]

    async def close(self) -> None:
        return


async def test_the_socket_factory_alone_refuses_every_address_of_a_host() -> None:
    connector = aiohttp.TCPConnector(
        resolver=FixedResolver("127.0.0.1", "::1", "10.0.0.1"),
        socket_factory=AddressGuard().socket_factory,
    )
    async with aiohttp.ClientSession(connector=connector) as session:
        with pytest.raises(aiohttp.ClientConnectorError) as raised:
            await session.get("http://three.test/")
    assert isinstance(raised.value.os_error, FetchError)


def test_the_socket_factory_makes_the_socket_that_was_asked_for() -> None:
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.0/8"),))
    kind = socket.SOCK_STREAM
    with guard.socket_factory((socket.AF_INET, kind, 0, "", ("127.0.0.1", 9))) as made:
        assert (made.family, made.type) == (socket.AF_INET, kind)
