"""Attack crawls with sites that never end: waits, loops, redirects and bodies without an end.

`python -m benchmarks.hostile.crawling` lets a service index such sites through a proxy that plays them all.
A job must end or go on in bounded time, be cancelled at once, and let the next one run; and SIGTERM ends the
service within its drain time while such a job runs.
"""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from benchmarks.hostile.hidden import await_job
from benchmarks.hostile.tally import Tally, attack_command
from benchmarks.hostile.target import Target, open_target
from citewell.server.access.keys import SCOPES, NewKey, new_key

DRAIN_SECONDS = 1
_SLACK_SECONDS = 8.0  # for a process that ends, on a machine that is busy
_CANCEL_SECONDS = 5.0
_WATCHED_SECONDS = 45.0  # in which a job must end, or read a page or give it up
_PIECE = b"<p>A kite flies because the wind lifts it.</p>\n" * 100
_LINKS = "".join(f'<a href="/{n}">a kite</a> ' for n in range(20))
_PAGE = (
    f"<title>Kites</title><main><h1>Kites</h1><p>A kite flies because the wind lifts it.</p>{_LINKS}</main>"
)

Site = Callable[[BaseHTTPRequestHandler, str], None]


def _text(
    handler: BaseHTTPRequestHandler, text: str, kind: str = "text/html", status: int = 200, **more: str
) -> None:
    body = text.encode()
    handler.send_response(status)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **more}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def _robots(rules: str) -> Site:
    def site(handler: BaseHTTPRequestHandler, path: str) -> None:
        if path == "/robots.txt":
            _text(handler, rules, "text/plain")
        else:
            _text(handler, _PAGE)

    return site


def _on(wanted: str, act: Site) -> Site:
    """Return a site that acts on one path, or on all but robots.txt for `*`, and has pages elsewhere."""

    def site(handler: BaseHTTPRequestHandler, path: str) -> None:
        is_robots = path == "/robots.txt"
        if path == wanted or (wanted == "*" and not is_robots):
            act(handler, path)
        else:
            _text(
                handler, "User-agent: *\n" if is_robots else _PAGE, "text/plain" if is_robots else "text/html"
            )

    return site


def _redirects(target: Callable[[str], str]) -> Site:
    return lambda handler, path: _text(handler, "", status=302, Location=target(path))


def _drips(piece: bytes, seconds: float) -> Site:
    def site(handler: BaseHTTPRequestHandler, path: str) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/plain" if path == "/robots.txt" else "text/html")
        handler.end_headers()
        while True:
            handler.wfile.write(piece)
            time.sleep(seconds)

    return site


def _silent(handler: BaseHTTPRequestHandler, path: str) -> None:
    time.sleep(90)


_COUNT = itertools.count()
SITES: dict[str, Site] = {
    "crawl-delay-million": _robots("User-agent: *\nCrawl-delay: 1000000\n"),
    "crawl-delay-e308": _robots("User-agent: *\nCrawl-delay: 1e308\n"),
    "crawl-delay-nan": _robots("User-agent: *\nCrawl-delay: nan\nRequest-rate: 1/99999999\n"),
    "crawl-delay-29": _robots("User-agent: *\nCrawl-delay: 29\n"),
    "robots-is-large": _robots("User-agent: *\n" + "Disallow: /a*b*c*d*$\n" * 100_000),
    "robots-has-stars": _robots("User-agent: *\nDisallow: /" + "*a" * 3000 + "$\n"),
    "robots-redirects": _on("/robots.txt", _redirects(lambda path: "/robots.txt")),
    "robots-drips": _on("/robots.txt", _drips(b"#", 0.3)),
    "robots-never-ends": _on("/robots.txt", _drips(b"Disallow: /a\n" * 5000, 0)),
    "robots-is-silent": _on("/robots.txt", _silent),
    "robots-fails": _on("/robots.txt", lambda handler, path: _text(handler, "", status=500)),
    "later-is-a-day": _on("*", lambda handler, path: _text(handler, "", status=429, Retry_After="86400")),
    "later-is-a-year": _on(
        "*", lambda handler, path: _text(handler, "", status=503, Retry_After="Fri, 31 Dec 9999 23:59:59 GMT")
    ),
    "redirect-to-itself": _on("*", _redirects(lambda path: path)),
    "redirect-in-a-circle": _on("*", _redirects(lambda path: "/b" if path == "/a" else "/a")),
    "redirect-without-end": _on("*", _redirects(lambda path: f"/{next(_COUNT)}")),
    "redirect-grows": _on("*", _redirects(lambda path: path[:4000] + "/a" * 20)),
    "page-drips": _on("*", _drips(b"<p>", 0.3)),
    "page-never-ends": _on("*", _drips(_PIECE, 0)),
    "page-is-silent": _on("*", _silent),
    "pages-without-end": _on(
        "*",
        lambda handler, path: _text(
            handler,
            _PAGE + "".join(f'<a href="{path[:500]}/{n}?{next(_COUNT)}">kite</a>' for n in range(300)),
        ),
    ),
    "links-million": _on(
        "*",
        lambda handler, path: _text(
            handler, _PAGE + "".join(f'<a href="/l{n}">k</a>' for n in range(90_000))
        ),
    ),
    "page-refreshes": _on(
        "*",
        lambda handler, path: _text(handler, f'<meta http-equiv="refresh" content="0; url={path}">{_PAGE}'),
    ),
}
"""What each site does, by its name below `.example`."""
_SMALL = ("crawl-delay-million", "redirect-without-end")


