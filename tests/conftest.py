"""What all tests share: the real small models, converted once, and real servers on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from core.conversion import converted
from core.settings import load_settings
from retriever.encoder.ct2 import Ct2Encoder
from retriever.rank import Ranker

MINILM = "all-MiniLM-L6-v2"
SMOLLM2 = "SmolLM2-135M-Instruct"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Mapping[str, Handler]], Awaitable[str]]


@pytest.fixture(scope="session")
def cache() -> Path:
    """The user's own cache folder; CITEWELL_CACHE_DIR moves it."""
    return load_settings().cache_dir


@pytest.fixture(scope="session")
def minilm_folder(cache: Path) -> Path:
    return converted(MINILM, cache)


@pytest.fixture(scope="session")
def smollm2_folder(cache: Path) -> Path:
    return converted(SMOLLM2, cache)


@pytest.fixture(scope="session")
def encoder(minilm_folder: Path) -> Ct2Encoder:
    return Ct2Encoder(minilm_folder, MINILM, max_tokens=128, threads=2)


@pytest.fixture(scope="session")
def ranker(encoder: Ct2Encoder) -> Ranker:
    return Ranker(encoder, prefilter=48)


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server with a handler for each path; return its address, without a last slash."""
    servers: list[TestServer] = []

    async def start(handlers: Mapping[str, Handler]) -> str:
        app = web.Application()
        for path, handler in handlers.items():
            app.router.add_get(path, handler)
        server = TestServer(app, host="127.0.0.1")
        await server.start_server()
        servers.append(server)
        return f"http://127.0.0.1:{server.port}"

    yield start
    for server in servers:
        await server.close()
