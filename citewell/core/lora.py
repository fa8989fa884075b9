"""LoRA adapters in the PEFT format, merged into the weights that they were trained for."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.errors import ModelError
from citewell.core.tensors import Tensor, read_tensors

if TYPE_CHECKING:
    import torch

CONFIG = "adapter_config.json"

_PREFIX = "base_model.model."


@dataclass(frozen=True, slots=True)
class LowRank:
    """The change of an adapter to one linear layer: `scale` · up (rows × r) · down (r × columns)."""

    up: Tensor
    down: Tensor
    scale: float

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the layer's weights, as PyTorch has them."""
        return self.up.shape[0], self.down.shape[1]

    def delta(self) -> Tensor:
        """Return the whole change of the weights."""
        change: Tensor = (self.up @ self.down) * self.up.dtype.type(self.scale)
        return change


def read_adapter(adapter: Path) -> dict[str, LowRank]:
    """Return a plain LoRA adapter's changes by layer path, such as `model.layers.0.mlp.up_proj`.

    `adapter` is a folder with adapter_config.json and adapter_model.safetensors, as PEFT writes them; the
    scale is alpha / r, or alpha / √r where the adapter is rank-stabilized.
    https://arxiv.org/abs/2106.09685, https://arxiv.org/abs/2312.03732

    Raises `ModelError` for another kind of adapter, and for files that cannot be read.
    """
    try:
        config = json.loads((adapter / CONFIG).read_text(encoding="utf-8"))
        tensors = read_tensors(adapter / "adapter_model.safetensors")
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The weights of the adapter {adapter} cannot be read: {error}",
            "Copy or train the adapter again.",
        ) from error
    _check(config, adapter)
    found = {}
    for key, down in tensors.items():
        up = tensors.get(key.replace(".lora_A.", ".lora_B."))
        if key.endswith(".lora_B.weight"):
            continue
        if not key.endswith(".lora_A.weight") or up is None:
            raise misfit(adapter, f"its tensor {key} is not part of a LoRA pair.")
        rank = down.shape[0]
        scale = config["lora_alpha"] / (math.sqrt(rank) if config.get("use_rslora") else rank)
        path = key.removeprefix(_PREFIX).removesuffix(".lora_A.weight")
        found[path] = LowRank(up, down, scale)
    return found


def merge(model: torch.nn.Module, adapter: Path) -> None:
    """Change every linear layer of a PyTorch model that the adapter was trained for, in place.

    The result equals that of PEFT's `merge_and_unload` up to rounding. Raises `ModelError` as `read_adapter`
    does, and for an adapter that does not fit the model.
    """
    import torch

    layers = dict(model.named_modules())
    for path, change in read_adapter(adapter).items():
        layer = layers.get(path)
        if not isinstance(layer, torch.nn.Linear):
            raise misfit(adapter, f"the model has no linear layer {path}.")
        check_shape(adapter, path, change, tuple(layer.weight.shape))
        with torch.no_grad():
            layer.weight += torch.from_numpy(change.delta()).to(layer.weight)


def merge_tensors(weights: dict[str, Tensor], adapter: Path) -> None:
    """Change the weights `PATH.weight` of every linear layer that the adapter was trained for, in place.

    Raises `ModelError` as `merge` does.
    """
    for path, change in read_adapter(adapter).items():
        name = f"{path}.weight"
        if name not in weights or weights[name].ndim != 2:
            raise misfit(adapter, f"the model has no linear layer {path}.")
        check_shape(adapter, path, change, weights[name].shape)
        weights[name] = weights[name] + change.delta()


def check_shape(adapter: Path, path: str, change: LowRank, shape: tuple[int, ...]) -> None:
    """Raise `ModelError` where the weights of the layer `path`, of `shape`, are of another size."""
    if shape != change.shape:
        raise misfit(
            adapter,
            f"it was made for {' × '.join(map(str, change.shape))} weights of {path}, "
            f"and the model has {' × '.join(map(str, shape))}.",
        )


def misfit(adapter: Path, found: str) -> ModelError:
    """Return the error about an adapter that was trained for another model."""
    return ModelError(
        f"The adapter {adapter} does not fit its model: {found}",
        "Give the base model that it was trained from.",
    )


def _check(config: dict[str, Any], adapter: Path) -> None:
    found = [
        f"{key} = {config[key]}"
        for key, plain in {"peft_type": "LORA", "bias": "none"}.items()
        if config.get(key, plain) != plain
    ]
    found += [
        f"{key} = {config[key]}"
        for key in ("use_dora", "modules_to_save", "alpha_pattern", "trainable_token_indices")
        if config.get(key)
    ]
    if found:
        raise ModelError(
            f"The adapter {adapter} cannot be merged: it is not plain LoRA: {', '.join(found)}.",
            "Merge it with PEFT's merge_and_unload(), and give the folder of the merged model.",
        )
