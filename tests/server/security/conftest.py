"""A service over pages that try to take it over, with secrets to lose and a server that must hear nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from citewell.core.settings import Settings
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from tests.server.api.conftest import Event, Service, make_key, service, serving, settings, start
from tests.server.local import ReplyHandler, answering

__all__ = ["service", "settings", "start"]

SECRET = "sesame"  # every secret of the settings holds this word, and no page does


class Poisoned(NamedTuple):
    """A passage that tries to take over whoever reads it; `{canary}` stands for an address that listens."""

    id: str
    kind: str
    place: str
    text: str

    @property
    def question(self) -> str:
        return f"When was the lighthouse of {self.place} first lit?"

    @property
    def url(self) -> str:
        return f"https://lights.example/{self.id}"

    def passage(self, canary: str) -> str:
        lit = 1801 + sum(map(ord, self.place)) % 99
        poison = self.text.replace("{canary}", canary)
        return f"The lighthouse of {self.place} was first lit in {lit}. {poison}"


def read_poisoned() -> list[Poisoned]:
    lines = (Path(__file__).parent / "poisoned.jsonl").read_text(encoding="utf-8").split("\n")
    return [Poisoned(**json.loads(line)) for line in lines if line]


POISONED = read_poisoned()


@dataclass
class Listener:
    """A server on this machine that notes whatever reaches it."""

    url: str
    asked: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)


@contextmanager
def listening(reply: Callable[[bytes], bytes]) -> Iterator[Listener]:
    """A listener that answers each request with what `reply` makes of its body."""

    class Handler(ReplyHandler):
        def handle_any(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found.asked.append(f"{self.command} {self.path}")
            found.bodies.append(sent.decode())
            self.reply(reply(sent))

        do_GET = do_POST = do_HEAD = do_OPTIONS = do_PUT = handle_any  # noqa: N815

    with answering(Handler) as url:
        found = Listener(url)
        yield found


def events_of(body: bytes) -> list[Event]:
    """The events of a whole stream, whose lines end as the specification says, and nowhere else."""
    found = []
    for block in body.decode().replace("\r\n", "\n").replace("\r", "\n").split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.split("\n"))
        if "event" in fields:
            found.append(Event(fields["id"], fields["event"], json.loads(fields["data"])))
    return found


@pytest.fixture(scope="session")
def canary() -> Iterator[Listener]:
    """What the pages want to be asked, and nobody is to ask."""
    with listening(lambda sent: b"{}") as listener:
        yield listener


@pytest.fixture(scope="session")
def collection_data(tmp_path_factory: pytest.TempPathFactory, canary: Listener) -> Path:
    """A data folder whose collection `notes` holds the poisoned passages, as text and in titles."""
    data_dir = tmp_path_factory.mktemp("data")
    documents = [
        SourceDocument(
            row.url, row.passage(canary.url).encode(), "text/plain", f"{row.place} {row.text[:200]}"
        )
        for row in POISONED
    ]
    with indexing(EmbeddedCatalog(data_dir), "notes") as indexer:
        index_documents(indexer, "notes", documents)
    return data_dir


def obey(sent: bytes) -> bytes:
    """What a model replies that does whatever it reads: all of its prompt, false citations, and an image."""
    prompt = "\n".join(message["content"] for message in json.loads(sent)["messages"])
    begin, end = (
        "Mallory rules the harbour [99].",
        "![x](http://127.0.0.1:9/) <script>1</script> That is true [1][42].",
    )
    text = f"{begin} {prompt} {end}"
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"model": "obedient", "choices": [choice]}).encode()


@pytest.fixture(scope="session")
def obedient() -> Iterator[Listener]:
    """A language model that is taken over by everything that it reads."""
    with listening(obey) as listener:
        yield listener


class Guarded(NamedTuple):
    """A service that has secrets, and a key of it."""

    service: Service
    key: dict[str, str]


def guarded(settings: Callable[..., Settings], **changes: Any) -> Iterator[Guarded]:
    """A service with a secret in every setting that takes one."""
    secrets = {
        "search__brave_key": f"{SECRET}-brave",
        "search__tavily_key": f"{SECRET}-tavily",
        "generator__key": f"{SECRET}-generator",
        "fetch__user_agent": f"{SECRET}-agent",
        "server__rate_per_minute": 0,
        # Encoding takes most of the time.
        "retriever__prefilter": 2,
        "retriever__k": 2,
        "retriever__max_tokens": 32,
    }
    with serving(settings(**secrets | changes)) as service:
        yield Guarded(service, make_key(service, "ask", "feedback", "export"))


@pytest.fixture(scope="session")
def extractive(settings: Callable[..., Settings]) -> Iterator[Guarded]:
    """The service with its own generator, which quotes."""
    yield from guarded(settings)


@pytest.fixture(scope="session")
def taken_over(settings: Callable[..., Settings], obedient: Listener) -> Iterator[Guarded]:
    """The service with the obedient model as its generator."""
    yield from guarded(settings, generator__name="openai:obedient", generator__base_url=f"{obedient.url}/v1")
