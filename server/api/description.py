"""The description of the API: OpenAPI 3.1, at `/schema`."""

from __future__ import annotations

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

from citewell.server.api import demonstration_schemas, schemas

_TAGS = (
    Tag("answers", "Questions and their answers."),
    Tag("openai", "Questions and their answers, for OpenAI's clients."),
    Tag("demonstrations", "Questions that people answer with the text browser."),
    Tag("feedback", "What people think of answers."),
    Tag("export", "What people thought, for training."),
    Tag("collections", "What is searched, and how it is filled."),
    Tag("health", "The service itself."),
)


class _Description(JsonRenderPlugin):
    """The description as JSON. That bodies have no other keys is added: Litestar leaves it out."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        found = openapi_schema["components"]["schemas"]
        for name, shape in (vars(schemas) | vars(demonstration_schemas)).items():
            closed = isinstance(shape, type) and issubclass(shape, Struct) and shape is not Struct
            if closed and shape.__struct_config__.forbid_unknown_fields and name in found:
                found[name]["additionalProperties"] = False
        return super().render(request, openapi_schema)


def _operation_id(
    handler: HTTPRouteHandler, method: Method, path: list[str | PathParameterDefinition]
) -> str:
    """The name of the handler, or the one that it was given: clients are generated with it."""
    return handler.name or handler.handler_name


def described() -> OpenAPIConfig:
    """How the API is described."""
    key = SecurityScheme(type="http", scheme="bearer", description="A key made by `citewell keys create`.")
    return OpenAPIConfig(
        title="Citewell",
        version=version("citewell"),
        description="Questions in, answers out: every sentence cited, every citation checked.",
        path="/schema",
        use_handler_docstrings=True,
        operation_id_creator=_operation_id,
        # The pages that Litestar has for looking at the description load their scripts from elsewhere.
        render_plugins=[_Description(path=["/", "/openapi.json"])],
        components=Components(security_schemes={"key": key}),
        security=[{"key": []}, {}],
        tags=list(_TAGS),
    )
