"""A malformed address fails its page or its request, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from citewell.core.settings import Settings
from tests.server.api.conftest import Service, make_key, serving
from tests.server.malformed import FOUND, MALFORMED, QUESTION, REDIRECTS, malformed_web, searching


class Web(NamedTuple):
    """A service whose search finds malformed addresses, redirects to them, and one good page."""

    service: Service
    key: dict[str, str]
    base: str


@pytest.fixture(scope="module")
def malformed(settings: Callable[..., Settings], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    data: Path = tmp_path_factory.mktemp("malformed")
    with malformed_web() as base:
        wanted = settings(data_dir=data, server__rate_per_minute=0, **searching(base))
        with serving(wanted) as service:
            yield Web(service, make_key(service, "ask", "feedback", "admin"), base)


def test_a_question_is_answered_by_the_good_page(malformed: Web) -> None:
    reply = malformed.service.client.post("/v1/answers", json={"question": QUESTION}, headers=malformed.key)
    assert reply.status_code == 201, reply.text
    answer = reply.json()
    assert [one["url"] for one in answer["references"]] == [f"{malformed.base}/bats"], answer["failures"]
    failed = {one["url"]: one["kind"] for one in answer["failures"]}
    assert all(failed[f"{malformed.base}/away/{n}"] == "url" for n in range(REDIRECTS))
    assert failed["http://][@"] == failed["http://[::g]/"] == "url"


def test_chat_and_passages_too(malformed: Web) -> None:
    client, key = malformed.service.client, malformed.key
    chat = {"model": "citewell", "messages": [{"role": "user", "content": QUESTION}]}
    reply = client.post("/v1/chat/completions", json=chat, headers=key)
    assert reply.status_code == 200, reply.text
    reply = client.post("/v1/retrieve", json={"question": QUESTION}, headers=key)
    assert reply.status_code == 200, reply.text


def test_browsing_too(malformed: Web) -> None:
    client, key = malformed.service.client, malformed.key
    asked = {"question": QUESTION, "mode": "browse", "actions": 30}
    reply = client.post("/v1/answers", json=asked, headers=key)
    assert reply.status_code == 201, reply.text
    assert FOUND in reply.json()["answer"]
    episode = client.get(f"/v1/answers/{reply.json()['id']}/episode", headers=key).json()
    assert sum(step["title"].startswith("Error") for step in episode["steps"]) > 1


def test_demonstrations_show_a_page_that_says_why(malformed: Web) -> None:
    client, key = malformed.service.client, malformed.key

    def act(now: dict[str, Any], command: str) -> dict[str, Any]:
        address = f"/v1/demonstrations/{now['id']}/actions"
        reply = client.post(address, json={"command": command, "after": now["count"]}, headers=key)
        assert reply.status_code == 201, reply.text
        value: dict[str, Any] = reply.json()
        return value

    now = client.post("/v1/demonstrations", json={"question": QUESTION}, headers=key).json()
    now = act(now, f"Search {QUESTION}")
    results = [link["id"] for link in now["view"]["links"]]
    assert len(results) >= REDIRECTS + 2
    shown = []
    for number in results:
        now = act(now, f"Clicked on link {number}")
        assert now["last"]["valid"], now["last"]
        shown.append(now["view"]["text"])
        now = act(now, "Back")
    assert sum(FOUND in text for text in shown) == 1
    failed = [text for text in shown if FOUND not in text]
    assert len(failed) == len(results) - 1
    assert all(text.startswith("This page cannot be shown: ") and len(text) < 400 for text in failed), failed
    now = act(act(now, "Clicked on link 0"), f"Quote: {FOUND}")
    for number in range(REDIRECTS):
        now = act(now, f"Clicked on link {number}")
        assert now["view"]["text"].startswith("This page cannot be shown: "), now["view"]
        now = act(now, "Back")
    assert [quote["text"] for quote in now["quotes"]] == [FOUND]


@pytest.mark.parametrize("address", [*MALFORMED[:4], "http://%00.1/"])
def test_a_source_that_is_no_address_is_refused(malformed: Web, address: str) -> None:
    body = {"name": "bats", "source": address}
    reply = malformed.service.client.post("/v1/collections", json=body, headers=malformed.key)
    assert reply.status_code == 400, reply.text
