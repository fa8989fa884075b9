"""The generators of the service, under the names by which OpenAI's clients choose them."""

from __future__ import annotations

import re

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath

from citewell.server.api.chat_errors import NoModelError, chat_errors, chat_handlers
from citewell.server.api.chat_schemas import ChatModel, ChatModels
from citewell.server.services import Services

USUAL = "citewell"
"""The generator that the settings name."""
QUOTING = "citewell-extractive"
"""The extractive generator, which every service has."""

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def full_name(generator: str) -> str:
    """Return the model name of a generator; a path is reduced to its last part."""
    own = _UNFIT.sub("-", generator.rstrip("/\\").replace("\\", "/").rpartition("/")[2]).strip("-")
    return own if own.startswith(f"{USUAL}-") else f"{USUAL}-{own}"


def known_models(services: Services) -> tuple[str, ...]:
    """Return the models of the service; raises `NotReadyError` until they are loaded."""
    return tuple(dict.fromkeys((USUAL, full_name(services.pipelines.get().generator), QUOTING)))


def check_model(services: Services, name: str) -> str:
    """Return the full name of a model; raises `NoModelError` if it does not exist."""
    known = known_models(services)
    if name not in known:
        raise NoModelError(name, known)
    return known[1] if name == USUAL else name


@get(
    "/v1/models",
    opt={"scope": "ask"},
    summary="List the models",
    responses=chat_errors(),
    exception_handlers=chat_handlers(),
    tags=["openai"],
)
async def list_models(services: NamedDependency[Services]) -> ChatModels:
    """All generators, in the format of OpenAI's API. `citewell` is the one that the settings name."""
    return ChatModels([ChatModel(name) for name in known_models(services)])


@get(
    "/v1/models/{model:str}",
    opt={"scope": "ask"},
    summary="Read a model",
    responses=chat_errors(404),
    exception_handlers=chat_handlers(),
    tags=["openai"],
)
async def get_model(services: NamedDependency[Services], model: FromPath[str]) -> ChatModel:
    """One generator by its name."""
    check_model(services, model)
    return ChatModel(model)
