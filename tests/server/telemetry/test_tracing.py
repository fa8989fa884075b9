"""A collector that speaks OpenTelemetry's protocol gets one trace a question, and a span a stage."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from benchmarks.small_service import BATS
from citewell.core.errors import SettingsError
from citewell.core.settings import Settings
from tests.server.api.conftest import Search, serving
from tests.server.telemetry.conftest import Collector

Make = Callable[..., Settings]
STAGES = ["queue", "search", "fetch", "rank", "generate", "check", "score"]


def attributes(span: Span) -> dict[str, str | int]:
    return {
        attribute.key: attribute.value.string_value or attribute.value.int_value
        for attribute in span.attributes
    }


def test_a_question_is_a_trace_with_a_span_for_each_stage(settings: Make, collector: Collector) -> None:
    with serving(settings(server__otlp_endpoint=collector.url)) as service:
        answer = service.ask(BATS).json()
    assert set(collector.paths) == {"/v1/traces"}
    (trace,) = collector.traces
    root = trace.pop("question")
    assert list(trace) == STAGES
    assert attributes(root) == {
        "citewell.answer.id": answer["id"],
        "citewell.mode": "answer",
        "citewell.result": "answered",
    }
    assert root.parent_span_id == b""
    assert all(span.parent_span_id == root.span_id for span in trace.values())
    times = [root.start_time_unix_nano]
    for span in trace.values():
        assert span.start_time_unix_nano == times[-1], span.name
        times.append(span.end_time_unix_nano)
    assert sorted(times) == times
    assert times[-1] <= root.end_time_unix_nano
    for stage in STAGES[1:]:
        seconds = (trace[stage].end_time_unix_nano - trace[stage].start_time_unix_nano) / 1e9
        assert seconds == pytest.approx(answer["timings"][stage], abs=0.05)
    assert attributes(trace["search"])["citewell.hits"] == 1
    assert attributes(trace["rank"])["citewell.references"] == len(answer["references"])
    assert [event.name for event in trace["fetch"].events] == ["fetched"]
    (resource,) = {request.resource_spans[0].resource.SerializeToString() for request in collector.requests}
    assert b"service.name" in resource
    assert b"citewell" in resource


def test_traces_say_nothing_of_what_was_asked_read_or_answered(settings: Make, collector: Collector) -> None:
    with serving(settings(server__otlp_endpoint=f"{collector.url}/")) as service:
        service.ask(BATS)
    sent = b"".join(collector.bodies).lower()
    assert b"score" in sent
    for word in (b"bats", b"echolocation", b"notes.example"):
        assert word not in sent


def test_known_shared_and_refused_questions_are_traces_without_stages(
    settings: Make, search: Search, collector: Collector
) -> None:
    changed = settings(
        server__otlp_endpoint=collector.url,
        search__providers="searxng",
        search__searxng_url=search.url,
        search__seconds=30,
        server__concurrency=1,
        server__queue=0,
    )
    with serving(changed) as service, ThreadPoolExecutor(2) as pool:
        first = pool.submit(service.ask, "Why?")
        search.await_question()
        second = pool.submit(service.ask, "Why?")
        while len(service.client.get("/v1/answers").json()["answers"]) < 2:
            time.sleep(0.01)
        assert service.ask("How?").status_code == 429
        search.gate.set()
        assert {first.result().status_code, second.result().status_code} == {201}
        assert service.ask("Why?").json()["cached"]
    results = [attributes(trace["question"])["citewell.result"] for trace in collector.traces]
    assert results == ["no_evidence", "no_evidence", "refused", "cached"]
    assert [len(trace) for trace in collector.traces] == [5, 1, 1, 1]
    refused = collector.traces[2]["question"]
    assert refused.status.code == Status.STATUS_CODE_ERROR
    assert attributes(refused)["error.type"] == "queue-full"


def test_a_question_that_failed_ends_in_the_stage_that_failed(settings: Make, collector: Collector) -> None:
    changed = settings(
        server__otlp_endpoint=collector.url,
        search__providers="searxng",
        search__searxng_url="http://127.0.0.1:1",
        search__seconds=0.3,
    )
    with serving(changed) as service:
        assert service.ask("Why?").status_code == 504
    (trace,) = collector.traces
    assert set(trace) == {"question", "queue", "search"}
    for name in ("question", "search"):
        assert trace[name].status.code == Status.STATUS_CODE_ERROR
        assert attributes(trace[name])["error.type"] == "service-unreachable"
    assert trace["queue"].status.code == Status.STATUS_CODE_UNSET


def test_a_collector_that_is_away_costs_nothing_but_its_traces(settings: Make) -> None:
    with serving(settings(server__otlp_endpoint="http://127.0.0.1:1")) as service:
        assert service.ask(BATS).json()["status"] == "done"
        began = time.monotonic()
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("endpoint", ["127.0.0.1:4318", "grpc://127.0.0.1:4317"])
def test_an_address_that_does_not_speak_http_is_refused(settings: Make, endpoint: str) -> None:
    with pytest.raises(SettingsError, match="otlp_endpoint"):
        settings(server__otlp_endpoint=endpoint)
