"""The API can be read and tried in the browser, from files of the service alone."""

from __future__ import annotations

import pytest

from tests.server.api.conftest import Service
from tests.server.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_operation_is_tried_from_the_page(service: Service, open_page: OpenPage) -> None:
    page = await open_page("/api")
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url))
    operation = page.locator("#operations-answers-rank_texts")
    await operation.locator(".opblock-summary-control").click()
    await operation.locator(".execute").click()
    reply = await operation.locator(".live-responses-table .highlight-code").first.inner_text()
    assert "relevance_score" in reply
    assert elsewhere
    assert all(url.startswith((service.url, "data:")) for url in elsewhere)


async def test_the_page_is_dark_where_the_reader_wants_that(open_page: OpenPage) -> None:
    page = await open_page("/api", color_scheme="dark")
    await page.locator(".opblock").first.wait_for()
    assert await page.evaluate("document.documentElement.classList.contains('dark-mode')")
