"""Conversion of a dual encoder for OpenVINO, in a separate process."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import msgspec

from citewell.core.build_cache import begin, fill
from citewell.core.weights import verify
from citewell.retriever.encoder.calibration import measure_scale
from citewell.retriever.encoder.converted import open_converted
from citewell.retriever.encoder.engines import openvino
from citewell.retriever.encoder.form import EncoderForm, TowerForm, write_form
from citewell.retriever.encoder.resolve import Tower, Towers, packaged_base, resolve
from citewell.retriever.encoder.tensors import UnsupportedModelError
from citewell.retriever.encoder.tokenizer import read_tokenizer

_CALIBRATION_TOKENS = 128  # longer than all texts


def convert(name: str, engine: str, target: Path) -> None:
    """Write the encoder `name` into the folder `target`.

    Towers with the same model are converted once. With the engine `auto`, a model whose architecture only
    PyTorch runs is not converted if PyTorch is installed.
    """
    begin("verifying")
    verify(packaged_base(name))
    begin("reading")
    towers = resolve(name)
    known = digests(towers)
    models = {known[tower.model][:16]: tower.model for tower in towers}
    question, passage = (tower_form(tower, known[tower.model][:16]) for tower in towers)
    begin("converting")
    chosen = "openvino"
    try:
        for digest, tower in models.items():
            folder = target / digest
            folder.mkdir()
            openvino.convert(tower, folder)
            read_tokenizer(tower.tokenizer).save(str(folder / "tokenizer.json"))
    except UnsupportedModelError:
        if engine != "auto" or find_spec("torch") is None:
            raise
        chosen = "torch"
    begin("saving")
    form = EncoderForm(chosen, encoder_digest(towers, known), question, passage)
    if chosen == "openvino":
        encoder = open_converted(name, target, form, _CALIBRATION_TOKENS, threads=1)
        form = msgspec.structs.replace(form, scale=measure_scale(encoder))
    write_form(form, target)


def digests(towers: Towers) -> dict[Tower, str]:
    """Compute the digest of each distinct tower and of its model, which reads the weights."""
    return {tower: tower.digest for tower in {*towers, *(tower.model for tower in towers)}}


def encoder_digest(towers: Towers, found: Mapping[Tower, str]) -> str:
    """Combine the digests of two towers into one of everything that determines the encoder's vectors."""
    return hashlib.sha256(" ".join(found[tower] for tower in towers).encode()).hexdigest()


def tower_form(tower: Tower, folder: str) -> TowerForm:
    """Return the form of `tower` whose converted weights are in `folder`."""
    return TowerForm(folder, tower.pooling, tower.normalize, tower.limit, tower.dimension, tower.prompt)


def main(arguments: list[str]) -> int:
    """Convert one encoder: its name, the engine and the folder to fill."""
    name, engine, target = arguments
    return fill(name, Path(target), lambda folder: convert(name, engine, folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
