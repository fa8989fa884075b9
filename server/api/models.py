"""The generators and collections of the service, by the names with which OpenAI's clients choose them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from litestar import get
from litestar.di import NamedDependency
from litestar.params import FromPath

from citewell.server.access.authenticator import Caller
from citewell.server.api.chat_errors import NoModelError, chat_errors, chat_handlers
from citewell.server.api.chat_schemas import ChatModel, ChatModels
from citewell.server.services import Services

USUAL = "citewell"
"""The generator that the settings name."""
_OF_COLLECTION = f"{USUAL}/"

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def full_names(generators: Iterable[str]) -> dict[str, str]:
    """Return the generators by their model names: without what stands before `/`, if that is unique."""
    names = {name: _full_name(name.rpartition("/")[2]) for name in generators}
    uses = Counter(names.values())
    return {full if uses[full] == 1 else _full_name(name): name for name, full in names.items()}


def _full_name(generator: str) -> str:
    own = _UNFIT.sub("-", generator).strip("-")
    return own if own.startswith(f"{USUAL}-") else f"{USUAL}-{own}"


class ChosenModel(NamedTuple):
    """A model as replies name it, and the collection that it asks or the generator, if it names one."""

    name: str
    collection: str | None = None
    generator: str = ""


async def known_models(services: Services, caller: Caller) -> tuple[str, ...]:
    """Return the models that a caller may use; raises `NotReadyError` until they are loaded."""
    generators = full_names(services.pipelines.get().generators)
    collections = await services.shared.names(caller)
    return (USUAL, *generators, *(_OF_COLLECTION + name for name in collections))


async def chosen_model(services: Services, caller: Caller, name: str) -> ChosenModel:
    """Return a model by its name; raises `NoModelError` if it does not exist."""
    known = await known_models(services, caller)
    if name not in known:
        raise NoModelError(name, known)
    if name.startswith(_OF_COLLECTION):
        return ChosenModel(name, name.removeprefix(_OF_COLLECTION))
    if name in (USUAL, known[1]):
        return ChosenModel(known[1])
    return ChosenModel(name, generator=full_names(services.pipelines.get().generators)[name])


@get(
    "/v1/models",
    opt={"scope": "ask"},
    summary="List the models",
    responses=chat_errors(),
    exception_handlers=chat_handlers(),
    tags=["openai"],
)
async def list_models(services: NamedDependency[Services], caller: NamedDependency[Caller]) -> ChatModels:
    """All generators, in the format of OpenAI's API, and `citewell/NAME` for each collection.

    `citewell` is the generator that the settings name.
    """
    return ChatModels([ChatModel(name) for name in await known_models(services, caller)])


@get(
    "/v1/models/{model:path}",
    opt={"scope": "ask"},
    summary="Read a model",
    responses=chat_errors(404),
    exception_handlers=chat_handlers(),
    tags=["openai"],
)
async def get_model(
    services: NamedDependency[Services], caller: NamedDependency[Caller], model: FromPath[str]
) -> ChatModel:
    """One model by its name."""
    name = model.removeprefix("/")
    await chosen_model(services, caller, name)
    return ChatModel(name)
