"""The icons of cited sites: the service fetches them, and passes on nothing but images."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from citewell.core.settings import Settings
from citewell.core.types import Reference, Sentence
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.ids import new_id
from tests.server.api.conftest import Service, serving
from tests.server.local import ReplyHandler, answering
from tests.server.pages.conftest import OpenPage, in_store
from tests.server.pages.test_accessibility import NARROW, faults


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_RED = zlib.compress(b"".join(b"\0" + b"\xff\0\0" * 16 for _ in range(16)))
PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", _RED)
    + _chunk(b"IEND", b"")
)
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>window.harmed=1</script></svg>'


@contextmanager
def site(body: bytes, status: int = 200, host: str = "127.0.0.1", **headers: str) -> Iterator[Any]:
    """A site whose icon is `body`, with its address and what it was asked."""

    class Handler(ReplyHandler):
        url = ""
        asked: list[str] = []  # noqa: RUF012 - each site has its own class

        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            self.asked.append(self.path)
            if self.path == "/favicon.ico":
                self.reply(body, "image/png", status, **headers)
            else:
                self.reply(b"", "text/plain", 404)

    with answering(Handler, host) as url:
        Handler.url = url
        yield Handler


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    """A service that searches Wikipedia, and may fetch from one address of this computer."""
    wanted = settings(search__providers="wikipedia", fetch__allow_networks="127.0.0.1/32")
    with serving(wanted) as service:
        yield service


def add_answer(service: Service, *urls: str, uncited: int = 0, **options: Any) -> str:
    """Store an answer that cites pages in one sentence each, the last `uncited` ones not; return its id."""
    numbered = list(enumerate(urls, 1))
    body = {
        "outcome": "answered",
        "answer": "Owls hunt at night.",
        "sentences": [
            Sentence("Owls hunt at night.", (number,), 1.0, supported=True)
            for number, _ in numbered[: len(urls) - uncited]
        ],
        "references": [
            Reference(number, url, f"Owls {number}", "Owls hunt at night.", 0.9) for number, url in numbered
        ],
        "notices": [],
        "timings": {"total": 0.3},
        "models": {},
    }
    now, values = datetime.now(UTC), msgspec.to_builtins(body)
    answer = StoredAnswer(
        new_id(), None, "When do owls hunt?", "answer", "done", now, 0.3, values, None, options
    )
    in_store(service, lambda store: store.answers.add(answer))
    return answer.id


@pytest.mark.asyncio(loop_scope="session")
async def test_cited_sites_have_their_icons_and_the_browser_asks_none_of_them(
    open_page: OpenPage, service: Service
) -> None:
    with site(PNG) as owls, site(b"", 404) as bare, site(PNG[:30]) as broken, site(PNG) as unread:
        pages = (f"{owls.url}/owls", f"{bare.url}/", f"{broken.url}/", "collection:notes/owls.md", unread.url)
        answer = add_answer(service, *pages, uncited=1)
        page = await open_page("/", viewport=NARROW)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"/answers/{answer}")
        tiles = page.locator(".sources > ol > .source > .about .tile")
        places = "tiles => tiles.map(tile => [tile.offsetTop, tile.offsetWidth, tile.offsetHeight])"
        before = await tiles.evaluate_all(places)
        for number in range(3):
            await tiles.nth(number).scroll_into_view_if_needed()
        await tiles.locator("img").wait_for()
        await page.get_by_text("1 more source, not cited").click()
        await page.wait_for_load_state("networkidle")
        assert await tiles.locator("img").evaluate("image => image.naturalWidth") == 16
        assert await tiles.all_inner_texts() == ["", "1", "1"]  # none for the document
        assert await tiles.evaluate_all(places) == before
        assert owls.asked == bare.asked == broken.asked == ["/robots.txt", "/favicon.ico"]
        assert unread.asked == []
        icons = [url for url in asked if "/icons/" in url]
        assert icons == [f"{service.url}/answers/{answer}/icons/{number}" for number in (1, 2, 3)]
        assert all(url.startswith((f"{service.url}/", f"blob:{service.url}/")) for url in asked)
        assert await faults(page) == []


def test_only_images_of_the_sites_of_an_answer_are_passed_on(service: Service) -> None:
    with ExitStack() as opened:
        inside = opened.enter_context(site(PNG, host="127.0.0.2"))
        hostile = {
            "svg": site(SVG),
            "html": site(b"<script>1</script>"),
            "large": site(PNG + bytes(100_000)),
            "redirect": site(b"", 302, Location=f"{inside.url}/favicon.ico"),
        }
        sites = {name: opened.enter_context(each) for name, each in hostile.items()}
        good = opened.enter_context(site(PNG))
        answer = add_answer(
            service, good.url, *(each.url for each in sites.values()), inside.url, "collection:notes/owls.md"
        )
        icons = f"/answers/{answer}/icons"

        reply = service.client.get(f"{icons}/1")
        assert (reply.status_code, reply.content) == (200, PNG)
        assert reply.headers["Content-Type"] == "image/png"
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert reply.headers["Cache-Control"] == "private, max-age=86400"
        for number in (2, 3, 4, 5, 6):
            for _ in range(2):  # that a site has none is remembered
                reply = service.client.get(f"{icons}/{number}")
                assert (reply.status_code, reply.content) == (204, b""), number
        assert [each.asked.count("/favicon.ico") for each in sites.values()] == [1, 1, 1, 1]
        assert inside.asked == []

        for number in ("7", "8", "0", "1/x", good.url):
            assert service.client.get(f"{icons}/{number}").status_code == 404
        of_collection = add_answer(service, good.url, collection="notes")
        assert service.client.get(f"/answers/{of_collection}/icons/1").status_code == 404
        assert good.asked.count("/favicon.ico") == 1
