"""Resolution of a cross-encoder's name to its files."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import ModelError
from citewell.core.weights import locate
from citewell.retriever.cross_encoder.form import (
    ADAPTER,
    FORM,
    HEAD,
    LAYERS,
    CrossEncoderForm,
    read_cross_encoder_form,
)
from citewell.retriever.encoder.resolve import Tower, resolve

SHIPPED = Path(__file__).parent / "models"
"""The cross-encoders that come with Citewell: a folder each."""


class AdaptedTower(NamedTuple):
    """A trained cross-encoder: the base with its adapter or layers, the file of the head, and the form."""

    tower: Tower
    head: Path
    form: CrossEncoderForm


def trained_folder(name: str) -> Path | None:
    """Return the folder of a cross-encoder that `citewell train reranker` wrote, or that comes with Citewell.

    Any other name is that of a sentence-transformers CrossEncoder, and gives None.
    """
    if name.isprintable() and Path(name).name == name != "" and (SHIPPED / name / FORM).is_file():
        return SHIPPED / name
    folder = Path(name).expanduser()
    return folder if (folder / FORM).is_file() else None


def resolve_trained(folder: Path) -> AdaptedTower:
    """Return the parts of the cross-encoder in `folder`; raises `ModelError` if its base is missing."""
    form = read_cross_encoder_form(folder)
    tower = replace(
        base_tower(form.base),
        adapter=folder / ADAPTER if form.tuning == "lora" else None,
        layers=folder / LAYERS if form.tuning == "full" else None,
        pooling=form.pooling,
        normalize=False,
    )
    return AdaptedTower(tower, folder / HEAD, form)


def base_tower(name: str) -> Tower:
    """Return the weights that the encoder `name` gives to a cross-encoder.

    Raises `ModelError` for an encoder with two different towers or with adapters.
    """
    towers = resolve(name)
    if towers.question.folder != towers.passage.folder or towers.passage.adapter is not None:
        raise ModelError(
            f"The model {name} cannot be the base of a cross-encoder: it has two towers or adapters.",
            "Use a plain BERT, such as all-MiniLM-L6-v2.",
        )
    return towers.passage


def trained_key(folder: Path) -> str:
    """Return a key of a trained cross-encoder's weights, without reading those of its base."""
    form = read_cross_encoder_form(folder)
    digest = hashlib.sha256(locate(form.base).fingerprint.encode())
    for file in (
        folder / FORM,
        folder / HEAD,
        folder / LAYERS,
        *sorted((folder / ADAPTER).glob("adapter_*")),
    ):
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()[:16]
