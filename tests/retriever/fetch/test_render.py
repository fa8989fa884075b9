"""Pages in a real Chromium, which reaches nothing but what the fetcher gives it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psutil
import pytest

from citewell.core.errors import ExtractionError, FetchError, InputError
from citewell.retriever.extract.html import read_html
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.render import Renderer, RenderLimits, find_chromium

pytest.importorskip("playwright", reason="the package playwright is not installed")
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))),
    reason="neither Chromium nor Chrome is installed",
)
URL = "https://kites.example/page?lang=en"


@dataclass
class Web:
    """The parts of a page, and which of them were asked for."""

    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    async def get(self, page: str, url: str) -> Download:
        assert page == URL
        self.asked.append(url)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        if url not in self.parts:
            raise FetchError("the server answered 404 Not Found")
        content_type, text = self.parts[url]
        return Download(url, content_type, text.encode(), 200, url)


async def render(html: str, web: Web | None = None, **limits: Any) -> str:
    async with Renderer((web or Web()).get, limits=RenderLimits(**limits)) as renderer:
        return (await renderer.render(URL, html.encode(), "text/html; charset=utf-8")).decode()


async def test_scripts_build_the_page_from_what_they_fetch() -> None:
    web = Web(
        {
            "https://kites.example/app.js": (
                "text/javascript",
                "fetch('https://api.example/kites.json').then(r => r.json())"
                ".then(d => { document.getElementById('root').innerText = d.text })",
            ),
            "https://api.example/kites.json": ("application/json", '{"text": "Drachen steigen höher."}'),
        }
    )
    html = await render('<div id="root"></div><script src="/app.js"></script>', web)
    assert '<div id="root">Drachen steigen höher.</div>' in html
    assert web.asked == list(web.parts)


@pytest.fixture
async def listener() -> AsyncIterator[tuple[int, int, list[str]]]:
    """A TCP and a UDP port on this machine, and what has arrived there."""
    arrived: list[str] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.append("TCP")
        writer.close()

    class Datagrams(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            arrived.append("UDP")

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    loop = asyncio.get_running_loop()
    datagrams, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=("127.0.0.1", 0))
    yield (
        server.sockets[0].getsockname()[1],
        datagrams.get_extra_info("sockname")[1],
        arrived,
    )
    datagrams.close()
    server.close()


ESCAPES = """
<html><head><link rel="preconnect" href="http://127.0.0.1:TCP"><link rel="prefetch" href="http://127.0.0.1:TCP/p">
<link rel="icon" href="http://127.0.0.1:TCP/icon"><meta http-equiv="refresh" content="1;url=http://127.0.0.1:TCP/r">
</head><body><p id="told">Told:</p><img src="http://127.0.0.1:TCP/i"><iframe src="http://127.0.0.1:TCP/f"></iframe>
<video src="http://localhost:TCP/v"></video><object data="http://127.0.0.1:TCP/o"></object><script>
const tell = word => { document.getElementById('told').innerText += ' ' + word };
// The page is not quiet, and is not read, before both have told that they failed. A socket may not be told of
// its end once the page leaves, as it does below.
const waiting = setInterval(() => {
  const told = document.getElementById('told').innerText.split(' ');
  if (['fetch', 'post'].every(word => told.includes(word))) clearInterval(waiting);
  else fetch('https://kites.example/waiting').catch(() => {});
}, 100);
const attempt = (name, run) => { try { run() } catch (error) { tell(name) } };
fetch('http://127.0.0.1:TCP/x').catch(() => tell('fetch'));
fetch('http://127.0.0.1:TCP/post', {method: 'POST', body: 'x'}).catch(() => tell('post'));
attempt('ws', () => new WebSocket('ws://127.0.0.1:TCP/'));
attempt('beacon', () => navigator.sendBeacon('http://127.0.0.1:TCP/b', 'x'));
attempt('events', () => new EventSource('http://127.0.0.1:TCP/e'));
attempt('transport', () => new WebTransport('https://127.0.0.1:TCP/'));
attempt('worker', () => new Worker(URL.createObjectURL(new Blob(["fetch('http://127.0.0.1:TCP/w')"]))));
attempt('service', () => navigator.serviceWorker.register('/service.js'));
attempt('window', () => window.open('http://127.0.0.1:TCP/n'));
attempt('rtc', () => {
  const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDP'},
    {urls: 'turn:127.0.0.1:TCP?transport=tcp', username: 'a', credential: 'b'}]});
  peer.createDataChannel('d');
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
});
setTimeout(() => { location = 'http://127.0.0.1:TCP/go' }, 300);
</script></body></html>
"""


SOCKET = """
<p id="told">Told:</p><script>
const waiting = setInterval(() => fetch('https://kites.example/waiting').catch(() => {}), 100);
new WebSocket('ws://127.0.0.1:TCP/').onclose = () => {
  clearInterval(waiting);
  document.getElementById('told').innerText += ' socket';
};
</script>
"""


@pytest.mark.alone
async def test_a_socket_is_closed(listener: tuple[int, int, list[str]]) -> None:
    tcp, _, arrived = listener
    async with Renderer(Web().get) as renderer:
        page = SOCKET.replace(":TCP", f":{tcp}").encode()
        html = (await renderer.render(URL, page, "text/html")).decode()
    assert arrived == []
    assert '<p id="told">Told: socket</p>' in html


@pytest.mark.alone
async def test_a_page_reaches_no_port_of_this_machine(listener: tuple[int, int, list[str]]) -> None:
    tcp, udp, arrived = listener
    web = Web()
    page = ESCAPES.replace(":TCP", f":{tcp}").replace(":UDP", f":{udp}")
    async with Renderer(web.get) as renderer:
        html = (await renderer.render(URL, page.encode(), "text/html")).decode()
        # What the first page may still have under way gets the time of a second one.
        await renderer.render(URL, page.encode(), "text/html")
    assert arrived == []
    told = html.partition('<p id="told">')[2].partition("</p>")[0].split()
    assert {"fetch", "post"} <= set(told)
    # Nothing but what a script may read is even passed on, and there the address guard refuses it.
    assert {url.rpartition("/")[2] for url in web.asked} <= {"x", "w", "waiting"}


async def test_a_script_that_never_ends_is_given_up_and_the_next_page_works() -> None:
    async with Renderer(Web().get, limits=RenderLimits(seconds=2)) as renderer:
        with pytest.raises(ExtractionError, match="rendering it took longer than 2 s"):
            await renderer.render(URL, b"<p>a</p><script>while (true);</script>", "text/html")
        html = await renderer.render(URL, b"<p>a</p><script>document.write('b')</script>", "text/html")
    assert b"b</body>" in html


async def test_a_page_that_is_never_quiet_is_taken_as_it_stands() -> None:
    script = "setInterval(() => fetch('/tick'), 100); document.write('<p>Text.</p>')"
    assert "<p>Text.</p>" in await render(f"<script>{script}</script>", seconds=3)


async def test_what_scripts_ask_for_is_bounded() -> None:
    names = [f"https://kites.example/{n}.js" for n in range(20)]
    web = Web(dict.fromkeys(names, ("text/javascript", "'x'" + " " * 1000)))
    page = "".join(f'<script src="{name}"></script>' for name in names)
    await render(page, web, parts=5)
    assert len(web.asked) == 5
    web.asked.clear()
    await render(page, web, part_bytes=3000)
    assert len(web.asked) <= 9  # some are under way when the limit is reached
    assert web.most_under_way <= 6
    assert (
        len(await render("<script>document.write('x'.repeat(5000))</script>", html_characters=1000)) == 1000
    )


async def test_pages_share_nothing() -> None:
    script = (
        "document.body.innerText = document.cookie + localStorage.x; document.cookie = localStorage.x = 'a'"
    )
    async with Renderer(Web().get) as renderer:
        for _ in range(2):
            html = await renderer.render(URL, f"<body><script>{script}</script>".encode(), "text/html")
            assert b"<body>undefined</body>" in html


def browsers() -> list[psutil.Process]:
    """Every Chromium that descends from this process: tests of other files may have one of their own."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has just ended
            if "chrom" in process.name():
                found.append(process)
    return found


