"""Who may do what, with which key, and how often."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Search, Service, Start, make_key
from tests.server.faults.conftest import until


def test_a_refusal_says_how_to_send_a_key(start: Start) -> None:
    """Whom each address lets in is in tests/server/security/test_doors.py."""
    service = start()
    make_key(service, "ask")
    response = service.client.get("/v1/answers")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert response.json()["type"] == "/problems/no-key"


def test_a_key_sees_its_own_answers_and_admin_sees_all(start: Start) -> None:
    service = start()
    mine, other = make_key(service, "ask", "feedback"), make_key(service, "ask", "feedback")
    admin = make_key(service, "ask", "admin")
    address = service.client.post("/v1/answers", json={"question": BATS}, headers=mine).headers["Location"]
    for key, status, count in ((mine, 200, 1), (other, 404, 0), (admin, 200, 1)):
        assert service.client.get(address, headers=key).status_code == status
        assert service.client.get(f"{address}/events", headers=key).status_code == status
        assert len(service.client.get("/v1/answers", headers=key).json()["answers"]) == count
    assert service.client.post(f"{address}/feedback", json={"thumb": 1}, headers=other).status_code == 404
    assert service.client.delete(address, headers=other).status_code == 404
    # That somebody else has asked is not told.
    for key, cached in ((other, False), (other, True), (mine, True)):
        again = service.client.post("/v1/answers", json={"question": BATS}, headers=key)
        assert again.json()["cached"] is cached
        assert again.headers["Location"] != address


def test_the_limits_of_a_key_hold(start: Start) -> None:
    service = start()
    key = make_key(service, "ask", rate_per_minute=2)
    replies = [service.client.post("/v1/answers", json={"question": BATS}, headers=key) for _ in range(3)]
    assert [reply.status_code for reply in replies] == [201, 201, 429]
    assert replies[2].json()["type"] == "/problems/too-often"
    assert 1 <= int(replies[2].headers["Retry-After"]) <= 60
    assert service.client.get("/v1/answers", headers=key).status_code == 200


def test_a_daily_budget_counts_questions_alone(start: Start) -> None:
    service = start()
    key = make_key(service, "ask", "feedback", daily=1)
    first = service.client.post("/v1/answers", json={"question": BATS}, headers=key)
    second = service.client.post("/v1/retrieve", json={"question": BATS}, headers=key)
    thumb = service.client.post(f"{first.headers['Location']}/feedback", json={"thumb": 1}, headers=key)
    assert [first.status_code, second.status_code, thumb.status_code] == [201, 429, 201]


def test_coming_back_to_a_question_is_not_counted_again(start: Start) -> None:
    service = start()
    key = make_key(service, "ask", daily=1)
    with service.events(BATS, **key) as stream:
        events = list(stream)
    with service.events(BATS, **key, **{"Last-Event-ID": events[0].id}) as stream:
        assert list(stream) == events[1:]
    for header in ("none.1", "nonsense"):
        again = service.client.post(
            "/v1/answers",
            json={"question": "Another?"},
            headers=key | {"Accept": "text/event-stream", "Last-Event-ID": header},
        )
        assert again.status_code == (404 if header == "none.1" else 429)


@pytest.mark.parametrize("limit", ["rate_per_minute", "daily"])
def test_no_header_lets_a_question_pass_uncounted(start: Start, limit: str) -> None:
    service = start()
    chat = {"model": "citewell", "messages": [{"role": "user", "content": BATS}]}
    asked: dict[str, object] = {"/v1/chat/completions": chat}
    asked |= {f"/v1/{name}": {"question": BATS} for name in ("retrieve", "demonstrations", "answers")}
    headers = {"Accept": "text/event-stream", "Last-Event-ID": "x.1", "X-HTTP-Method-Override": "GET"}
    for path, body in asked.items():
        key = make_key(service, "ask", **{limit: 1})
        assert service.client.post(path, json=body, headers=key).status_code < 300
        again = service.client.post(path, json=body, headers=key | headers)
        # Resuming asks nothing, and counts as a request like others.
        assert again.status_code == (404 if path == "/v1/answers" else 429), path
    if limit == "rate_per_minute":
        assert service.client.post(path, json=body, headers=key | headers).status_code == 429


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("localhost:8090", 200), ("[::1]:80", 200), ("evil.example", 421), ("", 421)],
)
def test_on_loopback_the_service_answers_by_its_own_names_only(
    service: Service, host: str, status: int
) -> None:
    assert service.client.get("/health", headers={"Host": host}).status_code == status


def test_a_form_of_another_site_cannot_ask(service: Service) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        response = service.client.post(
            "/v1/answers", content=b'{"question": "Why?"}', headers={"Content-Type": kind}
        )
        assert response.status_code == 415


def test_pages_of_other_origins_are_let_in_only_where_a_setting_says_so(start: Start) -> None:
    preflight = {
        "Origin": "https://app.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    closed, opened = start(), start(server__cors_origins="https://app.example")
    refused = closed.client.options("/v1/answers", headers=preflight)
    assert "Access-Control-Allow-Origin" not in refused.headers
    allowed = opened.client.options("/v1/answers", headers=preflight)
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://app.example"
    changes = preflight | {"Access-Control-Request-Method": "PUT"}
    shared = opened.client.options("/v1/collections/whales/readers", headers=changes)
    assert "PUT" in shared.headers["Access-Control-Allow-Methods"]
    shown = opened.client.get("/health", headers={"Origin": "https://app.example"})
    assert "Idempotency-Replayed" in shown.headers["Access-Control-Expose-Headers"]
    other = opened.client.options("/v1/answers", headers=preflight | {"Origin": "https://other.example"})
    assert other.headers.get("Access-Control-Allow-Origin") is None


def test_no_key_learns_what_another_one_asks(start: Start, search: Search) -> None:
    """Neither from a known answer, nor from a run that it joins, nor from a full queue that lets it in."""
    service = start(
        search__providers="searxng",
        search__searxng_url=search.url,
        search__seconds=30,
        server__concurrency=1,
        server__queue=2,
    )
    mine, other = make_key(service, "ask"), make_key(service, "ask")

    def ask(question: str, key: dict[str, str]) -> httpx.Response:
        return service.client.post("/v1/answers", json={"question": question}, headers=key)

    def places() -> int:
        ready = service.client.get("/ready").json()
        return int(ready["running"]) + int(ready["waiting"])

    asked: list[Future[httpx.Response]] = []
    with ThreadPoolExecutor(3) as pool:
        for question, key in (("Why?", mine), ("When?", mine), ("Why?", other)):
            asked.append(pool.submit(ask, question, key))
            until(lambda: places() == len(asked))
        assert ask("When?", other).status_code == 429
        search.gate.set()
        assert [reply.result().json()["status"] for reply in asked] == ["done"] * 3
    assert sum("Why" in path for path in search.questions) == 2
    assert [ask("Why?", key).json()["cached"] for key in (mine, make_key(service, "ask"))] == [True, False]
