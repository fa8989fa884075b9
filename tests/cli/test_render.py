"""`--render`: pages that build their text with scripts, and what is said where that is not possible."""

from __future__ import annotations

import asyncio
import shutil
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.conftest import Serve

SENTENCE = "The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days."
SHELL = (
    '<html><head><title>Kites</title></head><body><main></main><script src="/app.js"></script></body></html>'
)
SCRIPT = f"document.querySelector('main').innerHTML = '<p>{SENTENCE}</p><p>{SENTENCE} Indeed.</p>'"


@pytest.mark.skipif(
    not (
        find_spec("playwright") and any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    ),
    reason="Playwright or Chromium is not installed",
)
async def test_a_page_whose_text_comes_from_a_script(cli: Cli, serve: Serve) -> None:
    async def page(request: web.Request) -> web.Response:
        return web.Response(text=SHELL, content_type="text/html")

    async def script(request: web.Request) -> web.Response:
        return web.Response(text=SCRIPT, content_type="text/javascript")

    base = await serve({"/page": page, "/app.js": script})
    run = partial(cli.run, "extract", "--json", f"{base}/page", "--allow-network", "127.0.0.0/8")
    (rendered,) = (await asyncio.to_thread(run, "--render", "auto")).objects()
    assert (rendered["title"], rendered["error"]) == ("Kites", None)
    assert SENTENCE in "\n".join(rendered["paragraphs"])
    (plain,) = (await asyncio.to_thread(run)).objects()
    assert "next to no text" in plain["error"]


def test_a_browser_that_is_missing_is_named(cli: Cli) -> None:
    if not find_spec("playwright"):
        pytest.skip("Playwright is not installed")
    code, out, err = cli.run(
        *("extract", "https://example.org/", "--render", "auto", "--set", "fetch.chromium=/nowhere/chromium")
    )
    assert (code, out) == (2, "")
    assert "Rendering needs Chromium or Chrome, and none was found (/nowhere/chromium)." in err
    assert "fetch.chromium" in err
