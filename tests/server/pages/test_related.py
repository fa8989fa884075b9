"""Related questions that the language model writes once an answer stands."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web

from benchmarks.small_service import BATS
from tests.generator.chat_service import ChatService, chunk, streamed
from tests.server.api.conftest import serving
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_ask import ask

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRITTEN = "Bats find their way by echolocation[1]."
NEXT = (
    "1. How high are the calls of a bat? [1]\n"
    "- How do bats find their way?\n"  # was asked
    "Bats are good.\n"  # asks nothing
    "Are the calls of a bat high?\n"  # was written
    "Which <b>animals</b> live in caves?\n"
    "Why is"  # was cut
)


class Writer:
    """A model that writes an answer, and then questions; counts and keeps what it is asked for these."""

    def __init__(self, text: str = NEXT, finish: str = "length") -> None:
        self.text = text
        self.finish = finish
        self.asked: list[str] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body.get("stream"):
            return await streamed(request, chunk(WRITTEN), chunk("", finish="stop"))
        self.asked.append(body["messages"][-1]["content"])
        message = {"role": "assistant", "content": self.text}
        return web.json_response(
            {"choices": [{"index": 0, "message": message, "finish_reason": self.finish}]}
        )


def written_with(settings: Any, model: ChatService, **others: str) -> Any:
    changes = {"generator__name": "openai:tiny", "generator__base_url": model.url, "generator__key": "none"}
    return settings(**changes | {"citations__judge": "words"} | others)


async def test_related_questions_come_from_the_writer(open_page: OpenPage, settings: Any) -> None:
    writer = Writer()
    async with ChatService([writer]) as model:
        with serving(written_with(settings, model)) as service:
            page = await open_page("/?collection=notes", url=service.url)
            answer_id = await ask(page)
            related = page.get_by_role("region", name="Related questions").get_by_role("link")
            await related.nth(1).wait_for()
            shown = ["How high are the calls of a bat?", "Which <b>animals</b> live in caves?"]
            assert await related.all_inner_texts() == shown
            assert f"Question: {BATS}\nAnswer: Bats find their way by echolocation." in writer.asked[0]
            assert "A bat sends out short calls" in writer.asked[0]
            found = service.client.get(f"/v1/answers/{answer_id}/related")
            assert found.json() == {"questions": shown}
            assert len(writer.asked) == 1  # they are kept
            assert service.client.get("/v1/answers/none/related").status_code == 404
            await related.first.click()
            await page.locator("#asked", has_text=shown[0]).wait_for()
            assert await page.locator("#searched").inner_text() == "Searched: the collection notes"


async def test_a_writer_that_was_chosen_for_the_question_writes_them(
    open_page: OpenPage, settings: Any
) -> None:
    writer = Writer()
    async with ChatService([writer]) as model:
        wanted = written_with(
            settings, model, generator__name="extractive", server__generators="openai:large"
        )
        with serving(wanted) as service:
            page = await open_page("/?collection=notes&mode=writer:openai:large", url=service.url)
            answer_id = await ask(page)
            related = page.get_by_role("region", name="Related questions").get_by_role("link")
            await related.filter(has_text="How high are the calls of a bat?").wait_for()
            assert len(writer.asked) == 1
            found = service.client.get(f"/v1/answers/{answer_id}/related").json()
            assert found["questions"] == await related.all_inner_texts()


async def test_a_rule_makes_related_questions_where_the_writer_makes_none(
    open_page: OpenPage, settings: Any
) -> None:
    async with ChatService([Writer("I cannot think of any.", "stop")]) as model:
        with serving(written_with(settings, model)) as service:
            page = await open_page("/", url=service.url)
            answer_id = await ask(page)
            found = service.client.get(f"/v1/answers/{answer_id}/related").json()["questions"]
            assert "I cannot think of any." not in found
            region = page.get_by_role("region", name="Related questions")
            if found:
                await region.get_by_role("link", name=found[0]).wait_for()
            else:
                assert await region.count() == 0
