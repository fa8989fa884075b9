"""HTTP servers of this machine, for what the service asks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ReplyHandler(BaseHTTPRequestHandler):
    """A handler that replies with a whole body, and logs nothing."""

    def reply(self, body: bytes, kind: str = "application/json", status: int = 200, **headers: str) -> None:
        """Send a response."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


@contextmanager
def answering(handler: type[BaseHTTPRequestHandler], host: str = "127.0.0.1") -> Iterator[str]:
    """The address of a server that answers by a handler, each request in a thread of its own."""
    with ThreadingHTTPServer((host, 0), handler) as server:
        server.daemon_threads = True
        # How often it looks whether it is to stop, which each test would wait for.
        threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True).start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
