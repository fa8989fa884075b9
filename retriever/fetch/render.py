"""Running the scripts of a page in Chromium, which has no network of its own.

Every request of the browser is answered here: by the fetcher, so that its address guard, its limits and
robots.txt hold for what a script asks for as well, or not at all. Chromium's own way out is closed three
times over: requests are intercepted, its proxy is a closed port, and its names resolve to nothing.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from citewell.core.errors import ExtractionError, FetchError, InputError
from citewell.core.packages import install_command
from citewell.retriever.extract.visibility.hidden import UNSEEN
from citewell.retriever.fetch.download import Download

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Page, Playwright, Route, WebSocketRoute

GetPart = Callable[[str, str], Awaitable[Download]]
"""A function that fetches the second URL for the page at the first, or raises `FetchError`."""

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_WANTED = frozenset({"document", "script", "stylesheet", "xhr", "fetch"})
_CLOSED_PORT = "http://127.0.0.1:1"
_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # its name in older releases
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    "--js-flags=--max-old-space-size=256",
)
_VARIABLES = ("PATH", "LANG", "LC_ALL", "HOME", "TMPDIR", "SYSTEMROOT", "LOCALAPPDATA")
_CLOSING_SECONDS = 3.0
_PARTS_AT_A_TIME = 6  # of one page, as browsers do for one host: each may be as large as a page


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """Limits for rendering one page."""

    seconds: float = 10.0
    parts: int = 150
    """Scripts, style sheets and requests of scripts that are answered."""
    part_bytes: int = 30_000_000
    """Bytes of all of them together, after which no more are fetched."""
    html_characters: int = 10_000_000
    """Length of the final page."""
    pages: int = 4
    """Pages that are rendered at the same time."""


class Renderer:
    """A renderer of pages in one Chromium, each in a context of its own; use it as an async context manager.

    Chromium starts with the first page, and is restarted after a page that it cannot close.
    """

    def __init__(self, get_part: GetPart, executable: str = "", limits: RenderLimits | None = None) -> None:
        """Prepare to run `executable`, by default the Chromium or Chrome found on PATH.

        Raises `InputError` if Chromium or the package playwright is not installed.
        """
        self._executable = find_chromium(executable)
        self._get_part = get_part
        self._limits = limits or RenderLimits()
        self._slots = asyncio.Semaphore(self._limits.pages)
        self._starting = asyncio.Lock()
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._browser:
            await self._drop(self._browser)
        if self._playwright:
            await self._playwright.stop()

    async def render(self, url: str, body: bytes, content_type: str) -> bytes:
        """Return the HTML of a page, in UTF-8, after its scripts have run.

        `body` is the page as it was fetched from `url`. After the time limit, the page is returned as it is.
        Raises `ExtractionError` if the browser cannot be started, or cannot close the page.
        """
        from playwright.async_api import Error

        async with self._slots:
            context = await self._context()
            try:
                async with asyncio.timeout(self._limits.seconds + _CLOSING_SECONDS):
                    try:
                        visit = _Visit(
                            Download(url, content_type, body, 200, url), self._get_part, self._limits
                        )
                        return (await visit.html(context)).encode(errors="replace")
                    finally:
                        await asyncio.wait_for(context.close(), _CLOSING_SECONDS)
            except TimeoutError:
                await self._drop(context.browser)
                reason = f"rendering it took longer than {self._limits.seconds:g} s"
                raise ExtractionError(reason, "The setting fetch.render_seconds allows more.") from None
            except Error as error:
                raise ExtractionError(f"rendering it failed ({_first_line(error)})") from error

    async def _context(self) -> BrowserContext:
        """Open a separate window, in a new browser if the previous one has ended."""
        from playwright.async_api import Error

        for _ in range(2):
            browser = await self._running()
            try:
                return await browser.new_context(service_workers="block", accept_downloads=False)
            except Error as error:
                problem = error
                await self._drop(browser)
        raise ExtractionError(f"the browser ended ({_first_line(problem)})")

    async def _running(self) -> Browser:
        from playwright.async_api import Error, async_playwright

        async with self._starting:
            if self._browser and self._browser.is_connected():
                return self._browser
            self._playwright = self._playwright or await async_playwright().start()
            try:
                self._browser = await self._playwright.chromium.launch(
                    executable_path=self._executable,
                    args=list(_ARGUMENTS),
                    proxy={"server": _CLOSED_PORT, "bypass": "<-loopback>"},
                    chromium_sandbox=not runs_as_root(),
                    env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
            except Error as error:
                raise ExtractionError(
                    f"the browser {self._executable} cannot be started ({_first_line(error)})",
                    "Start it by hand to see why; in a container its sandbox may need user namespaces.",
                ) from error
            return self._browser

    async def _drop(self, browser: Browser | None) -> None:
        """End a browser; the next page starts another."""
        from playwright.async_api import Error

        if browser is None:
            return
        if self._browser is browser:
            self._browser = None
        try:
            await asyncio.wait_for(browser.close(), _CLOSING_SECONDS)
        except (Error, TimeoutError):
            return  # it is gone, or Playwright ends it when it is stopped


class _Visit:
    """One page, with its requests and their answers."""

    def __init__(self, document: Download, get_part: GetPart, limits: RenderLimits) -> None:
        self._document = document
        self._get_part = get_part
        self._limits = limits
        self._parts = 0
        self._bytes = 0
        self._slots = asyncio.Semaphore(_PARTS_AT_A_TIME)
        self._document_given = False

    async def html(self, context: BrowserContext) -> str:
        """Open the page, wait until nothing more arrives, and return the result."""
        from playwright.async_api import TimeoutError as PlaywrightTimeoutError

        loop = asyncio.get_running_loop()
        end = loop.time() + self._limits.seconds
        await context.route("**/*", self._answer)
        await context.route_web_socket("**/*", _close)
        page = await context.new_page()
        page.on("dialog", lambda dialog: dialog.dismiss())
        try:
            # A quarter of the time is reserved for reading the page, whose scripts may be slow.
            left = (end - loop.time()) * 750
            await page.goto(self._document.url, wait_until="networkidle", timeout=left)
        except PlaywrightTimeoutError:
            pass  # the page is read as it is now
        async with asyncio.timeout_at(end):
            return await _outer_html(page, self._limits.html_characters)

    async def _answer(self, route: Route) -> None:
        from playwright.async_api import Error

        try:
            if route.request.resource_type == "document":
                await self._answer_document(route)
                return
            part = await self._part(route)
            if part is None:
                await route.abort()
                return
            origin = route.request.headers.get("origin", "*")
            await route.fulfill(
                status=200,
                headers={
                    "Content-Type": part.content_type,
                    # No cookie is ever sent, so that no site has anything to hide from another.
                    "Access-Control-Allow-Origin": origin,
                    "Access-Control-Allow-Credentials": "true",
                },
                body=part.body,
            )
        except Error:
            return  # the page has been closed meanwhile

    async def _answer_document(self, route: Route) -> None:
        """Serve the page itself, once. Frames, and pages that scripts navigate to, are other pages."""
        if self._document_given:
            await route.fulfill(status=204)  # on which a browser stays where it is (RFC 9110 §15.3.5)
            return
        self._document_given = True
        headers = {"Content-Type": self._document.content_type or "text/html"}
        await route.fulfill(status=200, headers=headers, body=self._document.body)

    async def _part(self, route: Route) -> Download | None:
        """Return the resource that a page requests, or None if it is refused."""
        request = route.request
        if request.method != "GET" or request.resource_type not in _WANTED:
            return None
        self._parts += 1
        if self._parts > self._limits.parts:
            return None
        async with self._slots:
            if self._bytes > self._limits.part_bytes:
                return None
            try:
                part = await self._get_part(self._document.url, request.url)
            except FetchError:
                return None  # to a script it looks like a broken connection, for which scripts are made
            self._bytes += len(part.body)
        return part


_MARKING = f"""for (const element of document.querySelectorAll("body *")) {{
  const style = getComputedStyle(element), box = element.getBoundingClientRect();
  const hides = !element.checkVisibility({{opacityProperty: true}}) || parseFloat(style.fontSize) < 2 ||
    (box.width > 0 && (box.right < 0 || box.bottom + scrollY < 0));
  if (hides && !element.closest("details:not([open])")) element.setAttribute("{UNSEEN}", "");
}}"""


async def _outer_html(page: Page, most: int) -> str:
    """Return the page's HTML, read in a world of its own that its scripts cannot tamper with.

    Elements that Chromium does not show have the attribute `UNSEEN`, whatever style sheet hides them.
    """
    session = await page.context.new_cdp_session(page)
    tree = await session.send("Page.getFrameTree")
    world = await session.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
    found = await session.send(
        "Runtime.evaluate",
        {
            "expression": f"{_MARKING};document.documentElement.outerHTML.slice(0, {most})",
            "contextId": world["executionContextId"],
            "returnByValue": True,
        },
    )
    return str(found["result"].get("value", ""))


async def _close(socket: WebSocketRoute) -> None:
    await socket.close()


def find_chromium(executable: str = "") -> str:
    """Return the path of `executable`, or of a Chromium or Chrome on PATH.

    Raises `InputError` without one.
    """
    if "playwright" not in sys.modules and not _is_installed("playwright"):
        raise InputError(
            "Rendering needs the package playwright, which is not installed.",
            install_command("render"),
        )
    for name in (executable,) if executable else _NAMES:
        if path := shutil.which(name):
            return path
    wanted = executable or ", ".join(_NAMES)
    raise InputError(
        f"Rendering needs Chromium or Chrome, and none was found ({wanted}).",
        "Install it, for example with apt install chromium, or name it with the setting fetch.chromium.",
    )


def runs_as_root() -> bool:
    """Return whether Chromium's own sandbox must be off, since it refuses to run for root."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _is_installed(module: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(module) is not None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
