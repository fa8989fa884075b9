"""Saving of a dual encoder in a form that plain sentence-transformers loads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import InputError
from citewell.core.remote_code import untrusted
from citewell.retriever.encoder.engines.torch import load_model
from citewell.retriever.encoder.resolve import Tower, resolve

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


def save_dual_encoder(name: str, folder: Path) -> None:
    """Write the encoder `name` (see `resolve`) as a sentence-transformers model into the new `folder`.

    Adapters are merged. `SentenceTransformer(folder)` gives the vectors of `load_encoder(folder)`: questions
    by `encode_query`, passages by `encode_document`.
    https://sbert.net/docs/package_reference/sentence_transformer/modules.html#router

    Raises `InputError` if the folder exists, and `ModelError` as `resolve` does. Needs
    sentence-transformers, which the extra `train` installs.
    """
    if folder.exists():
        raise InputError(f"The folder {folder} already exists.", "Give the name of a new folder.")
    as_sentence_transformer(name).save(str(folder), create_model_card=False)


def as_sentence_transformer(name: str) -> SentenceTransformer:
    """Build the encoder `name` as a sentence-transformers model: a Router with a route for each side."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Router

    towers = resolve(name)
    modules = {tower: _modules(tower) for tower in dict.fromkeys(towers)}
    router = Router.for_query_document(modules[towers.question], modules[towers.passage])
    prompts = {"query": towers.question.prompt, "document": towers.passage.prompt}
    return SentenceTransformer(modules=[router], prompts=prompts, device="cpu")


def _modules(tower: Tower) -> list[Any]:
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    given = untrusted()
    given["processor_kwargs"]["model_max_length"] = tower.limit
    transformer = Transformer(str(tower.folder), tokenizer_name_or_path=str(tower.tokenizer), **given)
    transformer.model.load_state_dict(load_model(tower).state_dict())
    pooling = Pooling(tower.dimension, tower.pooling)
    return [transformer, pooling, *([Normalize()] if tower.normalize else [])]
