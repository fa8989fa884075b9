"""Ways to write an address that no page may lead to, which parsers of addresses read differently."""

from __future__ import annotations

_THIS_MACHINE = """
127.0.0.1 127.1 127.0.1 2130706433 0x7f.1 0x7f000001 0177.0.0.1 017700000001 0 0.0.0.0 ①②⑦.⓪.⓪.①
127。0。0。1 １２７.１ 127.0.0.1. 0x7F.0.0.0x1 localhost localhost. LOCALHOST [::1] [::] [0:0:0:0:0:0:0:1]
[::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::]
[fe80::5efe:7f00:1] [::1%25lo]
"""
_OTHER_NETWORKS = """
10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 169.254.169.254 [fd00:ec2::254] 168.63.129.16 0xa9fea9fe
[::ffff:169.254.169.254] 198.18.0.1 224.0.0.1 255.255.255.255 [fec0::1] [ff02::1]
"""
SPELLINGS = tuple(f"{_THIS_MACHINE} {_OTHER_NETWORKS}".split())
"""Hosts of addresses: of this machine, of private networks, of cloud services' metadata, and of nobody."""
