"""What people think of answers: stored at once, and exported as the trainer of the scorer reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Service, Start

RATINGS = {"usefulness": 1, "coherence": 0, "unsupported": -1, "overall": 2}


@pytest.fixture(scope="module")
def answer(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.ask(BATS).json()
    return found


def lines(service: Service, name: str) -> list[dict[str, Any]]:
    response = service.client.get(f"/v1/export/{name}")
    assert response.headers["Content-Type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in response.text.split("\n") if line]


def test_a_thumb_is_exported_with_what_it_was_for(start: Start) -> None:
    service = start()
    answer = service.ask(BATS).json()
    given = service.client.post(
        f"/v1/answers/{answer['id']}/feedback",
        json={"thumb": 1, "comment": "Line one.\nLine two.\u2028Three."},
    )
    assert given.status_code == 201
    (row,) = lines(service, "feedback")
    assert row["id"] == given.json()["id"]
    assert (row["question"], row["answer"], row["thumbs"]) == (BATS, answer["answer"], 1)
    assert row["references"] == [reference["text"] for reference in answer["references"]]


def test_feedback_outlives_its_answer(start: Start) -> None:
    service = start()
    address = service.ask(BATS).headers["Location"]
    service.client.post(f"{address}/feedback", json={"thumb": -1})
    service.client.delete(address)
    assert [row["thumbs"] for row in lines(service, "feedback")] == [-1]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"thumb": -1, "sentence": 0}, 201),
        ({"comment": "Good."}, 201),
        ({"sentence": 0}, 201),
        ({"thumb": 0}, 201),
        ({}, 400),
        ({"comment": "  "}, 400),
        ({"thumb": 2}, 400),
        ({"thumb": -1, "sentence": 99}, 400),
        ({"thumb": 1, "more": 1}, 400),
        ({"comment": "a" * 10_001}, 400),
    ],
)
def test_feedback_is_checked(
    service: Service, answer: dict[str, Any], body: dict[str, Any], status: int
) -> None:
    response = service.client.post(f"/v1/answers/{answer['id']}/feedback", json=body)
    assert response.status_code == status


def test_a_comparison_of_an_answer_with_a_text_is_exported(start: Start) -> None:
    service = start()
    answer = service.ask(BATS).json()
    body = {
        "question": BATS,
        "answers": [
            {"answer_id": answer["id"]},
            {"text": "By ear. [1]", "references": ["Bats hear."]},
        ],
    }
    made = service.client.post("/v1/comparisons", json=body | RATINGS)
    assert made.status_code == 201
    (row,) = lines(service, "comparisons")
    assert row["preferred"] == 1
    first, second = row["answers"]
    assert first["text"] == answer["answer"]
    assert second == {"text": "By ear. [1]", "references": ["Bats hear."], "answer_id": None}


def test_what_was_said_of_sources_and_sentences_is_exported(start: Start) -> None:
    service = start()
    answer = service.ask(BATS).json()
    trust = [{"reference": 1, "trust": "high"}]
    claims = [{"sentence": 0, "support": "strong", "relevance": "core"}]
    judged = {"answer_id": answer["id"], "trust": trust, "claims": claims}
    body = {"question": BATS, "answers": [judged, {"text": "By ear."}]} | RATINGS
    assert service.client.post("/v1/comparisons", json=body).status_code == 201
    (row,) = lines(service, "comparisons")
    assert row["answers"][0]["trust"] == trust
    assert row["answers"][0]["claims"] == [claims[0] | {"text": answer["sentences"][0]["text"]}]
    for wrong in (
        {"trust": [{"reference": 99, "trust": "high"}]},
        {"trust": trust * 2},
        {"claims": [{"sentence": 99, "support": "none"}]},
        {"claims": [{"sentence": 0, "support": "some"}]},
    ):
        refused = service.client.post("/v1/comparisons", json=body | {"answers": [judged | wrong] * 2})
        assert refused.status_code == 400, wrong


def test_a_flagged_question_needs_no_ratings(start: Start) -> None:
    service = start()
    body = {"question": "Colourless green?", "answers": [{"text": "One."}, {"text": "Two."}]}
    assert service.client.post("/v1/comparisons", json=body).status_code == 400
    assert service.client.post("/v1/comparisons", json=body | {"flag": "unclear"}).status_code == 201
    (row,) = lines(service, "comparisons")
    assert (row["flag"], row["preferred"], row["overall"]) == ("unclear", None, None)


def test_ratings_are_exported(start: Start) -> None:
    service = start()
    answer = service.ask(BATS).json()
    scores = {"fluency": 3, "correctness": 2, "citations": 3, "objectivity": 1, "redundancy": 0}
    of_each = {"relevancy": 3, "density": 2, "toxicity": 0, "bias": 0}
    body = {"answer": scores, "references": [of_each for _ in answer["references"]], "rater": "Ada"}
    assert service.client.post(f"/v1/answers/{answer['id']}/ratings", json=body).status_code == 201
    first, second, *_ = lines(service, "ratings")
    assert (first["kind"], first["item"], first["scores"]) == ("answer", answer["id"], scores)
    assert (second["kind"], second["item"]) == ("reference", f"{answer['id']}#1")
    assert second["scores"] == of_each
    assert first["rater"] == second["rater"] != "name Ada"
    assert first["system"] == answer["models"]["generator"]
    body["answer"] = scores | {"fluency": 1}
    assert service.client.post(f"/v1/answers/{answer['id']}/ratings", json=body).status_code == 201
    again = lines(service, "ratings")
    assert len(again) == 1 + len(answer["references"]), "of a rater on an item, the last rating"
    assert again[0]["scores"]["fluency"] == 1


@pytest.mark.parametrize("rater", [{}, {"rater": None}, {"rater": ""}, {"rater": "  "}])
def test_ratings_without_a_rater_are_refused(
    service: Service, answer: dict[str, Any], rater: dict[str, Any]
) -> None:
    scores = {"fluency": 3, "correctness": 2, "citations": 3, "objectivity": 1, "redundancy": 0}
    of_each = {"relevancy": 3, "density": 2, "toxicity": 0, "bias": 0}
    body = {"answer": scores, "references": [of_each for _ in answer["references"]]} | rater
    refused = service.client.post(f"/v1/answers/{answer['id']}/ratings", json=body)
    assert (refused.status_code, "There is no `rater`." in refused.text) == (400, True), refused.text
    assert lines(service, "ratings") == []


def test_a_ranking_with_ties_is_exported(start: Start) -> None:
    service = start()
    answer = service.ask(BATS).json()
    answers = [{"text": "By sight."}, {"answer_id": answer["id"]}, {"text": "By eye."}]
    body = {"question": BATS, "answers": answers, "ranks": [2, 1, 2]}
    assert service.client.post("/v1/rankings", json=body).status_code == 201
    (row,) = lines(service, "rankings")
    assert (row["answers"], row["ranks"]) == (["By sight.", answer["answer"], "By eye."], [2, 1, 2])
    assert row["references"] == [reference["text"] for reference in answer["references"]]
    for changes in ({"ranks": [1, 2]}, {"ranks": [0, 1, 2]}, {"answers": answers[:1], "ranks": [1]}):
        assert service.client.post("/v1/rankings", json=body | changes).status_code == 400


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"overall": 3}, 400),
        ({"overall": 0.5}, 400),
        ({"answers": [{"text": "One."}]}, 400),
        ({"answers": [{"text": "One."}, {}]}, 400),
        ({"answers": [{"text": "One."}, {"answer_id": "none"}]}, 404),
        ({"more": 1}, 400),
    ],
)
def test_a_comparison_is_checked(service: Service, changes: dict[str, Any], status: int) -> None:
    body = {"question": BATS, "answers": [{"text": "One."}, {"text": "Two."}]} | RATINGS | changes
    assert service.client.post("/v1/comparisons", json=body).status_code == status
