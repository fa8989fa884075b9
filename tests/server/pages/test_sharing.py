"""The owner chooses on the page of a collection who may read it, and others find it gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from citewell.core.settings import Settings
from citewell.server.access.owner import owner_token
from tests.server.api.conftest import Service, serving
from tests.server.api.test_sharing import keys_of
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, WIDE, faults
from tests.server.places import four_places

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def places(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with four_places(tmp_path_factory.mktemp("places")) as changes, serving(settings(**changes)) as service:
        yield service


async def open_as(open_page: OpenPage, service: Service, key: str, address: str) -> Any:
    """Open an address in a browser whose tab has a key."""
    page = await open_page("/", url=service.url, expected="the server responded with a status of 40")
    await page.evaluate(f"sessionStorage.setItem('citewell-key', '{key}')")
    await page.goto(address)
    return page


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_a_collection_is_shared_with_one_key(
    open_page: OpenPage, places: Service, scheme: str, viewport: dict[str, int]
) -> None:
    made = await asyncio.to_thread(keys_of, places, ada=("ask",), bob=("ask",))
    ada, bob = (each["Authorization"].removeprefix("Bearer ") for each in made)
    token = owner_token(places.settings.data_dir)
    options = {"color_scheme": scheme, "viewport": viewport}
    page = await open_page(
        f"/collections/zoo#token={token}", url=places.url, expected="401 (Unauthorized)", **options
    )
    choice = page.get_by_role("checkbox", name="ada")
    await choice.check()
    await page.get_by_role("button", name="Save").click()
    await page.get_by_text("Saved. Only those who are chosen may read it.").wait_for()
    assert await faults(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    await page.goto("/collections")
    await page.locator(".card", has_text="zoo").get_by_text("not for everyone").wait_for()
    assert await faults(page) == []

    own = await open_as(open_page, places, ada, "/collections/zoo")
    await own.get_by_role("link", name="Bats of the zoo").wait_for()
    assert await own.get_by_role("button", name="Save").count() == 0
    other = await open_as(open_page, places, bob, "/collections/zoo")
    await other.get_by_text("The collection 'zoo' does not exist.").wait_for()
    await other.goto("/")
    await other.locator("#where summary").click()
    await other.get_by_role("checkbox", name="The collection field", exact=True).wait_for()
    assert await other.get_by_role("checkbox", name="The collection zoo").count() == 0

    await page.goto("/collections/zoo")
    assert await choice.is_checked()
    await page.evaluate("localStorage.setItem('citewell-language', 'de')")
    await page.reload()
    await choice.uncheck()
    await page.get_by_role("button", name="Speichern").click()
    await page.get_by_text("Gespeichert. Alle, die fragen dürfen, dürfen sie lesen.").wait_for()
    await other.goto("/collections/zoo")
    await other.get_by_role("link", name="Bats of the zoo").wait_for()
