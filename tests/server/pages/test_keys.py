"""Pages of a service with keys: a key is asked for once, and stays out of addresses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from citewell.server.access.keys import NewKey, new_key
from citewell.server.access.owner import owner_token
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import OpenPage, in_store
from tests.server.pages.test_accessibility import faults

pytestmark = pytest.mark.asyncio(loop_scope="session")


def add_key(service: Service, *scopes: str) -> NewKey:
    made = new_key("test", scopes)
    in_store(service, lambda store: store.keys.add(made.key))
    return made


async def test_a_key_is_asked_for_once(
    open_page: OpenPage, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    (tmp_path / "whales.md").write_text("# Whales\n\nWhales sleep with one half of their brain at a time.\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    with serving(settings(server__sources=tmp_path)) as service:
        asking, filling = add_key(service, "ask", "feedback"), add_key(service, "ask", "admin")
        page = await open_page("/history", url=service.url, expected="401 (Unauthorized)")
        dialog = page.get_by_role("dialog", name="API key required")
        await dialog.get_by_label("Key").fill("cw_wrong")
        await dialog.get_by_role("button", name="Use this key").click()
        await dialog.get_by_text("rejected the key").wait_for()
        await dialog.get_by_label("Key").fill(asking.secret)
        await page.keyboard.press("Enter")
        await page.get_by_text("No questions yet.").wait_for()

        await page.get_by_role("link", name="Ask", exact=True).click()
        await page.wait_for_url(f"{service.url}/")
        await page.get_by_label("Your question").fill(BATS)
        await page.keyboard.press("Enter")
        await page.locator(".answer[data-answer] .actions").wait_for()
        await page.reload()
        await page.locator(".answer[data-answer] .actions").wait_for()
        assert asking.secret not in page.url
        assert await page.evaluate("[localStorage.length, document.cookie]") == [0, ""]

        await page.get_by_role("link", name="Collections", exact=True).click()
        await page.get_by_role("button", name="Use another key").click()
        await dialog.get_by_label("Key").fill(filling.secret)
        await page.keyboard.press("Enter")
        await page.locator("#name").fill("new")
        await page.get_by_label("Source", exact=True).fill(".")
        await page.get_by_role("button", name="Index", exact=True).click()
        await page.locator("#name").fill("typed meanwhile")
        await page.locator('[data-job][data-status="done"]').wait_for()
        assert await page.locator("#name").input_value() == "typed meanwhile"
        job = page.locator("[data-job]")
        assert "1 added" in await job.inner_text()
        await job.get_by_text("Documents that are gone or failed").click()
        assert "broken.pdf" in await job.inner_text()
        assert "1 document" in await page.locator("#collections").inner_text()

        await page.get_by_role("button", name="Remove the key").click()
        await page.wait_for_url(f"{service.url}/")
        assert await page.evaluate("sessionStorage.length") == 0


async def test_the_places_appear_when_a_key_is_entered(
    open_page: OpenPage, settings: Callable[..., Settings]
) -> None:
    with serving(settings()) as service:
        asking = add_key(service, "ask")
        page = await open_page("/", url=service.url, expected="401 (Unauthorized)")
        await page.get_by_label("Your question").fill(BATS)
        await page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="API key required")
        await dialog.get_by_label("Key").fill(asking.secret)
        await page.keyboard.press("Enter")
        await page.locator(".answer[data-answer] .actions").wait_for()
        await page.locator("#where summary").click()
        await page.get_by_role("checkbox", name="Wikipedia").wait_for()


async def test_a_page_without_a_key_says_what_a_person_does(
    open_page: OpenPage, settings: Callable[..., Settings]
) -> None:
    with serving(settings()) as service:
        asking = add_key(service, "ask")
        page = await open_page("/history", url=service.url, expected="401 (Unauthorized)")
        dialog = page.get_by_role("dialog", name="API key required")
        await dialog.get_by_role("button", name="Cancel").click()
        said = await page.locator("main").inner_text()
        assert said.startswith("This page needs a key")
        assert "Enter a key" in said
        assert "citewell keys create" in said
        assert not {"`", "Authorization"} & {*said, *said.split()}
        assert await faults(page) == []
        await page.get_by_role("button", name="Use a key").click()
        await dialog.get_by_label("Key").fill(asking.secret)
        await page.keyboard.press("Enter")
        await page.get_by_text("No questions yet.").wait_for()
        refused = service.client.get("/v1/answers").json()
        assert "Authorization: Bearer" in refused["detail"]


async def test_the_owner_of_the_computer_needs_no_key(
    open_page: OpenPage, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    with serving(settings(server__sources=tmp_path)) as service:
        token = owner_token(service.settings.data_dir)
        page = await open_page(f"/#token={token}", url=service.url, expected="401 (Unauthorized)")
        await page.get_by_label("Your question").wait_for()
        assert page.url == f"{service.url}/"
        add_key(service, "admin")  # which closes the service for all without a key
        await page.get_by_label("Your question").fill(BATS)
        await page.keyboard.press("Enter")
        await page.locator(".answer[data-answer] .actions").wait_for()

        other = await page.context.new_page()  # another tab
        await other.goto(f"{service.url}/history")
        await other.get_by_role("link", name=BATS).wait_for()
        await other.goto(f"{service.url}/collections")
        await other.get_by_role("button", name="Index", exact=True).wait_for()
        assert token not in other.url

        await other.evaluate("localStorage.setItem('citewell-owner', 'cw_owner_of-another-folder')")
        await other.goto(f"{service.url}/history")
        await other.get_by_role("dialog", name="API key required").wait_for()
        assert await other.evaluate("localStorage.length") == 0


async def test_the_address_with_the_token_works_in_a_tab_that_shows_the_page(
    open_page: OpenPage, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    with serving(settings(server__sources=tmp_path)) as service:
        page = await open_page("/collections", url=service.url)
        await page.get_by_text("open the address that citewell serve printed").wait_for()
        await page.evaluate(
            "token => location.assign(`#token=${token}`)", owner_token(service.settings.data_dir)
        )
        await page.get_by_role("button", name="Index", exact=True).wait_for()
        assert page.url == f"{service.url}/collections"


async def test_who_is_signed_in_by_a_proxy_needs_no_key(
    open_page: OpenPage, settings: Callable[..., Settings]
) -> None:
    wanted = settings(
        server__trusted_proxies="127.0.0.1",
        server__account_header="X-Forwarded-Email",
        server__accounts={"ada@example.org": ["ask", "feedback"]},
    )
    with serving(wanted) as service:
        page = await open_page("/docs", url=service.url)
        await page.set_extra_http_headers({"X-Forwarded-Email": "ada@example.org"})
        await page.goto(f"{service.url}/")
        await page.get_by_label("Your question").fill(BATS)
        await page.keyboard.press("Enter")
        await page.locator(".answer[data-answer] .actions").wait_for()
        assert not await page.get_by_role("dialog", name="API key required").is_visible()
        await page.get_by_role("link", name="Settings", exact=True).click()
        await page.locator("#account").wait_for()
        assert await page.locator("#account").inner_text() == "Signed in as ada@example.org"
        await page.close()
