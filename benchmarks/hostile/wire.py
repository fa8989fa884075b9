"""Requests as attackers send them: nothing is tidied, and connections may end anywhere."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Headers = Sequence[tuple[str, bytes]]
_SECONDS = 60.0
_MOST_READ = 1_000_000


class ReplyOnWire(NamedTuple):
    """A reply; its status is 0 where the connection was closed without one."""

    status: int
    text: str


class RawClient:
    """A client that sends headers and bodies as they are, over one connection as long as that lasts."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)

    def send(self, method: str, path: str, headers: Headers = (), body: bytes | None = None) -> ReplyOnWire:
        """Send a request and read its reply; a connection that was closed meanwhile is opened again."""
        for _ in range(2):
            try:
                return self._send(method, path, headers, body)
            except (http.client.RemoteDisconnected, ConnectionError):
                self._connection.close()
        return ReplyOnWire(0, "")

    def _send(self, method: str, path: str, headers: Headers, body: bytes | None) -> ReplyOnWire:
        connection = self._connection
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read(_MOST_READ).decode(errors="replace")
        if response.will_close or not response.isclosed():
            connection.close()
        return ReplyOnWire(response.status, text)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def exchange(
    port: int, pieces: Iterable[bytes], *, leave: bool = False, seconds: float = _SECONDS
) -> ReplyOnWire:
    """Send bytes over a connection of their own; read the reply, unless the client is to `leave` at once."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as connection:
        received = b""
        try:
            for piece in pieces:
                connection.sendall(piece)
            while not leave and b"\r\n\r\n" not in received and (piece := connection.recv(65_536)):
                received += piece
        except TimeoutError:
            return ReplyOnWire(0, "no reply in time")
        except OSError:  # the service has closed the connection while this client was sending
            pass
    words = received.split(b" ", 2)
    status = int(words[1]) if len(words) > 2 and words[1].isdigit() else 0
    return ReplyOnWire(status, received.decode(errors="replace"))
