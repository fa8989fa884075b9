"""Embeddings by the official `openai` client, and reranking, as the ranking of passages does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import openai
import pytest

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from citewell.retriever.encoder.two_towers import TwoTowers
from tests.server.api.conftest import Service, make_key, serving

TEXTS = ["Bees make honey from nectar.", "Bats find their way by echolocation.", "The Moon causes tides."]


@pytest.fixture
def client(service: Service) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def vectors_of(client: openai.OpenAI, texts: Any, **more: Any) -> Any:
    made = client.embeddings.create(model="citewell", input=texts, **more)
    assert [each.index for each in made.data] == list(range(len(made.data)))
    return np.array([each.embedding for each in made.data])


def test_vectors_are_those_of_the_configured_encoder(client: openai.OpenAI) -> None:
    passages = vectors_of(client, TEXTS)
    question = vectors_of(client, BATS, extra_body={"input_type": "query"})
    assert passages.shape == (3, 384)
    assert int((passages @ question.T).argmax()) == 1
    as_numbers = vectors_of(client, TEXTS, encoding_format="float")
    assert np.allclose(as_numbers, passages, atol=1e-6)  # the client asks for base64 by itself
    made = client.embeddings.create(model="e5-small", input="A text.", dimensions=384)
    assert (made.model, made.usage.total_tokens) == ("e5-small", 3)


def test_many_texts_come_in_their_order(settings: Callable[..., Settings], encoder: TwoTowers) -> None:
    texts = [f"Note {number} says that {number} bats flew." for number in range(70)]
    with (
        serving(settings(retriever__encoder="all-MiniLM-L6-v2")) as service,
        openai.OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0) as client,
    ):
        vectors = vectors_of(client, texts)
    assert np.allclose((vectors * encoder.encode_passages(texts)).sum(axis=1), 1, atol=0.02)


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"input": [[1, 2], [3]]}, "input"),
        ({"input": "x", "dimensions": 256}, "dimensions"),
        ({"input": "x", "truncate": True}, "truncate"),
        ({"input": []}, None),
        ({"input": ["x", " "]}, None),
        ({"input": ["x"] * 2049}, None),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    service: Service, body: dict[str, Any], parameter: str | None
) -> None:
    reply = service.client.post("/v1/embeddings", json=body)
    assert reply.status_code == 400
    error = reply.json()["error"]
    assert (error["type"], error["param"]) == ("invalid_request_error", parameter)


def test_another_model_is_not_pretended(service: Service, client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="Models: citewell, e5-small"):
        client.embeddings.create(model="text-embedding-3-small", input="x")
    reply = service.client.post("/v1/rerank", json={"query": BATS, "documents": TEXTS, "model": "rerank-v3"})
    assert (reply.status_code, reply.json()["type"]) == (404, "/problems/no-model")


def test_texts_are_ranked_for_a_query(service: Service) -> None:
    documents = [TEXTS[0], {"text": TEXTS[1]}, TEXTS[2]]
    reply = service.client.post("/v1/rerank", json={"query": BATS, "documents": documents})
    assert reply.status_code == 200
    results = reply.json()["results"]
    assert sorted(each["index"] for each in results) == [0, 1, 2]
    assert results[0]["index"] == 1
    scores = [each["relevance_score"] for each in results]
    assert scores == sorted(scores, reverse=True)
    assert all("document" not in each for each in results)

    best = {"query": BATS, "documents": documents, "top_n": 1, "return_documents": True}
    (only,) = service.client.post("/v1/rerank", json=best).json()["results"]
    assert only == results[0] | {"document": {"text": TEXTS[1]}}


def test_an_option_that_is_null_is_as_if_left_out(service: Service) -> None:
    plain = {"/v1/embeddings": {"input": TEXTS[0]}, "/v1/rerank": {"query": BATS, "documents": TEXTS}}
    nulls = {
        "/v1/embeddings": {"input_type": None, "encoding_format": None, "dimensions": None},
        "/v1/rerank": {"top_n": None, "return_documents": None},
    }
    for path, body in plain.items():
        given, left_out = (service.client.post(path, json=each) for each in (body | nulls[path], body))
        assert (given.status_code, given.json()) == (200, left_out.json())


@pytest.mark.parametrize(
    "body", [{"documents": []}, {"query": " "}, {"documents": [{"title": "x"}]}, {"top_n": 0}, {"rank": 1}]
)
def test_a_wrong_request_to_rank_is_a_problem(service: Service, body: dict[str, Any]) -> None:
    reply = service.client.post("/v1/rerank", json={"query": BATS, "documents": TEXTS} | body)
    assert reply.status_code == 400
    assert reply.headers["Content-Type"] == "application/problem+json"


def test_keys_and_their_limits_hold(settings: Callable[..., Settings]) -> None:
    with serving(settings(server__rate_per_minute=1)) as service:
        asking, exporting = make_key(service, "ask"), make_key(service, "export")
        body = {"input": "A text.", "query": BATS, "documents": TEXTS}
        for path, keys in (("embeddings", ("input",)), ("rerank", ("query", "documents"))):
            own = {key: body[key] for key in keys}
            assert service.client.post(f"/v1/{path}", json=own).status_code == 401
            assert service.client.post(f"/v1/{path}", json=own, headers=exporting).status_code == 403
        first = service.client.post("/v1/embeddings", json={"input": "A text."}, headers=asking)
        second = service.client.post("/v1/embeddings", json={"input": "A text."}, headers=asking)
        assert (first.status_code, second.status_code) == (200, 429)
        assert int(second.headers["Retry-After"]) > 0
        assert first.headers["RateLimit-Policy"] == '"minute";q=1;w=60'
        assert [reply.headers["RateLimit"].split(";t=")[0] for reply in (first, second)] == [
            '"minute";r=0',
            '"minute";r=0',
        ]
        assert 0 < int(first.headers["RateLimit"].partition("t=")[2]) <= 60
        assert "RateLimit" not in service.client.get("/v1/models", headers=asking).headers
        assert second.json()["error"]["type"] == "rate_limit_error"
