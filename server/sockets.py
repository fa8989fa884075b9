"""Addresses to listen on."""

from __future__ import annotations

import ipaddress
import socket

from citewell.core.errors import CitewellError, SettingsError


def is_loopback(host: str) -> bool:
    """Return whether only this computer can connect to a host that the service listens on."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free port.

    Raises `SettingsError` if the address is not one of this computer, and `CitewellError` if it is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(f"Cannot listen on {host!r}: {error.strerror}.") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        raise CitewellError(
            f"Cannot listen on {host}, port {port}: {error.strerror}.",
            "Use another port; --port 0 picks a free one.",
        ) from error
    listening.set_inheritable(True)
    return listening


def shown_url(listening: socket.socket) -> str:
    """Return the URL of a listening socket, without a last slash."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
