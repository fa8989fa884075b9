"""The model that is trained: a causal language model of transformers, with LoRA adapters or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.dequantization import dequantized
from citewell.core.errors import ModelError
from citewell.core.models.reasons import reason_of
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.training.adapters import save_adapters, with_adapters, with_trained_adapters
from citewell.generator.defaults import GenerationDefaults, write_defaults
from citewell.generator.resolve import ModelSource, resolve
from citewell.generator.training.config import GeneratorModelConfig

DONE = {"lora": "adapter_config.json", "full": "config.json"}
"""By the kind of tuning: the file that only the folder of a trained model has."""


class TrainableGenerator(NamedTuple):
    """A model that is ready to be trained, and its tokenizer. `whole` is the model without PEFT around it."""

    model: Any
    whole: Any
    tokenizer: Any


def build_model(config: GeneratorModelConfig, cache: Path, seed: int) -> TrainableGenerator:
    """Load the base, in float32; with LoRA its weights are frozen and adapters added, drawn by `seed`.

    Raises `ModelError` for a base that cannot be loaded or has no chat template, for a start that is no
    adapter of the base, and for LoRA targets that the base does not have.
    """
    import torch

    source = resolve(config.base)
    if source.adapter is not None:
        raise ModelError(
            f"{config.base} is an adapter, which cannot be the base of another one.",
            f"Give the model that it is for: {source.base}, and the adapter as model.start.",
        )
    start = _start(config, source)
    model, _, tokenizer = load_source(source, cache)
    torch.manual_seed(seed)
    if config.tuning == "full":
        return TrainableGenerator(model, model, tokenizer)
    if start is not None:
        return TrainableGenerator(with_trained_adapters(model, start), model, tokenizer)
    return TrainableGenerator(with_adapters(model, config.lora, "CAUSAL_LM", config.base), model, tokenizer)


def _start(config: GeneratorModelConfig, base: ModelSource) -> Path | None:
    """Return the folder of the adapter to train further, if there is one."""
    if config.start is None:
        return None
    source = resolve(config.start)
    if source.adapter is None or source.base != base.base:
        raise ModelError(
            f"{config.start} is no adapter of {config.base}, so it cannot be trained further.",
            "Name one as model.start, and the model that it is for as model.base.",
        )
    return source.adapter


def load_source(source: ModelSource, cache: Path) -> TrainableGenerator:
    """Load a model's base in float32, without its adapter if it has one.

    Raises `ModelError` if it cannot be loaded or has no chat template.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = str(dequantized(source.base, cache)) if source.is_gguf else source.base
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=TRUST_REMOTE_CODE)
        model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, trust_remote_code=TRUST_REMOTE_CODE
        )
    except Exception as error:  # safetensors, pickle and the hub raise errors of any type
        raise ModelError(
            f"The base model {source.name} cannot be loaded: {reason_of(error)}",
            "Give a packaged model, a folder or a hub id of a causal language model.",
        ) from error
    if not tokenizer.chat_template or tokenizer.eos_token_id is None:
        raise ModelError(
            f"The base model {source.name} has no chat template, or no token that ends a turn.",
            "Use its instruction-tuned form, whose name often ends in -Instruct or -it.",
        )
    return TrainableGenerator(model, model, tokenizer)


def save_model(
    trained: TrainableGenerator, folder: Path, config: GeneratorModelConfig, defaults: GenerationDefaults
) -> None:
    """Write the adapters in PEFT's format, in float16, or all weights, and the prompt form."""
    write_defaults(defaults, folder)
    if config.tuning == "full":
        _save_whole(trained, folder)
        return
    save_adapters(trained.model, folder, config.base)


def export_model(trained: TrainableGenerator, folder: Path, defaults: GenerationDefaults) -> None:
    """Write the model as one that needs no adapter, which transformers, vLLM and others load.

    Adapters are merged into `trained`, so it cannot be trained further.
    """
    folder.mkdir(parents=True, exist_ok=True)
    whole = trained.model.merge_and_unload() if trained.model is not trained.whole else trained.whole
    _save_whole(trained._replace(whole=whole), folder)
    write_defaults(defaults, folder)


def _save_whole(trained: TrainableGenerator, folder: Path) -> None:
    trained.whole.save_pretrained(str(folder))
    trained.tokenizer.save_pretrained(str(folder))
