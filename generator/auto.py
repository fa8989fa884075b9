"""The generator that `auto` stands for: a configured server, the best installed writer, or quotations."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from citewell.core.errors import ModelError, ServiceAnswerError, ServiceUnreachableError
from citewell.core.http_service import redact
from citewell.core.models.catalog import CatalogModel, catalog
from citewell.core.models.installed import installed_path
from citewell.core.packages import need_packages
from citewell.core.settings import GeneratorSettings

AUTO = "auto"
EXTRACTIVE = "extractive"
OPENAI = "openai:"
KEY_VARIABLE = "OPENAI_API_KEY"

_SECONDS = 10.0  # for the list of a server's models


class AutoGenerator(NamedTuple):
    """Settings that name a generator, and a sentence for the user if that is none that writes."""

    settings: GeneratorSettings
    notice: str = ""


def resolve_auto(wanted: GeneratorSettings, environment: Mapping[str, str] = os.environ) -> AutoGenerator:
    """Replace the name `auto` by that of a generator; settings with another name stay as they are.

    A server counts as configured if `generator.base_url` is set: a key in the environment may be there for
    other programs. Raises a `ServiceError` if the server does not list its models, and `ModelError` if it has
    several.
    """
    if wanted.name != AUTO:
        return AutoGenerator(wanted)
    if wanted.base_url not in ("", GeneratorSettings.model_fields["base_url"].default):
        return AutoGenerator(_named(wanted, OPENAI + _only_model(wanted, environment)))
    for writer in writers():
        if installed_path(writer.name):
            return AutoGenerator(_named(wanted, writer.name))
    best = writers()[0]
    return AutoGenerator(
        _named(wanted, EXTRACTIVE),
        "Answers quote their references, since no language model is installed. To have them written: "
        f"citewell models get {best.name} ({best.bytes / 1e9:.1f} GB).",
    )


def writers() -> list[CatalogModel]:
    """Return the language models of the catalog that `auto` may choose, the best first."""
    return sorted((model for model in catalog().values() if model.rank), key=lambda model: model.rank)


def _named(wanted: GeneratorSettings, name: str) -> GeneratorSettings:
    return wanted.model_copy(update={"name": name})


def _only_model(wanted: GeneratorSettings, environment: Mapping[str, str]) -> str:
    need_packages("A language model at generator.base_url", "openai", "openai")
    import openai

    from citewell.generator.chat_client import unusable

    url = wanted.base_url.rstrip("/").removesuffix("/chat/completions")
    key = (wanted.key.get_secret_value() or environment.get(KEY_VARIABLE, "")).strip()
    if error := unusable(url, key):
        raise error
    headers = {} if key else {"Authorization": openai.Omit()}
    hint = "Start it, or name its model: generator.name = openai:MODEL."
    try:
        with openai.OpenAI(api_key=key or "none", base_url=url, timeout=_SECONDS, max_retries=1) as client:
            models = [f"{model.id}" for model in client.models.list(extra_headers=headers) if model.id]
    except openai.OpenAIError as error:
        raise ServiceUnreachableError(
            redact(f"The language model server {url} does not list its models: {error}", (key,)), hint
        ) from None
    except (AttributeError, TypeError, ValueError):
        raise ServiceAnswerError(
            redact(f"The language model server {url} sent something that is not a list of models.", (key,)),
            "The address of an API often ends with /v1.",
        ) from None
    if len(models) != 1:
        shown = ", ".join(models[:5]) or "none"
        raise ModelError(
            f"The language model server {url} has {len(models)} models ({shown}), and none is named.",
            "Name one: generator.name = openai:MODEL.",
        )
    return models[0]
