"""A server that speaks the Hugging Face hub's wire format: metadata, redirects to another host, ranges."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class HubServer:
    """The repository `org/model`. Files over 10 kB are large files, which another host gives.

    `breaks` is the number of bytes after which the next answers break off, `status` answers all requests,
    `ranges` says whether the server knows them, and `requests` holds what was asked.
    """

    files: dict[str, bytes]
    breaks: list[int] = field(default_factory=list)
    status: int = 200
    ranges: bool = True
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def ranges_asked(self) -> list[str]:
        return [headers["range"] for _, _, headers in self.requests if "range" in headers]


@contextmanager
def serving(hub: HubServer) -> Iterator[HubServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def log_message(self, *args: object) -> None:
            pass

        def answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            hub.requests.append((self.command, self.path, headers))
            if hub.status != 200:
                self.reply(hub.status, b"", {"X-Error-Message": "out of order"})
            elif self.path.startswith("/api/models/org/model"):
                siblings = [{"rfilename": name} for name in hub.files]
                about = json.dumps({"id": "org/model", "sha": COMMIT, "siblings": siblings})
                self.reply(200, about.encode(), {"Content-Type": "application/json"})
            elif self.path.startswith("/large/"):
                self.content(hub.files[self.path.removeprefix("/large/")], headers)
            else:
                self.resolve(headers)

        def resolve(self, headers: dict[str, str]) -> None:
            name = self.path.removeprefix("/org/model/resolve/").partition("/")[2]
            body = hub.files.get(name)
            about = {"X-Repo-Commit": COMMIT}
            if body is None:
                self.reply(404, b"", {"X-Error-Code": "EntryNotFound"})
            elif len(body) > 10_000:
                about |= {"X-Linked-Etag": f'"{sha256(body)}"', "X-Linked-Size": str(len(body))}
                host = hub.url.replace("127.0.0.1", "localhost")
                self.reply(302, b"", about | {"Location": f"{host}/large/{name}"})
            else:
                self.content(body, headers, about | {"ETag": f'"{hashlib.sha1(body).hexdigest()}"'})

        def content(self, body: bytes, headers: dict[str, str], more: dict[str, str] | None = None) -> None:
            asked = headers.get("range", "") if hub.ranges else ""
            start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
            more = dict(more or {})
            if asked:
                more["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
            self.reply(206 if asked else 200, body[start:], more)

        def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "HEAD":
                return
            if hub.breaks and len(body) > 10_000:
                self.wfile.write(body[: hub.breaks.pop(0)])
                self.close_connection = True
                self.connection.shutdown(2)
            else:
                self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
