"""The network of a scorer: a language model or encoder, and a linear head with one output."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.dequantization import dequantized
from citewell.core.errors import ModelError
from citewell.core.models.reasons import reason_of
from citewell.core.remote_code import TRUST_REMOTE_CODE
from citewell.core.weights import locate, verify
from citewell.scorer.form import Pooling

if TYPE_CHECKING:
    import torch

ADAPTER = "adapter"
WEIGHTS = "weights.safetensors"
HEAD = "head.safetensors"


class Base(NamedTuple):
    """What a scorer starts from: a model of transformers without an output layer, in float32.

    `lm_head` is the output layer of a causal language model, None for encoders; `limit` is the most tokens
    that the model reads.
    """

    backbone: Any
    tokenizer: Any
    lm_head: Any
    limit: int

    @property
    def is_causal(self) -> bool:
        """Whether each token sees only those before it."""
        return self.lm_head is not None

    @property
    def hidden(self) -> int:
        """The size of the vectors that the model gives."""
        size: int = self.backbone.config.hidden_size
        return size


def load_base(name: str, cache: Path, depth: int | None = None) -> Base:
    """Load the weights that `name` stands for, and keep the lowest `depth` layers, or all.

    Raises `ModelError` where the weights are of no use, and where there are fewer layers.
    """
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoTokenizer

    verify(name)
    weights = locate(name)
    folder = str(dequantized(name, cache)) if weights.is_gguf else str(weights.path or name)
    try:
        config: Any = AutoConfig.from_pretrained(folder, trust_remote_code=TRUST_REMOTE_CODE)
        tokenizer: Any = AutoTokenizer.from_pretrained(folder, trust_remote_code=TRUST_REMOTE_CODE)
        if _is_causal(config):
            whole: Any = AutoModelForCausalLM.from_pretrained(
                folder, dtype=torch.float32, trust_remote_code=TRUST_REMOTE_CODE
            )
            backbone, lm_head = whole.base_model, whole.get_output_embeddings()
        else:
            backbone, lm_head = (
                AutoModel.from_pretrained(folder, dtype=torch.float32, trust_remote_code=TRUST_REMOTE_CODE),
                None,
            )
    except Exception as error:  # safetensors, pickle and the hub raise errors of any type
        raise ModelError(
            f"The base model {name} cannot be loaded: {reason_of(error)}",
            "Give a packaged model, a folder or a hub id of an encoder or a causal language model.",
        ) from error
    if tokenizer.sep_token_id is None and tokenizer.eos_token_id is None:
        raise ModelError(f"The tokenizer of {name} has no token that ends a text.", "Use another model.")
    if depth is not None:
        _keep_lowest(backbone, depth)
    limit = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", 10**6))
    return Base(backbone, tokenizer, lm_head, int(limit))


def pooled(backbone: Any, inputs: Mapping[str, torch.Tensor], pooling: Pooling) -> torch.Tensor:
    """What the head reads of `n` inputs, (n, size)."""
    return pool(backbone(**inputs).last_hidden_state, inputs["attention_mask"], pooling)


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """One vector for each of `n` rows, from (n, length, size): of the first or last token, or their mean."""
    import torch

    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "last":
        return hidden[torch.arange(len(hidden), device=hidden.device), mask.sum(dim=1) - 1]
    weights = mask[:, :, None].to(hidden)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def layers(backbone: Any) -> tuple[str, Any]:
    """The list of a model's layers, the lowest first, and its name within the model."""
    from torch.nn import ModuleList

    count = backbone.config.num_hidden_layers
    for name, module in backbone.named_modules():
        if isinstance(module, ModuleList) and len(module) == count:
            return name, module
    raise ModelError(
        f"The layers of a {backbone.config.model_type} model cannot be found.", "Use another base model."
    )


def _keep_lowest(backbone: Any, depth: int) -> None:
    _, all_layers = layers(backbone)
    if depth > len(all_layers):
        raise ModelError(
            f"The model has {len(all_layers)} layers, and depth is {depth}.", "Lower model.depth."
        )
    del all_layers[depth:]
    backbone.config.num_hidden_layers = depth


def new_head(size: int) -> torch.nn.Linear:
    """A head that gives every input 0 until it is trained."""
    import torch

    head = torch.nn.Linear(size, 1)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    return head


def load_values(module: torch.nn.Module, file: Path, *, of: str) -> None:
    """Put the tensors of a file into the parameters of those names.

    `of` says what they are, for errors: raises `ModelError` where they cannot be read or do not fit.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        values = load_file(file)
    except (OSError, SafetensorError) as error:
        raise ModelError(
            f"{of} in {file} cannot be read: {error}", "Copy or train the scorer again."
        ) from error
    parameters = dict(module.named_parameters())
    for name, value in values.items():
        if name not in parameters or parameters[name].shape != value.shape:
            here = tuple(parameters[name].shape) if name in parameters else "none"
            raise ModelError(
                f"{of} in {file} does not fit its model: {name} is {tuple(value.shape)}, there is {here}.",
                "Give the base model that the scorer was trained from.",
            )
    with torch.no_grad():
        for name, value in values.items():
            parameters[name].copy_(value.to(parameters[name]))


def _is_causal(config: Any) -> bool:
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    )

    kind = config.model_type
    return kind in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES and kind not in MODEL_FOR_MASKED_LM_MAPPING_NAMES
