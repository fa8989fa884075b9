"""The model to train: a sentence-transformers model with two towers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ModelError
from citewell.core.remote_code import untrusted
from citewell.core.training.adapters import save_adapters, with_adapters
from citewell.core.weights import verify
from citewell.retriever.encoder.resolve import Tower, packaged_base, resolve
from citewell.retriever.training.config import EncoderModelConfig

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

ADAPTERS = "adapters"
SIDES = {"question": "query", "passage": "document"}
"""Our names of the two towers, and the Router's."""


def build_model(config: EncoderModelConfig, seed: int) -> SentenceTransformer:
    """Build a SentenceTransformer with a Router, pooled and normalized as the base is, ready for training.

    With LoRA the base's weights are frozen, and each tower has an adapter that starts without effect; `seed`
    initializes its weights. Raises `ModelError` for a base that cannot be loaded, and for LoRA targets that
    it does not have.
    """
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Router

    verify(packaged_base(config.base))
    towers = resolve(config.base)
    torch.manual_seed(seed)
    passage = _modules(towers.passage, config, "passage")
    question = passage
    if config.towers == "two":
        question = _modules(towers.question, config, "question")
    elif towers.question != towers.passage:
        raise ModelError(
            f"The model {config.base} has two towers that differ, and they cannot be shared.",
            'Write towers = "two".',
        )
    prompts = {"query": towers.question.prompt, "document": towers.passage.prompt}
    router = Router.for_query_document(query_modules=question, document_modules=passage)
    return SentenceTransformer(
        modules=[router],
        prompts={name: prompt for name, prompt in prompts.items() if prompt},
        similarity_fn_name="dot",
        device="cpu" if not torch.cuda.is_available() else None,
    )


def save_model(model: SentenceTransformer, folder: Path, base: str) -> None:
    """Write the model for sentence-transformers, with merged adapters, and the adapters in PEFT's format.

    `base` is the name of the base model in the adapters' files. The adapters of `model` are merged, so that
    it cannot be trained further.
    """
    for side, route in SIDES.items():
        transformer = tower(model, route)
        if hasattr(transformer.model, "peft_config"):
            save_adapters(transformer.model, folder / ADAPTERS / side, base, half=False)
            _save_tower(model, route, folder / ADAPTERS / side)
    merged: dict[int, Any] = {}
    for route in SIDES.values():
        transformer = tower(model, route)
        if hasattr(transformer.model, "peft_config") and id(transformer) not in merged:
            merged[id(transformer)] = transformer.model = transformer.model.merge_and_unload()
    model.save_pretrained(str(folder), create_model_card=False)


def _save_tower(model: SentenceTransformer, route: str, folder: Path) -> None:
    """Write, beside the adapter of a route, the files that make `SentenceTransformer(folder)` this tower."""
    router: Any = model[0]
    transformer, *others = router.sub_modules[route]
    transformer.processor.save_pretrained(str(folder))
    transformer.save_config(str(folder))
    modules = [(transformer, "")]
    for place, module in enumerate(others, 1):
        modules.append((module, f"{place}_{type(module).__name__}"))
        (folder / modules[-1][1]).mkdir()
        module.save(str(folder / modules[-1][1]))
    listed = [
        {
            "idx": place,
            "name": str(place),
            "path": path,
            "type": f"{type(each).__module__}.{type(each).__name__}",
        }
        for place, (each, path) in enumerate(modules)
    ]
    prompt = model.prompts.get(route, "")
    config = {
        "model_type": "SentenceTransformer",
        "prompts": {route: prompt} if prompt else {},
        "default_prompt_name": route if prompt else None,
        "similarity_fn_name": model.similarity_fn_name,
    }
    for name, value in (("modules.json", listed), ("config_sentence_transformers.json", config)):
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


def tower(model: SentenceTransformer, route: str) -> Any:
    """Return the Transformer module of a route, `query` or `document`."""
    router: Any = model[0]
    return router.sub_modules[route][0]


def _modules(tower: Tower, config: EncoderModelConfig, side: str) -> list[Any]:
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
    from torch import nn

    from citewell.core.lora import merge

    given = {"tokenizer_name_or_path": str(tower.tokenizer)} if tower.tokenizer != tower.folder else {}
    try:
        transformer = Transformer(
            str(tower.folder), max_seq_length=min(config.max_tokens, tower.limit), **given, **untrusted()
        )
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The base model in {tower.folder} cannot be loaded: {error}", "Copy or download it again."
        ) from error
    if tower.adapter is not None:
        merge(transformer.model, tower.adapter)
    for layer in transformer.model.modules():
        if isinstance(layer, nn.Dropout):
            layer.p = config.dropout
    if config.tuning == "lora":
        transformer.model = with_adapters(transformer.model, config.lora, "FEATURE_EXTRACTION", config.base)
    modules = [transformer, Pooling(tower.dimension, pooling_mode=tower.pooling)]
    return [*modules, Normalize()] if tower.normalize else modules
