"""The weights of a tower as one kind of BERT: float32 arrays under BERT's names, its adapter merged."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.core.errors import ModelError
from citewell.core.lora import merge_tensors
from citewell.core.packages import install_command, need_packages
from citewell.core.tensors import Tensor, read_tensors
from citewell.retriever.encoder.int8 import read_int8
from citewell.retriever.encoder.resolve import Tower

_WORDS = "embeddings.word_embeddings.weight"
_ACTIVATIONS = {"gelu": "erf", "gelu_new": "tanh", "gelu_pytorch_tanh": "tanh"}
# Their positions begin after the padding's: https://github.com/huggingface/transformers/issues/1363.
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert")
_TYPES = ("bert", *_OFFSET_POSITIONS, "distilbert")
_DISTILBERT = {
    "transformer.layer": "encoder.layer",
    "attention.q_lin": "attention.self.query",
    "attention.k_lin": "attention.self.key",
    "attention.v_lin": "attention.self.value",
    "attention.out_lin": "attention.output.dense",
    "sa_layer_norm": "attention.output.LayerNorm",
    "ffn.lin1": "intermediate.dense",
    "ffn.lin2": "output.dense",
    "output_layer_norm": "output.LayerNorm",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BertWeights:
    """A BERT: its tensors by the names of transformers' `BertModel`, and the rest of its configuration.

    `positions` is the (limit, dimension) table that is added to the words, for every architecture. `gelu` is
    OpenVINO's name of the approximation.
    """

    tensors: dict[str, Tensor]
    positions: Tensor
    layers: int
    heads: int
    epsilon: float
    gelu: str


def read_bert(tower: Tower) -> BertWeights:
    """Read the weights of `tower`, with its adapter merged or its own layers.

    Raises `UnsupportedModelError` for an architecture that is not BERT's, and `ModelError` for weights that
    cannot be read or that the adapter does not fit.
    """
    config: dict[str, Any] = json.loads((tower.folder / "config.json").read_text(encoding="utf-8"))
    kind = config.get("model_type")
    activation = config.get("activation" if kind == "distilbert" else "hidden_act", "gelu")
    absolute = config.get("position_embedding_type") in (None, "absolute")
    if kind not in _TYPES or activation not in _ACTIVATIONS or not absolute:
        raise UnsupportedModelError(tower.folder, f"model type {kind}, activation {activation}")
    tensors = _without_prefix(tower.folder, _read(tower.folder))
    if tower.adapter is not None:
        merge_tensors(tensors, tower.adapter)
    if tower.layers is not None:
        replace_layers(tensors, tower.layers)
    if kind == "distilbert":
        tensors = {_renamed(name): tensor for name, tensor in tensors.items()}
    try:
        positions = tensors["embeddings.position_embeddings.weight"]
        if kind in _OFFSET_POSITIONS:
            positions = positions[config["pad_token_id"] + 1 :]
        if kind != "distilbert":
            positions = positions + tensors["embeddings.token_type_embeddings.weight"][0]
    except KeyError as error:
        raise _unreadable(tower.folder, f"{error} is missing") from error
    return BertWeights(
        tensors=tensors,
        positions=positions,
        layers=config.get("num_hidden_layers") or config["n_layers"],
        heads=config.get("num_attention_heads") or config["n_heads"],
        epsilon=config.get("layer_norm_eps", 1e-12),
        gelu=_ACTIVATIONS[activation],
    )


class UnsupportedModelError(ModelError):
    """A model whose architecture only PyTorch can run."""

    def __init__(self, folder: Path, found: str) -> None:
        """Name the folder and the architecture `found` there."""
        super().__init__(
            f"The model in {folder} cannot be converted ({found}).",
            f"Use a BERT, RoBERTa or DistilBERT, or PyTorch: {install_command('train')}, and set "
            "retriever.engine to torch.",
        )


def replace_layers(tensors: dict[str, Tensor], file: Path) -> None:
    """Replace tensors by those of the same names in a file; raises `ModelError` for one that does not fit."""
    for name, tensor in read_int8(file).items():
        if name not in tensors or tensors[name].shape != tensor.shape:
            raise ModelError(
                f"The weights {file} do not fit their model: {name} is of another model.",
                "Give the base model that they were trained from.",
            )
        tensors[name] = tensor


def _read(folder: Path) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    try:
        for file in sorted(folder.glob("*.safetensors")):
            tensors |= read_tensors(file)
        if not tensors and (file := folder / "pytorch_model.bin").is_file():
            tensors = _read_pickle(file)
    except (OSError, ValueError) as error:
        raise _unreadable(folder, str(error)) from error
    return tensors


def _read_pickle(file: Path) -> dict[str, Tensor]:
    need_packages(f"Reading {file}", "train", "torch")
    import torch

    try:
        found = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # zip files and pickles raise exceptions of any type
        raise ValueError(str(error)) from error
    return {name: tensor.float().numpy() for name, tensor in found.items() if tensor.is_floating_point()}


def _without_prefix(folder: Path, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename tensors as in `BertModel`: a model with a head puts `bert.` first, old files say `gamma`."""
    prefix = next((name.removesuffix(_WORDS) for name in tensors if name.endswith(_WORDS)), None)
    if prefix is None:
        raise _unreadable(folder, f"{_WORDS} is missing")
    modern = {".gamma": ".weight", ".beta": ".bias"}
    return {
        re.sub(r"\.(gamma|beta)$", lambda old: modern[old[0]], name.removeprefix(prefix)): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }


def _renamed(name: str) -> str:
    for theirs, ours in _DISTILBERT.items():
        name = name.replace(theirs, ours)
    return name


def _unreadable(folder: Path, found: str) -> ModelError:
    return ModelError(
        f"The weights in {folder} cannot be read: {found}",
        "Use a BERT-like model, and copy or download it again if it is one.",
    )
