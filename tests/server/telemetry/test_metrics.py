"""What Prometheus reads: every number, by whom, and with labels that nobody can fill."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.small_service import BATS
from citewell.core.events import Failed, Fetched, Searched, Token
from citewell.core.types import Failure
from citewell.server.telemetry.metrics import STAGES, Metrics
from tests.server.api.conftest import Search, Service, Start, make_key

Numbers = dict[tuple[str, ...], float]


def numbers(text: str) -> Numbers:
    """Every sample by its name and the values of its labels; parsing is what Prometheus's own client does."""
    return {
        (sample.name.removeprefix("citewell_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(service: Service) -> Numbers:
    response = service.client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return numbers(response.text)


def test_questions_are_counted_with_the_seconds_of_their_stages(start: Start) -> None:
    service = start()
    answer = service.ask(BATS).json()
    service.ask(BATS)
    service.client.post("/v1/retrieve", json={"question": "What causes the tides?"})
    found = scrape(service)
    assert found["questions_total", "answer", "answered"] == 1
    assert found["questions_total", "answer", "cached"] == 1
    assert found["questions_total", "retrieve", "retrieved"] == 1
    for stage in set(STAGES) - {"browse"}:
        runs = 2 if stage in ("search", "fetch", "rank") else 1
        assert found["stage_seconds_count", stage] == runs
        assert found["stage_seconds_sum", stage] >= answer["timings"][stage]
    assert found["first_token_seconds_count",] == 1
    assert found["question_seconds_count", "answer"] == 1
    assert found["question_seconds_count", "retrieve"] == 1
    assert found["queue_seconds_count",] == 2
    assert found["pages_fetched_total",] == 2
    assert found["tokens_written_total",] >= len(answer["answer"].encode()) // 3
    assert found["http_requests_total", "POST", "/v1/answers", "201"] == 2
    assert found["process_resident_memory_bytes",] > 1e7


def test_the_queue_is_read_as_it_is(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow.ask, "One?")
        search.await_question()
        second = pool.submit(slow.ask, "Two?")
        while not slow.client.get("/ready").json()["waiting"]:
            time.sleep(0.01)
        assert slow.ask("Three?").status_code == 429
        found = scrape(slow)
        assert found["questions_running",] == 1
        assert found["questions_waiting",] == 1
        assert found["questions_total", "answer", "refused"] == 1
        assert found["question_problems_total", "queue-full"] == 1
        search.gate.set()
        assert {first.result().status_code, second.result().status_code} == {201}
    found = scrape(slow)
    assert found["questions_running",] == found["questions_waiting",] == found["answers_unstored",] == 0
    assert found["questions_total", "answer", "no_evidence"] == 2


def test_searches_are_counted_by_provider(start: Start) -> None:
    away = {"search__searxng_url": "http://127.0.0.1:1", "search__seconds": 0.3}
    service = start(search__providers="collection,searxng", **away)
    service.ask(BATS)
    found = scrape(service)
    assert found["provider_answers_total", "collection"] == 1
    assert found["provider_failures_total", "searxng", "unreachable"] == 1
    service = start(search__providers="searxng", **away)
    service.ask(BATS)
    found = scrape(service)
    assert found["questions_total", "answer", "failed"] == 1
    assert found["question_problems_total", "service-unreachable"] == 1


def test_an_address_is_counted_by_its_pattern(start: Start) -> None:
    service = start()
    for number in range(5):
        service.client.get(f"/v1/answers/{number}")
        service.client.get(f"/nothing/{number}")
        service.client.request("BREW", f"/pots/{number}")
    found = scrape(service)
    routes = {key[1:]: value for key, value in found.items() if key[0] == "http_requests_total"}
    assert routes == {
        ("GET", "/v1/answers/{answer_id}", "404"): 5,
        ("GET", "none", "404"): 5,
        ("other", "none", "404"): 5,
    }


def test_pages_and_tokens_are_counted(metrics: Metrics) -> None:
    metrics.on_event(Searched((), (Failure("brave", "too many", "rate_limited"), Failure("mine", "?"))))
    metrics.on_event(Fetched("https://a.example", "A", 3, 0.1))
    metrics.on_event(Failed(Failure("https://b.example", "too late", "timeout")))
    metrics.on_event(Token("äöü", 1))
    found = numbers(metrics.text().decode())
    assert found["provider_failures_total", "brave", "rate_limited"] == 1
    assert found["provider_failures_total", "other", "other"] == 1
    assert found["pages_fetched_total",] == 1
    assert found["pages_failed_total", "timeout"] == 1
    assert found["tokens_written_total",] == 2


def test_reasons_do_not_grow_without_end(metrics: Metrics) -> None:
    for number in range(500):
        metrics.on_event(Failed(Failure("https://a.example", "odd", f"kind{number}")))
    reasons = {
        key: n for key, n in numbers(metrics.text().decode()).items() if key[0] == "pages_failed_total"
    }
    assert len(reasons) <= 51
    assert sum(reasons.values()) == 500


@pytest.fixture
def metrics() -> Iterator[Metrics]:
    return Metrics()


def test_with_keys_only_those_with_the_scope_admin_may_read(start: Start) -> None:
    assert start().client.get("/metrics").status_code == 200
    service = start()

    def status(headers: dict[str, str]) -> httpx.Response:
        return service.client.get("/metrics", headers=headers)

    keys = {scope: make_key(service, scope) for scope in ("ask", "feedback", "export", "admin")}
    assert status({}).status_code == 401
    assert {scope: status(key).status_code for scope, key in keys.items()} == {
        "ask": 403,
        "feedback": 403,
        "export": 403,
        "admin": 200,
    }
    assert "`admin`" in status(keys["feedback"]).json()["detail"]
