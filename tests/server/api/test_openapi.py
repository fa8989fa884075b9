"""The description of the API is OpenAPI 3.1, and what the API sends is as it says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.server.api.conftest import BATS, Service


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


def test_an_answer_is_as_it_is_described(service: Service, description: dict[str, Any]) -> None:
    address = service.ask(BATS).headers["Location"]
    problem = service.client.get("/v1/answers/none").json()
    history = service.client.get("/v1/answers").json()
    for value, name in (
        (service.client.get(address).json(), "AnswerResponse"),
        (problem, "ProblemDetails"),
        (history, "AnswerList"),
    ):
        schema = {"$ref": f"#/components/schemas/{name}"} | {"components": description["components"]}
        Draft202012Validator(schema).validate(value)
