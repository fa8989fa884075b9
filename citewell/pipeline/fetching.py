"""The fetcher and the extractor of web pages as the settings describe them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from functools import partial

from citewell.core.settings import Settings
from citewell.pipeline.cache import cached
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.rendering import RenderingExtractor
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.politeness import Hosts
from citewell.retriever.fetch.proxy import Proxy
from citewell.retriever.fetch.subresources import SubresourceFetcher
from citewell.retriever.stage import WaitPolicy

# The share of the deadline to wait for one expected reference; `benchmarks.waiting_rules` chose it.
_PATIENCE = 0.6


@asynccontextmanager
async def open_fetcher(
    settings: Settings, *, spacing: float | None = None, cache: bool = True, hosts: Hosts | None = None
) -> AsyncGenerator[HttpFetcher, None]:
    """Open the fetcher of the settings; its connections are closed at the end.

    `spacing` is the minimum number of seconds between two pages of one host, by default the setting's.
    Without `cache`, every page is fetched again, regardless of the settings. `hosts` is the record of another
    fetcher whose limits per host this one shares. Raises `SettingsError` for an
    invalid proxy.
    """
    wanted = settings.fetch
    proxy = wanted.proxy.get_secret_value()
    if hosts is None:
        hosts = Hosts(
            connections=wanted.host_connections,
            spacing=wanted.host_delay if spacing is None else spacing,
            max_wait=wanted.deadline,
        )
    async with web_fetcher(
        FetchLimits(body_bytes=wanted.max_bytes),
        AddressGuard(wanted.allow_networks, frozenset(wanted.allow_ports), wanted.refuse_networks),
        user_agent=wanted.user_agent,
        proxy=Proxy.parse(proxy) if proxy else None,
        hosts=hosts,
        robots=wanted.robots,
        cache=partial(cached, settings=settings) if cache and wanted.cache else nullcontext,
    ) as fetcher:
        yield fetcher


@asynccontextmanager
async def open_extractor(
    settings: Settings, fetcher: HttpFetcher, sandbox: Sandbox
) -> AsyncGenerator[Extractor, None]:
    """Open the extractor that reads pages in `sandbox`, rendered first if the settings say so.

    Raises `InputError` if rendering is on and Playwright or Chromium is not installed.
    """
    mode = settings.fetch.render
    if mode == "never":
        yield sandbox
        return
    from citewell.retriever.fetch.render import Renderer, RenderLimits

    async with AsyncExitStack() as opened:
        public = fetcher
        if settings.fetch.allow_networks:  # scripts of a public page must not reach them
            fetch = settings.fetch.model_copy(update={"allow_networks": ()})
            public = await opened.enter_async_context(
                open_fetcher(settings.model_copy(update={"fetch": fetch}), hosts=fetcher.hosts)
            )
        own = partial(fetcher.get_part, stays=True)
        parts = SubresourceFetcher(public.get_part, own, settings.fetch.allow_networks)
        renderer = Renderer(parts.get, settings.fetch.chromium, RenderLimits(settings.fetch.render_seconds))
        yield RenderingExtractor(sandbox, (await opened.enter_async_context(renderer)).render, mode)


def sandbox_limits(settings: Settings) -> SandboxLimits:
    """Return the settings' limits for reading one page."""
    wanted = settings.extract
    return SandboxLimits(
        wanted.workers, wanted.seconds, wanted.memory_bytes, wanted.pdf_pages, wanted.extractor
    )


def wait_policy(settings: Settings) -> WaitPolicy:
    """Return the settings' limits on waiting for pages."""
    deadline = settings.fetch.deadline
    return WaitPolicy(deadline=deadline, patience=_PATIENCE * deadline)
