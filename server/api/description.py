"""The OpenAPI 3.1 description of the API, at `/schema`."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from typing import Any

from litestar import Request
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme, Tag
from litestar.types import Method
from litestar.types.internal_types import PathParameterDefinition
from msgspec import Struct

from citewell.server.api import (
    demonstration_schemas,
    question_schemas,
    schemas,
    study_schemas,
    text_schemas,
)

_TAGS = (
    Tag("answers", "Ask questions and read answers."),
    Tag("threads", "Read, name, export and delete conversations."),
    Tag("openai", "Ask questions with clients of OpenAI's API."),
    Tag("demonstrations", "Answer questions by hand with the text browser."),
    Tag("feedback", "Rate, compare and rank answers."),
    Tag("studies", "Let people judge the answers of systems blindly, and read the results."),
    Tag("export", "Export human judgments for training."),
    Tag("collections", "List collections and index sources."),
    Tag("health", "Health and metrics of the service."),
)


_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


class _Description(JsonRenderPlugin):
    """The description as JSON, with what Litestar does not tell of the schemas.

    Requests have `additionalProperties: false`. Replies have all their fields, since what is not there is
    null; in formats of others it is left out.
    """

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        found = openapi_schema["components"]["schemas"]
        sent = _sent_by_clients(openapi_schema)
        structs = _structs()
        for name, schema in found.items():
            rules = structs[name].__struct_config__ if name in structs else None
            if rules and rules.forbid_unknown_fields:
                schema["additionalProperties"] = False
            if name not in sent and not (rules and rules.omit_defaults) and "properties" in schema:
                schema["required"] = sorted(schema["properties"])
        return super().render(request, openapi_schema)


def _structs() -> dict[str, type[Struct]]:
    modules = (schemas, question_schemas, demonstration_schemas, text_schemas, study_schemas)
    named = (each for module in modules for each in vars(module).items())
    return {name: shape for name, shape in named if isinstance(shape, type) and issubclass(shape, Struct)}


def _sent_by_clients(described: dict[str, Any]) -> set[str]:
    """Return the names of the schemas in the bodies of requests."""
    operations = [each for methods in described["paths"].values() for each in methods.values()]
    waiting, found = [each.get("requestBody") for each in operations], set[str]()
    while waiting:
        for name in _REFERENCE.findall(json.dumps(waiting.pop())):
            if name not in found:
                found.add(name)
                waiting.append(described["components"]["schemas"][name])
    return found


def _operation_id(
    handler: HTTPRouteHandler, method: Method, path: list[str | PathParameterDefinition]
) -> str:
    """Return the name of the handler, or the one that it was given: clients are generated with it."""
    return handler.name or handler.handler_name


def described() -> OpenAPIConfig:
    """Return the configuration of the OpenAPI description."""
    key = SecurityScheme(
        type="http", scheme="bearer", description="A key created with `citewell keys create`."
    )
    return OpenAPIConfig(
        title="Citewell",
        version=version("citewell"),
        description="Answers questions from web pages and documents, with checked citations. The "
        "[handbook](/docs/service) explains the API.",
        path="/schema",
        use_handler_docstrings=True,
        operation_id_creator=_operation_id,
        # Litestar's own viewers load their scripts from other sites.
        render_plugins=[_Description(path=["/", "/openapi.json"])],
        components=Components(security_schemes={"key": key}),
        security=[{"key": []}, {}],
        tags=list(_TAGS),
    )
