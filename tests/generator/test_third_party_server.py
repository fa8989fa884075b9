"""The client against `transformers serve`, a server that is not ours, in a process of its own."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import pytest

from citewell.core.errors import ServiceAnswerError, ServiceError
from citewell.core.types import Reference
from citewell.generator.causal import Sampling
from citewell.generator.chat_client import ChatClient
from citewell.generator.completion import CompletionRequest
from citewell.generator.remote import OpenAiGenerator
from citewell.generator.transformers import open_transformers

from .test_transformers import write as written
from .tiny import write_tiny

MISSING = [name for name in ("fastapi", "uvicorn", "openai") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"transformers serve needs {', '.join(MISSING)}")

MESSAGES = [{"role": "user", "content": "Why is the sky blue?"}]
REFERENCE = Reference(1, "https://example.org/", "Sky", "Air scatters blue light.", 0.8)


class Server(NamedTuple):
    url: str
    model: Path


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server with a tiny model, once it answers."""
    folder = tmp_path_factory.mktemp("served")
    model = write_tiny(folder / "model", positions=4096)
    # The server samples only from models whose own configuration says so, whatever the temperature.
    (model / "generation_config.json").write_text('{"do_sample": true}')
    for _ in range(3):
        # Until the server takes it, the port may become another program's: then another one is tried.
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
        log = folder / "log"
        process = start(model, port, log)
        try:
            found = Server(f"http://127.0.0.1:{port}/v1", model)
            try:
                asyncio.run(first_answer(found, process))
            except (ServiceError, TimeoutError) as error:
                told = f"{error}\n{log.read_text(errors='replace')[-2000:]}"
                continue
            yield found
            return
        finally:
            process.kill()
            process.wait()
    pytest.fail(told)


def start(model: Path, port: int, log: Path) -> subprocess.Popen[bytes]:
    program = "from transformers.cli.transformers import main; main()"
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-c", program, "serve", str(model), "--port", str(port), "--device", "cpu"]
            + ["--host", "127.0.0.1"],
            env=os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
            stdout=output,
            stderr=output,
        )


async def first_answer(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Ask until the server answers, or has ended."""
    async with ChatClient(str(server.model), server.url, retries=0) as client, asyncio.timeout(300):
        while True:
            try:
                await client.complete(MESSAGES, CompletionRequest(max_tokens=2))
                return
            except ServiceError:
                if process.poll() is not None:
                    raise
            await asyncio.sleep(0.2)


async def test_an_answer_is_what_the_model_writes_here(server: Server) -> None:
    here = open_transformers(str(server.model), "tiny", threads=1)
    expected = here.decode(written(here, here.render(MESSAGES), most=12)[0])
    async with ChatClient(str(server.model), server.url) as client:
        answer = await client.complete(MESSAGES, CompletionRequest(max_tokens=12))
        pieces = [delta.text async for delta in client.stream(MESSAGES, CompletionRequest(max_tokens=12))]
    assert answer.text.rstrip("\ufffd") == expected
    assert answer.finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.answer_tokens == 12
    assert answer.usage.prompt_tokens == len(here.encode(here.render(MESSAGES)))
    assert "".join(pieces).rstrip("\ufffd") == expected


async def test_three_candidates(server: Server) -> None:
    async with ChatClient(str(server.model), server.url) as client:
        generator = OpenAiGenerator(
            client, prompt_tokens=1000, answer_tokens=16, sampling=Sampling(1.0, seed=5)
        )
        texts: dict[int, str] = {}
        async for token in generator.generate("Why?", [REFERENCE], 3):
            texts[token.candidate] = texts.get(token.candidate, "") + token.text
    assert sorted(texts) == [0, 1, 2]
    assert len(set(texts.values())) == 3


async def test_after_a_stream_was_closed_the_next_one_is_answered(server: Server) -> None:
    async with ChatClient(str(server.model), server.url) as client:
        async with aclosing(client.stream(MESSAGES, CompletionRequest(max_tokens=400))) as stream:
            await anext(stream)
        assert (await client.complete(MESSAGES, CompletionRequest(max_tokens=4))).text


async def test_what_the_server_refuses(server: Server) -> None:
    async with ChatClient("some/other-model", server.url, retries=0) as client:
        with pytest.raises(ServiceAnswerError, match="other-model") as caught:
            await client.complete(MESSAGES, CompletionRequest(max_tokens=4))
    assert "name of the model" in caught.value.hint
