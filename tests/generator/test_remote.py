"""The generator that asks a service: candidates, streaming, closing, failures."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest
from aiohttp import web

from citewell.core.errors import ServiceKeyRefusedError
from citewell.core.types import Reference
from citewell.generator.causal import Sampling
from citewell.generator.chat_client import ChatClient
from citewell.generator.estimate import cut_to, estimate_tokens
from citewell.generator.remote import OpenAiGenerator

from .chat_service import ChatService, chunk, streamed

REFERENCES = [
    Reference(1, "https://example.org/", "Sky", "Air scatters blue light.", 0.8),
    Reference(2, "https://example.org/cat", "Cat", "Cats purr.", 0.6),
]


def generator(client: ChatClient, **options: Any) -> OpenAiGenerator:
    settings: dict[str, Any] = {"prompt_tokens": 1000, "answer_tokens": 90, "sampling": Sampling(0.7, 10)}
    return OpenAiGenerator(client, **settings | options)


def client(service: ChatService) -> ChatClient:
    return ChatClient("tiny", service.url, retries=0)


async def texts(generator: OpenAiGenerator, n: int) -> dict[int, str]:
    found: dict[int, str] = {}
    async for token in generator.generate("Why is the sky blue?", REFERENCES, n):
        found[token.candidate] = found.get(token.candidate, "") + token.text
    return found


async def says_its_seed(request: web.Request) -> web.StreamResponse:
    seed = (await request.json())["seed"]
    return await streamed(request, chunk("Seed "), chunk(f"{seed}."), chunk("", finish="stop"))


async def test_one_candidate_is_asked_for_greedily() -> None:
    async with ChatService([says_its_seed]) as service, client(service) as chat:
        assert await texts(generator(chat), 1) == {0: "Seed 10."}
    (sent,) = service.requests
    assert (sent["temperature"], sent["max_tokens"]) == (0, 90)
    assert "Reference [2]: Cat: Cats purr.\nQuestion: Why is the sky blue?" in sent["messages"][-1]["content"]


async def test_several_candidates_are_as_many_requests_with_seeds_of_their_own() -> None:
    async with ChatService([says_its_seed]) as service, client(service) as chat:
        assert await texts(generator(chat), 3) == {0: "Seed 10.", 1: "Seed 11.", 2: "Seed 12."}
    assert {sent["temperature"] for sent in service.requests} == {0.7}


async def test_candidates_are_written_at_the_same_time() -> None:
    everybody = asyncio.Barrier(3)

    async def handle(request: web.Request) -> web.StreamResponse:
        await everybody.wait()
        return await streamed(request, chunk("Yes.", finish="stop"))

    async with ChatService([handle]) as service, client(service) as chat, asyncio.timeout(60):
        assert len(await texts(generator(chat), 3)) == 3


async def test_a_service_that_knows_n_is_asked_once() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        n = (await request.json())["n"]
        pieces = [chunk(f"Answer {one}.", one) for one in range(n)]
        return await streamed(request, *pieces, *(chunk("", one, "stop") for one in range(n)))

    async with ChatService([handle]) as service, client(service) as chat:
        assert await texts(generator(chat, together=True), 2) == {0: "Answer 0.", 1: "Answer 1."}
    assert len(service.requests) == 1


async def test_a_service_that_passes_n_over_writes_one_candidate() -> None:
    async with ChatService([says_its_seed]) as service, client(service) as chat:
        assert await texts(generator(chat, together=True), 4) == {0: "Seed 10."}


async def test_a_candidate_that_fails_ends_the_others() -> None:
    release, ended = asyncio.Event(), asyncio.Event()

    async def hang(request: web.Request) -> web.StreamResponse:
        try:
            response = await streamed(request, chunk("Slow "))
            while not release.is_set():
                await response.write(chunk("word ").encode())
                await asyncio.sleep(0.005)
        finally:
            ended.set()
        return response

    async def refuse(request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "Bad key"}}, status=401)

    async with ChatService([hang, refuse]) as service, client(service) as chat:
        with pytest.raises(ServiceKeyRefusedError):
            await texts(generator(chat), 2)
        async with asyncio.timeout(60):
            await ended.wait()
        release.set()


async def test_closing_ends_the_requests() -> None:
    ended = asyncio.Semaphore(0)

    async def endless(request: web.Request) -> web.StreamResponse:
        try:
            response = await streamed(request)
            while True:
                await response.write(chunk("word ").encode())
                await asyncio.sleep(0.005)
        finally:
            ended.release()

    async with ChatService([endless]) as service, client(service) as chat:
        async with aclosing(generator(chat).generate("Why?", REFERENCES, 2)) as stream:
            await anext(stream)
        async with asyncio.timeout(60):
            await ended.acquire()
            if len(service.requests) > 1:
                await ended.acquire()


async def test_the_prompt_is_within_its_estimated_budget() -> None:
    long = [Reference(n, "https://example.org/", "Page", "word " * 2000, 0.5) for n in range(1, 6)]
    async with ChatService([says_its_seed]) as service, client(service) as chat:
        async for _ in generator(chat, prompt_tokens=600).generate("Why?", long, 1):
            pass
    messages = service.requests[0]["messages"]
    assert 300 < sum(estimate_tokens(message["content"]) for message in messages) <= 600


@pytest.mark.parametrize("text", ["plain words " * 30, "天空为什么是蓝色的" * 20, "🫐" * 50, ""])
@pytest.mark.parametrize("tokens", [0, 1, 2, 17])
def test_texts_are_cut_between_characters(text: str, tokens: int) -> None:
    cut = cut_to(text, tokens)
    assert estimate_tokens(cut) <= tokens
    assert text.startswith(cut.removesuffix("…"))
    assert cut_to(text, 10_000) == text
