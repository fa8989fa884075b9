"""The description of the API is OpenAPI 3.1, and what the API sends is as it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from benchmarks.small_service import BATS
from tests.server.api.conftest import Service

FORMATS_OF_OTHERS = ("ProblemDetails", "RankedDocument")
"""RFC 9457, and the reranking of Cohere and Jina: there, what is not known is left out."""


@pytest.fixture(scope="module")
def description(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = service.client.get("/schema").json()
    return found


def operations(description: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_operation_says_what_it_does_and_what_may_go_wrong(description: dict[str, Any]) -> None:
    assert description["openapi"].startswith("3.1")
    for name, operation in operations(description):
        assert operation["summary"], name
        assert re.fullmatch("[a-z]+(_[a-z]+)+", operation["operationId"]), name
        assert operation["description"], name
        errors = {status: reply for status, reply in operation["responses"].items() if status >= "400"}
        assert {"400", "500"} <= set(errors), name
        if "/v1/" in name:
            assert {"401", "403", "503"} <= set(errors), name
        for status, reply in errors.items():
            kinds = set(reply["content"])
            own = "openai" in operation["tags"] or (name, status) == ("GET /ready", "503")
            assert kinds == {"application/json" if own else "application/problem+json"}, name


def test_every_operation_has_a_name_of_its_own(description: dict[str, Any]) -> None:
    """Generated clients call their methods by these names."""
    names = [operation["operationId"] for _, operation in operations(description)]
    assert len(names) == len(set(names))
    assert {"ask_question", "get_answer", "list_collections", "create_chat_completion"} <= set(names)


def test_every_body_has_an_example_for_what_is_needed(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    for name, operation in operations(description):
        if "requestBody" in operation:
            (content,) = operation["requestBody"]["content"].values()
            schema = schemas[content["schema"]["$ref"].rpartition("/")[2]]
            # Clients of OpenAI's API send what they like, and forms may have other fields.
            is_form = "multipart/form-data" in operation["requestBody"]["content"]
            is_open = "openai" in operation["tags"] or is_form
            assert schema.get("additionalProperties") is False or is_open, name
            for key in schema["required"]:
                value = schema["properties"][key]
                assert "examples" in value or "$ref" in str(value), (name, key)


def test_what_is_not_there_is_null(description: dict[str, Any]) -> None:
    """Of no field does an empty text, or its absence, mean that there is nothing."""
    for name, schema in description["components"]["schemas"].items():
        if name in FORMATS_OF_OTHERS:
            continue
        for key, shape in schema.get("properties", {}).items():
            assert shape.get("default") != "", (name, key)
            is_list = shape.get("type") in ("array", "object")
            is_any = not shape.keys() - {"description"}
            is_there = key in schema.get("required", ()) or "default" in shape
            assert is_there or is_list or is_any or '"null"' in json.dumps(shape), (name, key)


def test_replies_are_as_they_are_described(service: Service, description: dict[str, Any]) -> None:
    address = service.ask(BATS).headers["Location"]
    begun = service.client.post("/v1/demonstrations", json={"question": BATS})
    replies = (
        (service.client.get(address), "AnswerResponse"),
        (service.client.post("/v1/retrieve", json={"question": BATS, "language": None}), "RetrieveResponse"),
        (service.client.get("/v1/answers/none"), "ProblemDetails"),
        (service.client.get("/v1/answers"), "AnswerList"),
        (service.client.get("/v1/collections"), "CollectionList"),
        (begun, "Demonstration"),
    )
    for reply, name in replies:
        schema = {"$ref": f"#/components/schemas/{name}"} | {"components": description["components"]}
        Draft202012Validator(schema).validate(reply.json())
        shown = description["components"]["schemas"][name]
        assert name in FORMATS_OF_OTHERS or shown["required"] == sorted(reply.json())
    answered = replies[0][0].json()
    assert [answered[key] for key in ("fallback", "rewritten", "problem")] == [None] * 3
    assert {each["before"] for each in answered["sentences"]} == {None}
    assert {each["date"] for each in answered["references"]} == {None}
    assert begun.json()["view"]["title"] is None
