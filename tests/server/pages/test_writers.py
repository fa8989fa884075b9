"""The writer of a single question: chosen on the page or in a request, from those that the settings allow."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest
from aiohttp import web

from benchmarks.small_service import BATS
from tests.generator.chat_service import ChatService, chunk, streamed
from tests.server.api.conftest import serving
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, faults
from tests.server.pages.test_ask import ask

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRITTEN = "Bats find their way by echolocation, says the model [1]."


async def writes(request: web.Request) -> web.StreamResponse:
    return await streamed(request, chunk(WRITTEN), chunk("", finish="stop"))


async def test_a_question_chooses_its_writer(open_page: OpenPage, settings: Any) -> None:
    async with ChatService([writes]) as model:
        wanted = settings(
            generator__name="extractive",
            generator__base_url=model.url,
            generator__key="none",
            citations__judge="words",
            server__generators="openai:large",
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url, color_scheme="dark", viewport=NARROW)
            await page.get_by_label("Answer").select_option("Write with openai:large")
            assert await faults(page) == []
            assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
            written = await ask(page)
            assert "says the model" in await page.locator(".prose").inner_text()
            assert await page.get_by_label("Answer", exact=True).input_value() == "writer:openai:large"
            stored = (await asyncio.to_thread(service.client.get, f"/v1/answers/{written}")).json()
            assert stored["models"]["generator"] == "openai:large"
            assert stored["options"] == {"generator": "openai:large"}
            await page.goto("/")
            await page.get_by_label("Answer", exact=True).select_option("Quote")
            await ask(page)
            assert "says the model" not in await page.locator(".prose").inner_text()
            assert (
                len([each for each in model.requests if each.get("stream")]) == 1
            )  # others ask for questions

            refused = await asyncio.to_thread(service.ask, BATS, generator="/etc/passwd")
            assert refused.status_code == 400
            assert "server.generators" in refused.json()["detail"]

            def by_openai() -> list[str]:
                with openai.OpenAI(base_url=f"{service.url}/v1", api_key="none") as client:
                    known = [each.id for each in client.models.list()]
                    messages: Any = [{"role": "user", "content": BATS}]
                    reply = client.chat.completions.create(model="citewell-openai-large", messages=messages)
                    assert reply.model == "citewell-openai-large"
                    return [*known, str(reply.choices[0].message.content)]

            *known, text = await asyncio.to_thread(by_openai)
            assert known[:3] == ["citewell", "citewell-extractive", "citewell-openai-large"]
            assert text.startswith("Bats find their way by echolocation, says the model.")


async def test_files_are_chosen_by_short_names_that_tell_them_apart(
    open_page: OpenPage, settings: Any, tmp_path: Path
) -> None:
    files = [str(tmp_path / folder / "small.gguf") for folder in ("old", "new")]
    wanted = settings(generator__name="extractive", server__generators=(*files, "openai:large"))
    with serving(wanted) as service:
        page = await open_page("/", url=service.url)
        choices = await page.get_by_label("Answer").locator("option").all_inner_texts()
        assert choices[1:4] == [f"Write with {name}" for name in ("old/small", "new/small", "openai:large")]
        known = [each["id"] for each in service.client.get("/v1/models").json()["data"]]
        assert known[2:5] == ["citewell-old-small", "citewell-new-small", "citewell-openai-large"]
        chosen = await asyncio.to_thread(service.ask, BATS, generator="new/small")
        refused = await asyncio.to_thread(service.ask, BATS, generator=files[0])
        model = {"model": "citewell-new-small", "messages": [{"role": "user", "content": BATS}]}
        by_openai = await asyncio.to_thread(service.client.post, "/v1/chat/completions", json=model)
        assert "new/small" in chosen.text  # which does not exist
        assert "new/small" in by_openai.text
        assert "old/small, new/small" in refused.text
        for shown in (await page.content(), chosen.text, by_openai.text, *known):
            assert str(tmp_path) not in shown
