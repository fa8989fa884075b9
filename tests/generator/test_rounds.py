"""Candidates that are written in rounds: a later round has other samples, and goes on counting."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest
from aiohttp import web

from citewell.core.types import Reference
from citewell.generator.backend import GeneratorBackend
from citewell.generator.causal import Sampling
from citewell.generator.chat_client import ChatClient
from citewell.generator.extractive import ExtractiveGenerator
from citewell.generator.local import LocalGenerator
from citewell.generator.openvino import open_openvino
from citewell.generator.remote import OpenAiGenerator
from citewell.retriever.parts import parts

from .chat_service import ChatService, chunk, streamed

REFERENCES = [Reference(1, "https://example.org/", "Sky", "The sky is blue since air scatters light.", 0.8)]


async def texts(generator: GeneratorBackend, n: int, first: int) -> dict[int, str]:
    found: dict[int, str] = {}
    async with aclosing(generator.generate("Why is the sky blue?", REFERENCES, n, first=first)) as tokens:
        async for token in tokens:
            found[token.candidate] = found.get(token.candidate, "") + token.text
    return found


async def test_a_local_model_samples_anew(smollm2_folder: Path) -> None:
    generator = LocalGenerator(
        open_openvino(smollm2_folder, "SmolLM2", threads=2),
        "SmolLM2",
        prompt_tokens=400,
        answer_tokens=24,
        sampling=Sampling(0.8, 0),
    )
    once, again = [await texts(generator, 2, 0) for _ in range(2)]
    later = await texts(generator, 2, 2)
    assert once == again
    assert (set(once), set(later)) == ({0, 1}, {2, 3})
    assert len({*once.values(), *later.values()}) == 4


async def says_its_seed(request: web.Request) -> web.StreamResponse:
    seed = (await request.json())["seed"]
    return await streamed(request, chunk(f"Seed {seed}."), chunk("", finish="stop"))


@pytest.mark.parametrize("together", [False, True])
async def test_a_service_is_asked_with_other_seeds(together: bool) -> None:
    async with (
        ChatService([says_its_seed]) as service,
        ChatClient("tiny", service.url, retries=0) as chat,
    ):
        generator = OpenAiGenerator(
            chat, prompt_tokens=1000, answer_tokens=90, sampling=Sampling(0.7, 10), together=together
        )
        found = await texts(generator, 2, 4)
    # A service that knows no `n` writes one.
    assert found == ({4: "Seed 14."} if together else {4: "Seed 14.", 5: "Seed 15."})


async def test_the_extractive_generator_has_nothing_to_add() -> None:
    generator = ExtractiveGenerator(
        lambda question, passages: [0.9] * len(passages), sentences=3, split=parts
    )
    assert set(await texts(generator, 4, 0)) == {0}
    assert await texts(generator, 4, 1) == {}
