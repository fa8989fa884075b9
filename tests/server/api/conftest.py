"""The real service on a port of this machine, over a small collection or a search that can be held up."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from benchmarks.small_service import index_notes
from citewell.core.settings import Settings, load_settings
from citewell.server.access.keys import new_key
from citewell.server.running import server_config
from citewell.server.sockets import listen
from citewell.server.store.database import open_store
from tests.server.local import ReplyHandler, answering


@dataclass
class Service:
    """A running service, and a client of it."""

    settings: Settings
    url: str
    client: httpx.Client
    server: uvicorn.Server

    def ask(self, question: str, **options: Any) -> httpx.Response:
        return self.client.post("/v1/answers", json={"question": question} | options)

    @contextmanager
    def events(self, question: str, **headers: str) -> Iterator[Iterator[Event]]:
        """The events of a question, one by one; leaving the block closes the connection."""
        accept = {"Accept": "text/event-stream"} | headers
        with self.client.stream(
            "POST", "/v1/answers", json={"question": question}, headers=accept
        ) as response:
            assert response.status_code == 200, response.read()
            yield read_events(response)


@dataclass(frozen=True)
class Event:
    """A server-sent event as it arrived."""

    id: str
    name: str
    data: dict[str, Any]


def read_events(response: httpx.Response) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
            continue
        if "event" in fields:
            yield Event(fields["id"], fields["event"], json.loads(fields["data"]))
        fields = {}


Start = Callable[..., Service]
ENDED: set[str] = set()
"""The addresses of services that were told to end; what they are still asked for may fail."""


@pytest.fixture(scope="session")
def collection_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the collection `notes`."""
    data_dir = tmp_path_factory.mktemp("data")
    index_notes(data_dir, "notes")
    return data_dir


@contextmanager
def serving(settings: Settings) -> Iterator[Service]:
    with listen("127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        ENDED.discard(url)
        server = uvicorn.Server(server_config(settings))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
                while not server.started and thread.is_alive():
                    time.sleep(0.01)  # uvicorn has no event to wait for
                yield Service(settings, url, client, server)
        finally:
            ENDED.add(url)
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def settings(
    collection_data: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Settings]:
    """Settings of a service with a new database; keyword arguments change them, as in `server__queue=3`."""

    def make(**changes: Any) -> Settings:
        database = tmp_path_factory.mktemp("database") / "citewell.sqlite3"
        defaults = {
            "data_dir": collection_data,
            "cache_dir": cache,
            "search.collection": "notes",
            "threads": 2,
            "fetch.cache": False,
            "server.database_url": f"sqlite:///{database}",
            "server.drain_seconds": 1,
        }
        return load_settings(defaults | {name.replace("__", "."): value for name, value in changes.items()})

    return make


@pytest.fixture(scope="session")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    """One service for all tests that leave it as it is."""
    with serving(settings()) as service:
        yield service


@pytest.fixture
def start(settings: Callable[..., Settings]) -> Iterator[Start]:
    """Start a service with settings of its own."""
    running = []

    def make(**changes: Any) -> Service:
        context = serving(settings(**changes))
        running.append(context)
        return context.__enter__()

    yield make
    for context in reversed(running):
        context.__exit__(None, None, None)


@dataclass
class Search:
    """A SearXNG that finds nothing, and answers only once it is told to."""

    url: str
    asked: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    gate: threading.Event = field(default_factory=threading.Event)
    questions: list[str] = field(default_factory=list)

    def await_question(self) -> None:
        assert self.asked.acquire(timeout=60), "no question reached the search"


@pytest.fixture
def search() -> Iterator[Search]:
    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            found.questions.append(self.path)
            found.asked.release()
            found.gate.wait(20)
            self.reply(b'{"results": []}')

    with answering(Handler) as url:
        found = Search(url)
        yield found
        found.gate.set()


@pytest.fixture
def slow(start: Start, search: Search) -> Service:
    """A service whose every question waits for `search`: one at a time, and one more may wait."""
    return start(
        search__providers="searxng",
        search__searxng_url=search.url,
        search__seconds=30,
        server__concurrency=1,
        server__queue=1,
    )


def make_key(service: Service, *scopes: str, **limits: int) -> dict[str, str]:
    """Store a new key in a service's database; returns the header that carries it."""
    made = new_key("test", scopes, **limits)

    async def store() -> None:
        async with open_store(service.settings.server.database_url.get_secret_value()) as opened:
            await opened.keys.add(made.key)

    asyncio.run(store())
    return {"Authorization": f"Bearer {made.secret}"}
