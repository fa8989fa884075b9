"""The picker of what is searched: several places at once, on a phone and in the dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from citewell.core.settings import Settings
from tests.server.api.conftest import Service, serving
from tests.server.api.test_places import several_providers
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, faults
from tests.server.pages.test_ask import ask
from tests.server.places import QUESTION, four_places

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(scope="module")
def places(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with four_places(tmp_path_factory.mktemp("places")) as changes, serving(settings(**changes)) as service:
        yield service


async def test_several_places_are_searched_together(open_page: OpenPage, places: Service) -> None:
    page = await open_page("/", url=places.url, color_scheme="dark", viewport=NARROW)
    picker, chosen = page.locator("#where summary"), page.locator("#where .chosen")
    usual = page.get_by_role("checkbox", name="the collection field, SearXNG")
    zoo = page.get_by_role("checkbox", name="The collection zoo")
    wikipedia = page.get_by_role("checkbox", name="Wikipedia")
    await picker.click()
    await zoo.wait_for()
    assert await usual.is_checked()
    await zoo.check()
    await wikipedia.check()
    assert not await usual.is_checked()
    assert await chosen.inner_text() == "The collection zoo, Wikipedia"
    assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    assert await faults(page) == []
    await page.keyboard.press("Escape")
    assert not await zoo.is_visible()
    assert await picker.evaluate("e => e === document.activeElement")
    await ask(page, QUESTION)
    assert await page.locator("#searched").inner_text() == "Searched: the collection zoo, Wikipedia"
    titles = await page.locator(".source h3").all_inner_texts()
    assert sorted(titles) == ["Bats", "Bats of the zoo"]
    (read,) = await page.locator(".source time").all_inner_texts()  # of the page of the web
    assert await page.get_by_text(f"as of {read}").count() == 1
    assert read.endswith(str(datetime.now(UTC).year))

    await page.reload()
    await page.locator("#where .chosen", has_text="The collection zoo, Wikipedia").wait_for()
    await picker.click()
    await usual.check()
    assert not await zoo.is_checked()
    assert await chosen.inner_text() == "the collection field, SearXNG"
    await usual.click()
    assert await usual.is_checked()


async def test_an_address_names_several_places(open_page: OpenPage, places: Service) -> None:
    address = "/?collection=field&collection=zoo&search=web"
    page = await open_page(address, url=places.url)
    await page.locator(
        "#where .chosen", has_text="The collection field, The collection zoo, The web"
    ).wait_for()
    await page.locator("h1").click()
    assert not await page.get_by_role("checkbox", name="Wikipedia").is_visible()


async def test_a_collection_that_does_not_exist_is_refused_by_name(
    open_page: OpenPage, places: Service
) -> None:
    page = await open_page("/?collection=nope", url=places.url, expected="404 (Not Found)")
    await page.locator("#where .chosen", has_text="The collection nope").wait_for()
    await page.get_by_label("Your question").fill(QUESTION)
    await page.keyboard.press("Enter")
    await page.locator("#problem", has_text="The collection 'nope' does not exist.").wait_for()


async def test_the_reason_why_a_question_is_malformed_is_shown(open_page: OpenPage, places: Service) -> None:
    page = await open_page("/", url=places.url, expected="400 (Bad Request)")
    await page.get_by_label("Your question").fill("How " * 6000)
    await page.keyboard.press("Enter")
    await page.locator("#problem", has_text="20000").wait_for()


async def test_questions_begin_as_the_reader_has_set(open_page: OpenPage, places: Service) -> None:
    page = await open_page("/settings", url=places.url)
    await page.locator("#where summary").click()
    await page.get_by_role("checkbox", name="The collection zoo").check()
    await page.keyboard.press("Escape")
    await page.get_by_label("Answer", exact=True).select_option("Browse step by step")
    assert await faults(page) == []
    await page.reload()
    await page.locator("#where .chosen", has_text="The collection zoo").wait_for()
    assert await page.get_by_label("Answer", exact=True).input_value() == "browse"
    await page.goto("/")
    await page.locator("#where .chosen", has_text="The collection zoo").wait_for()
    assert await page.get_by_label("Answer", exact=True).input_value() == "browse"
    await page.get_by_label("Answer", exact=True).select_option("Quote")
    answer_id = await ask(page, QUESTION)
    assert await page.locator("#searched").inner_text() == "Searched: the collection zoo"
    await page.goto("/?collection=field")  # the address says otherwise
    await page.locator("#where .chosen", has_text="The collection field").wait_for()
    await page.goto(f"/answers/{answer_id}")  # as this one was asked
    await page.locator("#where .chosen", has_text="The collection zoo").wait_for()
    assert await page.get_by_label("Answer", exact=True).input_value() == ""


async def test_one_of_several_web_providers_is_chosen(
    open_page: OpenPage, places: Service, settings: Callable[..., Settings]
) -> None:
    with several_providers(places, settings) as service:
        page = await open_page("/?search=bing", url=service.url)
        await page.locator("#where summary").click()
        await page.get_by_role("checkbox", name="Bing", exact=True).wait_for()
        assert await page.locator("#where .chosen").inner_text() == "Bing"
        names = await page.locator("#where li").all_inner_texts()
        assert names[-4:] == ["Wikipedia", "The web", "SearXNG", "Bing"]
        await page.get_by_role("checkbox", name="Wikipedia").check()
        assert await faults(page) == []
        await page.keyboard.press("Escape")
        await ask(page, QUESTION)
        assert await page.locator("#searched").inner_text() == "Searched: Bing, Wikipedia"
        await page.reload()
        await page.locator("#where .chosen", has_text="Wikipedia, Bing").wait_for()


async def test_the_picker_speaks_german(open_page: OpenPage, places: Service) -> None:
    page: Any = await open_page("/?collection=zoo", url=places.url)
    await page.evaluate("localStorage.setItem('citewell-language', 'de')")
    await page.reload()
    await page.locator("#where .chosen", has_text="Die Sammlung zoo").wait_for()
