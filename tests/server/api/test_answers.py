"""Answers over HTTP: asked for, streamed, resumed, shared, listed and deleted."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from tests.server.api.conftest import Search, Service, read_events, serving


def wait_for_state(service: Service, answer_id: str, state: str) -> dict[str, Any]:
    """The answer once it is in a state; there is no event for what happens after a client has left."""
    for _ in range(500):
        answer: dict[str, Any] = service.client.get(f"/v1/answers/{answer_id}").json()
        if answer["status"] == state:
            return answer
        time.sleep(0.01)
    raise AssertionError(f"{answer_id} is {answer['state']}, and not {state}")


def test_an_answer_is_cited_and_can_be_read_again(service: Service) -> None:
    response = service.ask(BATS, fresh=True)
    assert response.status_code == 201
    answer = response.json()
    assert answer["status"] == "done"
    assert answer["outcome"] == "answered"
    assert "echolocation" in answer["answer"]
    assert all(sentence["supported"] for sentence in answer["sentences"])
    assert answer["references"][0]["url"] == "https://notes.example/bats"
    assert service.client.get(response.headers["Location"]).json() == answer


def test_the_events_of_a_question_end_with_the_whole_answer(service: Service) -> None:
    with service.events("What causes the tides?") as stream:
        events = list(stream)
    names = [event.name for event in events]
    assert names[:2] == ["searching", "searched"]
    assert {"fetched", "ranked", "token", "scored"} <= set(names)
    assert names[-1] == "done"
    ranked = next(event for event in events if event.name == "ranked")
    done = events[-1].data
    assert ranked.data["references"] == done["references"]
    assert [event.id for event in events] == [f"{done['id']}.{n}" for n in range(1, len(events) + 1)]
    assert service.client.get(f"/v1/answers/{done['id']}").json() == done


def test_a_body_may_ask_for_the_stream_and_a_header_alone_resumes_it(service: Service) -> None:
    body = {"question": "What thickens honey?", "stream": True}
    with service.client.stream("POST", "/v1/answers", json=body) as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        events = list(read_events(response))
    assert events[-1].name == "done"
    seen = {"Last-Event-ID": events[-2].id}
    with service.client.stream("POST", "/v1/answers", json=body, headers=seen) as response:
        assert [event.id for event in read_events(response)] == [events[-1].id]


def test_a_client_that_was_cut_off_gets_the_rest(slow: Service, search: Search) -> None:
    with slow.events("Why?") as stream:
        first = next(stream)
        assert first.name == "searching"
        search.await_question()
    search.gate.set()
    with slow.events("Why?", **{"Last-Event-ID": first.id}) as stream:
        rest = list(stream)
    assert rest[0].id == first.id.replace(".1", ".2")
    assert rest[-1].name == "done"
    assert len(search.questions) == 1


def test_another_process_says_that_it_has_not_the_events(
    settings: Callable[..., Settings], search: Search
) -> None:
    """What runs elsewhere cannot be resumed, and once it is done, every process tells its end."""
    both = settings(search__providers="searxng", search__searxng_url=search.url, search__seconds=15)
    with serving(both) as one, serving(both) as other, one.events("Why?") as stream:
        first = next(stream)
        search.await_question()
        answer_id = first.id.partition(".")[0]
        wait_for_state(other, answer_id, "running")
        refused = other.client.get(f"/v1/answers/{answer_id}/events", headers={"Last-Event-ID": first.id})
        assert (refused.status_code, refused.json()["type"]) == (409, "/problems/elsewhere")
        search.gate.set()
        *_, last = stream
        with other.client.stream("GET", f"/v1/answers/{answer_id}/events") as again:
            *_, told = read_events(again)
    assert (last.name, told.name) == ("done", "done")
    assert told.data == last.data


def test_the_events_of_a_finished_answer_can_be_had_again(service: Service) -> None:
    answer = service.ask(BATS, fresh=True).json()
    with service.client.stream("GET", f"/v1/answers/{answer['id']}/events") as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        events = list(read_events(response))
    assert events[-1].data == answer


def test_a_known_answer_is_given_again_unless_a_fresh_one_is_wanted(service: Service) -> None:
    question = "What do bees make honey from?"
    first = service.ask(question).json()
    again = service.ask(f"  {question} ").json()
    fresh = service.ask(question, fresh=True).json()
    assert [first["cached"], again["cached"], fresh["cached"]] == [False, True, False]
    assert again["answer"] == first["answer"]
    assert len({first["id"], again["id"], fresh["id"]}) == 3


def test_the_same_question_with_other_options_is_another_one(service: Service) -> None:
    service.ask(BATS)
    answer = service.ask(BATS, k=1).json()
    assert not answer["cached"]
    assert len(answer["references"]) == 1
    assert answer["options"] == {"k": 1}


def test_equal_questions_share_one_run(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(slow.ask, "Why?") for _ in range(3)]
        search.await_question()
        while len(slow.client.get("/v1/answers").json()["answers"]) < 3:
            time.sleep(0.01)
        search.gate.set()
        states = [answer.result().json()["status"] for answer in answers]
    assert states == ["done"] * 3
    assert len(search.questions) == 1


def test_beyond_the_queue_a_question_is_refused_at_once(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow.ask, "One?")
        search.await_question()
        second = pool.submit(slow.ask, "Two?")
        while not slow.client.get("/ready").json()["waiting"]:
            time.sleep(0.01)
        third = slow.ask("Three?")  # while the others are still held
        assert third.status_code == 429
        assert int(third.headers["Retry-After"]) >= 1
        assert third.json()["type"] == "/problems/queue-full"
        search.gate.set()
        assert [first.result().status_code, second.result().status_code] == [201, 201]


def test_a_question_that_waits_too_long_is_given_back(start: Any, search: Search) -> None:
    service = start(
        search__providers="searxng",
        search__searxng_url=search.url,
        search__seconds=15,
        server__concurrency=1,
        server__queue_seconds=0.1,
    )
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(service.ask, "One?")
        search.await_question()
        second = service.ask("Two?")
        assert second.status_code == 503
        assert second.json()["type"] == "/problems/queue-late"
        search.gate.set()
        assert first.result().status_code == 201


def test_a_question_that_takes_too_long_is_stopped(start: Any, search: Search) -> None:
    service = start(search__providers="searxng", search__searxng_url=search.url, server__answer_seconds=0.2)
    response = service.ask("Why?")
    assert response.status_code == 504
    assert response.json()["type"] == "/problems/answer-late"
    asked = service.client.get("/v1/answers").json()["answers"][0]
    assert asked["status"] == "failed"
    stored = service.client.get(f"/v1/answers/{asked['id']}").json()
    assert stored["problem"]["type"] == "/problems/answer-late"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_leaves_cancels_its_question(slow: Service, search: Search, accept: str) -> None:
    body = b'{"question": "Why?"}'
    with socket.create_connection(("127.0.0.1", slow.client.base_url.port or 0)) as client:
        client.sendall(
            f"POST /v1/answers HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        search.await_question()
        while not (listed := slow.client.get("/v1/answers").json()["answers"]):
            time.sleep(0.01)
    stored = wait_for_state(slow, listed[0]["id"], "cancelled")
    assert stored["problem"]["type"] == "/problems/cancelled"
    assert slow.client.get("/ready").json()["running"] == 0


def test_answers_are_listed_page_by_page_and_found_by_their_words(start: Any) -> None:
    service = start()
    for question in ("What is honey?", "What are tides?", "Where do BATS live?"):
        service.ask(question)
    first = service.client.get("/v1/answers", params={"limit": 2}).json()
    second = service.client.get("/v1/answers", params={"limit": 2, "before": first["next"]}).json()
    wrong = service.client.get("/v1/answers", params={"before": "zzz"})
    assert (wrong.status_code, wrong.json()["errors"][0]["where"]) == (400, "before")
    listed = [answer["question"] for answer in first["answers"] + second["answers"]]
    assert listed == ["Where do BATS live?", "What are tides?", "What is honey?"]
    assert second["next"] is None
    found = service.client.get("/v1/answers", params={"query": "bats"}).json()["answers"]
    assert [answer["question"] for answer in found] == ["Where do BATS live?"]


def test_a_deleted_answer_is_gone(service: Service) -> None:
    address = service.ask(BATS, fresh=True).headers["Location"]
    assert service.client.delete(address).status_code == 204
    assert service.client.get(address).status_code == 404
    assert service.client.delete(address).status_code == 404


def test_references_can_be_had_without_an_answer(service: Service) -> None:
    response = service.client.post("/v1/retrieve", json={"question": BATS, "k": 2})
    assert response.status_code == 200
    found = response.json()
    assert found["outcome"] == "retrieved"
    assert [reference["url"] for reference in found["references"]] == ["https://notes.example/bats"]
    assert "answer" not in found


def test_a_question_may_name_its_collection(start: Any, search: Search) -> None:
    search.gate.set()
    service = start(search__providers="searxng", search__searxng_url=search.url)
    answer = service.ask(BATS, collection="notes").json()
    assert answer["outcome"] == "answered"
    assert not search.questions
    missing = service.ask(BATS, collection="nothing")
    assert missing.status_code == 404
    assert missing.json()["type"] == "/problems/no-collection"


def test_an_option_that_is_null_is_as_if_left_out(service: Service) -> None:
    options = (
        "k",
        "search",
        "collection",
        "sites",
        "language",
        "recency",
        "mode",
        "best_of",
        "fresh",
        "stream",
    )
    answer = service.ask(BATS, **dict.fromkeys(options)).json()
    assert (answer["status"], answer["mode"], answer["options"]) == ("done", "answer", {})


def test_sites_narrow_what_the_service_searches_and_never_widen_it(start: Any) -> None:
    service = start(search__sites="notes.example")
    assert service.ask(BATS, sites=["notes.example"]).json()["outcome"] == "answered"
    refused = service.ask(BATS, sites=["elsewhere.example"])
    assert refused.status_code == 400
    assert "elsewhere.example" in refused.json()["detail"]


def test_a_question_that_is_deleted_while_it_is_worked_on_is_given_up(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(slow.ask, "Why?")
        search.await_question()
        while not (listed := slow.client.get("/v1/answers").json()["answers"]):
            time.sleep(0.01)
        assert listed[0]["status"] == "running"
        assert slow.client.delete(f"/v1/answers/{listed[0]['id']}").status_code == 204
        assert asking.result().json()["type"] == "/problems/cancelled"
    assert slow.client.get("/v1/answers").json()["answers"] == []


def test_a_question_that_is_cancelled_stays_in_the_history(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(2) as pool:
        asking = pool.submit(slow.ask, "Why?")
        search.await_question()
        while not (listed := slow.client.get("/v1/answers").json()["answers"]):
            time.sleep(0.01)
        address = f"/v1/answers/{listed[0]['id']}"
        assert slow.client.post(f"{address}/cancel").status_code == 204
        assert asking.result().json()["type"] == "/problems/cancelled"
    wait_for_state(slow, listed[0]["id"], "cancelled")
    assert slow.client.get("/ready").json()["running"] == 0
    assert slow.client.post(f"{address}/cancel").status_code == 204  # it has ended, and stays as it is
    assert slow.client.get(address).json()["status"] == "cancelled"
    assert slow.client.post("/v1/answers/none/cancel").status_code == 404


def test_one_of_two_who_asked_the_same_cancels_for_itself_alone(slow: Service, search: Search) -> None:
    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(slow.ask, "Why?") for _ in range(2)]
        search.await_question()
        while len(listed := slow.client.get("/v1/answers").json()["answers"]) < 2:
            time.sleep(0.01)
        assert slow.client.post(f"/v1/answers/{listed[0]['id']}/cancel").status_code == 204
        wait_for_state(slow, listed[0]["id"], "cancelled")
        search.gate.set()
        assert sorted(each.result().status_code for each in asking) == [201, 499]


def test_the_events_of_a_failed_question_end_with_its_problem(start: Any, search: Search) -> None:
    service = start(search__providers="searxng", search__searxng_url=search.url, server__answer_seconds=0.2)
    with service.events("Why?") as stream:
        events = list(stream)
    assert events[-1].name == "error"
    assert events[-1].data["type"] == "/problems/answer-late"
    answer_id, _, _ = events[-1].id.rpartition(".")
    headers = {"Last-Event-ID": events[-2].id}
    with service.client.stream("GET", f"/v1/answers/{answer_id}/events", headers=headers) as response:
        assert list(read_events(response)) == events[-1:]


def test_many_clients_follow_one_question(slow: Service, search: Search) -> None:
    def ask(number: int) -> str:
        with slow.events("Why?") as stream:
            return [event.name for event in stream][-1]

    with ThreadPoolExecutor(50) as pool:
        followers = [pool.submit(ask, number) for number in range(50)]
        search.await_question()
        search.gate.set()
        assert {follower.result() for follower in followers} == {"done"}
    listed = slow.client.get("/v1/answers", params={"limit": 100}).json()["answers"]
    assert [answer["status"] for answer in listed] == ["done"] * 50
