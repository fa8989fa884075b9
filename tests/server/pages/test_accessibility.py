"""axe-core finds nothing serious on any page, in light and in dark, wide and narrow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")

NARROW = {"width": 360, "height": 740}
WIDE = {"width": 1200, "height": 800}
PAGES = (
    *("/history", "/collections", "/settings", "/compare", "/rate", "/demonstrate", "/studies", "/trace"),
    *("/docs", "/docs/fetching", "/docs/results", "/nothing"),
)


async def faults(page: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="no axe-playwright-python")
    found = (await axe.Axe().run(page)).response["violations"]
    return [
        f"{page.url}: {fault['id']}: {node['html']}"
        for fault in found
        if fault["impact"] in ("serious", "critical", "moderate")
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_no_page_has_a_fault(
    open_page: OpenPage, stored: str, scheme: str, viewport: dict[str, int]
) -> None:
    page = await open_page("/", color_scheme=scheme, viewport=viewport, expected="404")
    found = await faults(page)
    for address in PAGES:
        await page.goto(address)
        found += await faults(page)
        assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"], address
    await page.goto("/")
    await page.evaluate("document.getElementById('key-dialog').showModal()")
    found += await faults(page)
    await page.goto("/api")
    await page.locator(".opblock").first.wait_for()
    found += await faults(page)
    await page.goto(f"/answers/{stored}")
    for details in await page.locator("summary").all():
        await details.click()
    for link in (".citation", ".flag"):
        await page.locator(link).first.focus()
        await page.locator(".panel.open").wait_for()
        found += await faults(page)
    assert found == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
