"""The pages in a real Chromium, from a real service over pages that were written to do harm."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from citewell.core.settings import Settings
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.fetch.render import find_chromium, runs_as_root
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore, open_store
from citewell.server.store.ids import new_id
from tests.server.api.conftest import ENDED, Service, search, serving, settings

__all__ = ["search", "settings"]

HARM = '<img src=x onerror="window.harmed=1">'
SCRIPT = "<script>window.harmed=1</script>"
EVIL_LINK = "javascript:window.harmed=1"
_NOTES = {
    f"Bats {HARM}": "Bats find their way in the dark by echolocation, and so does this: **[here]("
    + EVIL_LINK
    + ")** "
    f"{SCRIPT}. A bat sends out short calls that are too high for human ears.",
    "Honey": "Bees make honey from nectar, which they thicken by fanning it with their wings.",
}
STORED: dict[str, Any] = {
    "question": f"Why is the sky {HARM}?",
    "outcome": "answered",
    "answer": "Air scatters blue light. It is 1999.",
    "sentences": [
        {"text": f"Air scatters blue light {HARM}.", "citations": [1, 2], "support": 1.0, "supported": True},
        {"text": "It was found in **1999** [x](https://evil.example).", "citations": [], "support": 0.4}
        | {"supported": False},
    ],
    "references": [
        {
            "number": 1,
            "url": EVIL_LINK,
            "title": HARM,
            "text": f"{SCRIPT} Air scatters blue light.",
            "score": 0.9,
            "date": HARM,
        },
        {
            "number": 2,
            "url": "https://sky.example/",
            "title": '"><b>Sky</b>',
            "text": "Blue light.",
            "score": 0.8,
            "date": "2024-05-06",
        },
        {"number": 3, "url": "data:text/html,<b>", "title": "", "text": "Tides.", "score": 0.1},
    ],
    "failures": [{"url": "https://slow.example/<b>", "reason": f"{HARM} late", "kind": "late"}],
    "candidates": [],
    "notices": [SCRIPT],
    "timings": {"search": 0.1, "total": 0.3},
    "models": {"generator": HARM},
}

OpenPage = Callable[..., Awaitable[Any]]


@pytest.fixture(scope="session")
def collection_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder whose collection `notes` holds markup and scripts as text."""
    data_dir = tmp_path_factory.mktemp("data")
    documents = [
        SourceDocument(f"https://notes.example/{number}", text.encode(), "text/plain", title)
        for number, (title, text) in enumerate(_NOTES.items())
    ]
    with indexing(EmbeddedCatalog(data_dir), "notes") as indexer:
        index_documents(indexer, "notes", documents)
    return data_dir


@pytest.fixture(scope="session")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    with serving(settings(server__cache_seconds=0)) as service:
        yield service


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Any]:
    """One Chromium for all tests of pages."""
    api = pytest.importorskip("playwright.async_api", reason="the package playwright is not installed")
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"))):
        pytest.skip("neither Chromium nor Chrome is installed")
    async with api.async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(), chromium_sandbox=not runs_as_root()
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Any, service: Service) -> AsyncIterator[OpenPage]:
    """Open an address of the service in a browser of its own; what its console complains of is an error.

    `expected` is a part of the complaints that are none, and `url` another service.
    """
    complaints: list[str] = []
    async with AsyncExitStack() as stack:

        async def open_(address: str, *, url: str = service.url, expected: str = "\0", **options: Any) -> Any:
            context = await browser.new_context(base_url=url, **options)
            stack.push_async_callback(context.close)
            page = await context.new_page()
            page.set_default_timeout(60_000)

            def heard(message: Any) -> None:
                # A service of the test's own ends before its pages, which may still ask for news.
                ended = url in ENDED and "Failed to load resource" in message.text
                if message.type in ("error", "warning") and expected not in message.text and not ended:
                    complaints.append(message.text)

            page.on("console", heard)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.goto(address)
            return page

        yield open_
    assert complaints == []


def in_store(service: Service, use: Callable[[ServiceStore], Awaitable[Any]]) -> Any:
    """Use the database of a running service, in a thread since the tests have a loop of their own."""
    result: list[Any] = []

    async def run() -> None:
        async with open_store(service.settings.server.database_url.get_secret_value()) as store:
            result.append(await use(store))

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    thread.join()
    return result[0]


@pytest.fixture(scope="session")
def stored(service: Service) -> str:
    """The id of an answer in which everything is hostile."""
    now = datetime.now(UTC)
    answer = StoredAnswer(new_id(), None, STORED["question"], "answer", "done", now, 0.3, STORED, None, {})
    in_store(service, lambda store: store.answers.add(answer))
    return answer.id