@contextmanager
def playing_sites() -> Iterator[str]:
    """Run a proxy that plays all sites; its address."""

    class EndlessProxy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            site = SITES.get((parts.hostname or "").removesuffix(".example"))
            if site is not None:
                site(self, parts.path or "/")
            else:
                _text(self, _PAGE if parts.path != "/robots.txt" else "")

        def log_message(self, *words: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # the client has left
                super().handle()

    with ThreadingHTTPServer(("127.0.0.1", 0), EndlessProxy) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def attack(target: Target, key: NewKey, *, small: bool = False) -> Tally:
    """Index each site, watch its job, cancel it, and index a file; end the service during the last job."""
    tally = Tally()
    with target.client(key) as client:
        alone, _ = _index_file(client)
        for name in _SMALL if small else SITES:
            begun = client.post(
                "/v1/collections", json={"name": "sites", "source": f"http://{name}.example/"}
            )
            job = begun.headers.get("Location", "")
            tally.note("jobs go on", name, _watch(client, job, begun))
            tally.note("jobs are cancelled", name, _cancel(client, job, alone))
            tally.note("the service answers", name, target.is_well())
        begun = client.post(
            "/v1/collections", json={"name": "sites", "source": "http://crawl-delay-29.example/"}
        )
        await_job(client, begun.headers.get("Location", ""), 2)
    tally.note("SIGTERM", "while a site wants to wait", _end(target))
    tally.note("afterwards", "tracebacks in the log", "; ".join(target.tracebacks()[:3]))
    return tally


def _watch(client: httpx.Client, job: str, begun: httpx.Response) -> str:
    """Return that a job neither ends nor goes on, or ""."""
    if not job:
        return f"refused: {begun.text[:200]}"
    started = time.monotonic()
    while True:
        state = client.get(job).json()
        if state["status"] != "running" or state["done"] > 0:
            return ""
        if time.monotonic() - started > _WATCHED_SECONDS:
            return f"no page was read or given up in {_WATCHED_SECONDS:.0f} s"
        time.sleep(0.1)


def _cancel(client: httpx.Client, job: str, alone: float) -> str:
    """Cancel a job, and let another run after it, which takes `alone` seconds where none is before it."""
    if not job:
        return "the job was not accepted"
    started = time.monotonic()
    status = client.delete(job).json()["status"]
    answered = time.monotonic() - started
    spent, next_status = _index_file(client)
    if status == "running" or next_status != "done":
        return f"{status}, and the next one is {next_status} after {spent:.1f} s"
    waited = answered + spent - alone
    return "" if waited < _CANCEL_SECONDS else f"the next one waited {waited:.1f} s"


def _index_file(client: httpx.Client) -> tuple[float, str]:
    """Index a small file; the seconds of its job and how it ended."""
    started = time.monotonic()
    begun = client.post("/v1/collections", json={"name": "files", "source": "kites.md"})
    job = await_job(client, begun.headers.get("Location", ""), 60)
    return time.monotonic() - started, job.get("status", "not accepted")


def _end(target: Target) -> str:
    assert target.process is not None
    started = time.monotonic()
    code = target.process.stop()
    spent = time.monotonic() - started
    if code not in (0, -signal.SIGTERM):
        return f"it ended with {code}"
    return "" if spent < DRAIN_SECONDS + _SLACK_SECONDS else f"it took {spent:.1f} s"


def run(small: bool) -> Tally:
    """Attack a service of its own, which reaches the sites through the proxy."""
    key = new_key("everything", SCOPES)
    with playing_sites() as proxy:
        settings = {"fetch__proxy": proxy, "server__drain_seconds": DRAIN_SECONDS, "extract__seconds": 5}
        with open_target([key], server__sources="sources", **settings) as target:
            sources = target.folder / "sources"
            sources.mkdir(exist_ok=True)
            Path(sources / "kites.md").write_text("# Kites\n\nA kite flies because the wind lifts it.\n")
            return attack(target, key, small=small)


def main(words: Sequence[str] | None = None) -> None:
    """Run the command."""
    attack_command("crawling", __doc__, run, words)


if __name__ == "__main__":
    main()
