"""A search engine on this machine that answers only when it is let."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks.hostile.web import WEB

_FOUND_NOTHING = b'{"results": []}'


@dataclass
class LocalServer:
    """A server of this machine; what it was asked, and whether it may answer."""

    url: str
    asked: list[str] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)


Answer = Callable[[str, bytes], tuple[int, str, bytes]]


@contextmanager
def local_server(answer: Answer) -> Iterator[LocalServer]:
    """Run a server that answers a path and a body with a status, a type and a body, once it is open."""
    threads = ThreadingHTTPServer((WEB, 0), BaseHTTPRequestHandler)
    server = LocalServer(f"http://{WEB}:{threads.server_port}")

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            server.asked.append(self.path)
            server.open.wait(60)
            status, kind, reply = answer(self.path, body)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        do_GET = do_POST = answer  # noqa: N815 - http.server's names

        def log_message(self, *words: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # the client has left
                super().handle()

    threads.RequestHandlerClass = Handler
    threads.daemon_threads = True
    with threads:
        threading.Thread(target=threads.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield server
        finally:
            server.open.set()
            threads.shutdown()


def nothing(path: str, body: bytes) -> tuple[int, str, bytes]:
    """Find nothing, as SearXNG says it."""
    return 200, "application/json", _FOUND_NOTHING
