"""What a model writes as Markdown, from its service to the page, the exports and OpenAI's endpoint."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest
from aiohttp import web

from tests.generator.chat_service import ChatService, chunk, streamed
from tests.server.api.conftest import serving
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, faults
from tests.server.pages.test_ask import ask

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRITTEN = """\
Bats find their way by **echolocation** [1].

- A bat sends out short calls [1].
- Penguins sell [lanterns](https://evil.example).

| Animal | Way |
|---|---|
| bats | echolocation [1] |

```python
bats = "echolocation"
```
"""


async def test_lists_tables_and_code_are_shown_with_their_citations(
    open_page: OpenPage, settings: Any
) -> None:
    async def writes(request: web.Request) -> web.StreamResponse:
        pieces = [chunk(WRITTEN[place : place + 7]) for place in range(0, len(WRITTEN), 7)]
        return await streamed(request, *pieces, chunk("", finish="stop"))

    async with ChatService([writes]) as model:
        wanted = settings(
            generator__name="openai:tiny",
            generator__base_url=model.url,
            generator__key="none",
            citations__judge="words",
            server__cache_seconds=0,
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url, viewport=NARROW, color_scheme="dark")
            answer_id = await ask(page)
            prose = page.locator(".answer .prose")
            assert await prose.locator("strong").inner_text() == "echolocation"
            items = prose.locator("li")
            assert await items.locator(".citation").count() == 1
            assert "not supported" in await items.nth(1).inner_text()
            assert await prose.locator("td").all_inner_texts() == ["bats", "echolocation[1]"]
            assert await prose.locator("pre").inner_text() == 'bats = "echolocation"\n'
            assert await prose.locator("a[href*=evil]").count() == 0
            await prose.locator("td .citation").hover()
            await page.locator(".panel.open mark").first.wait_for()
            assert await faults(page) == []
            assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
            exported = service.client.get(f"/v1/answers/{answer_id}/export").text
            assert "\n\n- A bat sends out short calls.[^1]\n- Penguins" in exported
            assert "| bats | echolocation[^1]\n\n```python\n" in exported
            assert "[lanterns]\\(https" in exported
            asked = {
                "model": "citewell",
                "messages": [{"role": "user", "content": "How do bats find their way in the dark?"}],
            }
            send = partial(asyncio.to_thread, service.client.post, "/v1/chat/completions")
            text = (await send(json=asked)).json()["choices"][0]["message"]["content"]
            assert "\n\n- A bat sends out short calls. [1]\n- Penguins" in text
            assert "|---|---|\n| bats | echolocation [1]\n\n```python\n" in text
            in_chunks = (await send(json=asked | {"stream": True})).text
            assert "echolocation" in in_chunks
            assert "another check" not in in_chunks
            page_of_answer = service.client.get(f"/v1/answers/{answer_id}/export?format=html").text
            assert "<li>A bat sends out short calls." in page_of_answer


FORMULAS = r"""\
Bats find their way by echolocation [1], at a speed of $v = \frac{s}{t}$ for $5 or $10.

$$
\begin{aligned} a &= b. \\ c &= \text{<img/src=x>} \end{aligned}
$$

A bat sends out \(\unknown{short}\) calls [1]."""


async def test_formulas_are_typeset(open_page: OpenPage, settings: Any) -> None:
    async def writes(request: web.Request) -> web.StreamResponse:
        return await streamed(request, chunk(FORMULAS), chunk("", finish="stop"))

    async with ChatService([writes]) as model:
        wanted = settings(
            generator__name="openai:tiny",
            generator__base_url=model.url,
            generator__key="none",
            citations__judge="words",
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url, viewport=NARROW, color_scheme="dark")
            answer_id = await ask(page)
            prose = page.locator(".answer .prose")
            assert await prose.locator(".sentence").count() == 2
            inline, display = await prose.locator("math").all()
            fraction = await inline.locator("mfrac").bounding_box()
            line = await prose.locator(".words").first.evaluate("words => words.getClientRects()[0].height")
            assert fraction["height"] > line / 2  # set one above the other
            first, second = [await row.bounding_box() for row in await display.locator("mtr").all()]
            assert second["y"] >= first["y"] + first["height"]
            assert "<img/src=x>" in await display.text_content()
            text = await prose.inner_text()
            assert "for $5 or $10." in text
            assert r"A bat sends out \(\unknown{short}\) calls" in text
            assert await faults(page) == []
            assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
            export = partial(service.client.get, f"/v1/answers/{answer_id}/export")
            assert "<mfrac><mi>s</mi><mi>t</mi></mfrac>" in export(params={"format": "html"}).text
            assert r"$v = \frac{s}{t}$ for $5" in export().text
