"""What pages, models and people write stays text, and nothing runs that is not ours."""

from __future__ import annotations

import pytest

from benchmarks.small_service import BATS
from citewell.server.pages.replies import POLICY
from tests.server.api.conftest import Service
from tests.server.pages.conftest import HARM, SCRIPT, OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")

ADDRESSES = ("/", f"/?question={SCRIPT}", f'/history?query="><b>{SCRIPT}', "/collections", "/answers/none")


async def test_a_stored_answer_is_text(open_page: OpenPage, stored: str) -> None:
    page = await open_page(f"/answers/{stored}")
    await page.locator(".citation").first.hover()
    await page.locator(".panel.open").wait_for()
    text = await page.locator("#main").inner_text()
    assert f"Why is the sky {HARM}?" in text
    assert f"Air scatters blue light {HARM}." in text
    assert "It was found in **1999** [x](https://evil.example)." in text
    assert SCRIPT in text
    assert await page.locator("main img, main script, main b").count() == 0
    links = await page.locator("main a").evaluate_all("links => links.map(a => [a.protocol, a.rel, a.hash])")
    assert {protocol for protocol, _, _ in links} == {"http:", "https:"}
    outside = [rel for protocol, rel, _ in links if protocol == "https:"]
    assert set(outside) == {"noopener noreferrer nofollow"}
    markdown = await page.locator("[data-copied=markdown]").text_content()
    assert "\\*\\*1999\\*\\* \\[x\\](https://evil.example). *(not supported)*" in markdown
    assert "javascript:" not in markdown
    assert await page.evaluate("window.harmed") is None


async def test_an_answer_that_streams_is_text(open_page: OpenPage) -> None:
    page = await open_page("/")
    # Everything that was ever shown, since what streams is replaced by the answer.
    await page.evaluate(
        """() => {
            window.seen = [];
            new MutationObserver((changes) => {
                for (const change of changes) {
                    for (const node of change.addedNodes) {
                        window.seen.push(...(node.querySelectorAll?.("img, script, b") ?? []));
                    }
                }
            }).observe(document.body, {childList: true, subtree: true});
        }"""
    )
    await page.get_by_label("Your question").fill(f"{BATS} {HARM}")
    await page.keyboard.press("Enter")
    await page.locator(".answer[data-answer] .actions").wait_for()
    assert HARM in await page.locator(".source h3").first.inner_text()
    assert await page.evaluate("[window.seen.length, window.harmed ?? null]") == [0, None]


async def test_the_policy_lets_nothing_in(open_page: OpenPage, service: Service) -> None:
    for address in ADDRESSES:
        headers = service.client.get(address).headers
        assert headers["Content-Security-Policy"] == POLICY
        assert headers["Content-Type"] == "text/html; charset=utf-8"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert SCRIPT not in service.client.get(address).text
    page = await open_page("/", expected="Content Security Policy")
    broken = await page.evaluate(
        """async () => {
            const broken = [];
            const note = (event) => broken.push(event.effectiveDirective);
            document.addEventListener("securitypolicyviolation", note);
            const script = document.createElement("script");
            script.textContent = "window.harmed = 1";
            const image = document.createElement("img");
            image.src = "http://127.0.0.2:9/x.png";
            document.body.append(script, image);
            document.body.setAttribute("style", "color: red");
            await fetch("http://127.0.0.2:9/").catch(() => {});
            await new Promise((resume) => setTimeout(resume));
            return broken;
        }"""
    )
    assert set(broken) == {"script-src-elem", "img-src", "style-src-attr", "connect-src"}
    assert await page.evaluate("window.harmed") is None


async def test_pages_load_nothing_from_elsewhere(open_page: OpenPage, service: Service, stored: str) -> None:
    page = await open_page("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for address in (f"/answers/{stored}", "/collections"):
        await page.goto(address, wait_until="networkidle")
    assert asked
    assert {url for url in asked if not url.startswith(service.url + "/")} == set()
