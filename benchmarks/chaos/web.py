"""A search provider and the pages that it finds, which can hang and turn hostile."""

from __future__ import annotations

import asyncio
import random
import sys
from contextlib import suppress
from typing import Any

from aiohttp import web

from benchmarks.chaos.ledger import FORGED
from benchmarks.hostile.web import BOMBS, WEB, attacks, redirect_path

_HITS = 6
_TOPICS = ("kites", "harbors", "lighthouses", "orchards", "glaciers", "bridges", "canals", "meadows")
_PAGE = (
    "<!doctype html><html><head><title>About {topic}</title></head><body><article><h1>About {topic}</h1>"
    "{paragraphs}</article></body></html>"
)
_PARAGRAPH = (
    "<p>Note {n} about {topic}: a visitor to the {topic} of the north in year {n} finds that {n} "
    "people repaired them, and wrote down each day what they saw of the {topic}.</p>"
)
HOSTILE_MEBIBYTES = 200
"""What the compressed pages of the hostile web expand to."""


class ChaosWeb:
    """A SearXNG and a site on this machine; `answers` is cleared while the search hangs, `is_hostile`
    says that it finds hostile pages."""

    def __init__(self, seed: int) -> None:
        self.answers = asyncio.Event()
        self.answers.set()
        self.is_hostile = False
        self.url = ""
        self._chance = random.Random(seed)
        self._hostile: list[str] = []
        self._process: asyncio.subprocess.Process | None = None
        self._runner: web.AppRunner | None = None

    async def open(self) -> None:
        """Start both, and the hostile web in a process of its own."""
        app = web.Application()
        app.router.add_get("/search", self._search)
        app.router.add_get("/pages/{topic}/{number}", _page)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, WEB, 0).start()
        self.url = f"http://{WEB}:{self._runner.addresses[0][1]}"
        command = [sys.executable, "-m", "benchmarks.hostile.web", str(HOSTILE_MEBIBYTES)]
        self._process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        assert self._process.stdout is not None
        port, private = (await self._process.stdout.readline()).decode().split()
        base = f"http://{WEB}:{port}"
        paths = [*sorted(attacks(1)), *map(redirect_path, ("http://][@", "http://[::g]/", "http://\0.1/"))]
        paths.append(redirect_path(f"http://127.0.0.1:{private}/"))
        # Packing takes a core of this machine, so that bombs come more rarely than the rest.
        self._hostile = [base + path for path in paths if path not in BOMBS] + [base + "/gzip"]

    async def close(self) -> None:
        """Stop all."""
        if self._process is not None:
            self._process.kill()
            await self._process.wait()
        if self._runner is not None:
            with suppress(OSError):
                await self._runner.cleanup()

    async def _search(self, request: web.Request) -> web.Response:
        await self.answers.wait()
        if self.is_hostile:
            addresses = self._chance.sample(self._hostile, _HITS)
            title = f"Kites\n{FORGED}\x1b[2K\u202e"
        else:
            topic = self._chance.choice(_TOPICS)
            addresses = [f"{self.url}/pages/{topic}/{n}" for n in self._chance.sample(range(1000), _HITS)]
            title = f"About {topic}"
        hits = [{"url": address, "title": title, "content": "Kites and canals."} for address in addresses]
        return web.json_response({"results": hits})


async def _page(request: web.Request) -> web.Response:
    await asyncio.sleep(0.02)
    about: dict[str, Any] = dict(request.match_info)
    start = int(about["number"])
    paragraphs = "".join(_PARAGRAPH.format(n=start + n, topic=about["topic"]) for n in range(12))
    return web.Response(
        text=_PAGE.format(topic=about["topic"], paragraphs=paragraphs), content_type="text/html"
    )
