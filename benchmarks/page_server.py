"""A server of real pages in a separate process: `start_server` starts it, and `PageServer` ends it."""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

ROOT = Path(__file__).parent.parent
_SENTENCE = "Page {n} is made up, and long enough to be read as the text of a page. "
_SYNTHETIC = f"<!doctype html><title>Page {{n}}</title><article><p>{_SENTENCE * 6}</p></article>"


class PageServer:
    """A running server; `port` is its port on 127.0.0.1, and `paths` are its pages.

    Every answer comes `delay` seconds after its request, as from a distant server, and is compressed with
    gzip. `/robots.txt` is missing.
    """

    def __init__(self, delay: float, pages: int, synthetic: bool = False) -> None:
        """Start the server with at most this many `pages`, real ones of CITEWELL_DATA or synthetic ones."""
        command = [
            sys.executable,
            "-m",
            "benchmarks.page_server",
            str(delay),
            str(pages),
            str(int(synthetic)),
        ]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        about = json.loads(self.process.stdout.readline())
        self.delay = delay
        self.port: int = about["port"]
        self.paths: list[str] = about["paths"]
        self.mean_bytes: float = about["mean_bytes"]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()


def _pages(most: int, synthetic: bool) -> dict[str, bytes]:
    if synthetic:
        return {f"/web/{n}": _SYNTHETIC.replace("{n}", str(n)).encode() for n in range(most)}
    from benchmarks.local_web import read_others

    return dict(list(read_others().items())[:most])


async def _serve(delay: float, most: int, synthetic: bool) -> None:
    pages = _pages(most, synthetic)
    compressed = {path: gzip.compress(body, 6) for path, body in pages.items()}

    async def answer(request: web.Request) -> web.Response:
        await asyncio.sleep(delay)
        body = compressed.get(request.rel_url.raw_path)
        if body is None:
            return web.Response(status=404)
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Encoding": "gzip"}
        return web.Response(body=body, headers=headers)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=2_048)
    await site.start()
    port = runner.addresses[0][1]
    mean = sum(map(len, pages.values())) / len(pages)
    print(json.dumps({"port": port, "paths": list(pages), "mean_bytes": mean}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "1"))