async def test_several_pages_at_a_time_and_a_browser_that_died() -> None:
    others = browsers()
    async with Renderer(Web().get) as renderer:
        pages = [f"<script>document.write('page {n}')</script>".encode() for n in range(6)]
        found = await asyncio.gather(*(renderer.render(URL, page, "text/html") for page in pages))
        assert all(f"page {n}".encode() in html for n, html in enumerate(found))
        ours = [process for process in browsers() if process not in others]
        assert ours
        for process in ours:
            with suppress(psutil.NoSuchProcess):  # it ended with the browser that it was part of
                process.kill()
        assert b"page 1" in await renderer.render(URL, pages[1], "text/html")


def test_a_browser_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="none was found") as caught:
        find_chromium("/nowhere/chromium")
    assert "fetch.chromium" in caught.value.hint


async def test_a_program_that_is_no_browser_is_a_reason() -> None:
    async with Renderer(Web().get, executable=shutil.which("true") or "true") as renderer:
        with pytest.raises(ExtractionError, match="cannot be started"):
            await renderer.render(URL, b"<p>a</p>", "text/html")


async def test_what_style_sheets_elsewhere_hide_is_no_text_of_the_page() -> None:
    css = ".a{display:none} .b{opacity:0} .c{position:absolute;left:-9999px} .d{font-size:0}"
    web = Web({"https://kites.example/site.css": ("text/css", css)})
    shown = "<p>A kite flies because the wind lifts it while its line holds it.</p>" * 3
    hidden = "".join(f'<p class="{name}">Hidden {name} of cheese.</p>' for name in "abcd")
    page = await render(f'<link rel="stylesheet" href="/site.css"><body>{shown}{hidden}<p>The end.</p>', web)
    text = " ".join(block.text for block in read_html(page.encode(), "text/html; charset=utf-8").blocks)
    assert "cheese" not in text
    assert "lifts it" in text
