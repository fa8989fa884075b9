"""A malformed address fails its page or its request, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from citewell.core.settings import Settings
from tests.server.api.conftest import Service, make_key, serving
from tests.server.local import ReplyHandler, answering

MALFORMED = (
    "http://][@",
    "http://[::g]/",
    "http://[1:2.3]/",
    "http://\0.1/",
    "http://\ud800.example/",
    "http://",
)
QUESTION = "How do bats find their way in the dark?"
_PAGE = (
    "<title>Bats</title><main><h1>Bats</h1><p>Bats find their way in the dark by echolocation: a bat sends "
    "out short calls and listens to the echoes that come back from trees and insects.</p></main>"
)


class Web(NamedTuple):
    """A service whose search finds malformed addresses, redirects to them, and one good page."""

    service: Service
    key: dict[str, str]
    base: str


@pytest.fixture(scope="module")
def malformed(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    class Handler(ReplyHandler):
        def do_GET(self) -> None:  # noqa: N802 - http.server calls it
            base = f"http://{self.headers['Host']}"
            if self.path.startswith("/search"):
                urls = [*MALFORMED, *(f"{base}/away/{n}" for n in range(3)), f"{base}/bats"]
                hits = [{"url": url, "title": "Bats \ud800", "content": "Bats in the dark."} for url in urls]
                self.reply(json.dumps({"results": hits}).encode())
            elif self.path.startswith("/away"):
                self.reply(b"", "text/html", 302, Location=MALFORMED[int(self.path[-1])])
            else:
                self.reply(_PAGE.encode(), "text/html", 200 if self.path == "/bats" else 404)

    data: Path = tmp_path_factory.mktemp("malformed")
    with answering(Handler) as base:
        wanted = settings(
            data_dir=data,
            search__collection="",
            search__providers="searxng",
            search__searxng_url=base,
            search__hits=50,
            search__per_domain=50,
            fetch__allow_networks=["127.0.0.1/32"],
            generator__name="extractive",
            server__rate_per_minute=0,
        )
        with serving(wanted) as service:
            yield Web(service, make_key(service, "ask", "feedback", "admin"), base)


def test_a_question_is_answered_by_the_good_page(malformed: Web) -> None:
    reply = malformed.service.client.post("/v1/answers", json={"question": QUESTION}, headers=malformed.key)
    assert reply.status_code == 201, reply.text
    answer = reply.json()
    assert [one["url"] for one in answer["references"]] == [f"{malformed.base}/bats"], answer["failures"]
    failed = {one["url"]: one["kind"] for one in answer["failures"]}
    assert all(failed[f"{malformed.base}/away/{n}"] == "url" for n in range(3))
    assert failed["http://][@"] == failed["http://[::g]/"] == "url"


def test_chat_and_passages_too(malformed: Web) -> None:
    client, key = malformed.service.client, malformed.key
    chat = {"model": "citewell", "messages": [{"role": "user", "content": QUESTION}]}
    reply = client.post("/v1/chat/completions", json=chat, headers=key)
    assert reply.status_code == 200, reply.text
    reply = client.post("/v1/retrieve", json={"question": QUESTION}, headers=key)
    assert reply.status_code == 200, reply.text


@pytest.mark.parametrize("address", [*MALFORMED[:4], "http://%00.1/"])
def test_a_source_that_is_no_address_is_refused(malformed: Web, address: str) -> None:
    body = {"name": "bats", "source": address}
    reply = malformed.service.client.post("/v1/collections", json=body, headers=malformed.key)
    assert reply.status_code == 400, reply.text
