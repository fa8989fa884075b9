"""A request that is repeated with its Idempotency-Key does its work once, also at another worker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import httpx
from sqlalchemy import update

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from citewell.server.store.database import open_store
from citewell.server.store.tables import REQUESTS
from tests.server.api.conftest import Search, Service, Start, make_key, read_events, serving

NAMED = {"Idempotency-Key": "4f6b2c9e"}


def ask(
    service: Service, question: str = BATS, headers: dict[str, str] = NAMED, **more: Any
) -> httpx.Response:
    return service.client.post("/v1/answers", json={"question": question} | more, headers=headers)


def stored_ids(service: Service) -> list[str]:
    return [each["id"] for each in service.client.get("/v1/answers").json()["answers"]]


def stored(service: Service) -> int:
    return len(stored_ids(service))


def test_a_repeated_question_gets_its_answer_again_from_any_worker(settings: Callable[..., Settings]) -> None:
    wanted = settings(server__cache_seconds=0)
    with serving(wanted) as one, serving(wanted) as other:
        first = ask(one)
        assert first.status_code == 201
        assert "Idempotency-Replayed" not in first.headers
        for service in (one, other):
            again = ask(service)
            assert (again.status_code, again.json()) == (201, first.json())
            assert again.headers["Idempotency-Replayed"] == "true"
            assert again.headers["Location"] == first.headers["Location"]
        streamed = {"Accept": "text/event-stream"} | NAMED
        with one.client.stream("POST", "/v1/answers", json={"question": BATS}, headers=streamed) as response:
            *_, done = read_events(response)
            assert response.headers["Idempotency-Replayed"] == "true"
        assert (done.name, done.data["id"]) == ("done", first.json()["id"])
        assert stored(one) == 1
        reused = ask(other, "Why are there tides?")
        assert (reused.status_code, reused.json()["type"]) == (422, "/problems/key-reused")
        assert ask(one, headers={"Idempotency-Key": "other"}).json()["id"] != first.json()["id"]


def test_of_two_first_requests_at_two_workers_one_is_answered(
    settings: Callable[..., Settings], database: str
) -> None:
    wanted = settings(server__cache_seconds=0, server__database_url=database)
    with serving(wanted) as one, serving(wanted) as other, ThreadPoolExecutor(2) as pool:
        together = Barrier(2)

        def send(service: Service) -> httpx.Response:
            together.wait()
            return ask(service)

        replies = list(pool.map(send, (one, other)))
        first = [each for each in replies if "Idempotency-Replayed" not in each.headers]
        assert [each.status_code for each in first].count(201) == 1
        assert {each.status_code for each in replies} <= {201, 409}
        assert stored(one) == 1
        assert ask(other).json()["id"] == stored_ids(one)[0]


def test_the_name_is_of_one_key_and_of_one_body(start: Start) -> None:
    service = start(server__cache_seconds=0)
    ada, bob = make_key(service, "ask"), make_key(service, "ask")
    first = ask(service, headers=ada | NAMED).json()
    assert ask(service, headers=bob | NAMED).json()["id"] != first["id"]
    spaced = b'{ "question":  "' + BATS.encode() + b'" }'
    headers = ada | NAMED | {"Content-Type": "application/json"}
    assert service.client.post("/v1/answers", content=spaced, headers=headers).json()["id"] == first["id"]
    assert ask(service, headers=ada | NAMED, k=2).status_code == 422
    assert ask(service, headers=ada | {"Idempotency-Key": "x" * 256}).status_code == 400


def test_a_deleted_answer_and_one_of_yesterday_are_not_given_again(start: Start) -> None:
    service = start(server__cache_seconds=0)
    first = ask(service).json()["id"]
    assert service.client.delete(f"/v1/answers/{first}").status_code == 204
    second = ask(service).json()["id"]
    assert second != first
    assert ask(service).json()["id"] == second

    async def age() -> None:
        async with open_store(str(service.settings.server.database_url.get_secret_value())) as store:
            then = datetime.now(UTC) - timedelta(hours=25)
            await store.database.change(update(REQUESTS).values(created=then))

    asyncio.run(age())
    assert ask(service, "Why are there tides?").status_code == 201


def test_a_demonstration_takes_no_key_since_its_replies_show_pages(start: Start) -> None:
    service = start()
    asked = {"question": BATS}
    first, again = (
        service.client.post("/v1/demonstrations", json=asked, headers=NAMED).json() for _ in range(2)
    )
    assert first["id"] != again["id"]


def test_a_repetition_waits_for_the_first_request(slow: Service, search: Search) -> None:
    headers = {"Accept": "text/event-stream"} | NAMED
    with slow.client.stream("POST", "/v1/answers", json={"question": "Why?"}, headers=headers) as response:
        events = read_events(response)
        next(events)
        early = ask(slow, "Why?")
        assert (early.status_code, early.json()["type"]) == (409, "/problems/still-answered")
        assert int(early.headers["Retry-After"]) > 0
        search.gate.set()
        list(events)
    assert ask(slow, "Why?").status_code == 201
    assert stored(slow) == 1


def test_what_is_refused_may_be_sent_again_and_what_is_created_is_created_once(start: Start) -> None:
    service = start()
    wrong = service.client.post("/v1/answers", json={"question": ""}, headers=NAMED)
    assert wrong.status_code == 400
    answer = ask(service).json()["id"]
    address, headers = f"/v1/answers/{answer}/feedback", {"Idempotency-Key": "thumb"}
    one, other = (service.client.post(address, json={"thumb": 1}, headers=headers) for _ in range(2))
    assert (one.status_code, one.json()) == (other.status_code, other.json()) == (201, one.json())
    assert other.headers["Idempotency-Replayed"] == "true"
    assert len(service.client.get("/v1/export/feedback").text.splitlines()) == 1
