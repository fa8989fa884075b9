"""A server that replays real pages with the delays, errors and oddities that each URL requests.

`http://HOST/RUN/PLAN/NAME` returns the page with that `name`. PLAN gives the replies to the first and the
second request (`plan`), and RUN makes the URL new to caches and counters. The oddities of a page depend on
its NAME alone, so that they are the same for all systems: one page in ten redirects, one in five sends half
of its body at half of its delay, one in twenty declares a wrong charset, one in a hundred is padded to 10 MB,
and two in three are compressed if the client accepts that.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import hashlib
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from aiohttp import web

from benchmarks.delays import DelayedReply, Fate
from benchmarks.local_web import read_articles, read_others

_LARGE = 10_000_000
_LONGEST = 30.0  # seconds for which a request hangs


def name(url: str) -> str:
    """Return the server's name of the page at `url`."""
    return hashlib.sha256(url.encode()).hexdigest()[:16]


def plan(fate: Fate) -> str:
    """Return the replies to two requests, as a part of a URL."""
    return "~".join(f"{reply.kind}-{reply.seconds:.4f}-{reply.status}" for reply in fate)


def _planned(text: str, request: int) -> DelayedReply:
    kind, seconds, status = text.split("~")[min(request, 1)].split("-")
    return DelayedReply(kind, float(seconds), int(status))  # type: ignore[arg-type]


class Oddities(NamedTuple):
    """The oddities of a page."""

    redirects: bool
    trickles: bool
    mislabeled: bool
    large: bool
    coding: str

    @classmethod
    def of(cls, name: str) -> Oddities:
        """Return the oddities of a page, always the same."""
        number = zlib.crc32(name.encode())
        coding = ("gzip", "deflate", "")[number // 7 % 3]
        return cls(number % 10 == 0, number % 5 == 1, number % 20 == 2, number % 100 == 3, coding)


class Replay:
    """A server of `pages`, the bytes by name."""

    def __init__(self, pages: dict[str, bytes]) -> None:
        self._pages = pages
        self._requests: Counter[str] = Counter()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer as the URL requests."""
        run, planned = request.match_info["run"], request.match_info["plan"]
        page = request.match_info["name"]
        if run.endswith("!"):  # where a redirect leads
            run = run[:-1]
        elif Oddities.of(page).redirects:
            raise web.HTTPFound(f"/{run}!/{planned}/{page}")
        key = f"{run}/{planned}/{page}"
        self._requests[key] += 1
        reply = _planned(planned, self._requests[key] - 1)
        if reply.kind == "hang":
            await asyncio.sleep(_LONGEST)
        elif reply.kind == "error":
            await asyncio.sleep(reply.seconds)
            if reply.status == 0:
                assert request.transport
                request.transport.abort()
            return web.Response(status=reply.status or 500)
        return await self._page(request, page, reply.seconds)

    async def _page(self, request: web.Request, page: str, seconds: float) -> web.StreamResponse:
        odd, body = Oddities.of(page), self._pages[page]
        charset = "iso-8859-1" if odd.mislabeled else "utf-8"
        headers = {"Content-Type": f"text/html; charset={charset}"}
        if odd.large:
            body += b"<!-- " + b"x" * (_LARGE - len(body)) + b" -->"
        elif odd.coding and odd.coding in request.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 5) if odd.coding == "gzip" else zlib.compress(body, 5)
            headers["Content-Encoding"] = odd.coding
        response = web.StreamResponse(headers=headers)
        response.content_length = len(body)
        await asyncio.sleep(seconds / 2 if odd.trickles else seconds)
        await response.prepare(request)
        half = len(body) // 2 if odd.trickles else len(body)
        await response.write(body[:half])
        if odd.trickles:
            await asyncio.sleep(seconds / 2)
            await response.write(body[half:])
        await response.write_eof()
        return response


async def _no_rules(_: web.Request) -> web.Response:
    raise web.HTTPNotFound


def application(pages: dict[str, bytes]) -> web.Application:
    """Build the server; it answers at once that every host's robots.txt is missing."""
    app = web.Application()
    app.router.add_get("/robots.txt", _no_rules)
    app.router.add_get("/{run}/{plan}/{name}", Replay(pages).answer)
    return app


@contextmanager
def running() -> Iterator[int]:
    """Run the server in a separate process; yield its port on 127.0.0.1."""
    command = [sys.executable, "-m", "benchmarks.replay"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


async def _serve() -> None:
    pages = {name(url): body for url, body in (read_articles() | read_others()).items()}
    runner = web.AppRunner(application(pages), handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    asyncio.run(_serve())
