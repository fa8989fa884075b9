"""The cache of web pages from outside: pages are kept between processes, shown and forgotten."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

if TYPE_CHECKING:
    from tests.cli.conftest import Cli, Result
    from tests.conftest import Serve

PAGE = "<title>Bats</title><p>" + "A bat sends out calls and listens to the echoes that come back to it. " * 5


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"CITEWELL_FETCH__CACHE": "true", "CITEWELL_CACHE_DIR": str(tmp_path / "caches")}


async def test_pages_are_kept_shown_and_forgotten(
    cli: Cli, serve: Serve, environment: dict[str, str]
) -> None:
    asked: list[str] = []

    async def page(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text=PAGE, content_type="text/html")

    url = await serve({"/page": page}) + "/page"

    async def run(*arguments: str) -> Result:
        return await asyncio.to_thread(cli.run, *arguments, env=environment)

    assert (await run("cache", "--json")).objects()[0]["entries"] == 0
    for _ in range(2):
        read = await run("extract", url, "--allow-network", "127.0.0.1")
        assert (read.code, read.err) == (0, "")
        assert "listens to the echoes" in read.out
    assert asked == ["/page"]  # and its robots.txt, which is not there, once

    refused = await run("extract", url)
    assert refused.code == 1
    assert "not a public address" in refused.err

    (shown,) = (await run("cache", "--json")).objects()
    assert shown["entries"] == 2
    assert 0 < shown["bytes"] < shown["most_bytes"] == 500_000_000
    assert "2 entries" in (await run("cache")).out
    assert "Removed 2 entries." in (await run("cache", "clear")).out
    assert "0 entries" in (await run("cache", "show")).out
    await run("extract", url, "--allow-network", "127.0.0.1")
    await run("extract", url, "--allow-network", "127.0.0.1", "--set", "fetch.cache=false")
    assert len(asked) == 3


def test_a_cache_that_cannot_be_used_is_told(cli: Cli, environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "caches" / "web" / "pages.db").mkdir(parents=True)
    for arguments in (["cache"], ["cache", "clear"]):
        done = cli.run(*arguments, env=environment)
        assert done.code == 1
        assert "cannot be used" in done.err
