"""The page before a question: examples, the last questions, and how a browser searches here."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, faults
from tests.server.pages.test_ask import ask

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_last_questions_lead_to_their_answers(open_page: OpenPage, settings: Any) -> None:
    with serving(settings()) as service:
        page = await open_page("/", url=service.url, color_scheme="dark", viewport=NARROW)
        assert not await page.locator("#last").is_visible()
        assert await page.locator(".start").count() == 1  # a collection of the owner's has no examples
        for _ in range(2):  # the same question, which is listed once
            await ask(page)
            await page.goto("/")
        last = page.get_by_role("region", name="Your last questions")
        await last.wait_for()
        assert await faults(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        await last.get_by_role("link", name=BATS).click()
        await page.wait_for_url("**/threads/*")
        assert await page.locator("#asked").inner_text() == BATS


async def test_an_example_is_asked(open_page: OpenPage, settings: Any) -> None:
    with serving(settings(search__collection="handbook")) as service:
        page = await open_page("/", url=service.url)
        question = "How does Citewell check a citation?"
        await page.get_by_role("link", name=question).click()
        await page.locator("#asked", has_text=question).wait_for()
        await page.locator(".answer[data-answer] .actions").wait_for()
        assert await page.locator(".start").count() == 0


async def test_a_browser_finds_how_to_search_here(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/")
    address = await page.locator('link[rel="search"]').get_attribute("href")
    found = service.client.get(str(address))
    assert found.headers["content-type"].startswith("application/opensearchdescription+xml")
    described = ElementTree.fromstring(found.content)
    (url,) = described.findall("{http://a9.com/-/spec/opensearch/1.1/}Url")
    template = url.get("template", "")
    assert template == f"{service.url}/?q={{searchTerms}}"
    await page.goto(template.replace("{searchTerms}", "How%20do%20bats%20find%20their%20way%3F"))
    await page.locator(".answer[data-answer] .actions").wait_for()


async def test_people_are_told_if_their_questions_may_train_models(settings: Any) -> None:
    for training in (False, True):
        with serving(settings(server__training=training)) as service:
            assert ("may be used to train models" in service.client.get("/").text) == training
