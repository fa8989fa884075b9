"""The model to train, and its file format."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.errors import ModelError
from citewell.core.training.adapters import save_adapters, with_adapters
from citewell.core.training.checkpoints import trained
from citewell.scorer.encode import InputTokenizer
from citewell.scorer.form import FORM, Form, Pooling, read_form, write_form
from citewell.scorer.load import scorer_folder
from citewell.scorer.model import ADAPTER, HEAD, WEIGHTS, Base, layers, load_base, load_values, new_head
from citewell.scorer.training.config import ScorerModelConfig

DONE = FORM
"""A file that only the folder of a trained scorer has."""


class TrainableScorer(NamedTuple):
    """A model that is ready for training: `model` has the parts `backbone` and `head`."""

    model: Any
    base: Base
    encoder: InputTokenizer
    pooling: Pooling


def build_model(config: ScorerModelConfig, cache: Path, seed: int) -> TrainableScorer:
    """Load the base in float32, and freeze the untrained parts; `seed` initializes the adapters.

    With `start`, training begins from the weights of that scorer. Raises `ModelError` for a base that cannot
    be trained, for LoRA targets that it does not have, and for a start with another base.
    """
    import torch
    from torch import nn

    base = load_base(config.base, cache, config.depth)
    if config.layout.max_tokens > base.limit:
        raise ModelError(
            f"The model {config.base} reads at most {base.limit:,} tokens, and max_tokens is more.",
            "Lower model.layout.max_tokens.",
        )
    pooling: Pooling = ("last" if base.is_causal else "mean") if config.pooling == "auto" else config.pooling
    name, all_layers = layers(base.backbone)
    first = int(config.frozen * len(all_layers))
    base.backbone.requires_grad_(False)
    for module in base.backbone.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    for layer in all_layers[first:]:
        for module in layer.modules():
            if isinstance(module, nn.Dropout):
                module.p = config.dropout
        if config.tuning == "full":
            layer.requires_grad_(True)
    torch.manual_seed(seed)
    backbone = base.backbone
    if config.tuning == "lora":
        adapted = [f"{name}.{place}." for place in range(first, len(all_layers))]
        backbone = with_adapters(base.backbone, config.lora, "FEATURE_EXTRACTION", config.base, under=adapted)
    parts = {"backbone": backbone, "dropout": nn.Dropout(config.dropout), "head": new_head(base.hidden)}
    model = nn.ModuleDict(parts)
    if config.start is not None:
        _begin(model, config, pooling)
    return TrainableScorer(model, base, InputTokenizer(base.tokenizer, config.layout), pooling)


def save_model(trainable: TrainableScorer, folder: Path, form: Form) -> None:
    """Write the adapters in PEFT's format, or all trained weights, and the head and the form, in float16."""
    from safetensors.torch import save_file

    model: Any = trainable.model
    if form.tuning == "lora":
        save_adapters(model.backbone, folder / ADAPTER, form.base)
    else:
        found = trained(model.backbone)
        save_file(
            {name: value.detach().half().contiguous() for name, value in found.items()}, folder / WEIGHTS
        )
    head = {name: value.detach().half().contiguous() for name, value in model.head.state_dict().items()}
    save_file(head, folder / HEAD)
    write_form(form, folder)


def round_trained(model: Any) -> None:
    """Round the trained weights to float16, their stored precision, so that calibration sees these values."""
    import torch

    with torch.no_grad():
        for value in trained(model).values():
            value.copy_(value.half().float())


def _begin(model: Any, config: ScorerModelConfig, pooling: Pooling) -> None:
    folder = scorer_folder(config.start or "")
    form = read_form(folder)
    theirs = (form.base, form.depth, form.tuning, form.pooling)
    ours = (config.base, config.depth, config.tuning, pooling)
    if theirs != ours:
        raise ModelError(
            f"The scorer {config.start} cannot be the start: its model is {_named(*theirs)}, and the "
            f"recipe's {_named(*ours)}.",
            "Give the model that the scorer has.",
        )
    if config.tuning == "lora":
        _load_adapter(model.backbone, folder / ADAPTER)
    else:
        load_values(model.backbone, folder / WEIGHTS, of="What was trained of the model")
    load_values(model.head, folder / HEAD, of="The head")


def _named(base: str, depth: int | None, tuning: str, pooling: str) -> str:
    return ", ".join([base, f"{depth} layers" if depth else "all layers", tuning, pooling])


def _load_adapter(backbone: Any, folder: Path) -> None:
    from peft import set_peft_model_state_dict
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    problem = ""
    try:
        found: Any = set_peft_model_state_dict(backbone, load_file(folder / "adapter_model.safetensors"))
        alone = [name for name in found.missing_keys if ".lora_" in name] + found.unexpected_keys
        problem = f"{alone[0]} is in one of them only" if alone else ""
    except (OSError, SafetensorError, RuntimeError) as error:
        problem = str(error)
    if problem:
        raise ModelError(
            f"The adapter in {folder} does not fit the recipe's: {problem}.",
            "Give the model section that the scorer was trained with; its run.json has it.",
        )
