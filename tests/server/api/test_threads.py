"""Conversations over HTTP: follow-up questions, and to list, read, rename, export and delete threads."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Service, Start, make_key

FOLLOW_UP = "What do they send out?"
REWRITTEN = "What do bats send out?"


@pytest.fixture(scope="module")
def thread(service: Service) -> str:
    """A conversation of two questions."""
    first = service.ask(BATS).json()
    service.ask(FOLLOW_UP, thread=first["thread"]).raise_for_status()
    return str(first["thread"])


def questions(service: Service, thread: str, **headers: Any) -> list[str]:
    found = service.client.get(f"/v1/threads/{thread}", **headers).json()
    return [answer["question"] for answer in found["answers"]]


def test_a_follow_up_is_answered_as_the_question_it_stands_for(service: Service) -> None:
    first = service.ask(BATS).json()
    assert first["thread"] == first["id"]
    assert first["rewritten"] is None
    second = service.ask(FOLLOW_UP, thread=first["thread"]).json()
    assert (second["question"], second["rewritten"]) == (FOLLOW_UP, REWRITTEN)
    assert second["thread"] == first["id"]
    assert "short calls" in second["answer"]
    assert all(sentence["supported"] for sentence in second["sentences"])
    assert second["timings"]["rewrite"] >= 0
    kept = service.client.get(f"/v1/answers/{second['id']}").json()
    assert kept["rewritten"] == REWRITTEN
    alone = service.ask(REWRITTEN).json()
    assert [each["text"] for each in alone["sentences"]] == [each["text"] for each in second["sentences"]]
    third = service.ask("How do they hear?", thread=first["thread"]).json()
    assert third["rewritten"] == "How do bats hear?"


def test_the_rewriting_is_an_event(service: Service, thread: str) -> None:
    asked = {"question": FOLLOW_UP, "thread": thread, "fresh": True, "stream": True}
    with service.client.stream("POST", "/v1/answers", json=asked) as response:
        text = response.read().decode()
    assert f'event: rewritten\r\ndata: {{"question":"{REWRITTEN}"}}' in text


def test_the_same_words_are_another_question_in_another_conversation(service: Service) -> None:
    tides = service.ask("What are the tides caused by?").json()
    found = service.ask("How often do they come?", thread=tides["thread"]).json()
    assert found["rewritten"] == "How often do the tides come?"
    bats = service.ask(BATS).json()
    other = service.ask("How often do they come?", thread=bats["thread"]).json()
    assert other["rewritten"] == "How often do bats come?"
    assert not other["cached"]


def test_conversations_are_listed_named_and_read(service: Service, thread: str) -> None:
    service.ask("Who makes honey?")
    listed = service.client.get("/v1/threads").json()["threads"]
    assert listed[0]["title"] == "Who makes honey?"
    own = next(each for each in listed if each["id"] == thread)
    assert own["title"] == BATS
    assert own["questions"] >= 2
    page = service.client.get("/v1/threads", params={"limit": 1}).json()
    after = service.client.get("/v1/threads", params={"limit": 1, "before": page["next"]}).json()
    assert after["threads"] == [listed[1]]
    renamed = service.client.patch(f"/v1/threads/{thread}", json={"title": " Ears "})
    assert renamed.json()["title"] == "Ears"
    service.ask("Do they sleep?", thread=thread)
    again = service.client.get("/v1/threads").json()["threads"]
    assert (again[0]["id"], again[0]["title"]) == (thread, "Ears")
    assert questions(service, thread)[:2] == [BATS, FOLLOW_UP]
    assert service.client.patch(f"/v1/threads/{thread}", json={"title": " "}).status_code == 400


def test_a_conversation_is_exported(service: Service, thread: str) -> None:
    address = f"/v1/threads/{thread}/export"
    markdown = service.client.get(address)
    assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
    assert markdown.headers["content-disposition"].endswith('.md"')
    assert f"**{BATS}**" in markdown.text
    assert f"Answered as: {REWRITTEN}" in markdown.text
    assert "[^2-1]: [Bats](<https://notes.example/bats>)" in markdown.text
    exported = service.client.get(address, params={"format": "json"})
    assert exported.headers["content-type"] == "application/json"
    assert exported.json() == service.client.get(f"/v1/threads/{thread}").json()


def test_a_conversation_is_deleted_question_by_question_or_whole(service: Service) -> None:
    first = service.ask(BATS).json()
    second = service.ask(FOLLOW_UP, thread=first["thread"]).json()
    assert service.client.delete(f"/v1/answers/{first['id']}").status_code == 204
    assert questions(service, first["thread"]) == [FOLLOW_UP]
    assert service.client.delete(f"/v1/threads/{first['thread']}").status_code == 204
    assert service.client.get(f"/v1/threads/{first['thread']}").status_code == 404
    assert service.client.get(f"/v1/answers/{second['id']}").status_code == 404
    missing = service.ask("And they?", thread=first["thread"])
    assert missing.status_code == 404
    assert "conversation" in missing.json()["detail"]


def test_a_conversation_belongs_to_its_key(start: Start) -> None:
    service = start()
    ada, bob, admin = (make_key(service, *scopes) for scopes in (["ask"], ["ask"], ["ask", "admin"]))
    first = service.client.post("/v1/answers", json={"question": BATS}, headers=ada).json()
    address = f"/v1/threads/{first['thread']}"
    for method, path, body in (
        ("GET", address, None),
        ("GET", f"{address}/export", None),
        ("PATCH", address, {"title": "Mine"}),
        ("DELETE", address, None),
        ("POST", "/v1/answers", {"question": FOLLOW_UP, "thread": first["thread"]}),
    ):
        assert service.client.request(method, path, json=body, headers=bob).status_code == 404, path
    assert service.client.get("/v1/threads", headers=bob).json()["threads"] == []
    assert len(service.client.get("/v1/threads", headers=admin).json()["threads"]) == 1
    assert questions(service, first["thread"], headers=ada) == [BATS]


def test_a_key_reads_on_though_another_asked_later_in_its_conversation(start: Start) -> None:
    service = start()
    ada, admin = (make_key(service, *scopes) for scopes in (["ask"], ["ask", "admin"]))
    asked = [
        service.client.post("/v1/answers", json={"question": question}, headers=ada).json()
        for question in (BATS, "Who makes honey?", "What are the tides caused by?")
    ]
    body = {"question": FOLLOW_UP, "thread": asked[1]["thread"]}
    assert service.client.post("/v1/answers", json=body, headers=admin).status_code == 201
    found: list[str] = []
    before = None
    while before is not None or not found:
        query = {"limit": 1} | ({"before": before} if before else {})
        page = service.client.get("/v1/threads", params=query, headers=ada).json()
        found += [each["id"] for each in page["threads"]]
        before = page["next"]
        assert len(found) <= len(asked)
    assert found == [each["thread"] for each in reversed(asked)]
